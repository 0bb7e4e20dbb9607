"""Metrics of scored events and queries, compared with a brute force."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import FalseAnswerRate

from ..criteria.test_greedy_pairs import Reference, kept, references, verdicts
from ..criteria.test_kept_events import END, Detection, clips
from ..support import oracle
from ..support.command_line import run
from ..support.examples import EVENT_METRICS
from ..support.oracle import queries
from ..support.strategies import LABELS

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

TIOUS = (0.3, 0.5, 0.8)
Case = Sequence[tuple[Sequence[Detection], Sequence[Reference]]]
Value = Callable[[str, Sequence[Detection], Sequence[Reference]], float]


def mean_over_queries(case: Case, value: Value) -> float:
    """The mean over clips and classes with references."""
    of_queries = [
        value(label, detected, targets)
        for detected, targets in case
        for label in LABELS
        if any(target[2] == label for target in targets)
    ]
    return fmean(of_queries) if of_queries else np.nan


def number_of(label: str, targets: Sequence[Reference]) -> int:
    return sum(target[2] == label for target in targets)


def mean_precision_over_classes(case: Case, top: int | None) -> float:
    values = []
    for label in LABELS:
        number = sum(number_of(label, targets) for _, targets in case)
        for tiou in TIOUS if number else ():
            can_pair = oracle.pairs.overlap_over_union(tiou)
            pooled = [v for d, r in case for v in verdicts(label, d, r, can_pair, top=top)]
            values.append(queries.interpolated_precision(pooled, number))
    return fmean(values) if values else np.nan


def mean_precision_over_clips(case: Case, top: int | None) -> float:
    def value(label: str, detected: Sequence[Detection], targets: Sequence[Reference]) -> float:
        return fmean(
            queries.interpolated_precision(
                verdicts(label, detected, targets, oracle.pairs.overlap_over_union(tiou), top=top),
                number_of(label, targets),
                ranked=True,
            )
            for tiou in TIOUS
        )

    return mean_over_queries(case, value)


def best_ratio(
    k: int, label: str, detected: Sequence[Detection], targets: Sequence[Reference]
) -> Fraction:
    """The largest intersection over union of the k best events with a reference."""
    events = queries.by_score((event[0], event[1], event[3]) for event in detected if event[2] == label)
    goals = [target[:2] for target in targets if target[2] == label]
    ratios = [queries.ratio(event, goal) for event in events[:k] for goal in goals]
    return max(ratios, default=Fraction(0))


@settings(max_examples=150)
@given(clips, references, st.none() | st.integers(1, 3), st.integers(1, 3), st.sampled_from(TIOUS))
def test_values(
    detected: list[list[Detection]], targets: list[list[Reference]], top: int | None, k: int, tiou: float
) -> None:
    case = [*zip(detected, targets, strict=False)]
    exact = Fraction(str(tiou))
    expected: dict[Any, float] = {
        sed.MeanAveragePrecision(TIOUS, top=top): mean_precision_over_classes(case, top),
        sed.MeanAveragePrecision(TIOUS, over="clip", top=top): mean_precision_over_clips(case, top),
        sed.RecallAt(k, tiou): mean_over_queries(case, lambda *query: best_ratio(k, *query) >= exact),
        sed.MeanIoU(): mean_over_queries(case, lambda *query: float(best_ratio(1, *query))),
    }
    result = sed.evaluate(*kept(detected, targets), list(expected), run=sed.Run(threads=1))
    for metric, value in expected.items():
        assert result[metric].value == pytest.approx(value, abs=1e-12, nan_ok=True), metric


@settings(max_examples=100)
@given(clips, references, st.integers(1, 5))
def test_segments_of_overlapping_references(
    detected: list[list[Detection]], targets: list[list[Reference]], length: int
) -> None:
    """A class is active in a segment if any reference overlaps it, so merging them changes nothing."""
    scores, truth = kept(detected, targets)
    merged = sed.GroundTruth.from_dict(
        {clip: truth.events(clip) for clip in truth.clips},
        durations=dict.fromkeys(truth.clips, 2 * END / 1e6),
        overlaps="merge",
    )
    for criterion in (sed.Clip(), sed.Segment(length / 1e6)):
        metric = sed.AveragePrecision(criterion)
        values = [sed.evaluate(scores, each, metric)[metric] for each in (truth, merged)]
        for label, of_class in values[0].per_class.items():
            assert of_class.value == pytest.approx(values[1].per_class[label].value, nan_ok=True)


@settings(max_examples=150)
@given(clips, references)
def test_false_answers_at_every_threshold(
    detected: list[list[Detection]], targets: list[list[Reference]]
) -> None:
    """The share of clips and classes without references in which any event has a higher score."""
    absent = {
        label: [
            [event[3] for event in events if event[2] == label]
            for events, goals in zip(detected, targets, strict=False)
            if not number_of(label, goals)
        ]
        for label in LABELS
    }
    scores, truth = kept(detected, targets)
    levels = sorted({event[3] for events in detected for event in events})
    for threshold in (-1.0, *levels, *(level - 1e-9 for level in levels)):
        answered = {
            label: [any(score > threshold for score in query) for query in asked]
            for label, asked in absent.items()
        }
        together = [answer for of_label in answered.values() for answer in of_label]
        metric = FalseAnswerRate(threshold)
        result = sed.evaluate(scores, truth, metric, run=sed.Run(threads=1))[metric]
        assert result.value == pytest.approx(fmean(together) if together else np.nan, nan_ok=True)
        for label, of_class in result.per_class.items():
            share = fmean(answered[label]) if answered[label] else np.nan
            assert of_class.value == pytest.approx(share, nan_ok=True)
            curve = of_class.curve
            assert curve is not None
            at = int(np.count_nonzero(curve.scores > threshold)) - 1
            assert curve.values[at] == pytest.approx(share, nan_ok=True)
        if answered and result.average("macro") == result.average("macro"):
            shares = [fmean(of_label) for of_label in answered.values() if of_label]
            assert result.average("macro") == pytest.approx(fmean(shares))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.4, 0.7]), st.booleans()), max_size=12), st.integers(0, 3)
)
def test_interpolated_precision(ranked: list[tuple[float, bool]], missed: int) -> None:
    number = sum(right for _, right in ranked) + missed
    if not number:
        return
    # a reference for each event that is right, far from all others
    times = [(10 * i, 10 * i + 5) for i in range(len(ranked) + missed)]
    targets = [(*times[i], "a") for i, (_, right) in enumerate(ranked) if right]
    targets += [(*event, "a") for event in times[len(ranked) :]]
    detected = [(*times[i], "a", score) for i, (score, _) in enumerate(ranked)]
    metric = sed.AveragePrecision(sed.IoU(0.5, matching="greedy"), interpolation="voc")
    scores = sed.Scores.from_events({"x": detected}, classes=["a"], overlaps="keep")
    truth = sed.GroundTruth.from_dict({"x": targets}, durations={"x": 200})
    words = [(score, "right" if right else "wrong") for score, right in ranked]
    value = sed.evaluate(scores, truth, metric)[metric].value
    assert value == pytest.approx(queries.interpolated_precision(words, number), abs=1e-12)


Events = dict[str, list[Any]]


def retrieval_events(number: int) -> tuple[Events, Events]:
    """Queries with two moments each and overlapping answers: detected events and references."""
    random = np.random.default_rng(3)
    detected: Events = {}
    truth: Events = {}
    for i in range(number):
        onsets = random.integers(0, 50, 4).tolist()
        truth[f"q{i}"] = [(t, t + 8 + i, label) for t, label in zip(onsets, "aabb", strict=True)]
        detected[f"q{i}"] = [
            (t + float(random.integers(0, 6)), t + 10.0 + i, label, round(float(random.random()), 1))
            for t, _, label in truth[f"q{i}"] * 2
        ]
    return detected, truth


def as_system(detected: Events, truth: Events) -> tuple[sed.Scores, sed.GroundTruth]:
    return (
        sed.Scores.from_events(detected, overlaps="keep"),
        sed.GroundTruth.from_dict(truth, durations=dict.fromkeys(truth, 99), overlaps="keep"),
    )


def retrieval(number: int = 12) -> tuple[sed.Scores, sed.GroundTruth]:
    return as_system(*retrieval_events(number))


def test_all_ways_of_evaluating_agree(tmp_path: Path) -> None:
    scores, truth = retrieval()
    expected = sed.evaluate(scores, truth, EVENT_METRICS, resampling=30)
    kept_values = sed.evaluate(
        scores, truth, EVENT_METRICS, resampling=30, run=sed.Run(checkpoint=tmp_path)
    )
    assert kept_values.table() == expected.table()
    for metric in EVENT_METRICS:
        assert expected.intervals[metric].value == expected[metric].value
        assert expected[metric].plot() is not None
    criteria = dict.fromkeys(part.criterion for metric in EVENT_METRICS for part in metric.parts)
    deltas = [sed.deltas(scores, truth, criterion) for criterion in criteria]
    sed.save_deltas(deltas, tmp_path / "all.deltas")
    loaded = sed.load_deltas(tmp_path / "all.deltas")
    again = sed.evaluate_deltas(loaded, EVENT_METRICS, resampling=30)
    assert again.scalars() == expected.scalars()
    compared = sed.compare({"one": scores, "two": scores}, truth, EVENT_METRICS, resampling=30)
    for metric in EVENT_METRICS:
        assert compared.values[metric]["one"].value == expected[metric].value


@pytest.mark.parametrize("metric", EVENT_METRICS, ids=repr)
def test_a_weight_counts_a_clip_several_times(metric: Any) -> None:
    events = retrieval_events(4)
    scores, truth = as_system(*events)
    times = [2, 0, 1, 3]
    copies = [(clip, i) for clip, number in zip(scores, times, strict=True) for i in range(number)]
    detected, targets = ({f"{clip}-{i}": side[clip] for clip, i in copies} for side in events)
    repeated = sed.evaluate(*as_system(detected, targets), metric)
    values = [
        sed.bootstrap(sed.deltas(scores, truth, part.criterion), part, weights=[times])
        for part in metric.parts
    ]
    weighted = np.mean([of_part.values[0] for of_part in values])
    assert weighted == pytest.approx(repeated[metric].value, abs=1e-12)


def test_lengths_and_groups() -> None:
    scores, truth = retrieval()
    metrics: list[Any] = [sed.MeanAveragePrecision(over="clip"), sed.RecallAt(), sed.MeanIoU()]
    result = sed.evaluate(
        scores, truth, metrics, by=sed.By(clips={clip: clip[-1] for clip in truth.clips}, lengths=[12])
    )
    short = result.groups["lengths"].evaluations["≤ 12 s"]
    assert [*short.results] == [metric.of_lengths(0, 12) for metric in metrics]
    alone = sed.evaluate(scores, truth, [*short.results])
    assert [*alone.scalars().values()] == [*short.scalars().values()]
    assert result.groups["clips"].evaluations["1"].clips == 2


@pytest.mark.parametrize(
    ("tious", "definition"),
    [
        ((0.5, 0.6, 0.7), "MeanAveragePrecision(tious='0.5..0.7/0.1', over='class')"),
        ("0.75", "MeanAveragePrecision(tious=0.75, over='class')"),
        ((0.75, 0.5), "MeanAveragePrecision(tious=(0.5, 0.75), over='class')"),
    ],
)
def test_equal_metrics_have_equal_definitions(tious: Any, definition: str) -> None:
    metric = sed.MeanAveragePrecision(tious)
    assert repr(metric) == definition
    assert sed.parse_metric(definition) == metric


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: sed.MeanAveragePrecision("0.5..0.9"), "needs a step"),
        (lambda: sed.MeanAveragePrecision((0.5, 1.5)), r"tious=\(0.5, 1.5\) must be numbers above 0"),
        (lambda: sed.MeanAveragePrecision(over="query"), "over='query' is not valid"),
        (lambda: sed.MeanAveragePrecision(top=0), "top=0 must be at least 1"),
        (lambda: sed.parse_metric("RecallAt(1.5)"), r"k=1\.5 must be a whole number"),
        (lambda: sed.RecallAt(tiou=0), "tiou=0 must be above 0"),
        (lambda: sed.MeanIoU(lengths=(5, 1)), r"longest=1 must be more than shortest=5"),
        (lambda: sed.FScore(sed.QueryIoU()), "no FScore of it. Use QueryMean, MeanIoU or RecallAt"),
        (
            lambda: sed.QueryMean(sed.IoU(0.5)),
            "QueryMean needs a criterion that gives each query a value",
        ),
        (lambda: sed.AveragePrecision(sed.IoU(0.5), interpolation="11"), "'step' or 'voc'"),
    ],
)
def test_what_is_not_defined_is_refused(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(sed.SedscopeError, match=problem):
        make()


def test_a_mean_of_several_metrics_needs_the_counts_of_all() -> None:
    scores, truth = retrieval()
    metric = sed.MeanAveragePrecision()
    deltas = sed.deltas(scores, truth, metric.criterion)
    with pytest.raises(sed.SedscopeError, match=r"mean of 10 metrics.*sedscope\.evaluate"):
        metric.measure(deltas.counts())
    with pytest.raises(sed.SedscopeError, match="There are no deltas for"):
        sed.evaluate_deltas(deltas, metric)
    with pytest.raises(sed.SedscopeError, match="needs deltas of"):
        sed.bootstrap(deltas, metric)


def test_lengths_are_not_replaced_in_silence() -> None:
    short: list[Any] = [
        sed.MeanIoU(lengths=(0, 10)),
        sed.RecallAt(1, 0.5, lengths=(0, 10)),
        sed.MeanAveragePrecision(over="clip", lengths=(0, 10)),
    ]
    for metric in short:
        with pytest.raises(sed.SedscopeError, match="counts only references of some lengths already"):
            sed.evaluate(*retrieval(), metric, by=sed.By(lengths=(10,)))


def test_best_answers_need_events() -> None:
    pieces = sed.ClipPieces(lambda: iter([[[0.5]], [[0.2]]]), edges=[0, 1, 2])
    scores = sed.Scores({"a": pieces}, {"a": pieces}.__getitem__, classes=["Dog"])
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    with pytest.raises(sed.SedscopeError, match="scored events"):
        sed.evaluate(scores, truth, sed.FScore(sed.BestAnswers(sed.IoU(0.5), 1)))


def test_command_line(tmp_path: Path) -> None:
    header = "filename\tonset\toffset\tevent_label"
    answers = ["q1\t0\t9\tmoment\t0.9", "q1\t0\t10\tmoment\t0.8", "q2\t5\t7\tmoment\t0.7"]
    (tmp_path / "system.tsv").write_text("\n".join([f"{header}\tconfidence", *answers, ""]))
    (tmp_path / "truth.tsv").write_text(f"{header}\nq1\t0\t10\tmoment\nq2\t0\t10\tmoment\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\nq1\t20\nq2\t20\n")
    files = [tmp_path / "system.tsv", tmp_path / "truth.tsv", "--durations", tmp_path / "durations.tsv"]
    metrics = [
        option for name in ("moment_map_50", "r1_70", "mean_iou") for option in ("--metric", name)
    ]
    options = ["--overlaps", "keep", "--bootstrap", "20", "--json", "-"]
    evaluated = run("evaluate", *files, *metrics, *options)
    values = {metric["name"]: metric["value"] for metric in json.loads(evaluated.out)["metrics"]}
    assert values == {"moment_map_50": 0.5, "r1_70": 0.5, "mean_iou": pytest.approx(0.55)}
    refused = run("evaluate", *files, "--metric", "mean_iou")
    assert refused.code != 0
    assert "--overlaps keep" in refused.err


@pytest.mark.parametrize(("answers", "noted"), [(2, True), (1, False)])
def test_answers_of_one_confidence_are_noted(answers: int, noted: bool, tmp_path: Path) -> None:
    events = ["a\t0\t4\tDog", "a\t5\t9\tDog"][:answers]
    header = "filename\tonset\toffset\tevent_label"
    (tmp_path / "list.tsv").write_text("\n".join([header, *events, ""]))
    (tmp_path / "truth.tsv").write_text(f"{header}\na\t5\t9\tDog\nb\t5\t9\tDog\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t10\nb\t10\n")
    files: list[Any] = [tmp_path / "list.tsv", tmp_path / "truth.tsv"]
    files += ["--durations", tmp_path / "durations.tsv"]
    kept = ["--overlaps", "keep"]
    metrics = ["RecallAt(1, 0.5)", "MeanIoU()", "MeanAveragePrecision(over='clip')", "map=detection_map"]
    metrics += ["ap=AveragePrecision(IoU(0.5, matching='greedy'))"]
    result = run("evaluate", *files, *kept, *(part for text in metrics for part in ("--metric", text)))
    ranked = "which of its answers to a query are the best"
    named = "judge the best answers: r1_50, mean_iou, MeanAveragePrecision. Compare"
    assert (ranked in result.err) == (named in result.err) == noted
    assert "use all of them: map, ap. Compare" in result.err
    page = ["--report", tmp_path / "report.html"]
    assert (ranked in run("evaluate", *files, *kept, "--metric", metrics[0], *page).err) == noted
    systems = [f"list={files[0]}", f"other={files[0]}"]
    compared = run("compare", *systems, *files[1:], *kept, "--metric", metrics[0], "--bootstrap", "10")
    assert ("list: All detections have the same confidence" in compared.err) == noted
    system = sed.Scores.from_events(sed.read_events(files[0]), overlaps="keep", clips=["b"])
    truth = sed.read_ground_truth(files[1], durations=files[3])
    ranking = sed.rank({"list": system}, truth, "r1_50", resampling=10)
    assert any(ranked in note for note in ranking.systems[0].warnings) == noted


def test_values_that_are_not_defined_are_not_noted(tmp_path: Path) -> None:
    header = "filename\tonset\toffset\tevent_label"
    (tmp_path / "list.tsv").write_text(f"{header}\na\t0\t4\tDog\na\t5\t9\tDog\n")
    (tmp_path / "truth.tsv").write_text(f"{header}\na\t9\t5\tDog\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t10\n")
    files = [tmp_path / "list.tsv", tmp_path / "truth.tsv", "--durations", tmp_path / "durations.tsv"]
    options = ["--overlaps", "keep", "--invalid", "drop", "--classes", "Dog"]
    result = run("evaluate", *files, *options, "--metric", "psds1", "--metric", "r1_50")
    assert result.code == 0
    assert "nan" in result.out.lower()
    assert "event list" not in result.err
