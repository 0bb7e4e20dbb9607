"""The drop-in for sed_scores_eval: times with more or fewer decimals than six."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import collar_based, intersection_based, segment_based
from sedscope.compat.sed_scores_eval.base_modules.postprocessing import cy_medfilt
from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

from ..support.compat.sets import COLLAR, DURATIONS, GRID, SCORES, TRUTH, frame, simulated
from ..support.random_sets import random_set

SHARES = {"dtc_threshold": 0.5, "gtc_threshold": 0.3, "cttc_threshold": 0.3}
FLOATS = 0
"""In place of a step: distances are not rounded."""
COLLARS = {"onset_collar": 0.02, "offset_collar": 0.01, "offset_collar_rate": 0.5}

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_six_decimals_are_the_most() -> None:
    frames, truth, durations = simulated()
    for function, data, options, decimals in (
        (collar_based.fscore, (frames, truth, 0.5), COLLAR, np.int64(9)),
        (segment_based.fscore, (frames, truth, durations, 0.5), {}, 30),
        (intersection_based.psds, (frames, truth, durations), GRID, 30),
    ):
        more, six = (function(*data, **options, time_decimals=d)[0] for d in (decimals, 6))
        assert more == six


@pytest.mark.parametrize(("decimals", "value"), [(6, 1.0), (9, 1.0), (10, 1.0), (30, 0.0)])
def test_without_rounding_distances_are_floats(decimals: int, value: float) -> None:
    scores = {"a": create_score_dataframe([[0.1], [0.9], [0.1]], [0.0, 5.2, 8.0, 9.0], ["Dog"])}
    assert 5.2 - 5.0 > 0.2
    fscores, *_ = collar_based.fscore(
        scores, {"a": [(5.0, 8.0, "Dog")]}, 0.5, **COLLAR, time_decimals=decimals
    )
    assert fscores["Dog"] == value


def rounded(ticks: Fraction | int, step: int) -> int:
    """Halves go to even."""
    return round(Fraction(ticks) / step)


def enough(shared: int, required: Fraction, step: int) -> bool:
    """At least a microsecond, even if what is required is rounded to 0."""
    return shared > 0 and rounded(shared, step) >= rounded(required, step)


def runs(values: Any, edges: list[int], score: float) -> list[tuple[int, int]]:
    """The detections of frames with at least a score."""
    active = np.concatenate([[False], values >= score, [False]])
    bounds = np.flatnonzero(active[1:] != active[:-1])
    return [(edges[first], edges[last]) for first, last in zip(bounds[::2], bounds[1::2], strict=True)]


def overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(min(one[1], other[1]) - max(one[0], other[0]), 0)


def by_intersection(
    found: list[tuple[int, int]], own: list[Any], others: dict[str, list[Any]], step: int
) -> dict[str, int]:
    dtc, gtc, cttc = (Fraction(str(share)) for share in SHARES.values())
    relevant = [enough(sum(overlap(d, r) for r in own), dtc * (d[1] - d[0]), step) for d in found]
    counts = {
        "tps": sum(
            enough(
                sum(overlap(d, r) for d, is_one in zip(found, relevant, strict=True) if is_one),
                gtc * (r[1] - r[0]),
                step,
            )
            for r in own
        ),
        "fps": relevant.count(False),
    }
    for label, events in others.items():
        counts[label] = sum(
            enough(0 if is_one else sum(overlap(d, r) for r in events), cttc * (d[1] - d[0]), step)
            for d, is_one in zip(found, relevant, strict=True)
        )
    return counts


def by_collar(
    found: list[tuple[int, int]], own: list[Any], others: dict[str, list[Any]], step: int
) -> dict[str, int]:
    def is_pair(d: tuple[int, int], r: tuple[int, int]) -> bool:
        if step == FLOATS:
            (on, off), (r_on, r_off) = (np.array(event) / 1e6 for event in (d, r))
            tolerance = max(0.01, 0.5 * (r_off - r_on))
            return bool(abs(on - r_on) - 0.02 <= 0 and abs(off - r_off) - tolerance <= 0)
        collar = max(Fraction(10_000), Fraction(r[1] - r[0], 2))
        late, long = abs(d[0] - r[0]) - 20_000, abs(d[1] - r[1]) - collar
        return rounded(late, step) <= 0 and rounded(long, step) <= 0

    some = [d for d in found if any(is_pair(d, r) for r in own)]
    none = [None] * len(own)
    pairs = max(
        sum(d is not None and is_pair(d, r) for d, r in zip(chosen, own, strict=True))
        for chosen in permutations([*some, *none], len(own))
    )
    return {"tps": pairs, "fps": len(found) - pairs}


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    ("package", "options", "count", "decimals"),
    [
        *((intersection_based, SHARES, by_intersection, decimals) for decimals in (2, 3, 4)),
        *((collar_based, COLLARS, by_collar, decimals) for decimals in (2, 3, 4, 30)),
    ],
)
def test_fewer_decimals_round_what_is_compared(
    number: int, decimals: int, package: Any, options: dict[str, Any], count: Any
) -> None:
    """Overlaps, required overlaps and distances are rounded, not the times. With very many decimals,
    distances are floats."""
    rng = np.random.default_rng([number, 20])
    scores, drawn = random_set(rng, "plateaus", never=False)
    shift = 0 if decimals == 30 else 7  # µs, so that times are no multiples of the step
    events = {
        clip: [(on + shift / 1e6, off + shift / 1e6, label) for on, off, label in drawn.events(clip)[:3]]
        for clip in scores
    }
    frames = {
        clip: create_score_dataframe(one.values, one.edges, list(scores.classes))
        for clip, one in scores.items()
    }
    statistics, _ = package.accumulated_intermediate_statistics(
        frames, events, **options, time_decimals=decimals
    )
    step = FLOATS if decimals == 30 else 10 ** (6 - decimals)
    for label, (at, stats) in statistics.items():
        c = scores.classes.index(label)
        for row, score in enumerate(at[:-1]):
            expected: dict[str, int] = {}
            for clip, one in scores.items():
                by_class: dict[str, list[Any]] = {name: [] for name in scores.classes}
                for on, off, name in events[clip]:
                    by_class[name].append((round(on * 1e6), round(off * 1e6)))
                own = by_class.pop(label)
                found = runs(one.values[:, c], one.ticks.tolist(), score)
                for name, amount in count(found, own, by_class, step).items():
                    expected[name] = expected.get(name, 0) + (amount if found else 0)
            ours = {**stats, **stats.get("cts", {})}
            assert {name: ours[name][row] for name in expected} == expected


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: collar_based.fscore(
                SCORES, TRUTH, 0.5, **COLLAR, return_onset_offset_dist_sum=True, time_decimals=3
            ),
            "return_onset_offset_dist_sum=True needs six decimals, not time_decimals=3",
        ),
        (
            lambda: segment_based.auroc(SCORES, TRUTH, DURATIONS, segment_length=0.25, time_decimals=1),
            "segment_length=0.25 is not a multiple of 0.1 s",
        ),
        (
            lambda: segment_based.auroc(
                {"a": create_score_dataframe(np.ones((4, 1)), [0, 0.5, 1.2, 1.4, 4], ["Dog"])},
                {"a": [(0, 1, "Dog")]},
                {"a": 4.0},
                time_decimals=0,
            ),
            "clip a: 2 frames have no length with times rounded to 1 s. Raise time_decimals",
        ),
        (lambda: segment_based.auroc(SCORES, TRUTH, DURATIONS, time_decimals=0.5), "must be a whole"),
    ],
)
def test_rounding_that_cannot_be_done_is_refused(act: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        act()


def test_segments_have_rounded_frames() -> None:
    """The frame with 0.9 ends at 1.0004 s, and so in the second segment unless times are rounded."""
    scores = {"a": create_score_dataframe([[0.9], [0.2], [0.1]], [0, 1.0004, 2, 3], ["Dog"])}
    for decimals, segments in ((6, [3, 2, 0]), (3, [3, 2, 1, 0])):
        statistics, _ = segment_based.accumulated_intermediate_statistics(
            scores, {"a": [(0.0, 1.0, "Dog")]}, {"a": 3.0}, time_decimals=decimals
        )
        assert statistics["Dog"][1]["n_sys"].tolist() == segments


def test_filtered_times_have_as_many_decimals() -> None:
    values, edges = cy_medfilt(np.array([[0.0], [1.0], [1.0], [0.0]]), [0, 0.33, 0.77, 1.02, 2], 0.5)
    coarse_values, coarse_edges = cy_medfilt(
        np.array([[0.0], [1.0], [1.0], [0.0]]), [0, 0.33, 0.77, 1.02, 2], 0.5, time_decimals=1
    )
    assert coarse_edges.tolist() == np.round(edges, 1).tolist()
    assert np.array_equal(coarse_values, values)
    values, edges = cy_medfilt(np.ones((2, 1)), [0.0, 1.0, 2.0], 0.0)
    assert edges == [0.0, 1.0, 2.0]


def test_medians_of_all_classes_change_together() -> None:
    """In frames of 1/60 s, whose boundaries are no whole microseconds."""
    values = np.random.default_rng(0).random((300, 4))
    filtered, edges = cy_medfilt(values, np.arange(301) / 60, 21 / 60)
    padded = np.pad(values, ((10, 10), (0, 0)), constant_values=-np.inf)
    expected = np.median(np.lib.stride_tricks.sliding_window_view(padded, 21, axis=0), axis=-1)
    assert np.diff(edges).min() > 0.016
    frames = np.searchsorted(edges, (np.arange(300) + 0.5) / 60) - 1
    assert np.array_equal(filtered[frames], expected)


def test_missing_frames_are_refused() -> None:
    table = frame([0.1, 0.9, 0.9, 0.2], [0.1, 0.1, 0.1, 0.1]).drop(index=[2])
    with pytest.raises(sed.SedscopeError, match="clip a: There is 1 gap between frames: before frame 2"):
        collar_based.fscore({**SCORES, "a": table}, TRUTH, 0.5, **COLLAR)
