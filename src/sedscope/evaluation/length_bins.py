"""Bins of length: the metrics of reference events of some lengths alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.alignment import Alignment
from ..data.times import LONGEST_SECONDS, to_ticks
from ..errors import SedscopeError
from ..metrics import Metric


@dataclass(frozen=True)
class LengthBin:
    """The reference events of some lengths, in seconds: longer than the first, up to the second."""

    shortest: float
    longest: float

    @property
    def name(self) -> str:
        """What the bin is called in tables."""
        shortest, longest = f"{self.shortest:.10g}", f"{self.longest:.10g}"
        if self.longest == np.inf:
            return f"> {shortest} s"
        return f"≤ {longest} s" if self.shortest == 0 else f"{shortest}–{longest} s"

    def metrics(self, metrics: Mapping[str, Metric[Any]]) -> dict[str, Metric[Any]]:
        """Return the metrics of these references alone, by name."""
        return {name: metric.of_lengths(self.shortest, self.longest) for name, metric in metrics.items()}

    def of(self, alignment: Alignment) -> Alignment:
        """Return an alignment in which the other references are ignored."""
        shortest, longest = to_ticks([self.shortest, min(self.longest, LONGEST_SECONDS)])
        lengths = alignment.events[:, 1] - alignment.events[:, 0]
        others = (lengths <= shortest) | (lengths > longest)
        uncut = alignment.uncut
        if uncut is not None:
            uncut = uncut.of_length(int(shortest), int(longest))
        return replace(alignment, ignored=alignment.ignored | others, uncut=uncut)


def length_bins(bounds: Iterable[float]) -> list[LengthBin]:
    """Return the bins between some lengths in seconds, the first from 0 on, the last without end.

    >>> [length_bin.name for length_bin in length_bins([1, 5])]
    ['≤ 1 s', '1–5 s', '> 5 s']
    """
    try:
        lengths = [float(bound) for bound in bounds]
    except (TypeError, ValueError):
        lengths = []
    increasing = all(low < high for low, high in zip([0.0, *lengths], lengths, strict=False))
    if not lengths or not increasing or not np.isfinite(lengths).all():
        raise SedscopeError(
            "Lengths must be seconds above 0 in increasing order, such as (1, 5), which makes the bins "
            f"up to 1 s, 1 to 5 s and above 5 s; not {bounds!r}."
        )
    return [LengthBin(low, high) for low, high in zip([0.0, *lengths], [*lengths, np.inf], strict=True)]
