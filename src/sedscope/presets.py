"""Metrics with established parameters."""

from __future__ import annotations

from .criteria import Intersection
from .metrics import PSDS

PSDS1 = PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1.0)
"""PSDS scenario 1 of DCASE Task 4, 2021 to 2023: the system must localise well in time."""

PSDS2 = PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1.0)
"""PSDS scenario 2 of DCASE Task 4, 2021 to 2023: the system must not confuse classes."""
