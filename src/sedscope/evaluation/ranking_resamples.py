"""How many resamples a ranking needs, so that differences of systems can be significant."""

from __future__ import annotations

from ..data.size_limits import machine_memory
from ..errors import counted
from ..resampling.resampling import MOST_RESAMPLES, Resampling
from .p_values import FEWEST_RESAMPLES, resamples_needed

_PART_OF_MEMORY = 4  # more resamples than asked for may take a quarter of it


def enough_resamples(systems: int, clips: int, classes: int, metrics: int, confidence: float) -> int:
    """Return how many resamples all pairs need, or how many fit into a part of the memory.

    The number is doubled, so that a few more systems seldom change it, and what was measured stays valid.
    """
    bytes_of_a_resample = 4 * clips + 8 * (metrics * (1 + classes) + systems)
    most = min(MOST_RESAMPLES, machine_memory() / _PART_OF_MEMORY / bytes_of_a_resample)
    needed = resamples_needed(systems * (systems - 1) // 2, confidence)
    number = FEWEST_RESAMPLES
    while number < needed and 2 * number <= most:
        number *= 2
    return number


def few_resamples_note(pairs: int, resampling: Resampling) -> list[str]:
    """Note that no difference can be significant, because the correction needs more resamples."""
    needed = resamples_needed(pairs, resampling.confidence)
    if needed <= resampling.n:
        return []
    return [
        f"All systems tie, because no p value can be significant with {counted(resampling.n, 'resample')}: "
        f"the correction for {counted(pairs, 'pair')} of systems needs {needed}. Draw more with n= "
        "(--bootstrap)."
    ]
