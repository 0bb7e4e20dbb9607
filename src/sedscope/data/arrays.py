"""Array types that every package shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ScoreArray = NDArray[np.float32 | np.float64]
