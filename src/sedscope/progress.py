"""Progress: how long-running work reports how far it is, and the bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Any, ClassVar, TextIO, TypeAlias

from .errors import SedscopeError, counted, readable
from .escaping import html, one_line

_SECONDS = 0.1  # between two updates
_LOG_SECONDS = 10.0  # between two lines of a log
_WIDTH = 24  # characters of the bar in a terminal


class ProgressBar:
    """Shows how much is done, how fast, and how long the rest takes. Call it with what is done and all.

    The bar never runs backwards: a lower number than before leaves it where it is, unless a new pass
    has begun because the last one was complete or had another size. Then the bar starts again, and says
    which pass it shows. Where the output is neither a notebook nor a terminal, it is a log: a line every
    ten seconds.

    Parameters
    ----------
    title : str
        What is being done.
    unit : tuple of (str, int), default ("", 1)
        What is counted, e.g. ``"system"``, and how many steps each of them has.
    stream : text file, optional
        Where the bar is shown unless it is shown in a notebook; standard error unless given.
    clock : callable, optional
        Returns the time in seconds.

    Examples
    --------
    >>> bar = ProgressBar("Ranking", ("system", 1000))
    >>> bar(12_345, 24_000)
    >>> bar.text()
    'Ranking: 51 % (12 of 24 systems)'
    """

    drawn: ClassVar[ProgressBar | None] = None
    """The bar that stands on a terminal, and is cleared before anything else is written there."""

    def __init__(
        self,
        title: str,
        unit: tuple[str, int] = ("", 1),
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.title = one_line(title)
        self.done = self.total = 0
        self.passes = 1
        self._unit, self._steps = unit
        self._clock = clock
        self._stream = sys.stderr if stream is None else stream
        self._show = self._display()
        self._is_log = self._show == self._log
        self._began = clock()
        self._shown_at = self._began if self._is_log else -_SECONDS

    def __call__(self, done: int, total: int) -> None:
        begins = self.total > 0 and (total != self.total or (done < self.done == self.total))
        now = self._clock()
        if begins:
            self.passes += 1
            self._began = now
        self.done = done if begins else max(done, self.done)
        self.total = total
        at_once = begins or self.done >= self.total
        if self._is_log:  # what takes a moment needs no line
            at_once = self.done >= self.total and self._shown_at > self._began
        pause = _LOG_SECONDS if self._is_log else _SECONDS
        if self._show and (at_once or now - self._shown_at >= pause):
            self._show()
            self._shown_at = now

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 1.0

    def text(self) -> str:
        """Return what the bar says."""
        title = self.title if self.passes == 1 else f"{self.title}, pass {self.passes}"
        done, total = self.done // self._steps, self.total // self._steps
        parts = [f"{done} of {counted(total, self._unit) if self._unit else total}"]
        seconds = self._clock() - self._began
        if self.done and seconds >= 1:
            rate = 60 * self.done / self._steps / seconds
            parts.append(f"{rate:.{0 if rate >= 10 else 1}f} per minute")
            if self.done < self.total:
                parts.append(f"{_duration(seconds * (self.total - self.done) / self.done)} left")
        return f"{title}: {100 * self.done // max(1, self.total)} % ({', '.join(parts)})"

    def clear(self) -> None:
        """Remove the bar from the terminal."""
        if ProgressBar.drawn is self:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            ProgressBar.drawn = None

    def _display(self) -> Callable[[], None] | None:
        """Return what shows the bar, if something does."""
        if in_notebook():
            return self._notebook_display()
        if self._stream is None:
            return None
        return self._draw if self._stream.isatty() else self._log

    def _draw(self) -> None:
        filled = int(_WIDTH * self.share)
        end = "\n" if self.done >= self.total else ""
        self._stream.write(f"\r\x1b[K{'━' * filled}{'─' * (_WIDTH - filled)} {self.text()}{end}")
        self._stream.flush()
        ProgressBar.drawn = None if end else self

    def _log(self) -> None:
        self._stream.write(f"{self.text()}\n")
        self._stream.flush()

    def _notebook_display(self) -> Callable[[], None]:
        display: Any = import_module("IPython.display").display  # without types in some versions
        handle: Any = None

        def show() -> None:
            nonlocal handle
            text = self.text()
            shown = f'<progress value="{self.share:.4f}" max="1"></progress> {html(text)}'
            content = {"text/html": shown, "text/plain": text}
            if handle is None:
                handle = display(content, raw=True, display_id=True)
            else:
                handle.update(content, raw=True)

        return show


def _duration(seconds: float) -> str:
    """Return a time as text.

    >>> _duration(28.3), _duration(90), _duration(7320)
    ('28 s', '1 min 30 s', '2 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def in_notebook() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, e.g. in clips."""
ProgressChoice: TypeAlias = Progress | bool | None
"""What users choose: True for a bar, a function to call, None for problems alone, or False for nothing."""


def as_progress(choice: ProgressChoice, title: str, unit: tuple[str, int] = ("", 1)) -> Progress | None:
    """Return the function that reports progress. ``title``: what the bar says is being done.

    ``unit``: what it counts, and how many steps each of them has.
    """
    if choice is True:
        return ProgressBar(title, unit)
    if choice is False:
        return None
    if choice is None:
        return _nothing
    if not callable(choice):
        raise SedscopeError(
            f"progress={choice!r} is not valid. Choose True for a progress bar, or give a function that "
            "takes the number done and the number of all."
        )
    return choice


def _nothing(_: int, __: int) -> None:
    pass


class ProblemLog:
    """Names parts that cannot be evaluated while the others go on, beside the progress.

    Each is a warning of the logger ``sedscope``, after ten seconds of work: what fails sooner is in the error
    at the end, which names all of them. Without progress nothing is logged, as on a worker, whose problems
    are named by the process that waits for it.
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._problems: dict[str, bool] = {}
        """Whether each was logged."""
        self._begin = monotonic() + _LOG_SECONDS

    def __call__(self, done: int, total: int) -> None:
        """Report the progress."""
        if self._progress:
            self._progress(done, total)
            self.add()

    def add(self, *problems: str) -> None:
        """Name problems, unless they were named before."""
        for problem in problems:
            self._problems.setdefault(problem, False)
        if self._progress is None or monotonic() < self._begin:
            return
        from logging import getLogger

        for problem in [problem for problem, logged in self._problems.items() if not logged]:
            if ProgressBar.drawn:
                ProgressBar.drawn.clear()
            getLogger("sedscope").warning("problem: %s", readable(problem))
            self._problems[problem] = True


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
