"""Progress: how long-running work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors import SedscopeError
from ..notebook.progress_bar import ProgressBar

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, e.g. in clips."""
ProgressChoice: TypeAlias = Progress | bool | None
"""What users choose: True for a bar, a function of their own, or nothing."""


def as_progress(choice: ProgressChoice, title: str) -> Progress | None:
    """Return the function that reports progress. ``title``: what the bar says is being done."""
    if choice is True:
        return ProgressBar(title)
    if choice is None or choice is False:
        return None
    if not callable(choice):
        raise SedscopeError(
            f"progress={choice!r} is not valid. Choose True for a progress bar, or give a function of the "
            "number done and the number of all."
        )
    return choice
