"""The few parts of dcase_util that users of sed_eval need. Everything else: ``pip install dcase_util``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sed_eval.event_lists import refuse as __getattr__
from ..submodules import add_submodule
from . import containers

__all__ = ["containers"]


class DecisionEncoder:
    """Find the active regions of a class.

    Examples
    --------
    >>> DecisionEncoder().find_contiguous_regions(np.array([0, 1, 1, 0, 1]))
    array([[1, 3],
           [4, 5]])
    """

    def __init__(self, label_list: list[str] | None = None) -> None:
        self.label_list = label_list

    def find_contiguous_regions(self, activity_array: ArrayLike) -> NDArray[np.int64]:
        """Return the first frame of each active region and the frame after its last: (regions × 2).

        ``activity_array``: for each frame, whether the class is active.
        """
        bounded = np.concatenate([[False], np.asarray(activity_array).astype(bool), [False]])
        return np.flatnonzero(bounded[1:] != bounded[:-1]).reshape(-1, 2)


_MEMBERS = {"DecisionEncoder": DecisionEncoder, "__getattr__": __getattr__}
add_submodule(__name__, "data", "From activity in frames to regions.", _MEMBERS)
