"""All checks by name: how much of the time each gets, how its cases are drawn, and how they are judged."""

from __future__ import annotations

from . import counts, files, metrics, operating_points, postprocessings, resamples, ways
from .check import Check

_MODULES = (counts, metrics, operating_points, ways, files, postprocessings, resamples)

CHECKS: dict[str, Check] = {check.name: check for module in _MODULES for check in module.CHECKS}
