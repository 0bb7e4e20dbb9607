"""Statistics from deltas (see ``counting``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..counting import Statistics
from ..utils.nested import deflatten, flatten


def accumulated_intermediate_statistics_from_deltas(
    deltas: Mapping[str, Mapping[str, Any]],
) -> Statistics:
    """Return per class the scores at which counts change, and all counts at these scores.

    Scores increase, with ``inf`` last. The deltas may be those of any counts that are 0 where nothing is
    detected. At ``scores[i]``, frames with ``score >= scores[i]`` are active.
    """
    first = next(iter(deltas.values()))
    return {label: _add_up([clip_deltas[label] for clip_deltas in deltas.values()]) for label in first}


def _add_up(parts: list[Any]) -> Any:
    flat = [flatten(changes, sep="\\") for _, changes in parts]
    scores, row = np.unique(np.concatenate([at for at, _ in parts]), return_inverse=True)
    counts = {}
    for name in flat[0]:
        changes = np.zeros(len(scores) + 1)
        np.add.at(changes, row, np.concatenate([one[name] for one in flat]).astype(np.float64))
        counts[name] = np.cumsum(changes[::-1])[::-1]
    return np.append(scores, np.inf), deflatten(counts, sep="\\")
