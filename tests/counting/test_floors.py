"""Floors estimated from a sample of clips: the result is the same, right or wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting import request
from sedscope.engines import floor_search
from sedscope.metrics import Metric

from ..support.examples import METRICS
from ..support.random_sets import KINDS, random_set

PSDS = [
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=1.62, unit="minute"),
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=1.62, unit="minute"),
]


@pytest.mark.parametrize("lift", [0.0, 10.0, np.inf])
def test_a_guess_changes_nothing(lift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(160, events_per_minute=4, seed=3)
    made = sed.simulate.scores(truth, frame=0.1, seed=3)
    monkeypatch.setattr(floor_search, "_SAMPLE", 40)
    monkeypatch.setattr(floor_search, "_BYTES_BEFORE_FLOORS", 0)
    sampled = {truth.clips[i] for i in np.linspace(0, 159, 40).astype(int)}
    reads: list[str] = []

    def load(clip: str) -> sed.ClipScores:
        """Where the clips of the sample lie higher than all others, the guess is too high."""
        reads.append(clip)
        loud = np.float32(lift if clip in sampled else 0)
        return sed.ClipScores.from_ticks(made[clip].values + loud, made[clip].ticks)

    lazy = sed.Scores.from_function(truth.clips, load, classes=made.classes)
    arrays = {clip: load(clip).values for clip in truth.clips}
    held = sed.Scores.from_arrays(arrays, classes=made.classes, frame=0.1)
    reads.clear()
    found, expected = sed.evaluate(lazy, truth, PSDS), sed.evaluate(held, truth, PSDS)
    assert found.scalars() == expected.scalars()
    times_read = 2 if lift else 1
    assert len(reads) == 160 * times_read + 40 + 1
    for psds in PSDS:
        for label in found.classes:
            one, other = (result[psds].per_class[label].curve for result in (found, expected))
            np.testing.assert_array_equal(one.scores, other.scores)
            assert (
                found.counts[psds.criterion][label].floor == expected.counts[psds.criterion][label].floor
            )


def test_threads_find_the_same_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(40, events_per_minute=4, seed=3)
    scores = sed.simulate.scores(truth, frame=0.1, seed=3)
    expected = sed.evaluate(scores, truth, PSDS, run=sed.Run(threads=1)).deltas
    monkeypatch.setattr(request, "_WORTH_THREADS", 0)
    for threads in (2, 3, 16):
        deltas = sed.evaluate(scores, truth, PSDS, run=sed.Run(threads=threads)).deltas
        for psds in PSDS:
            assert np.isfinite(expected[psds.criterion].floors).any()
            np.testing.assert_array_equal(deltas[psds.criterion].floors, expected[psds.criterion].floors)


def test_many_recordings_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(60, events_per_minute=4, seed=4)
    made = sed.simulate.scores(truth, frame=0.1, seed=4)
    monkeypatch.setattr(floor_search, "_SAMPLE", 20)

    def pieces(clip: str) -> sed.ClipPieces:
        return sed.ClipPieces(lambda: np.array_split(made[clip].values, 3), edges=made[clip].edges)

    cut = sed.Scores.from_function(truth.clips, pieces, classes=made.classes)
    expected = sed.evaluate(made, truth, PSDS).scalars()
    assert sed.evaluate(cut, truth, PSDS).scalars() == expected
    monkeypatch.setattr(floor_search, "_BYTES_BEFORE_FLOORS", 0)
    assert sed.evaluate(cut, truth, PSDS).scalars() == expected


def quiet_and_loud() -> tuple[sed.Scores, sed.GroundTruth]:
    """A reference below many false alarms, so that a floor between them hides it."""
    clips = [f"c{i:02}" for i in range(40)]
    events: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in clips}
    events["c00"], events["c01"] = [(0, 1, "Dog")], [(0, 1, "Dog")]
    values = {clip: [[0.9 - 0.01 * i], [0.0]] for i, clip in enumerate(clips)}
    values["c01"] = [[0.2], [0.0]]
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 2.0))
    return sed.Scores.from_arrays(values, classes=["Dog"], frame=1.0), truth


FEW = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=3, unit="minute")
MANY = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=60, unit="minute")
PRUNED = "was not counted: its counts are complete only above a score of"


@pytest.mark.parametrize(
    "metric", [MANY, sed.AveragePrecision(FEW.criterion), sed.BestFScore(FEW.criterion, average="micro")]
)
def test_deltas_that_were_pruned_for_another_metric_are_refused(metric: Metric[Any]) -> None:
    scores, truth = quiet_and_loud()
    pruned = sed.evaluate(scores, truth, FEW).deltas[FEW.criterion]
    assert np.isfinite(pruned.floors).all()
    with pytest.raises(sed.SedscopeError, match=PRUNED):
        sed.evaluate_deltas(pruned, metric)
    with pytest.raises(sed.SedscopeError, match=PRUNED):
        metric.measure(pruned.counts())
    assert sed.evaluate_deltas(pruned, FEW).scalars() == sed.evaluate(scores, truth, FEW).scalars()
    at_a_threshold = sed.FScore(FEW.criterion, 0.85)
    expected = sed.evaluate(scores, truth, at_a_threshold).scalars()
    assert sed.evaluate_deltas(pruned, at_a_threshold).scalars() == expected


def test_readers_of_pruned_counts() -> None:
    scores, truth = quiet_and_loud()
    evaluation = sed.evaluate(scores, truth, FEW)
    counts = evaluation.counts[FEW.criterion]
    refused: list[Callable[[], object]] = [
        lambda: sed.choose(counts),
        lambda: sed.choose(counts, max_false_alarms=3600),
        lambda: sed.choose(counts, min_recall=1, max_false_alarms=60),
        lambda: sed.curves.precision_recall_curve(counts["Dog"]),
        lambda: sed.curves.precision_recall_curve(counts.pooled()),
    ]
    for read in refused:
        with pytest.raises(sed.SedscopeError, match=PRUNED):
            read()
    everywhere = sed.deltas(scores, truth, FEW.criterion).counts()
    few = sed.choose(counts, max_false_alarms=60)
    assert few.thresholds == sed.choose(everywhere, max_false_alarms=60).thresholds


def test_merged_deltas_are_read_above_the_highest_floor() -> None:
    scores, truth = quiet_and_loud()
    halves = [sed.deltas(scores, truth, FEW.criterion, clips=truth.clips[i::2]) for i in (0, 1)]
    merged = halves[0].above(np.array([0.7])).merge(halves[1])
    expected = sed.evaluate(scores, truth, FEW).scalars()
    assert sed.evaluate_deltas(merged, FEW).scalars() == expected
    with pytest.raises(sed.SedscopeError, match=PRUNED):
        sed.evaluate_deltas(merged, MANY)
    with pytest.raises(
        sed.SedscopeError, match=PRUNED
    ):  # its own clips exceeded the limit, these do not
        sed.evaluate_deltas(merged.of_clips(np.arange(40) >= 35), FEW)
    assert sed.evaluate_deltas(halves[0].merge(halves[1]), MANY).scalars() == (
        sed.evaluate(scores, truth, MANY).scalars()
    )


def test_a_floor_at_a_score_of_many_clips_holds() -> None:
    _, truth = quiet_and_loud()
    saturated = sed.Scores.from_arrays(
        {clip: [[1.0], [0.0]] for clip in truth.clips}, classes=["Dog"], frame=1.0
    )
    evaluation = sed.evaluate(saturated, truth, FEW)
    deltas = evaluation.deltas[FEW.criterion]
    assert np.isfinite(deltas.floors).all()
    assert sed.evaluate_deltas(deltas, FEW).scalars() == evaluation.scalars()


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_pruned_deltas_give_the_same_value_or_are_refused(kind: str) -> None:
    rng = np.random.default_rng([5, KINDS.index(kind)])
    outcomes: list[str] = []
    for _ in range(6):
        scores, truth = random_set(rng, kind, with_references=4)
        limited = [
            sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=1, unit="second"),
            sed.PSDS(sed.Intersection(0.5, 0.5, 0.5), alpha_ct=1, max_efpr=1, unit="second"),
        ]
        for metric in [*METRICS, *limited]:
            whole = sed.evaluate(scores, truth, metric)
            deltas = whole.deltas[metric.criterion]
            at = rng.choice(np.concatenate([[-np.inf], deltas.tables.detections.scores]))
            pruned = deltas.above(np.full(len(deltas.classes), at, deltas.floors.dtype))
            try:
                found = sed.evaluate_deltas(pruned, metric)
            except sed.SedscopeError as error:
                outcomes.append(str(error))
                continue
            outcomes.append("")
            np.testing.assert_equal(found.scalars(), whole.scalars())
            assert found[metric].thresholds == whole[metric].thresholds
    refusals = [*filter(None, outcomes)]
    assert 0 < len(refusals) < len(outcomes)
    assert all("was not counted" in text or "was counted above" in text for text in refusals)


def test_substitutions_that_were_not_counted_are_refused() -> None:
    scores, truth = quiet_and_loud()
    deltas = sed.deltas(scores, truth, sed.Collar())
    for metric in (sed.ErrorRate(sed.Collar(), average="micro"), sed.BestErrorRate(sed.Collar())):
        with pytest.raises(sed.SedscopeError, match="counts substitutions, which were not counted"):
            sed.evaluate_deltas(deltas, metric)[metric].average("micro")
    alone = sed.ErrorRate(sed.Intersection(0.5, 0.5))
    with pytest.raises(sed.SedscopeError, match="substitutions, which are not defined"):
        sed.evaluate(scores, truth, alone)[alone].average("micro")
