"""Many definitions in one text: ranges and alternatives.

``0.0..2.0/0.08`` stands for the numbers from 0 to 2 in steps of 0.08, the end included if it is hit,
and ``a|b`` for either. Several of them stand for all combinations, the first one changing slowest.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from ..errors import SedscopeError, shortened

MOST = 10_000
"""Definitions that one text may stand for."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s*/\s*({_NUMBER}))?")
_TOKEN = re.compile(rf"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|{_RANGE.pattern}|.""", re.DOTALL)


def spellings(text: str) -> list[str]:
    """The definitions that a text stands for.

    >>> spellings("F(0.1..0.25/0.1, x=2|5)")
    ['F(0.1, x=2)', 'F(0.1, x=5)', 'F(0.2, x=2)', 'F(0.2, x=5)']
    """
    tokens = deque(match.group() for match in _TOKEN.finditer(text))
    found: list[str] = []
    try:
        found, closing = _read(tokens)
        while closing:  # a bracket too many: what follows is part of the text, and cannot be read
            rest, more = _read(tokens)
            found, closing = _join(found, [closing + part for part in rest]), more
    except RecursionError:
        raise SedscopeError(f"{shortened(text)!r} is nested too deep") from None
    except SedscopeError as error:
        raise SedscopeError(f"{shortened(text)!r}: {error}") from None
    return found


def _read(tokens: deque[str]) -> tuple[list[str], str]:
    """The spellings of what comes before a closing bracket or the end, and the bracket."""
    done = [""]  # up to the last comma, or to the name or label of what comes
    alternatives: list[str] = []  # to what comes after it, each complete
    current = [""]
    closing = ""
    while tokens:
        token = tokens.popleft()
        if token in (")", "]", "}"):
            closing = token
            break
        if token == "|":
            alternatives, current = alternatives + current, [""]
        elif token in (",", "=", ":"):
            done, alternatives, current = _join(done, alternatives + current, token), [], [""]
        elif token in ("(", "[", "{"):
            inner, end = _read(tokens)
            current = _join(current, [f"{token}{part}{end}" for part in inner])
        else:
            current = _join(current, _values(token))
    return _join(done, alternatives + current), closing


def _join(heads: Sequence[str], tails: Sequence[str], end: str = "") -> list[str]:
    if len(heads) * len(tails) > MOST:
        raise SedscopeError(f"it stands for more than {MOST} definitions")
    return [f"{head}{tail}{end}" for head, tail in product(heads, tails)]


def _values(token: str) -> list[str]:
    """The numbers of a range, or what is no range as it is."""
    match = _RANGE.fullmatch(token)
    if match is None:
        return [token]
    if match[3] is None:
        raise SedscopeError(f"{token} needs a step: write {token}/0.1")
    try:
        first, last, step = (Decimal(number) for number in match.groups())
        if step <= 0:
            raise SedscopeError(f"{token}: the step must be above 0")
        if last < first:
            raise SedscopeError(f"{token} is empty: it ends before it begins")
        steps = (last - first) / step
        if steps >= MOST:
            raise SedscopeError(f"{token} has more than {MOST} values")
        return [str(first + step * i) for i in range(int(steps) + 1)]
    except ArithmeticError:
        raise SedscopeError(f"{token}: the numbers are too large or too small") from None
