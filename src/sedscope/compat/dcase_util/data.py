"""From activity in frames to regions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .missing_names import refusing

__getattr__ = refusing(__name__)


class DecisionEncoder:
    """Find the active regions of a class.

    Parameters
    ----------
    label_list : list of str, optional
        The classes. They are kept, and nothing else is done with them.

    Examples
    --------
    >>> import numpy as np
    >>> DecisionEncoder().find_contiguous_regions(np.array([0, 1, 1, 0, 1]))
    array([[1, 3],
           [4, 5]])
    """

    def __init__(self, label_list: list[str] | None = None) -> None:
        self.label_list = label_list

    def find_contiguous_regions(self, activity_array: ArrayLike) -> NDArray[np.int64]:
        """Return the first frame of each active region and the frame after its last.

        Parameters
        ----------
        activity_array : array
            For each frame, whether the class is active.

        Returns
        -------
        array, shape (regions, 2)
            One row per region.
        """
        active = np.asarray(activity_array).astype(bool)
        bounded = np.concatenate([[False], active, [False]])
        return np.flatnonzero(bounded[1:] != bounded[:-1]).reshape(-1, 2)
