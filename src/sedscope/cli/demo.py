"""``sedscope demo``: from files to results, on simulated data; or the data of an alarm product."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import progress_bar

if TYPE_CHECKING:
    from .. import Evaluation, Scores
    from ..data.ground_truth import GroundTruth

_SYSTEMS = (("system_a", "scores", 0.75, 1), ("system_b", "other_scores", 0.6, 2))
"""The name of each system, the folder of its scores, its quality and its seed."""
_ALARM_SYSTEMS = (("old.store", 0.75, 1), ("new.store", 0.9, 2))
"""The scores of each release of an alarm product, its quality and its seed."""
_ALARM_SOUNDS = {"Cry": (1.0, 6.0), "Glass": (0.5, 1.5), "Smoke_detector": (3.0, 20.0)}
"""The classes of an alarm product, and how many seconds their events take."""
_ENVIRONMENTS = ("home", "office", "street")
_STREET_NOISE = 0.2  # how much less good a system is there


def demo(
    folder: Annotated[Path, typer.Argument(help="New folder for the data and the report.")] = Path(
        "demo"
    ),
    clips: Annotated[int, typer.Option(min=1, help="Number of clips of 10 seconds.")] = 1168,
    hours: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only simulate the data of an alarm product: so many hours without events, and --clips "
            "clips of 30 seconds with one.",
        ),
    ] = None,
) -> None:
    """Simulate two systems, evaluate them and write a report.

    The files have the names that the examples of the documentation use.
    """
    from ..io.atomic_write import filling

    if hours is not None:
        with filling(folder) as written:
            _write_alarm_product(written, folder, hours, clips)
        return
    with filling(folder) as written:
        simulated, truth = _write_truth(written, folder, clips)
        results = {
            name: _evaluate_system(
                name, written / scores, folder / scores, simulated, truth, quality, seed
            )
            for name, scores, quality, seed in _SYSTEMS
        }
        _show_differences(results)
        _show_approximations(written / "scores", truth)
        seconds = _write_report(written / "report.html", results)
    page = (folder / "report.html").resolve().as_uri()
    typer.echo(f"\nA report of both, written in {seconds:.1f} s: {page}")
    program = sys.argv[0] if os.sep in sys.argv[0] else "sedscope"
    typer.echo(
        f"\nThe same from the command line:\n  {program} evaluate {folder}/scores "
        f"{folder}/ground_truth.tsv --durations {folder}/durations.tsv"
    )


def _write_alarm_product(written: Path, folder: Path, hours: int, clips: int) -> None:
    """Write the recordings of an alarm product: references, environments, scores, and two lists of clips."""
    import datetime

    import numpy as np

    from .. import GroundTruth, write_ground_truth, write_scores
    from ..io.side_tables import write_durations

    rng = np.random.default_rng(0)
    start = datetime.datetime(2026, 1, 1)
    events: dict[str, list[tuple[float, float, str]]] = {}
    environments: dict[str, str] = {}
    for number in range(hours + clips):
        environment = str(rng.choice(_ENVIRONMENTS))
        if number < hours:
            clip = f"{environment}_{start + datetime.timedelta(hours=number):%Y%m%d_%H%M%S}"
            events[clip] = []
        else:
            clip = f"event_{number - hours:04d}"
            label = str(rng.choice([*_ALARM_SOUNDS]))
            length = rng.uniform(*_ALARM_SOUNDS[label])
            onset = rng.uniform(4, 28 - length)
            events[clip] = [(round(onset, 3), round(onset + length, 3), label)]
        environments[clip] = environment
    seconds = {clip: 30.0 if of_clip else 3600.0 for clip, of_clip in events.items()}
    truth = GroundTruth.from_dict(events, durations=seconds)
    write_ground_truth(truth, written / "ground_truth.tsv")
    write_durations(truth, written / "durations.tsv")
    rows = [f"{clip}\t{environment}\n" for clip, environment in environments.items()]
    (written / "environments.tsv").write_text("filename\tgroup\n" + "".join(rows), encoding="utf-8")
    tuning = rng.permutation(len(events)) < len(events) // 2
    for name, chosen in (("tuning.txt", tuning), ("test.txt", ~tuning)):
        lines = [f"{clip}\n" for clip, kept in zip(events, chosen, strict=True) if kept]
        (written / name).write_text("".join(lines), encoding="utf-8")
    for name, quality, seed in _ALARM_SYSTEMS:
        with progress_bar(f"writing {folder / name}") as progress:
            scores = _alarm_scores(truth, environments, quality, seed)
            write_scores(scores, written / name, progress=progress)
    typer.echo(f"{truth!r}, {hours + clips / 120:.0f} hours, written to {folder}")


def _alarm_scores(truth: GroundTruth, environments: dict[str, str], quality: float, seed: int) -> Scores:
    """Simulate a release of an alarm product, which is worse on the street."""
    from .. import Scores, simulate

    indoors, outdoors = (
        simulate.scores(truth, classes=[*_ALARM_SOUNDS], frame=0.5, quality=of_place, seed=seed)
        for of_place in (quality, quality - _STREET_NOISE)
    )
    return Scores.from_function(
        truth.clips,
        lambda clip: (outdoors if environments[clip] == "street" else indoors)[clip].values,
        classes=[*_ALARM_SOUNDS],
        frame=0.5,
        thread_safe=True,
    )


def _write_truth(written: Path, folder: Path, clips: int) -> tuple[GroundTruth, GroundTruth]:
    """Simulate a ground truth and write it. Return it, and what is read back from the files.

    ``written``: where the files are until ``folder`` is complete.
    """
    from .. import read_ground_truth, simulate, write_ground_truth
    from ..io.side_tables import write_durations

    simulated = simulate.ground_truth(clips)
    write_ground_truth(simulated, written / "ground_truth.tsv")
    write_durations(simulated, written / "durations.tsv")
    truth = read_ground_truth(written / "ground_truth.tsv", durations=written / "durations.tsv")
    typer.echo(f"{truth!r}, written to {folder}/ground_truth.tsv\n")
    return simulated, truth


def _evaluate_system(
    name: str,
    written: Path,
    folder: Path,
    simulated: GroundTruth,
    truth: GroundTruth,
    quality: float,
    seed: int,
) -> Evaluation:
    """Write the scores of a simulated system, and evaluate them from the files."""
    from .. import evaluate, read_scores, simulate, write_scores
    from ..data.score_cache import cached
    from ..engines.run import Run
    from ..tasks import presets

    start = time.perf_counter()
    with progress_bar(f"writing {folder}") as progress:
        scores = simulate.scores(simulated, quality=quality, seed=seed)
        write_scores(scores, written, progress=progress)
    between = time.perf_counter()
    with progress_bar(f"evaluating {folder}") as progress:
        scores = cached(read_scores(written))
        result = evaluate(scores, truth, [presets.PSDS1, presets.PSDS2], run=Run(progress=progress))
    evaluated = time.perf_counter()
    typer.echo(
        f"{name}: {result.clips} clips written to {folder} in {between - start:.1f} s, "
        f"read and evaluated in {evaluated - between:.1f} s"
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


def _write_report(path: Path, results: dict[str, Evaluation]) -> float:
    """Write a report of all systems, and return how many seconds that took."""
    start = time.perf_counter()
    (name, first), *others = results.items()
    first.report(path, name=name, others=dict(others))
    return time.perf_counter() - start
