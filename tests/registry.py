"""One example or more of every metric: what must hold for all of them is tested over this list."""

from __future__ import annotations

import sedscope as sed
from sedscope.metrics import Metric

# rates are per second and allowed to be high, because random clips are short
METRICS: list[Metric] = [
    sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=1e5, unit="second"),
    sed.PSDS(sed.Intersection(0.5, 0.3), alpha_st=1, max_efpr=1e3, unit="second", oracle=False),
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=1e5, unit="second"),
]
