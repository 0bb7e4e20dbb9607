"""Read limits: down to which score a post-processing must compute, given the floors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..criteria.clip_batch import ClipReferences
from ..data.alignment import Alignment
from ..data.times import Ticks
from ..postprocessing.clip_group import ReadLimit
from .floors import Floor


def read_limit(
    alignment: Alignment, floors: Sequence[Floor], references: ClipReferences, durations: Ticks | None
) -> ReadLimit | None:
    """Return down to which score the processed scores of some clips are read. None if all are.

    ``floors``: those of the processed scores, after the clips before. ``references``: of the clips.
    ``durations``: of all clips; None if they are not known yet.
    """
    if durations is None or any(floor.limit is None for floor in floors):
        return None
    columns = alignment.columns
    among = np.zeros((len(references.durations), len(alignment.scores.classes)), bool)
    among[:, columns] = True
    clips, labels = references.with_any_event()
    among[clips, columns[labels]] = False
    lowest = np.full(among.shape[1], -np.inf)
    lowest[columns] = np.min([floor.lowest_read(durations) for floor in floors], axis=0)
    return ReadLimit(lowest, max(floor.needed(durations) for floor in floors), among)
