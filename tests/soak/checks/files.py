"""Files of every format: what is written and read back evaluates to the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import sedscope as sed
from sedscope.io.event_files import write_event_set
from sedscope.io.events.files import EVENT_FORMATS
from sedscope.io.events.format import EventSet
from sedscope.io.scores.files import SCORE_FORMATS

from ...support.score_files import TARGETS
from ..case import LABELS, Case, Mismatch
from ..drawing import Drawer
from .check import Check, require_equal, require_same_result

EVENT_NAMES = [
    name
    for name, format in EVENT_FORMATS.items()
    if "times" in format.holds
    and format.label is None
    and name != "biodcase"  # whose clips are named by the time at which they begin
]


def _draw(check: str, formats: list[str]) -> Callable[[Random, str], Case]:
    def draw(rng: Random, seed: str) -> Case:
        """A few clips, a few metrics, a format."""
        drawer = Drawer(rng)
        metrics = [drawer.metric(drawer.criterion()) for _ in range(2)]
        options = {"format": rng.choice(formats)}
        definitions = [*dict.fromkeys(map(repr, metrics))]
        clips = drawer.clips(rng.choice([1, 3, 10]))
        return Case(check, seed, drawer.dtype, clips, definitions, options)

    return draw


def _named(judge: Callable[[Case, str], None]) -> Callable[[Case], Mapping[str, int]]:
    """Mismatches name the format."""

    def named(case: Case) -> Mapping[str, int]:
        format = case.options["format"]
        try:
            judge(case, format)
        except Mismatch as error:
            raise Mismatch(f"{format}, {error.what}", error.detail) from None
        return {format: 1}

    return named


@_named
def judge_scores(case: Case, format: str) -> None:
    """Scores."""
    metrics = [sed.parse_metric(text) for text in case.definitions]
    with TemporaryDirectory() as folder:
        path = Path(folder) / TARGETS[format]
        try:
            sed.write_scores(case.scores, path, format=format)
        except sed.SedscopeError as error:
            if "cannot hold" in str(error):  # it may be refused
                return
            raise
        again = sed.read_scores(path)
        require_equal(sorted(again), sorted(case.scores), "clips")
        require_equal(again.classes, case.scores.classes, "classes")
        for name, clip in case.scores.items():
            require_equal(again[name].ticks.tolist(), clip.ticks.tolist(), "boundaries", name)
        for level in Random(case.seed).sample(case.clips[0].scores[0], 1):
            require_equal(sed.detect(again, level), sed.detect(case.scores, level), "detections", level)
        expected = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))
        require_same_result(sed.evaluate(again, case.truth, metrics, run=sed.Run(threads=1)), expected)


@_named
def judge_events(case: Case, format: str) -> None:
    """Ground truth, and detections with confidences where the format holds them."""
    rng = Random(case.seed)
    metrics = [sed.parse_metric(text) for text in case.definitions]
    if not any(clip.references for clip in case.clips):
        return
    made = EVENT_FORMATS[format]
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("truth" if made.per_clip else "truth.txt")
        sed.write_ground_truth(case.truth, path, format=format, lossy=True)
        truth = sed.read_ground_truth(path, format=format, durations=case.durations)
        expected = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))
        require_same_result(sed.evaluate(case.scores, truth, metrics, run=sed.Run(threads=1)), expected)

        events: dict[str, list[tuple[Any, ...]]] = {
            name: [
                (onset / 1e6, offset / 1e6, LABELS[label], rng.choice([0.25, 0.5, 0.1, rng.random()]))
                for onset, offset, label in clip.references
            ]
            for name, clip in zip(case.names, case.clips, strict=True)
        }
        if "confidences" not in made.holds:
            return
        path = Path(folder) / ("events" if made.per_clip else "events.txt")
        write_event_set(
            EventSet(events, case.durations if made.uses_durations else {}),
            path,
            format=format,
            lossy=True,
        )
        again = sed.read_events(path, format=format)
        systems = [
            sed.Scores.from_events(found, classes=case.classes, clips=case.names)
            for found in (events, again)
        ]
        of_events, of_file = (
            sed.evaluate(system, case.truth, metrics, run=sed.Run(threads=1)) for system in systems
        )
        require_same_result(of_file, of_events)


CHECKS = (
    Check("score_files", 4, _draw("score_files", list(SCORE_FORMATS)), judge_scores, needs=("h5py",)),
    Check("event_files", 3, _draw("event_files", EVENT_NAMES), judge_events),
)
