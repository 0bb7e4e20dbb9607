"""Bins of length: the metrics of reference events of some lengths alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..criteria.of_length import OfLength
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
        if self.longest == np.inf:
            return f"> {self.shortest:g} s"
        return f"≤ {self.longest:g} s" if self.shortest == 0 else f"{self.shortest:g}–{self.longest:g} s"

    def metrics(self, metrics: Mapping[str, Metric[Any]]) -> dict[str, Metric[Any]]:
        """Return the metrics of these references alone, by name."""
        return {
            name: replace(metric, criterion=OfLength(metric.criterion, self.shortest, self.longest))  # type: ignore[type-var]  # metrics are dataclasses
            for name, metric in metrics.items()
        }


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
