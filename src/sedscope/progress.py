"""Progress: how long-running work reports how far it is, and the bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Any, TypeAlias

from .errors import SedscopeError
from .escaping import html, one_line

_SECONDS = 0.1  # between two updates
_WIDTH = 24  # characters of the bar in a terminal


class ProgressBar:
    """Shows how much is done. Call it with that number and the number of all.

    The bar never runs backwards: a lower number than before leaves it where it is, unless a new pass
    has begun because the last one was complete or had another size. Then the bar starts again, and says
    which pass it shows. Where the output is neither a notebook nor a terminal, nothing is shown.

    Parameters
    ----------
    title : str
        What is being done.

    Examples
    --------
    >>> bar = ProgressBar("Evaluating")
    >>> bar(1, 2)
    >>> bar(0, 2)
    >>> bar.text()
    'Evaluating: 50 % (1 of 2)'
    """

    def __init__(self, title: str) -> None:
        self.title = one_line(title)
        self.done = self.total = 0
        self.passes = 1
        self._show = _notebook_display() or _terminal_line()
        self._shown_at = -_SECONDS

    def __call__(self, done: int, total: int) -> None:
        begins = self.total > 0 and (total != self.total or (done < self.done == self.total))
        if begins:
            self.passes += 1
        self.done = done if begins else max(done, self.done)
        self.total = total
        complete = self.done >= self.total
        if self._show and (begins or complete or monotonic() - self._shown_at >= _SECONDS):
            self._show(self)
            self._shown_at = monotonic()

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 1.0

    def text(self) -> str:
        """Return what the bar says."""
        title = self.title if self.passes == 1 else f"{self.title}, pass {self.passes}"
        return f"{title}: {100 * self.done // max(1, self.total)} % ({self.done} of {self.total})"


def in_notebook() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def _notebook_display() -> Callable[[ProgressBar], None] | None:
    if not in_notebook():
        return None
    display: Any = import_module("IPython.display").display  # without types in some versions
    handle: Any = None

    def show(bar: ProgressBar) -> None:
        nonlocal handle
        text = bar.text()
        shown = f'<progress value="{bar.share:.4f}" max="1"></progress> {html(text)}'
        content = {"text/html": shown, "text/plain": text}
        if handle is None:
            handle = display(content, raw=True, display_id=True)
        else:
            handle.update(content, raw=True)

    return show


def _terminal_line() -> Callable[[ProgressBar], None] | None:
    stream = sys.stderr
    if stream is None or not stream.isatty():
        return None

    def show(bar: ProgressBar) -> None:
        filled = int(_WIDTH * bar.share)
        end = "\n" if bar.done >= bar.total else ""
        stream.write(f"\r\x1b[K{'━' * filled}{'─' * (_WIDTH - filled)} {bar.text()}{end}")
        stream.flush()

    return show


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
