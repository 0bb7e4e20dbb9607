"""Progress: how long-running work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, e.g. in clips."""
