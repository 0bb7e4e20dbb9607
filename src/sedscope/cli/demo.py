"""``sedscope demo``: from files to results, on simulated data; or the data of a walk-through."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import SedscopeError
from .options.arguments import progress_bar
from .options.groups import argument, option

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores

_SYSTEMS = {"system_a": ("scores", 0.75, 1), "system_b": ("other_scores", 0.6, 2)}
"""The folder of the scores of each system, its quality and its seed."""
_ALARM_SYSTEMS = (("old.store", 0.75, 1), ("new.store", 0.9, 2))
"""The scores of each release of an alarm product, its quality and its seed."""
_ALARM_SOUNDS = {"Cry": (1.0, 6.0), "Glass": (0.5, 1.5), "Smoke_detector": (3.0, 20.0)}
"""The classes of an alarm product, and how many seconds their events take."""
_ENVIRONMENTS = ("home", "office", "street")
_STREET_NOISE = 0.2  # how much less good a system is there
_BIRDS = {"Great Tit": 40, "Eurasian Blackbird": 25, "Tawny Owl": 12, "Eurasian Wren": 8}
"""Species, and how many calls a recording has on average."""
_SITES = ("creek", "forest", "garden", "marsh", "ridge")
_NIGHT = 600.0  # seconds of a recording
_WINDOW = 3.0
_ANNOTATED = 4  # one of so many recordings is annotated
_FALSE = {"marsh": 0.12, "creek": 0.08}  # shares of windows without a call that have a detection


def demo(
    *,
    folder: Path = argument("New folder for the data and the report.", default=Path("demo")),
    clips: int = option(1168, "Number of clips of 10 seconds.", min=1),
    hours: int | None = option(
        None,
        "Only simulate the data of an alarm product: so many hours without events, and --clips "
        "clips of 30 seconds with one.",
        min=1,
    ),
    recordings: int | None = option(
        None,
        "Only simulate what BirdNET finds in so many recordings of ten minutes, in two of its "
        "formats, with all calls and the annotations of some recordings.",
        min=5,
    ),
) -> None:
    """Simulate two systems, evaluate them and write a report.

    The files have the names that the examples of the documentation use.
    """
    from .. import evaluate, read_ground_truth, read_scores, simulate, write_ground_truth, write_scores
    from ..data.score_cache import cached
    from ..engines.run import Run
    from ..io.atomic_write import filling
    from ..io.side_tables import write_durations

    if hours is not None and recordings is not None:
        raise SedscopeError("Give either --hours or --recordings.")
    if recordings is not None:
        with filling(folder) as written:
            _write_birds(written, folder, recordings)
        return
    if hours is not None:
        with filling(folder) as written:
            _write_alarm_product(written, folder, hours, clips)
        return
    with filling(folder) as written:
        simulated = simulate.ground_truth(clips)
        write_ground_truth(simulated, written / "ground_truth.tsv")
        write_durations(simulated, written / "durations.tsv")
        truth = read_ground_truth(written / "ground_truth.tsv", durations=written / "durations.tsv")
        typer.echo(f"{truth!r}, written to {folder}/ground_truth.tsv")
        results = {}
        for name, (scores, quality, seed) in _SYSTEMS.items():
            with progress_bar(f"writing {folder / scores}") as progress:
                system = simulate.scores(simulated, quality=quality, seed=seed)
                write_scores(system, written / scores, progress=progress)
            with progress_bar(f"evaluating {folder / scores}") as progress:
                system = cached(read_scores(written / scores))
                results[name] = evaluate(system, truth, run=Run(progress=progress))
            typer.echo(f"\n{name}, written to {folder / scores}\n{results[name].table()}")
        (name, first), *others = results.items()
        first.report(written / "report.html", name=name, others=dict(others))
    typer.echo(f"\nA report of both: {(folder / 'report.html').resolve().as_uri()}")
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


def _write_birds(written: Path, folder: Path, recordings: int) -> None:
    """Write what BirdNET finds in recordings at five sites, the calls in them, and some annotations."""
    import numpy as np

    from .. import write_events
    from ..io.side_tables import write_durations

    rng = np.random.default_rng(0)
    sites = {
        f"{_SITES[i % len(_SITES)]}_{i // len(_SITES):02d}": _SITES[i % len(_SITES)]
        for i in range(recordings)
    }
    calls: dict[str, list[tuple[float, float, str]]] = {}
    windows: dict[str, list[tuple[float, float, str, float]]] = {}
    starts = np.arange(0, _NIGHT, _WINDOW)
    for clip, site in sites.items():
        calls[clip], windows[clip] = [], []
        for species, mean in _BIRDS.items():
            onsets = np.sort(rng.uniform(0, _NIGHT - 2, rng.poisson(mean)))
            offsets = onsets + rng.uniform(0.5, 1.5, len(onsets))
            kept = np.r_[True, onsets[1:] > offsets[:-1]][: len(onsets)]
            times = np.round(np.stack([onsets, offsets], 1)[kept], 2)
            calls[clip] += [(onset, offset, species) for onset, offset in times.tolist()]
            shared = np.minimum(times[:, 1], starts[:, None] + _WINDOW) - np.maximum(
                times[:, 0], starts[:, None]
            )
            heard = (shared >= np.minimum(0.5, times[:, 1] - times[:, 0])).any(1)
            false = ~heard & (rng.random(len(starts)) < _FALSE.get(site, 0.04))
            logits = np.where(
                heard, rng.normal(1.6, 1.4, len(starts)), rng.normal(-1.2, 1.0, len(starts))
            )
            confidences = np.round(1 / (1 + np.exp(-logits)), 4)
            for k in np.flatnonzero((heard | false) & (confidences >= 0.1)).tolist():
                start = float(starts[k])
                windows[clip].append((start, start + _WINDOW, species, float(confidences[k])))
        calls[clip].sort()
        windows[clip].sort()
    durations = dict.fromkeys(sites, _NIGHT)
    write_durations(durations, written / "durations.tsv")
    rows = [f"{clip},{site}\n" for clip, site in sites.items()]
    (written / "sites.csv").write_text("filename,group\n" + "".join(rows), encoding="utf-8")
    write_events(calls, written / "calls.tsv")
    write_events(windows, written / "birdnet.csv", format="birdnet")
    selections = written / "birdnet.selection.table.txt"
    write_events(windows, selections, format="birdnet_raven", durations=durations)
    overlooked = {
        clip: [call for i, call in enumerate(of_clip) if i % 15] for clip, of_clip in calls.items()
    }
    annotated = {clip: overlooked[clip] for clip in [*sites][::_ANNOTATED]}
    write_events(annotated, written / "raven", format="raven")
    (written / "annotated.txt").write_text("".join(f"{clip}\n" for clip in annotated), encoding="utf-8")
    number = sum(map(len, windows.values()))
    typer.echo(f"{number} windows with a detection in {recordings} recordings, written to {folder}")
