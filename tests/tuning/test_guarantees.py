"""Requirements that thresholds keep with confidence, for each class and for all classes together."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting.deltas import Deltas
from sedscope.counting.tally import Tally
from sedscope.resampling.exact_limits import (
    binomial_at_most,
    poisson_at_most,
    poisson_lower_limit,
    poisson_upper_limit,
)
from sedscope.tuning.allocation import Frontier, allocate
from sedscope.tuning.guarantees import _Clusters

from ..support.command_line import run, table_rows
from ..support.real_data import desed_scores, desed_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

IOU = sed.IoU(0.1)


@pytest.mark.parametrize("number", [0, 1, 7, 100, 20_000])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.9999])
def test_poisson_limits_are_quantiles_of_chi_square(number: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    limit = poisson_upper_limit(number, confidence)
    assert limit == pytest.approx(stats.chi2.ppf(confidence, 2 * (number + 1)) / 2, rel=1e-11)
    assert poisson_at_most(number, limit) == pytest.approx(stats.poisson.cdf(number, limit), rel=1e-10)
    lower = stats.chi2.ppf(1 - confidence, 2 * number) / 2 if number else 0.0
    assert poisson_lower_limit(number, confidence) == pytest.approx(lower, rel=1e-9)


def test_poisson_limits_of_a_table() -> None:
    # Garwood (1936): one-sided 95 % limits of 0, 1, 2, … events
    limits = [round(poisson_upper_limit(number, 0.95), 3) for number in (0, 1, 2, 3, 10)]
    assert limits == [2.996, 4.744, 6.296, 7.754, 16.962]
    assert poisson_at_most(-1, 3.0) == 0
    assert poisson_at_most(5, 0.0) == 1
    assert poisson_at_most(10**6, 10.0) == pytest.approx(1)


def test_binomial_tails() -> None:
    stats = pytest.importorskip("scipy.stats")
    for trials, share in ((1, 0.5), (20, 0.05), (400, 0.3), (30_000, 0.9)):
        for number in {0, trials // 10, int(trials * share), trials - 1}:
            expected = stats.binom.cdf(number, trials, share)
            assert binomial_at_most(number, trials, share) == pytest.approx(
                expected, rel=1e-8, abs=1e-300
            )
    assert binomial_at_most(3, 3, 0.4) == binomial_at_most(0, 9, 0.0) == 1
    assert binomial_at_most(2, 3, 1.0) == 0


@pytest.mark.parametrize("groups", [None, 7])
def test_dependence_is_the_variance_over_clips(groups: int | None) -> None:
    truth = sed.simulate.ground_truth(30, classes=2, seconds=5, seed=3)
    scores = sed.simulate.scores(truth, seed=3, quality=0.3)
    deltas = sed.deltas(scores, truth, IOU)
    of_clip = None if groups is None else {clip: i % groups for i, clip in enumerate(deltas.clips)}
    units = [*range(30)] if groups is None else [i % groups for i in range(30)]
    clusters = _Clusters(deltas, of_clip)
    parts = [deltas.of_clips(np.array(units) == unit).counts() for unit in range(max(units) + 1)]
    correction = len(parts) / (len(parts) - 1)
    thresholds = {}
    for label, table in deltas.counts().items():
        rates, precisions, recalls = (
            of(table) for of in (clusters.of_rate, clusters.of_precision, clusters.of_recall)
        )
        for row in range(1, len(table.scores) + 1, 41):
            threshold = thresholds[label] = table.threshold(row)
            tp, fp, references, hours = np.array(
                [
                    (tally.tp, tally.fp, tally.references, part.hours)
                    for part in parts
                    for tally in (part[label].tally_at(threshold),)
                ]
            ).T
            rate, precision = fp.sum() / hours.sum(), tp.sum() / max((tp + fp).sum(), 1)
            recall = tp.sum() / references.sum()
            spread = np.sum((fp - rate * hours) ** 2) / max(fp.sum(), 1e-9)
            assert rates[row] == pytest.approx(max(1, correction * spread))
            if 0 < precision < 1:
                spread = np.sum((tp - precision * (tp + fp)) ** 2) / (tp + fp).sum()
                spread /= precision * (1 - precision)
                assert precisions[row] == pytest.approx(max(1, correction * spread))
            if 0 < recall < 1:
                spread = np.sum((tp - recall * references) ** 2) / references.sum()
                assert recalls[row] == pytest.approx(max(1, correction * spread / recall / (1 - recall)))
    number, hours, dependence = clusters.of_total(thresholds)
    together = np.array(
        [sum(part[label].tally_at(t).fp for label, t in thresholds.items()) for part in parts]
    )
    assert number == together.sum()
    assert hours == pytest.approx(deltas.counts().hours)
    assert dependence >= 1


@pytest.mark.parametrize("kind", ["rate", "share"])
def test_few_promises_are_broken_on_other_clips(kind: str, data: Path) -> None:
    deltas = sed.deltas(desed_scores(data), desed_truth(data), IOU)
    promise: dict[str, Any] = {"max_false_alarms": 40} if kind == "rate" else {"min_precision": 0.5}
    rng, number = np.random.default_rng(5), len(deltas.clips)
    broken: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(12):
        drawn = rng.permutation(number) < number // 5
        rest = deltas.of_clips(~drawn).counts()
        for sure, outcomes in broken.items():
            confidence = 0.95 if sure else None
            points = sed.choose(deltas.of_clips(drawn), "recall", **promise, confidence=confidence)
            for label in points.thresholds.keys() - points.unmet.keys():
                tally = rest[label].tally_at(points.thresholds[label])
                outcomes.append(
                    bool(
                        tally.fp > 40 * rest.hours
                        if kind == "rate"
                        else tally.tp + tally.fp and tally.precision < 0.5
                    )
                )
    assert len(broken[True]) > 40
    assert np.mean(broken[True]) <= 0.05 < 0.1 < np.mean(broken[False])


def test_a_precision_is_promised_where_detections_merge_early(data: Path) -> None:
    # the detections of Speech are never as many as its references, and most of those above 0.9 are wrong
    deltas = sed.deltas(desed_scores(data), desed_truth(data), sed.Collar())
    points = sed.choose(deltas, min_precision=0.5, confidence=0.95)
    assert "Speech" not in points.unmet
    assert len(points.unmet) == 9
    text = points.provenance["guarantee"]
    assert text.startswith(
        "Requirements hold with 95 % confidence for each class but Alarm_bell_ringing"
    )
    impossible = sed.choose(deltas, min_precision=0.9, confidence=0.95)
    assert len(impossible.unmet) == 10
    assert impossible.provenance["guarantee"].startswith(
        "Requirements cannot be promised with 95 % conf"
    )


@pytest.fixture(scope="module")
def flickering() -> Deltas:
    """Counts of scores that flicker: detections are in many pieces at high thresholds, and merge below."""
    truth = sed.simulate.ground_truth(80, classes=4, seed=1, events_per_minute=20)
    return sed.deltas(sed.simulate.scores(truth, seed=1, quality=1.0), truth, IOU)


def test_a_precision_is_promised_where_pieces_of_detections_merge(flickering: Deltas) -> None:
    # there are more wrong pieces than right ones at every threshold at which detections first reach a number
    assert sed.choose(flickering, "recall", min_precision=0.3, confidence=0.95).unmet == {}


def test_some_classes_are_promised_where_all_have_too_many_false_alarms(flickering: Deltas) -> None:
    # thresholds without false alarms in the clips that they are learnt on have too many in the others
    limit: dict[str, Any] = {"max_false_alarms": 300, "total": True}
    points = sed.choose(flickering, **limit, confidence=0.95)
    assert not points.unmet
    silent = {label for label, threshold in points.thresholds.items() if threshold == np.inf}
    assert 0 < len(silent) < 4


def test_a_limit_for_all_classes_together_takes_more_hours() -> None:
    # a third of the clips says which thresholds to test
    deltas = sed.deltas(*night(30, 0), IOU)
    points = sed.choose(deltas, max_false_alarms=0.1, total=True, confidence=0.95)
    assert "even without any false alarm, that takes 44.94 hours" in points.unmet["Dog"]


def random_frontiers(rng: np.random.Generator) -> tuple[dict[str, Frontier], dict[str, Tally], int]:
    classes, tallies = int(rng.integers(1, 5)), {}
    for c in range(classes):
        rows, references = int(rng.integers(1, 9)), int(rng.integers(1, 12))
        tp, fp = rng.integers(0, references + 1, rows), rng.integers(0, 15, rows)
        tallies[str(c)] = Tally(np.append(0, tp), np.append(0, fp), references)
    frontiers = {
        label: Frontier(tally, np.arange(len(np.asarray(tally.tp)))) for label, tally in tallies.items()
    }
    return frontiers, tallies, int(rng.integers(0, 40))


def test_allocations_are_the_best() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        frontiers, tallies, budget = random_frontiers(rng)
        rows = allocate(frontiers, budget)
        assert rows is not None
        chosen = [tallies[label][row] for label, row in rows.items()]
        assert sum(int(tally.fp) for tally in chosen) <= budget
        best = max(
            sum(Fraction(int(t.tp), t.references) for t in combination)
            for combination in product(
                *([tally[row] for row in range(len(np.asarray(tally.tp)))] for tally in tallies.values())
            )
            if sum(int(t.fp) for t in combination) <= budget
        )
        assert sum(Fraction(int(t.tp), t.references) for t in chosen) == best


def test_an_allocation_that_is_not_possible() -> None:
    frontier = Frontier(Tally(np.array([3]), np.array([5]), 4), np.array([7]))
    assert allocate({"Dog": frontier}, 4) is None
    assert allocate({"Dog": frontier}, 5) == {"Dog": 7}


def test_a_limit_for_all_classes_together() -> None:
    truth = sed.simulate.ground_truth(400, classes=3, seed=1, events_per_minute=5)
    deltas = sed.deltas(sed.simulate.scores(truth, seed=1), truth, IOU)
    counts = deltas.counts()

    def judged(**options: Any) -> tuple[int, float]:
        points = sed.choose(deltas, max_false_alarms=7200, per="day", **options)
        assert not points.unmet
        tallies = [counts[label].tally_at(threshold) for label, threshold in points.thresholds.items()]
        return sum(int(t.fp) for t in tallies), float(np.mean([t.recall for t in tallies]))

    allowed = 300 * counts.hours
    each, together, sure = (
        judged(objective="recall"),
        judged(total=True),
        judged(total=True, confidence=0.95),
    )
    assert sure[0] < together[0] <= allowed < each[0]
    assert sure[1] <= together[1] <= each[1]
    with pytest.raises(sed.SedscopeError, match="best mean recall"):
        sed.choose(deltas, "fscore", max_false_alarms=1, total=True)
    with pytest.raises(sed.SedscopeError, match="needs deltas"):
        sed.choose(counts, max_false_alarms=300, total=True, confidence=0.9)


def test_without_references_there_is_nothing_to_choose() -> None:
    scores = sed.Scores.from_arrays(
        {"a": [[0.2], [0.9]], "b": [[0.4], [0.1]]}, classes=["Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 2, "b": 2})
    deltas = sed.deltas(scores, truth, sed.Segment(1.0))
    for confidence in (None, 0.9):
        points = sed.choose(deltas, max_false_alarms=1, total=True, confidence=confidence)
        assert not points.thresholds


def night(hours: float, false_alarms: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """One recording at one frame per second: a reference at 0.5, above some false alarms and below none."""
    frames = round(3600 * hours)
    values = np.zeros((frames, 1))
    values[10:15] = 0.5
    values[20 : 20 + 4 * false_alarms : 4, 0] = np.linspace(0.6, 0.9, false_alarms)
    truth = sed.GroundTruth.from_dict({"night": [(10, 15, "Dog")]}, durations={"night": frames})
    return sed.Scores.from_arrays({"night": values}, classes=["Dog"], frame=1.0), truth


@pytest.mark.parametrize(
    ("hours", "false_alarms", "limit", "met"),
    [
        (30, 0, 0.1, True),  # 2.9957 / 30 = 0.09986
        (29.9, 0, 0.1, False),
        (10, 1, 0.475, True),  # 4.7439 / 10
        (10, 1, 0.474, False),
        (10, 1, 0.3, False),  # nothing but the threshold without detections keeps it
    ],
)
def test_a_promise_is_kept_by_the_upper_bound(
    hours: float, false_alarms: int, limit: float, met: bool
) -> None:
    scores, truth = night(hours, false_alarms)
    deltas = sed.deltas(scores, truth, IOU)
    points = sed.choose(deltas, "recall", max_false_alarms=limit, confidence=0.95)
    assert (points.thresholds["Dog"] < 0.5) == (met or hours == 29.9)
    assert ("Dog" in points.unmet) == (hours == 29.9)
    assert "exact Poisson" in points.provenance["guarantee"]
    if hours == 29.9:  # too short for any threshold; the one that is best in these clips is taken
        text = (
            "at most 0.1 false alarms per hour with 95 % confidence (even without any false alarm, that "
            "takes 29.96 hours"
        )
        assert points.unmet["Dog"].startswith(text)
        assert points.thresholds == sed.choose(deltas, "recall").thresholds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 0.95}, "Give `min_precision=`"),
        ({"confidence": 0.95, "max_false_alarms": 0}, "No recording is long enough"),
        ({"confidence": 1, "max_false_alarms": 1}, "at least 0.5 and at most 0.9999"),
        ({"confidence": True, "max_false_alarms": 1}, "must be a number"),
        ({"groups": {"night": 1}}, "Give `confidence=`"),
        ({"total": True}, "Give `max_false_alarms=`"),
        ({"max_false_alarms": 1, "per": "week"}, "Choose 'hour' or 'day'"),
        ({"confidence": 0.9, "max_false_alarms": 1, "groups": {"night": 1}}, "needs deltas"),
    ],
)
def test_confidence_that_means_nothing(options: dict[str, Any], message: str) -> None:
    counts = sed.deltas(*night(1, 0), IOU).counts()
    with pytest.raises(sed.SedscopeError, match=message):
        sed.choose(counts, **options)


def test_tune_prints_the_bound_and_the_hours_that_it_takes(tmp_path: Path) -> None:
    scores, truth = night(10, 1)
    sed.write_scores(scores, tmp_path / "scores.npz")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    (tmp_path / "durations.tsv").write_text("filename\tduration\nnight\t36000\n")
    command = [
        *("tune", tmp_path / "scores.npz", tmp_path / "truth.tsv", "-o", tmp_path / "points.toml"),
        *("--durations", tmp_path / "durations.tsv", "--criterion", "IoU(0.1)", "--confidence", "0.95"),
    ]
    enough = run(*command, "--max-false-alarms-per-hour", "0.5")
    short = run(*command, "--max-false-alarms-per-hour", "0.1")
    assert table_rows(enough.out)["Dog"][-3:] == ["0.1", "0.005129", "0.4744"]
    assert "with 95 % confidence for each class" in enough.out
    assert (enough.code, short.code) == (0, 1)
    assert "even without any false alarm, that takes 29.96 hours of recordings" in short.err
    assert "Requirements cannot be promised with 95 % confidence" in short.out


@pytest.mark.parametrize("per_hour", [1e15, 1.7e308])
def test_a_limit_beyond_all_false_alarms_is_kept(per_hour: float) -> None:
    truth = sed.simulate.ground_truth(12, classes=2)
    counts = sed.deltas(sed.simulate.scores(truth), truth, sed.Collar()).counts()
    points = sed.choose(counts, "recall", max_false_alarms=per_hour, confidence=0.95)
    assert points.unmet == {}
    for label, threshold in sed.choose(counts, "recall").thresholds.items():
        best, promised = (
            counts[label].tally_at(threshold),
            counts[label].tally_at(points.thresholds[label]),
        )
        assert (
            promised.recall >= best.recall - 1e-9
        )  # thresholds beyond some hundreds are tested in steps
