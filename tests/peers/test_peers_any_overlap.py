"""timescoring, the library of SzCORE, as the judge of any overlap at thresholds.

It rounds times to tenths of a second. All times here are multiples of half a second, which it leaves as they
are and which have no rounding errors. ``docs/differences.md`` says where its rounding matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.peers.judge_process import Verdict, judge

THRESHOLDS = [0.1, 0.3, 0.5, 0.7, 0.9]
CRITERIA = [
    sed.AnyOverlap(),
    sed.AnyOverlap(before=30, after=60, merge_gap=90, split=300),
    sed.AnyOverlap(before=2, after=5.5, merge_gap=4.5),
    sed.AnyOverlap(after=1, split=7.5),
    sed.AnyOverlap(before=0.5, merge_gap=2, split=11),
]
CASES = {f"{i}-{seed}": (criterion, seed) for i, criterion in enumerate(CRITERIA) for seed in range(6)}

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Case:
    scores: sed.Scores
    truth: sed.GroundTruth
    criterion: sed.AnyOverlap

    def question(self) -> dict[str, Any]:
        names = ("before", "after", "merge_gap", "split")
        rule = {name: getattr(self.criterion, name) for name in names}
        return {"judge": "any overlap", "thresholds": THRESHOLDS, **rule}


def made_up(criterion: sed.AnyOverlap, seed: int) -> Case:
    """Some clips of up to half an hour with smooth scores."""
    rng = np.random.default_rng([seed, CRITERIA.index(criterion)])
    arrays, events, durations = {}, {}, {}
    for clip in ("a", "b", "c"):
        frames = int(rng.integers(20, 3600 if seed % 2 else 200))
        width = int(rng.integers(1, 20))
        noise = rng.random((frames + width, 2))
        sums = np.cumsum(noise, axis=0)
        means = (sums[width:] - sums[:-width]) / width
        arrays[clip] = np.round(0.5 + (means - 0.5) * np.sqrt(width), 1)
        bounds = np.unique(rng.integers(0, frames + 1, 2 * int(rng.integers(0, 12))))
        pairs = bounds[: len(bounds) // 2 * 2].reshape(-1, 2) / 2
        events[clip] = [(onset, offset, "sz") for onset, offset in pairs.tolist()]
        durations[clip] = frames / 2
    scores = sed.Scores.from_arrays(arrays, classes=["sz", "other"], frame=0.5)
    return Case(scores, sed.GroundTruth.from_dict(events, durations=durations), criterion)


@pytest.fixture(scope="module")
def judged(
    peers_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Case, Verdict]]:
    cases = {name: made_up(*of_case) for name, of_case in CASES.items()}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("any_overlap"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.mark.parametrize("name", CASES)
def test_counts_at_thresholds(judged: dict[str, tuple[Case, Verdict]], name: str) -> None:
    case, verdict = judged[name]
    counts = sed.deltas(case.scores, case.truth, case.criterion).counts()
    for label, of_class in counts.items():
        tallies = [of_class.tally_at(threshold) for threshold in THRESHOLDS]
        own = [(tally.tp, tally.fp, of_class.references) for tally in tallies]
        assert own == [tuple(row) for row in verdict[label].tolist()]


PINNED: dict[str, tuple[Any, ...]] = {
    "an overlap of 0.04 s": ([(100, 110)], [(109.96, 115)], None, (0, 1, 1), (1, 0, 1)),
    "an overlap of 0.06 s": ([(100, 110)], [(109.94, 115)], None, (1, 0, 1), (1, 0, 1)),
    "a short detection": ([(100, 110)], [(105, 105.04)], None, (0, 1, 1), (1, 0, 1)),
    "a gap at the limit": ([(0.1, 0.2), (0.3, 0.5)], [(150, 151)], 0.1, (0, 1, 1), (0, 1, 2)),
}
"""References, detections and ``merge_gap``; what timescoring and sedscope count."""


@pytest.fixture(scope="module")
def pinned(
    peers_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Case, Verdict]]:
    cases = {}
    for name, (references, detected, merge_gap, _, _) in PINNED.items():
        edges = [0, *(time for event in detected for time in event), 200]
        clip = sed.ClipScores(np.array([[0.0], [1.0], [0.0]]), edges=edges)
        scores = sed.Scores({"a": None}, {"a": clip}.__getitem__, classes=["sz"])
        events = {"a": [(on, off, "sz") for on, off in references]}
        truth = sed.GroundTruth.from_dict(events, durations={"a": 200})
        cases[name] = Case(scores, truth, sed.AnyOverlap(merge_gap=merge_gap))
    verdicts = judge(peers_python, tmp_path_factory.mktemp("pinned"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.mark.parametrize("name", PINNED)
def test_differences_by_rounding(pinned: dict[str, tuple[Case, Verdict]], name: str) -> None:
    case, verdict = pinned[name]
    *_, theirs, ours = PINNED[name]
    of_class = sed.deltas(case.scores, case.truth, case.criterion).counts()["sz"]
    tally = of_class.tally_at(0.5)
    assert (tally.tp, tally.fp, of_class.references) == ours
    assert tuple(verdict["sz"][THRESHOLDS.index(0.5)].tolist()) == theirs
