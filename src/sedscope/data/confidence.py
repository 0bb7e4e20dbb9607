"""Conditions on the confidence of reference events, such as ``> 0.5``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..errors import SedscopeError, shortened
from .cells import parse_number

_CONDITION = re.compile(r"\s*(>=?)\s*(\S+)\s*")


@dataclass(frozen=True)
class ConfidenceLimit:
    """How confident the annotators must be about an event that counts as a reference."""

    limit: float
    inclusive: bool
    """Whether a confidence equal to the limit is enough."""

    @classmethod
    def parse(cls, text: str) -> ConfidenceLimit:
        """Read a condition.

        >>> ConfidenceLimit.parse("> 0.5").admits(0.5), ConfidenceLimit.parse(">=0.5").admits(0.5)
        (False, True)
        """
        match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        try:
            limit = parse_number(match[2]) if match else math.nan
        except ValueError:
            limit = math.nan
        if match is None or not math.isfinite(limit):
            raise SedscopeError(
                f"confidence={shortened(repr(text), 60)} is not a condition. Write '> 0.5' or '>= 0.5'."
            )
        return cls(limit, inclusive=match[1] == ">=")

    def admits(self, confidence: float) -> bool:
        """Return whether an event of this confidence counts as a reference."""
        return confidence >= self.limit if self.inclusive else confidence > self.limit
