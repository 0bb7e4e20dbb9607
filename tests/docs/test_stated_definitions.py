"""Sentences of the documentation that are precise enough to be written again as code."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.cuts import block_ends
from sedscope.criteria.criterion import CRITERIA
from sedscope.postprocessing import EventBoxes
from sedscope.ranking.ranking import MeasuredSystem, rank_systems
from sedscope.resampling.intervals import Interval

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def stated_cuts(duration: int, length: int, references: list[tuple[int, int]]) -> list[int]:
    """definitions.md, "Where blocks end", with references and times of a few microseconds."""
    free = [not any(a <= t < b for a, b in references) for t in range(duration)]
    pauses, t = [], 0
    while t < duration:
        end = t
        while end < duration and free[end]:
            end += 1
        pauses += [(t, end)] if end > t else []
        t = max(end, t + 1)
    cuts: list[int] = []
    while True:
        last = cuts[-1] if cuts else 0
        if duration - last <= Fraction(3, 2) * length:
            return cuts
        begin = last + 3 * length // 4
        parts: list[tuple[int, int]] = []
        while begin < duration and not parts:
            window = (begin, begin + length // 2)
            clipped = [(max(a, window[0]), min(b, window[1])) for a, b in pauses]
            parts = [(a, b) for a, b in clipped if b > a]
            begin += length // 2
        if not parts:
            return cuts
        a, b = next(part for part in parts if part[1] - part[0] == max(y - x for x, y in parts))
        middle = (a + b) // 2
        second = round(Fraction(middle, 10**6)) * 10**6
        cut = second if a <= second <= b and second > last else middle
        if duration - cut < Fraction(length, 2):
            return cuts
        cuts.append(cut)


def test_where_blocks_end() -> None:
    random = np.random.default_rng(0)
    number = 0
    for _ in range(300):
        duration, length = int(random.integers(1, 200)), int(random.integers(4, 60))
        onsets = np.sort(random.integers(0, duration, random.integers(0, 12)))
        lengths = random.integers(1, 15, len(onsets))
        references = [(int(a), min(int(a + n), duration)) for a, n in zip(onsets, lengths, strict=True)]
        times = np.array(references, np.int64).reshape(-1, 2)
        expected = [*stated_cuts(duration, length, references), duration]
        assert block_ends(duration, length, times).tolist() == expected
        number += len(expected)
    assert number > 600
    seconds = np.array([[0, 58_300_000], [61_900_000, 110_000_000]])  # the pause has whole seconds
    assert block_ends(200_000_000, 60_000_000, seconds).tolist() == [
        60_000_000,
        122_000_000,
        200_000_000,
    ]


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95])
def test_intervals_of_ranks(confidence: float) -> None:
    random = np.random.default_rng(1)
    table = random.integers(0, 5, (4, 101)).astype(float)
    table[1, :7] = np.nan
    systems = [
        MeasuredSystem(str(i), str(i), Interval(5.0 - i, 0.0, 9.0, row), {}, ())
        for i, row in enumerate(table)
    ]
    ranked, _ = rank_systems(systems, higher_is_better=True, confidence=confidence)
    tail = (1 - confidence) / 2
    for system, scores in zip(ranked, table, strict=True):
        ranks = sorted(
            1 + sum(other[k] > score for other in table)
            for k, score in enumerate(scores)
            if math.isfinite(score)
        )
        low = ranks[math.floor((len(ranks) - 1) * tail)]
        high = ranks[math.ceil((len(ranks) - 1) * (1 - tail))]
        assert (system.rank_low, system.rank_high) == (low, high)


def test_gaps_of_event_boxes_are_judged_by_the_events_before_any_is_closed() -> None:
    """A chain: the second gap is closed by the limit of its two events, though the first event, to which the
    second is joined, is much higher."""
    peaks = [0.9, 0.6, 0.35]
    lows = [0.5, 0.28]
    values = [0.0, 0.0]
    for peak, low in zip(peaks, [*lows, 0.0], strict=True):
        values += [peak, peak, low, low]
    values += [0.0, 0.0]
    scores = sed.Scores.from_arrays({"x": np.array(values)[:, None]}, classes=["a"], frame=1.0)

    def boxes(**limits: float) -> list[tuple[float, float]]:
        made = EventBoxes(step=2, **limits)(scores)["x"]
        edges = made.edges.tolist()
        detected = np.flatnonzero(made.values[:, 0] > -np.inf).tolist()
        return [(edges[i], edges[i + 1]) for i in detected]

    apart = boxes()
    assert len(apart) == 3
    frames = np.array(values)
    highest = [frames[int(a) : int(b)].max() for a, b in apart]
    gaps = [frames[int(apart[i][1]) : int(apart[i + 1][0])].min() for i in range(2)]
    limit = 0.41  # 0.9 − 0.5 and 0.6 − 0.28 are below it, 0.9 − 0.28 is not
    closed = [max(highest[i], highest[i + 1]) - gaps[i] < limit for i in range(2)]
    assert closed == [True, True]
    assert max(highest) - gaps[1] > limit
    assert boxes(absolute=limit) == [(apart[0][0], apart[2][1])]


def test_tied_best_thresholds_may_change_micro_tuned_averages() -> None:
    """The example of differences.md: of two points with F = 2/3, the higher threshold counts."""
    #     0    1    2    3    4    5    6    7
    a = [0.9, 0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.0]
    b = [0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    scores = sed.Scores.from_arrays({"x": np.array([a, b]).T}, classes=["a", "b"], frame=1.0)
    references = [(0, 1, "a"), (2, 3, "a"), (0, 1, "b")]
    truth = sed.GroundTruth.from_dict({"x": references}, durations={"x": 8})
    best = sed.BestFScore(sed.Collar(), average="micro_tuned")
    result = sed.evaluate(scores, truth, best)[best]
    assert result.per_class["a"].value == 2 / 3
    assert result.value == 4 / 5
    lower = sed.OperatingPoints({"a": 0.25, "b": 0.45})
    micro = sed.FScore(sed.Collar(), average="micro")
    at_lower = sed.evaluate(scores, truth, [micro, sed.FScore(sed.Collar())], points=lower)
    values = [of_metric.value for of_metric in at_lower.values()]
    assert values == [3 / 4, result.average("macro")]


def test_criteria_that_accept_pieces() -> None:
    """long_recordings.md lists them."""
    page = (Path(__file__).parents[2] / "docs" / "long_recordings.md").read_text(encoding="utf-8")
    listed, _, others = page.partition("These criteria accept pieces:")[2].partition(", and `OfLength`")
    accepting = {*re.findall(r"`(\w+)`", listed)}
    values = np.tile([[0.9], [0.1]], (4, 1))
    pieces = sed.ClipPieces(lambda: iter([values[:4], values[4:]]), frames=8, frame=1.0)
    scores = sed.Scores.from_pieces({"x": pieces}, classes=["a"])
    truth = sed.GroundTruth.from_dict({"x": [(0, 1, "a")]}, durations={"x": 8})
    held = {"criterion": sed.IoU(0.5)}
    arguments: dict[str, dict[str, Any]] = {
        "Intersection": {"dtc": 0.5, "gtc": 0.5},
        "OfLength": {**held, "longest": 5},
        "AlarmLatency": {"criterion": sed.Alarm()},
        **dict.fromkeys(["BestAnswers", "PerDetection", "QueryPrecision"], held),
    }
    for name in CRITERIA:
        criterion = CRITERIA[name](**arguments.get(name, {}))
        if name in accepting or name == "OfLength":
            assert sed.deltas(scores, truth, criterion).counts()["a"].tp.max() > 0
        else:
            assert f"`{name}`" in others.partition("\n\n")[0]
            with pytest.raises(sed.SedscopeError):
                sed.deltas(scores, truth, criterion)


def test_pieces_of_any_overlap_last_a_second_or_longer() -> None:
    sed.AnyOverlap(split=1)
    with pytest.raises(sed.SedscopeError, match="split"):
        sed.AnyOverlap(split=0.999)
