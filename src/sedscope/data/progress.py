"""Progress: how long-running work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors import SedscopeError
from ..notebook.progress_bar import ProgressBar

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, e.g. in clips."""
ProgressChoice: TypeAlias = Progress | bool | None
"""What users choose: True for a bar, a function to call, or nothing."""


def as_progress(choice: ProgressChoice, title: str) -> Progress | None:
    """Return the function that reports progress. ``title``: what the bar says is being done."""
    if choice is True:
        return ProgressBar(title)
    if choice is None or choice is False:
        return None
    if not callable(choice):
        raise SedscopeError(
            f"progress={choice!r} is not valid. Choose True for a progress bar, or give a function that "
            "takes the number done and the number of all."
        )
    return choice


class StagedProgress:
    """Reports the stages of some work as one progress, whose total is known in advance.

    It never runs backwards: a stage that begins again, because the clips must be read once more, reports
    nothing until it is further than before.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        """``total``: the sum of the sizes of all stages."""
        self._progress = progress
        self._total = total
        self._done = -1  # nothing was reported
        self._end = 0

    def stage(self, size: int) -> Progress | None:
        """Return the progress of the next stage, which may count in other units."""
        progress, start = self._progress, self._end
        self._end = start + size
        if progress is None:
            return None

        def report(done: int, total: int) -> None:
            reached = start + (size * done // total if total else size)
            if reached > self._done:
                self._done = reached
                progress(reached, self._total)

        return report
