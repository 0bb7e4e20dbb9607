"""Scored events that take references one after the other, compared with a brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support import oracle
from ..support.equality import assert_equal_to_oracle
from ..support.oracle import queries
from ..support.strategies import LABELS, parts
from .test_kept_events import END, Detection, clips, events, in_seconds

Reference = tuple[int, int, str]
references = st.lists(st.lists(events, max_size=5), min_size=3, max_size=3)


def kept(
    detected: Sequence[Sequence[Detection]],
    targets: Sequence[Sequence[Reference]],
    ignored: Sequence[Sequence[Reference]] = (),
) -> tuple[sed.Scores, sed.GroundTruth]:
    """The events of clips as a system and its ground truth, both kept as they are."""
    durations = {f"clip{i}": 2 * END / 1e6 for i in range(len(detected))}
    truth = sed.GroundTruth.from_dict(
        in_seconds(targets[: len(detected)]),
        durations=durations,
        overlaps="keep",
        ignored=in_seconds(ignored[: len(detected)]),
    )
    return sed.Scores.from_events(in_seconds(detected), classes=LABELS, overlaps="keep"), truth


def verdicts(
    label: str,
    detected: Sequence[Detection],
    targets: Sequence[Reference],
    can_pair: oracle.pairs.Pairable,
    ignored: Sequence[Reference] = (),
    top: int | None = None,
) -> list[tuple[float, str]]:
    """What becomes of each event of a class in a clip."""
    of_class = [(event[0], event[1], event[3]) for event in detected if event[2] == label]
    counted, others = ([event[:2] for event in part if event[2] == label] for part in (targets, ignored))
    return queries.greedy_verdicts(queries.by_score(of_class)[:top], counted, can_pair, others)


@settings(max_examples=300)
@given(clips, references, references, parts, st.booleans(), st.none() | st.integers(1, 4))
def test_counts(
    detected: list[list[Detection]],
    targets: list[list[Reference]],
    ignored: list[list[Reference]],
    threshold: float,
    strict: bool,
    top: int | None,
) -> None:
    strict = strict and threshold < 1
    scores, truth = kept(detected, targets, ignored)
    criterion: sed.Criterion = sed.IoU(threshold, strict=strict, matching="greedy")
    if top is not None:
        criterion = sed.BestAnswers(criterion, top)
    counts = sed.deltas(scores, truth, criterion, run=sed.Run(threads=1)).counts()
    can_pair = oracle.pairs.overlap_over_union(threshold, strict=strict)
    for label in LABELS:
        listed = [
            verdict
            for of_clip in zip(detected, targets, ignored, strict=False)
            for verdict in verdicts(label, of_clip[0], of_clip[1], can_pair, of_clip[2], top)
        ]
        others = {other: 0 for other in LABELS if other != label}
        expected = {}
        for score in sorted({score for score, _ in listed}, reverse=True):
            kinds = [kind for at, kind in listed if at >= score]
            expected[score] = oracle.Count(kinds.count("right"), kinds.count("wrong"), others)
        assert_equal_to_oracle(counts[label], expected, label)


def counts_of(
    detected: list[Any], targets: list[Any], threshold: float = 0.3, matching: str = "greedy"
) -> tuple[int, int]:
    """True and false positives of one class with all events."""
    truth = sed.GroundTruth.from_dict(
        {"x": [(*event, "a") for event in targets]}, durations={"x": 99}, overlaps="keep"
    )
    events: dict[str, list[Any]] = {"x": [(*event[:2], "a", event[2]) for event in detected]}
    scores = sed.Scores.from_events(events, overlaps="keep")
    of_class = sed.deltas(scores, truth, sed.IoU(threshold, matching=matching)).counts()["a"]
    return int(of_class.tp[-1]), int(of_class.fp[-1])


def test_a_better_event_may_take_the_only_reference_of_another() -> None:
    #              0123456789abcde
    references = [(0, 6), (6, 14)]  # ──────┬────────
    #                                         ────────     2–10 at 0.9 takes 0–6, its best
    #                                       ──────         0–6 at 0.8 has no other
    detected = [(2, 10, 0.9), (0, 6, 0.8)]
    assert counts_of(detected, references) == (1, 1)
    assert counts_of(detected, references, matching="maximum") == (2, 0)


def test_ties_go_to_the_event_that_is_listed_first_and_to_the_later_reference() -> None:
    # both references are hit equally well; the worse event reaches only one of them
    assert counts_of([(5, 15, 0.9), (10, 20, 0.8)], [(0, 10), (10, 20)]) == (1, 1)
    assert counts_of([(5, 15, 0.9), (0, 10, 0.8)], [(0, 10), (10, 20)]) == (2, 0)
    # of equal scores, the event that is listed first takes its reference first
    assert counts_of([(10, 20, 0.5), (5, 15, 0.5)], [(0, 10), (10, 20)]) == (2, 0)
    assert counts_of([(5, 15, 0.5), (10, 20, 0.5)], [(0, 10), (10, 20)]) == (1, 1)


@pytest.mark.parametrize(
    "criterion",
    [
        sed.IoU(0.5, matching="greedy"),
        sed.BestAnswers(sed.IoU(0.5)),
        sed.BestAnswers(sed.QueryIoU()),
        sed.QueryIoU(),
        sed.QueryPrecision(sed.IoU(0.5, matching="greedy")),
    ],
)
def test_scores_of_frames_are_refused(criterion: sed.Criterion) -> None:
    truth = sed.simulate.ground_truth(2)
    with pytest.raises(sed.SedscopeError, match=r"ranks events .*`overlaps='keep'`"):
        sed.deltas(sed.simulate.scores(truth), truth, criterion)


def test_nothing_judges_frames_by_falling_score() -> None:
    truth = sed.simulate.ground_truth(2)
    with pytest.raises(sed.SedscopeError, match=r"An error analysis needs .* not IoU.*greedy"):
        sed.diagnose(sed.simulate.scores(truth), truth, sed.IoU(0.5, matching="greedy"), 0.5)


def test_what_is_not_defined_is_refused() -> None:
    with pytest.raises(sed.SedscopeError, match=r"matching='best'.*'maximum' or 'greedy'"):
        sed.IoU(0.5, matching="best")
    with pytest.raises(sed.SedscopeError, match="cross_triggers=True needs matching='maximum'"):
        sed.IoU(0.5, cross_triggers=True, matching="greedy")
    with pytest.raises(sed.SedscopeError, match="top=0 must be at least 1"):
        sed.BestAnswers(sed.IoU(0.5), 0)
    with pytest.raises(sed.SedscopeError, match="a value for each query already"):
        sed.QueryPrecision(sed.QueryIoU())
    with pytest.raises(sed.SedscopeError, match=r"counts answers, but OfLength\(Time\("):
        sed.QueryPrecision(sed.OfLength(sed.Time(), longest=1))
