"""``sedscope demo``: the main job, from files to results, on simulated data."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SedscopeError

if TYPE_CHECKING:
    from .. import Evaluation
    from ..data.ground_truth import GroundTruth


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write the data; must not exist")] = Path(
        "demo"
    ),
    clips: Annotated[int, typer.Option(min=1, help="Number of clips of 10 seconds")] = 1168,
) -> None:
    """Simulate two systems, write their scores, evaluate them, show what thresholds hide, and write a
    report of both."""
    from .. import read_ground_truth, write_ground_truth
    from ..data import simulate
    from ..io.durations import write_durations

    if folder.exists():
        raise SedscopeError(f"{folder} exists already: choose another folder, or remove it")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise SedscopeError(f"cannot write to {folder}: {error.strerror or error}") from None
    simulated = simulate.ground_truth(clips)
    write_ground_truth(simulated, folder / "ground_truth.tsv")
    write_durations(simulated, folder / "durations.tsv")
    truth = read_ground_truth(folder / "ground_truth.tsv", durations=folder / "durations.tsv")
    typer.echo(f"{truth!r}, written to {folder}/ground_truth.tsv\n")

    results = {}
    for name, quality, seed in (("system_a", 0.75, 1), ("system_b", 0.6, 2)):
        results[name] = _evaluate_system(folder / name, simulated, truth, quality, seed)
    _compare(results)
    _approximate(folder / "system_a", truth)
    start = time.perf_counter()
    first, second = results.values()
    first.report(folder / "report.html", name="system_a", others={"system_b": second})
    page = (folder / "report.html").resolve()
    typer.echo(f"\nA report of both, written in {time.perf_counter() - start:.1f} s: {page.as_uri()}")
    program = sys.argv[0] if os.sep in sys.argv[0] else "sedscope"
    typer.echo(
        f"\nThe same from the command line:\n  {program} evaluate {folder}/system_a "
        f"{folder}/ground_truth.tsv --durations {folder}/durations.tsv"
    )


def _evaluate_system(
    folder: Path, simulated: GroundTruth, truth: GroundTruth, quality: float, seed: int
) -> Evaluation:
    """Write the scores of a system, and evaluate them from the files."""
    from .. import evaluate, read_scores, write_scores
    from ..data import simulate
    from ..data.cached_scores import cached
    from ..tasks import presets
    from .progress import progress_bar

    start = time.perf_counter()
    with progress_bar(f"writing {folder}") as progress:
        write_scores(simulate.scores(simulated, quality=quality, seed=seed), folder, progress=progress)
    written = time.perf_counter()
    with progress_bar(f"evaluating {folder}") as progress:
        scores = cached(read_scores(folder))
        result = evaluate(scores, truth, [presets.PSDS1, presets.PSDS2], progress=progress)
    done = time.perf_counter()
    typer.echo(
        f"{folder}: {result.clips} clips written in {written - start:.1f} s, "
        f"read and evaluated in {done - written:.1f} s"
    )
    return result


def _compare(results: dict[str, Evaluation]) -> None:
    a, b = results.values()
    names = list(results)
    for number, metric in enumerate(a, 1):
        typer.echo(f"\nPSDS {number}: {metric!r}")
        typer.echo(f"  {'class':28}{names[0]:>10}{names[1]:>10}{'difference':>12}")
        rows = {label: (a[metric].per_class[label], b[metric].per_class[label]) for label in a.classes}
        for label, (one, other) in {**rows, "overall": (a[metric], b[metric])}.items():
            difference = one.value - other.value
            typer.echo(f"  {label:28}{one.value:10.4f}{other.value:10.4f}{difference:+12.4f}")


def _approximate(folder: Path, truth: GroundTruth) -> None:
    """How far a few linear thresholds are from all thresholds."""
    import numpy as np

    from .. import deltas, read_scores
    from ..tasks import presets

    counts = deltas(read_scores(folder), truth, presets.PSDS1.criterion).counts()
    typer.echo(f"\n{folder.name}, PSDS 1 with a choice of thresholds instead of all:")
    exact = presets.PSDS1.measure(counts).value
    for number in (50, 500):
        thresholds = (np.arange(number) + 0.5) / number
        value = presets.PSDS1.measure(counts.at(thresholds)).value
        typer.echo(f"  {number:4} linear thresholds  {value:.4f}  ({value - exact:+.4f})")
    typer.echo(f"  every threshold         {exact:.4f}")
