"""Estimates of a review against closed forms, a plain search, exact values and plain counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.isotonic import IsotonicRegression

import sedscope as sed
from sedscope.review.sampling import strata_of
from sedscope.review.stratified import (
    Strata,
    deviations_of,
    evidence,
    odds_limits,
    simultaneous_deviations,
    total_limits,
)

from ..support.command_line import run
from .test_sampling import windows


def strata(*rows: tuple[int, int, int]) -> Strata:
    """Strata of size, reviewed and right."""
    return Strata(*np.array(rows, np.int64).reshape(-1, 3).T)


@given(st.integers(1, 200), st.data())
def test_one_large_stratum_has_the_interval_of_wilson(reviewed: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, reviewed))
    size = 10**10
    low, high = total_limits(strata((size, reviewed, right)), deviations_of(0.95))
    wilson = binomtest(right, reviewed).proportion_ci(0.95, "wilson")
    assert low / size == pytest.approx(wilson.low, abs=1e-6)
    assert high / size == pytest.approx(wilson.high, abs=1e-6)


def plain_limits(two: Strata, deviations: float) -> tuple[float, float]:
    """Look at many totals, and at all shares of two strata that have it, for those that are most likely."""
    seen = (two.shares * two.sizes).sum()
    answers, sizes = two.answers, two.sizes
    inside = []
    for total in np.linspace(0, sizes.sum(), 801):
        first = np.linspace(0, 1, 4001)
        second = (total - first * sizes[0]) / sizes[1]
        fits = (second >= 0) & (second <= 1)
        pairs = np.clip(np.stack([first[fits], second[fits]], 1), 1e-9, 1 - 1e-9)
        likelihood = (answers * (two.shares * np.log(pairs) + (1 - two.shares) * np.log(1 - pairs))).sum(
            1
        )
        best = pairs[likelihood.argmax()]
        deviation = np.sqrt((sizes**2 * best * (1 - best) / answers).sum())
        if abs(seen - total) <= deviations * deviation:
            inside.append(total)
    return min(inside), max(inside)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(20, 60), st.integers(3, 12), st.integers(0, 12)), min_size=2, max_size=2
    )
)
def test_limits_are_those_of_a_plain_search(rows: list[tuple[int, int, int]]) -> None:
    two = strata(*((size, reviewed, min(right, reviewed)) for size, reviewed, right in rows))
    low, high = total_limits(two, 1.96)
    plain_low, plain_high = plain_limits(two, 1.96)
    step = two.sizes.sum() / 800
    assert plain_low - 2 * step <= low <= plain_low + 1 + 2 * step  # whole numbers inside
    assert plain_high - 1 - 2 * step <= high <= plain_high + 2 * step


def test_strata_without_answers_may_be_all_right_or_all_wrong() -> None:
    low, high = total_limits(strata((10, 10, 7), (5, 0, 0)), 1.96)
    assert (float(low), float(high)) == (7, 12)


@given(st.integers(1, 300), st.data(), st.sampled_from([0.5, 0.8, 0.9]))
def test_one_stratum_proves_what_the_exact_binomial_test_proves(
    reviewed: int, data: st.DataObject, share: float
) -> None:
    right = data.draw(st.integers(0, reviewed))
    numbers, wrong = evidence(strata((10**9, reviewed, right)), share)
    if right <= share * reviewed:
        assert numbers == 0
        return
    assert numbers == pytest.approx(reviewed, rel=1e-4)
    assert wrong == pytest.approx(reviewed - right, rel=1e-4)
    # where the level is that of the observation, the binomial tail is the p value
    assert binom.cdf(round(float(wrong)), round(float(numbers)), 1 - share) == pytest.approx(
        binomtest(reviewed - right, reviewed, 1 - share, alternative="less").pvalue
    )


def test_the_limits_of_a_ratio_solve_the_equation_that_defines_them() -> None:
    above = (np.array([20.0, 5, 0]), np.array([15.0, 2, 0]), np.array([26.0, 9, 3]))
    below = (np.array([10.0, 0, 4]), np.array([6.0, 0, 2]), np.array([15.0, 3, 9]))
    low, high = odds_limits(above, below)
    # the distance of a − ratio · b from 0 is that of the limits of both, as if they were deviations
    for ratio, a_end, b_end in ((low[0], 15, 15), (high[0], 26, 6)):
        assert (20 - ratio * 10) ** 2 == pytest.approx((20 - a_end) ** 2 + (ratio * (10 - b_end)) ** 2)
    assert 15 / 15 < low[0] < 2 < high[0] < 26 / 6
    assert (low[1], high[1]) == (pytest.approx(2 / 3), np.inf)
    assert (low[2], high[2]) == (0, pytest.approx(3 / 2, rel=0.5))
    known, unknown = np.array([2.0]), (np.array([10.0]), np.array([6.0]), np.array([15.0]))
    low, high = odds_limits((known, known, known), unknown)
    assert [*low, *high] == pytest.approx([2 / 15, 2 / 6])


Truth = dict[tuple[str, float], bool]
"""Whether the detection of a clip that begins at a time is right."""


def answered(system: sed.ScoredEvents, right: Truth, **plan: int) -> sed.review.Review:
    review = sed.review.plan(system, **plan)  # type: ignore[arg-type]
    keys = zip(review.clips, (review.times[:, 0] / 1e6).tolist(), strict=True)
    return review.answered([right[key] for key in keys])


def coins(system: sed.ScoredEvents, seed: int = 0) -> Truth:
    """High scores are more often right."""
    rng = np.random.default_rng(seed)
    return {
        (clip, event[0]): bool(rng.random() < event[3])
        for clip, events in system.events().items()
        for event in events
    }


def test_a_review_of_everything_gives_the_exact_values() -> None:
    system = windows(90)
    right = coins(system)
    estimate = sed.review.estimate(system, answered(system, right, reviews=1000))["Dog"]
    events = [(clip, *event) for clip, of_clip in system.events().items() for event in of_clip]
    for hold in ("pointwise", "simultaneous"):
        estimate = sed.review.estimate(system, answered(system, right, reviews=90), hold=hold)["Dog"]
        for threshold in estimate.thresholds:
            kept = [right[clip, onset] for clip, onset, _, _, score in events if score >= threshold]
            assert estimate.at(threshold) == pytest.approx((np.mean(kept),) * 3)
    points = sed.review.ReviewEstimate({"Dog": estimate}, 0.95, "pointwise").choose(0.8)
    kept = [right[e[0], e[1]] for e in events if e[4] > points.thresholds["Dog"]]
    assert np.mean(kept) >= 0.8


def test_the_precision_at_a_threshold_is_that_of_the_strata_by_hand() -> None:
    system = windows(200)
    review = answered(system, coins(system), reviews=40)
    estimate = sed.review.estimate(system, review)["Dog"]
    sizes, _ = strata_of(200, 40)
    everything = 0.0
    for k, size in enumerate(sizes):
        of_stratum = [
            a for a, name in zip(review.answers, review.strata, strict=True) if name == str(k + 1)
        ]
        everything += size * np.mean(of_stratum)
    assert estimate.precision.value[-1] == pytest.approx(everything / 200)
    assert estimate.right.value[-1] == pytest.approx(everything)
    inside = (estimate.precision.low <= estimate.precision.value) & (
        estimate.precision.value <= estimate.precision.high
    )
    assert inside.all()


def test_rows_that_nobody_can_tell_are_left_out_and_counted() -> None:
    system = windows(60)
    review = answered(system, coins(system), reviews=30)
    rows = review.rows()
    unsure = sed.review.Review.of_rows(
        [(*row[:7], -1 if i < 5 else row[7]) for i, row in enumerate(rows)]
    )
    estimate = sed.review.estimate(system, unsure)["Dog"]
    assert (estimate.reviewed, estimate.unsure) == (25, 5)
    pending = sed.review.Review.of_rows([(*rows[0][:7], -2), *rows[1:]])
    with pytest.raises(sed.SedscopeError, match="1 row without an answer"):
        sed.review.estimate(system, pending)


def test_silent_windows_give_recall_and_density() -> None:
    system = windows(40)  # every second window of four clips of 60 s
    durations = dict.fromkeys(system, 60.0)
    review = sed.review.plan(system, reviews=100, silent_windows=1000, durations=durations)
    silent = [name == "silent" for name in review.strata]
    # half of the detections are right, and there is a call in a quarter of the 40 windows without one
    number = iter(range(1000))
    review = review.answered([next(number) % (4 if s else 2) == 0 for s in silent])
    estimate = sed.review.estimate(system, review, durations=durations)["Dog"]
    calls = int(review.answers.sum())
    assert estimate.density is not None
    assert estimate.recall is not None
    assert estimate.density == pytest.approx((calls / 80,) * 3)
    found = float(estimate.right.value[-1])
    assert [part[-1] for part in estimate.recall] == pytest.approx([found / calls] * 3)
    assert (estimate.reviewed, estimate.silent_windows, estimate.unsure) == (40, 40, 0)
    with pytest.raises(sed.SedscopeError, match="durations are not those of the plan"):
        sed.review.estimate(system, review, durations=dict.fromkeys(system, 90.0))


@pytest.mark.parametrize("hop", [1.0, 1.5, 2.0, 3.0])
def test_windows_that_overlap_give_the_shares_of_all_windows(hop: float) -> None:
    rng = np.random.default_rng(2)
    onsets = np.arange(0, 58, hop)
    calls = {clip: rng.uniform(0, 60, 6) for clip in ("a", "b", "c")}
    has_call = {
        (clip, onset): bool(((onset <= calls[clip]) & (calls[clip] < onset + 3)).any())
        for clip in calls
        for onset in onsets
    }
    detected = {key: float(rng.random()) for key in has_call if rng.random() < 0.5}
    events = {
        clip: [(onset, onset + 3, "Owl", score) for (c, onset), score in detected.items() if c == clip]
        for clip in calls
    }
    system, durations = sed.ScoredEvents.from_events(events), dict.fromkeys(calls, 60.5)
    review = sed.review.plan(system, reviews=1000, silent_windows=1000, durations=durations)
    assert len(review) == len(has_call)
    keys = zip(review.clips, (review.times[:, 0] / 1e6).tolist(), strict=True)
    review = review.answered([has_call[key] for key in keys])
    estimate = sed.review.estimate(system, review, durations=durations)["Owl"]
    assert estimate.density == pytest.approx((np.mean([*has_call.values()]),) * 3)
    for row, threshold in enumerate(estimate.thresholds):
        above = sum(has_call[key] for key, score in detected.items() if score >= threshold)
        share = above / sum(has_call.values())
        assert [part[row] for part in estimate.recall or ()] == pytest.approx([share] * 3)


def test_recall_is_inside_its_interval_at_every_threshold() -> None:
    system = windows(200)
    durations = dict.fromkeys(system, 600.0)
    plan = sed.review.plan(system, reviews=40, silent_windows=30, durations=durations)
    right = coins(system)
    keys = zip(plan.clips, (plan.times[:, 0] / 1e6).tolist(), strict=True)
    review = plan.answered([right.get(key, key[1] % 9 == 0) for key in keys])
    recall = sed.review.estimate(system, review, durations=durations)["Dog"].recall
    assert recall is not None
    assert (recall.low <= recall.value + 1e-12).all()
    assert (recall.value <= recall.high + 1e-12).all()


def test_silent_windows_that_nobody_can_tell_give_no_recall() -> None:
    system = windows(40)
    durations = dict.fromkeys(system, 60.0)
    review = sed.review.plan(system, reviews=20, silent_windows=5, durations=durations)
    rows = [(*row[:7], -1 if row[5] == "silent" else 1) for row in review.rows()]
    estimates = sed.review.estimate(system, sed.review.Review.of_rows(rows), durations=durations)
    estimate = estimates["Dog"]
    assert (estimate.recall, estimate.density) == (None, None)
    assert (estimate.reviewed, estimate.silent_windows, estimate.unsure) == (20, 0, 5)
    assert "silent" in estimates.table()


def test_silent_windows_must_be_those_of_the_plan() -> None:
    system = windows(40)
    durations = dict.fromkeys(system, 60.0)
    review = sed.review.plan(system, reviews=20, silent_windows=5, durations=durations)
    rows = review.answered([True] * len(review)).rows()
    first = next(i for i, row in enumerate(rows) if row[5] == "silent")
    clip, label, onset, offset, score, stratum, weight, answer = rows[first]
    rest = (offset, score, stratum, weight, answer)
    for other, begin in ((clip, onset - 10**6), ("nowhere", onset)):
        edited = [*rows[:first], (other, label, begin, *rest), *rows[first + 1 :]]
        with pytest.raises(sed.SedscopeError, match="no window without a detection for 1 row"):
            sed.review.estimate(system, sed.review.Review.of_rows(edited), durations=durations)
    with pytest.raises(sed.SedscopeError, match="Rows may have been removed"):
        sed.review.estimate(
            system, sed.review.Review.of_rows(rows[:first] + rows[first + 1 :]), durations=durations
        )


def test_intervals_for_all_thresholds_are_wider() -> None:
    system = windows(300)
    review = answered(system, coins(system), reviews=60)
    one, together = (
        sed.review.estimate(system, review, hold=hold)["Dog"].precision
        for hold in ("pointwise", "simultaneous")
    )
    assert (together.low <= one.low).all()
    assert (together.high >= one.high).all()
    assert (together.high - together.low).mean() > 1.2 * (one.high - one.low).mean()
    sizes, drawn = strata_of(300, 60)
    chances = np.linspace(1, 0, 300)
    deviations = simultaneous_deviations(np.array(sizes), np.array(drawn), chances, 0.95)
    assert deviations_of(0.95) < deviations < 5


def test_the_curves_fit_the_weighted_answers() -> None:
    system = windows(200)
    review = answered(system, coins(system), reviews=40)
    estimate = sed.review.estimate(system, review)["Dog"]
    reference = IsotonicRegression(out_of_bounds="clip")
    reference.fit(review.scores, review.answers, sample_weight=review.weights)
    grid = np.linspace(0, 1, 50)
    np.testing.assert_allclose(estimate.isotonic(grid), reference.predict(grid), atol=1e-9)
    assert (np.diff(estimate.logistic(grid)) > 0).all()


@pytest.mark.parametrize("precision", [0.6, 0.9])
def test_promised_thresholds_seldom_break(precision: float) -> None:
    system = windows(300)
    right = coins(system)
    events = [(clip, *event) for clip, of_clip in system.events().items() for event in of_clip]
    broken = promised = 0
    for seed in range(60):
        points = sed.review.estimate(system, answered(system, right, reviews=60, seed=seed)).choose(
            precision
        )
        if "Dog" in points.unmet:
            continue
        promised += 1
        kept = [right[e[0], e[1]] for e in events if e[4] > points.thresholds["Dog"]]
        broken += bool(np.mean(kept) < precision)
    assert promised > (40 if precision == 0.6 else 0)
    assert broken <= 6  # binomial: at most 5 % of 60 plans, exceeded once in 20 such tests at most


def test_the_command_writes_json_tables_and_thresholds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    system = windows(100)
    sed.write_events(system.events(), "birds.tsv")
    answered(system, {key: key[1] < 60 for key in coins(system)}, reviews=60).write("review.csv")
    arguments = ("review", "estimate", "birds.tsv", "review.csv")
    done = run(*arguments, "--json", "-")
    assert done.code == 0, done.err
    values = json.loads(done.out)
    assert values["intervals"] == "pointwise"
    dog = values["classes"]["Dog"]
    assert (dog["detections"], dog["reviewed"]) == (100, 60)
    assert {*dog["precision"][0]} == {"threshold", "value", "low", "high"}
    assert len(dog["precision"]) == 100
    done = run(
        *arguments, "--min-precision", 0.7, "-o", "points.toml", "-o", "values.csv", "-o", "table.md"
    )
    assert done.code == 0, done.err
    points = sed.OperatingPoints.load("points.toml")
    assert 0 < points.thresholds["Dog"] < 1
    assert "yes" in done.out.splitlines()[-1]
    assert (tmp_path / "values.csv").read_text(encoding="utf-8").count("\nDog,") == 100
    assert run("detect", "birds.tsv", "--points", "points.toml", "--overlaps", "keep").code == 0
    answered(system, dict.fromkeys(coins(system), False), reviews=60).write("wrong.csv")
    impossible = run(*arguments[:3], "wrong.csv", "--min-precision", 0.5, "--hold", "simultaneous")
    assert impossible.code == 1
    assert "no threshold" in impossible.err
    refused = run(*arguments, "-o", "points.toml")
    assert refused.code == 2
    assert "--min-precision" in refused.err
