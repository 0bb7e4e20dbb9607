"""Classes counted in blocks: the same values in less memory."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.data.choices import parse_bytes
from sedscope.engines.floor_search import above_floors_that_hold
from sedscope.evaluation.class_blocks import MemoryEstimate, estimate_memory
from sedscope.metrics import Metric
from sedscope.metrics.metric import delta_requests

from ..support.examples import COLLAR
from ..support.examples import METRICS as EVERY_METRIC
from ..support.random_sets import KINDS, random_set

METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar(), average="micro_tuned"),
    sed.FScore(sed.Collar(), threshold=0.3),
    sed.AveragePrecision(sed.Segment(1.0), average="weighted"),
    sed.AUROC(sed.Segment(1.0)),
    sed.BestErrorRate(sed.IoU(0.5)),
]


def small_set() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(40, seed=2)
    return sed.simulate.scores(truth, frame=0.1, seed=2), truth


def test_blocks_give_the_same_values() -> None:
    scores, truth = small_set()
    needed = estimate_memory(align(scores, truth), delta_requests(METRICS))
    limit = int(1.5 * (needed.fixed + (needed.deltas + needed.counts).max() * 1.5))
    assert len([*needed.blocks(limit)]) >= 5
    in_blocks = sed.evaluate(scores, truth, METRICS, run=sed.Run(memory=limit))
    whole = sed.evaluate(scores, truth, METRICS)
    assert in_blocks.scalars() == whole.scalars()
    kept = sum(len(counts.scores) for counts in in_blocks.counts[sed.Collar()].values())
    assert kept < 0.5 * sum(len(counts.scores) for counts in whole.counts[sed.Collar()].values())


def test_clips_are_read_once_and_a_block_has_its_own_classes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, truth = small_set()
    psds = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    rows: list[NDArray[np.int64]] = []
    read: Counter[str] = Counter()

    def recording(deltas: dict[Any, sed.Deltas], *others: Any) -> dict[Any, sed.Deltas]:
        rows.append(np.diff(deltas[psds.criterion].tables.detections.class_starts()))
        return above_floors_that_hold(deltas, *others)

    def load(clip: str) -> sed.ClipScores:
        read[clip] += 1
        return scores[clip]

    lazy = sed.Scores(scores, load, classes=scores.classes)
    monkeypatch.setattr("sedscope.evaluation.class_blocks.above_floors_that_hold", recording)
    monkeypatch.setattr("sedscope.evaluation.class_blocks._SAMPLE", 2)
    needed = estimate_memory(align(scores, truth), delta_requests([psds]))
    limit = int(1.5 * (needed.fixed + (needed.deltas + needed.counts).max() * 1.5))
    in_blocks = sed.evaluate(lazy, truth, psds, run=sed.Run(memory=limit))
    assert in_blocks.scalars() == sed.evaluate(scores, truth, psds).scalars()
    assert len(rows) > 1
    assert (np.count_nonzero(rows, axis=0) == 1).all()
    assert sorted(read.values()) == [1] * (len(scores) - 2) + [2] * 2  # two for the estimate
    kept = sed.evaluate(scores, truth, psds, run=sed.Run(checkpoint=tmp_path, memory=limit))
    assert kept.scalars() == in_blocks.scalars()


def test_thresholds_are_still_best() -> None:
    scores, truth = small_set()
    best = sed.BestFScore(sed.Collar())
    thresholds = sed.evaluate(scores, truth, best, run=sed.Run(memory="300kB"))[best].thresholds
    tuned = sed.evaluate(sed.at_thresholds(scores, thresholds), truth, sed.FScore(sed.Collar()))
    assert tuned.scalars().popitem()[1] == sed.evaluate(scores, truth, best).scalars().popitem()[1]


@pytest.fixture
def one_class_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    def blocks(self: MemoryEstimate, _: int) -> Iterator[NDArray[np.bool_]]:
        yield from np.eye(len(self.deltas), dtype=bool)

    monkeypatch.setattr(MemoryEstimate, "blocks", blocks)


def by_class(metric: Metric[Any]) -> bool:
    limited = metric.false_positive_limit is not None
    return not metric.any_label and (limited or metric.points_read != "all")


def without_false_alarms(evaluation: sed.Evaluation) -> dict[str, Any]:
    """The evaluation as a dict. False alarms of classes without references are not counted in blocks."""
    result = evaluation.to_dict()
    for metric in result["metrics"]:
        metric.pop("false_alarms_per_hour", None)
    return result


@pytest.mark.usefixtures("one_class_a_block")
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_give_the_same_values_and_thresholds_for_every_metric(kind: str) -> None:
    rng = np.random.default_rng([31, KINDS.index(kind)])
    metrics = [
        *filter(by_class, EVERY_METRIC),
        sed.BestErrorRate(COLLAR),
        sed.RecallAtPrecision(sed.IoU(0.1), precision=0.2),
        sed.RecallAtFalseAlarms(sed.IoU(0.1), false_alarms=1e5),
    ]
    for _ in range(3):
        scores, truth = random_set(rng, kind, with_references=4)
        for metric in metrics:
            whole = sed.evaluate(scores, truth, metric)
            in_blocks = sed.evaluate(scores, truth, metric, run=sed.Run(memory="1GB"))
            assert in_blocks.blocks == len(scores.classes)
            np.testing.assert_equal(without_false_alarms(in_blocks), without_false_alarms(whole))
            complete = whole.counts[metric.criterion]
            for label, threshold in in_blocks[metric].thresholds.items():
                if np.isfinite(threshold):
                    alone = metric.of_tallies({label: complete[label].tally_at(threshold)}, complete)
                    value = alone.per_class[label].value
                    np.testing.assert_equal(value, in_blocks[metric].per_class[label].value)


@pytest.mark.usefixtures("one_class_a_block")
def test_several_metrics_in_blocks_have_their_own_thresholds() -> None:
    scores, truth = small_set()
    metrics: list[Metric[Any]] = [
        sed.BestFScore(sed.Collar()),
        sed.BestFScore(sed.Collar(), beta=3),
        sed.FScore(sed.Collar(), threshold=0.123, average="micro"),
        sed.RecallAtPrecision(sed.Collar(), precision=0.3),
        sed.RecallAtFalseAlarms(sed.Collar(), false_alarms=200),
    ]
    whole = sed.evaluate(scores, truth, metrics)
    in_blocks = sed.evaluate(scores, truth, metrics, run=sed.Run(memory="1GB"))
    assert in_blocks.to_dict() == whole.to_dict()
    best = metrics[0]
    tuned = sed.at_thresholds(scores, in_blocks[best].thresholds)
    assert (
        sed.evaluate(tuned, truth, sed.FScore(sed.Collar())).scalars().popitem()[1]
        == [*in_blocks.scalars().values()][10]
    )


@pytest.mark.usefixtures("one_class_a_block")
def test_counts_of_blocks_say_that_they_are_not_complete(tmp_path: Path) -> None:
    scores, truth = small_set()
    best = sed.BestFScore(sed.Collar(cross_triggers=True))
    fixed = sed.FScore(sed.Collar(cross_triggers=True), 0.3)
    whole = sed.evaluate(scores, truth, [best, fixed])
    result = sed.evaluate(scores, truth, [best, fixed], run=sed.Run(memory="1GB"))
    counts, complete = result.counts[best.criterion], whole.counts[best.criterion]
    label = result.classes[0]
    table = counts[label]
    assert complete[label].complete
    assert not table.complete
    assert "not complete" in repr(table)
    # what was kept is exact, at every threshold of a row and above all scores
    assert vars(table.tally_at(0.3)) == vars(complete[label].tally_at(0.3))
    assert vars(table.tally_at(1e9)) == vars(complete[label].tally_at(1e9))
    rows = np.flatnonzero(np.isin(complete[label].scores, table.scores))
    thresholds = [complete[label].threshold(int(row) + 1) for row in rows]
    assert [table.threshold(row + 1) for row in range(len(rows))] == thresholds
    dropped = np.setdiff1d(np.arange(len(complete[label].scores)), rows)
    for row in dropped[:20]:
        with pytest.raises(sed.SedscopeError, match=r"Threshold .* Raise the limit"):
            table.tally_at(complete[label].threshold(int(row) + 1))
    assert result[fixed].average("micro") == whole[fixed].average("micro")
    assert result[best].average("weighted") == whole[best].average("weighted")
    assert result[best].average("micro_tuned") == whole[best].average("micro_tuned")
    refused: list[Callable[[], object]] = [
        lambda: table.at([0.3]),
        lambda: table.ct(result.classes[1]),
        lambda: counts.at([0.3]),
        counts.pooled,
        lambda: counts.cross_trigger_matrix(0.3),
        lambda: counts.plot_cross_triggers(0.3),
        lambda: sed.curves.precision_recall_curve(table),
        lambda: sed.curves.fscore_curve(table),
        lambda: sed.curves.error_rate_curve(table),
        lambda: result[best].per_class[label].curve,
        lambda: result[best].plot(),
        lambda: result[best].average("micro"),
        result[best].pooled,
        lambda: sed.choose(counts),
        lambda: result.deltas[best.criterion],
        lambda: list(result.deltas),
        lambda: len(result.deltas),
        lambda: result.report(tmp_path / "report.html"),
    ]
    for read in refused:
        with pytest.raises(sed.SedscopeError, match="Raise the limit"):
            read()
    assert not list(tmp_path.iterdir())
    assert "no deltas" in repr(result.deltas)


def test_one_block_keeps_everything(tmp_path: Path) -> None:
    scores, truth = small_set()
    best = sed.BestFScore(sed.Collar())
    result = sed.evaluate(scores, truth, best, run=sed.Run(memory="1GB"))
    assert result.blocks == 1
    assert result.counts[best.criterion].pooled().complete
    assert sed.evaluate_deltas(result.deltas.values(), best).scalars() == result.scalars()
    result.report(tmp_path / "report.html", clips_shown=2)


@pytest.mark.usefixtures("one_class_a_block")
def test_a_curve_of_areas_is_refused_in_blocks_and_a_psd_roc_is_the_same() -> None:
    scores, truth = small_set()
    area, psds = sed.AUROC(sed.Segment(1.0)), sed.presets.PSDS1
    whole = sed.evaluate(scores, truth, [area, psds])
    result = sed.evaluate(scores, truth, [area, psds], run=sed.Run(memory="1GB"))
    for label in result.classes:
        with pytest.raises(sed.SedscopeError, match="A curve needs all counts"):
            _ = result[area].per_class[label].curve
        for name, column in vars(whole[psds].per_class[label].curve).items():
            np.testing.assert_equal(getattr(result[psds].per_class[label].curve, name), column)


def test_what_needs_all_classes_is_refused_in_blocks() -> None:
    scores, truth = small_set()
    micro = sed.BestFScore(sed.Collar(), average="micro")
    with pytest.raises(sed.SedscopeError, match=r"need the curves of all classes at once: BestFScore"):
        sed.evaluate(scores, truth, micro, run=sed.Run(memory="300kB"))
    assert sed.evaluate(scores, truth, micro, run=sed.Run(memory="1GB"))[micro].value > 0
    with pytest.raises(sed.SedscopeError, match="Resampling needs all deltas"):
        sed.evaluate(scores, truth, METRICS[0], run=sed.Run(memory="1GB"), resampling=10)


def test_a_limit_too_small_for_one_class() -> None:
    scores, truth = small_set()
    with pytest.raises(sed.SedscopeError, match="one class alone needs"):
        sed.evaluate(scores, truth, METRICS, run=sed.Run(memory=10))


@pytest.mark.parametrize(
    "text", ["", "4XB", "-1GB", "0", "nan", "inf", "1e400GB", float("inf"), "4iB", None, True]
)
def test_no_number_of_bytes(text: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="not a number of bytes"):
        parse_bytes(text)


@pytest.mark.parametrize("number", [10**400, 10**5000, "9" * 400], ids=["400", "5000", "text"])
def test_numbers_of_many_digits(number: int | str) -> None:
    with pytest.raises(sed.SedscopeError, match="not a number of bytes") as caught:
        parse_bytes(number)
    assert len(str(caught.value)) < 200


def test_numbers_of_bytes() -> None:
    assert parse_bytes("4GiB") == 4 * 1024**3
    assert parse_bytes("1.5 KiB") == 1536
    assert parse_bytes("4GB") == parse_bytes("4G") == parse_bytes(4e9) == 4 * 10**9
    assert parse_bytes(1e16) == parse_bytes("1e+16") == parse_bytes("10000TB") == 10**16


def test_expectation_is_of_the_right_size() -> None:
    scores, truth = small_set()
    requests = delta_requests([sed.BestFScore(sed.Collar())])
    deltas = sed.deltas(scores, truth, sed.Collar())
    rows = np.diff(deltas.tables.detections.class_starts())
    found = estimate_memory(align(scores, truth), requests)
    np.testing.assert_allclose(found.deltas, rows * 12, rtol=0.5)
    np.testing.assert_allclose(found.counts, rows * 20, rtol=0.5)


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 200)), min_size=1, max_size=8),
    st.integers(0, 400),
    st.integers(0, 1000),
)
def test_blocks_are_all_classes_once_and_within_the_limit(
    sizes: list[tuple[int, int]], kept: int, limit: int
) -> None:
    deltas, counts = np.array(sizes, float).T
    needed = MemoryEstimate(deltas, counts, kept, 10)

    def size(block: NDArray[np.bool_]) -> float:
        held = counts[block].sum() if counts[block].sum() <= kept else max(kept, counts[block].max())
        return float(10 + deltas[block].sum() + held)

    everything, room = np.eye(len(sizes), dtype=bool), limit * 2 / 3
    if any(size(alone) > room for alone in everything):
        with pytest.raises(sed.SedscopeError, match="one class alone needs"):
            list(needed.blocks(limit))
        return
    blocks = list(needed.blocks(limit))
    assert np.sum(blocks, axis=0).tolist() == [1] * len(sizes)
    assert all(size(block) <= room for block in blocks)
    for block, following in pairwise(blocks):  # none could have been larger
        assert size(block | everything[int(np.argmax(following))]) > room


def test_many_rows_are_counted_class_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth = small_set()
    deltas = sed.deltas(scores, truth, sed.Collar(cross_triggers=True, errors=True))
    whole = deltas.counts()
    monkeypatch.setattr("sedscope.counting.deltas.ROWS_TO_KEEP", 0)
    counts = deltas.counts(threads=3)
    assert list(counts) == list(whole)
    for label in [*whole, *whole]:
        for name, expected_value in vars(whole[label]).items():
            np.testing.assert_equal(getattr(counts[label], name), expected_value)
    assert len(counts) == len(whole)
    with pytest.raises(KeyError):
        counts["Cuckoo"]


def test_classes_are_measured_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth = small_set()
    deltas = sed.deltas(scores, truth, sed.Collar())
    largest = {label: of_class.tp.max() for label, of_class in deltas.counts().items()}
    monkeypatch.setattr("sedscope.counting.deltas.ROWS_TO_KEEP", deltas.tables.rows() - 1)
    counts = deltas.counts(threads=2)
    measured_on = set()

    def measure(label: str) -> int:
        measured_on.add(threading.current_thread())
        return int(counts[label].tp.max())

    assert counts.of_each_class(measure) == largest
    assert threading.current_thread() not in measured_on
