"""The script of the page judges each event as the library does, also where several choices are as good."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import sedscope as sed

from ..support.passes import diagnosed
from ..support.project import ROOT
from ..support.report.browser import Browser
from .conftest import page

__all__ = ["page"]

CRITERIA = {
    "onset": sed.Onset(0.05),
    "onset with cross-triggers": sed.Onset(0.02, cross_triggers=True),
    "offset": sed.Collar(None, 0.1, offset_rate=0),
    "collar": sed.Collar(0.05, 0.05, 0.2),
    "IoU": sed.IoU(0.2),
    "strict IoU": sed.IoU(0.5, strict=True, cross_triggers=True),
    "alarm": sed.Alarm(cooldown=0.05, before=0.01, after=0.02),
    "alarm within": sed.Alarm(cooldown=0, within=0.03),
    "intersection": sed.Intersection(0.5, 0.5, cttc=0.3),
}
STEP = 10_000  # microseconds: so coarse that many errors are equal

Events = list[tuple[int, int]]


def events(rng: Random, most: int, *, points: bool) -> Events:
    """Some events, all different, in order."""
    lengths = [0, 0, 1, 2, 5, 8] if points else range(1, 9)
    onsets = (rng.randint(0, 30) for _ in range(rng.randint(0, most)))
    return sorted({(onset * STEP, (onset + rng.choice(lengths)) * STEP) for onset in onsets})


def apart(drawn: Events) -> Events:
    """Those that do not overlap an earlier one."""
    kept: Events = []
    for onset, offset in drawn:
        if not kept or (kept[-1][1] <= onset and kept[-1][0] < onset):
            kept.append((onset, offset))
    return kept


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
def test_error_types_are_those_of_the_library(page: Browser, criterion: Any) -> None:
    rng = Random(repr(criterion))
    scenes, expected = [], []
    for number in range(300):
        points = criterion.judges_points and number % 2 == 0
        detected = events(rng, 6, points=points)
        references, others = (apart(events(rng, 6, points=points)) for _ in range(2))
        in_seconds = [
            (onset / 1e6, offset / 1e6, label)
            for label, side in (("a", references), ("b", others))
            for onset, offset in side
        ]
        truth = sed.GroundTruth.from_dict({"clip": in_seconds}, durations={"clip": 1})
        found = [(onset / 1e6, offset / 1e6, "a") for onset, offset in detected]
        system = sed.ScoredEvents.from_events({"clip": found}, classes=["a", "b"])
        judged = diagnosed(system, truth, "clip", criterion, {"a": 0.5, "b": 0.5})
        scenes.append([criterion.matching_rule(), detected, references, [others]])
        expected.append(
            {
                "references": [event.error_type for event in judged.references if event.label == "a"],
                "detections": [event.error_type for event in judged.detections],
            }
        )
    script = (
        (ROOT / "src/sedscope/report/static/judge.js").read_text(encoding="utf-8").replace("export ", "")
    )
    types = page.run(f"{script}\nreturn arguments[0].map((scene) => judge(...scene));", scenes)
    assert types == expected
    assert {kind for scene in types for kind in scene["references"]} >= {"found", "missed"}
