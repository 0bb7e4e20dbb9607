"""The report: one HTML file in which a reader can explore an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..engines.run import Run
from ..evaluation.result import Evaluation
from ..io.atomic_write import write_text
from ..ranking.comparison_result import Comparison

__all__ = ["show_report", "write_report"]


def write_report(
    evaluations: Mapping[str, Evaluation],
    path: str | Path,
    *,
    comparison: Comparison | None = None,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    run: Run | None = None,
) -> None:
    """Write an HTML report of one or more systems.

    The page works offline and loads nothing. It shows curves, counts at every slider position, error
    types and clips.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        The evaluation of each system, by name. All systems must share metrics, classes and clips.
    path : str or Path
        The file to write.
    comparison : Comparison, optional
        Differences between the systems with their intervals.
    clips_shown : int or iterable of str, default 60
        How many clips a reader can browse, or which ones. Of a number, up to one in six are clips
        without errors, and the others are those with the most errors.
    audio : str or Path, optional
        A folder with audio files, named after their clips. Those of the clips shown become part of the
        page, up to 30 MB, which draws their spectrograms. Of long recordings, only parts around errors
        may fit; cutting formats other than WAV needs soundfile (``pip install 'sedscope[audio]'``).
    run : Run, optional
        How a further pass over the clips runs, if the page needs one.

    Raises
    ------
    SedscopeError
        If the systems were evaluated in different ways, or if a named clip was not evaluated.

    See Also
    --------
    Evaluation.report, Comparison.report

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(3, classes=2)
    >>> evaluation = sed.evaluate(sed.simulate.scores(truth), truth, sed.BestFScore(sed.Collar()))
    >>> with TemporaryDirectory() as folder:
    ...     write_report({"baseline": evaluation}, Path(folder) / "report.html")
    """
    from ..io.atomic_write import check_output
    from ..io.locations import location
    from ..io.output_checks import refuse_overwriting
    from .html import render
    from .page_data import build_page

    check_output(location(path))
    refuse_overwriting([path], [audio])
    page = build_page(evaluations, comparison=comparison, clips_shown=clips_shown, audio=audio, run=run)
    write_text(path, render(page))


def show_report(write: Callable[..., None], height: int, options: Mapping[str, Any]) -> None:
    """Show a report: below the cell of a notebook, or else in the browser.

    ``write`` writes it to a path, with ``options``.
    """
    import tempfile
    import webbrowser
    from importlib import import_module

    from ..errors import issue_warnings
    from ..escaping import html
    from ..progress import in_notebook

    if in_notebook():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "report.html", **options)
            page = (Path(folder) / "report.html").read_text(encoding="utf-8")
        # The page is its own document: neither its style nor its script can reach the notebook.
        frame = (
            f'<iframe srcdoc="{html(page)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {int(height)}px; border: 0"></iframe>'
        )
        display: Any = import_module("IPython.display").display  # without types in some versions
        display({"text/html": frame, "text/plain": "report"}, raw=True)
        return
    path = Path(tempfile.mkdtemp(prefix="sedscope-")) / "report.html"
    write(path, **options)
    if not webbrowser.open(path.as_uri()):
        issue_warnings([f"No browser could be opened. The report is {path}."], 3)
