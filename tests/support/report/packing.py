"""Packed numbers of a report, unpacked as its script does."""

from __future__ import annotations

import string


def unpacked(text: str) -> list[int]:
    """The numbers whose steps a text holds."""
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    numbers, bits, shift = [0], 0, 0
    for value in map(alphabet.index, text):
        bits |= (value & 31) << shift
        shift += 5
        if value < 32:
            numbers.append(numbers[-1] + (-(bits >> 1) if bits & 1 else bits >> 1))
            bits, shift = 0, 0
    return numbers[1:]
