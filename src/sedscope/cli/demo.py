"""``sedscope demo``: from files to results, on simulated data."""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SedscopeError
from .options import progress_bar

if TYPE_CHECKING:
    from .. import Evaluation
    from ..data.ground_truth import GroundTruth

_WRITTEN = ("ground_truth.tsv", "durations.tsv", "scores", "other_scores", "report.html")


def demo(
    folder: Annotated[Path, typer.Argument(help="New folder for the data and the report.")] = Path(
        "demo"
    ),
    clips: Annotated[int, typer.Option(min=1, help="Number of clips of 10 seconds.")] = 1168,
) -> None:
    """Simulate two systems, evaluate them and write a report.

    The files have the names that the examples of the documentation use.
    """
    _make_folder(folder)
    try:
        _fill(folder, clips)
    except BaseException:
        for name in _WRITTEN:
            shutil.rmtree(folder / name, ignore_errors=True)
            with suppress(OSError):
                (folder / name).unlink()
        with suppress(OSError):  # someone else has put files there
            folder.rmdir()
        raise


def _fill(folder: Path, clips: int) -> None:
    simulated, truth = _write_truth(folder, clips)
    systems = (("system_a", "scores", 0.75, 1), ("system_b", "other_scores", 0.6, 2))
    results = {
        name: _evaluate_system(name, folder / scores, simulated, truth, quality, seed)
        for name, scores, quality, seed in systems
    }
    _show_differences(results)
    _show_approximations(folder / "scores", truth)
    _write_report(folder / "report.html", results)
    program = sys.argv[0] if os.sep in sys.argv[0] else "sedscope"
    typer.echo(
        f"\nThe same from the command line:\n  {program} evaluate {folder}/scores "
        f"{folder}/ground_truth.tsv --durations {folder}/durations.tsv"
    )


def _make_folder(folder: Path) -> None:
    if folder.exists():
        raise SedscopeError(f"{folder} already exists. Choose another folder, or remove it.")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise SedscopeError(f"Cannot write to {folder}: {error.strerror or error}.") from None


def _write_truth(folder: Path, clips: int) -> tuple[GroundTruth, GroundTruth]:
    """Simulate a ground truth and write it. Return it, and what is read back from the files."""
    from .. import read_ground_truth, simulate, write_ground_truth
    from ..io.side_tables import write_durations

    simulated = simulate.ground_truth(clips)
    write_ground_truth(simulated, folder / "ground_truth.tsv")
    write_durations(simulated, folder / "durations.tsv")
    truth = read_ground_truth(folder / "ground_truth.tsv", durations=folder / "durations.tsv")
    typer.echo(f"{truth!r}, written to {folder}/ground_truth.tsv\n")
    return simulated, truth


def _evaluate_system(
    name: str, folder: Path, simulated: GroundTruth, truth: GroundTruth, quality: float, seed: int
) -> Evaluation:
    """Write the scores of a simulated system, and evaluate them from the files."""
    from .. import evaluate, read_scores, simulate, write_scores
    from ..data.score_cache import cached
    from ..engines.run import Run
    from ..tasks import presets

    start = time.perf_counter()
    with progress_bar(f"writing {folder}") as progress:
        write_scores(simulate.scores(simulated, quality=quality, seed=seed), folder, progress=progress)
    written = time.perf_counter()
    with progress_bar(f"evaluating {folder}") as progress:
        scores = cached(read_scores(folder))
        result = evaluate(scores, truth, [presets.PSDS1, presets.PSDS2], run=Run(progress=progress))
    evaluated = time.perf_counter()
    typer.echo(
        f"{name}: {result.clips} clips written to {folder} in {written - start:.1f} s, "
        f"read and evaluated in {evaluated - written:.1f} s"
    )
    return result


def _show_differences(results: dict[str, Evaluation]) -> None:
    """Print the values of both systems and their differences."""
    a, b = results.values()
    names = list(results)
    for metric, name in a.names.items():
        typer.echo(f"\n{name}: {metric!r}")
        typer.echo(f"  {'class':28}{names[0]:>10}{names[1]:>10}{'difference':>12}")
        rows = {label: (a[metric].per_class[label], b[metric].per_class[label]) for label in a.classes}
        for label, (of_a, of_b) in {**rows, "overall": (a[metric], b[metric])}.items():
            difference = of_b.value - of_a.value
            typer.echo(f"  {label:28}{of_a.value:10.4f}{of_b.value:10.4f}{difference:+12.4f}")


def _show_approximations(folder: Path, truth: GroundTruth) -> None:
    """Print how far a few linear thresholds are from all thresholds."""
    import numpy as np

    from .. import deltas, read_scores
    from ..tasks import presets

    counts = deltas(read_scores(folder), truth, presets.PSDS1.criterion).counts()
    typer.echo("\nsystem_a, PSDS 1 with some thresholds instead of all:")
    exact = presets.PSDS1.measure(counts).value
    for number in (50, 500):
        thresholds = (np.arange(number) + 0.5) / number
        value = presets.PSDS1.measure(counts.at(thresholds)).value
        typer.echo(f"  {number:4} linear thresholds  {value:.4f}  ({value - exact:+.4f})")
    typer.echo(f"  every threshold         {exact:.4f}")


def _write_report(path: Path, results: dict[str, Evaluation]) -> None:
    start = time.perf_counter()
    (name, first), *others = results.items()
    first.report(path, name=name, others=dict(others))
    seconds = time.perf_counter() - start
    typer.echo(f"\nA report of both, written in {seconds:.1f} s: {path.resolve().as_uri()}")
