"""Every way to measure a system judges the same classes, also those without references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.files import write_durations
from ..support.report.contents import build_page

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
CLASSES = ("a", "b", "c", "d")
THRESHOLDS = (0.25, 0.5, 0.75)
AT_THRESHOLDS: dict[str, sed.Metric[Any]] = {
    "macro": sed.FScore(sed.Collar(), 0.5),
    "micro": sed.FScore(sed.Collar(), 0.5, average="micro"),
    "weighted": sed.Recall(sed.Intersection(0.5, 0.5), 0.25, average="weighted"),
    "precision": sed.Precision(sed.Segment(1.0), 0.75, average="micro"),
    "errors": sed.ErrorRate(sed.Segment(1.0), 0.5, average="micro"),
    "alarms": sed.FalseAlarmRate(sed.Collar(), 0.5),
    "mean_alarms": sed.FalseAlarmRate(sed.Collar(), 0.5, average="macro"),
}
METRICS: dict[str, sed.Metric[Any]] = {
    **AT_THRESHOLDS,
    "psds": sed.PSDS(sed.Intersection(0.5, 0.5, cttc=0.3), alpha_ct=0.5, alpha_st=1, max_efpr=2000),
    "best": sed.BestFScore(sed.Collar(), average="micro"),
    "tuned": sed.BestFScore(sed.Collar(), average="micro_tuned"),
    "area": sed.AveragePrecision(sed.Clip(), average="micro"),
}
Values = dict[str, tuple[float, ...]]


def random_set(seed: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """Some clips of 6 s. One class or more have no references; all are detected somewhere."""
    random = np.random.default_rng(seed)
    clips = [f"clip{i}" for i in range(random.integers(2, 5))]
    arrays = {clip: random.choice([0.1, 0.3, 0.6, 0.9], (6, len(CLASSES))) for clip in clips}
    arrays[clips[0]][0] = 0.9
    present = random.permutation(CLASSES)[: random.integers(1, len(CLASSES))]
    events = {
        clip: [(onset, onset + 1, label) for label in present for onset in range(0, 6, 2)][
            random.integers(3) :: random.integers(1, 4)
        ]
        for clip in clips
    }
    events[clips[0]] += [(5, 6, label) for label in present]  # no label is absent by chance
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 6.0))
    return sed.Scores.from_arrays(arrays, classes=CLASSES, frame=1.0), truth


def evaluated(result: sed.Evaluation) -> Values:
    return {
        name: (
            result[metric].value,
            *(result[metric].per_class[label].value for label in result.classes),
        )
        for metric, name in result.names.items()
    }


def estimated(estimates: Any) -> Values:
    return {
        name: (estimate.value, *(estimate.per_class[label].value for label in CLASSES))
        for name, estimate in estimates.items()
    }


def by_comparing(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    compared = sed.compare({"one": scores, "two": scores}, truth, METRICS, resampling=3)
    return estimated({name: compared.values[metric]["one"] for name, metric in METRICS.items()})


def by_ranking(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    ranking = sed.rank({"one": scores, "two": scores}, truth, METRICS, resampling=3)
    assert ranking.classes == CLASSES
    assert ranking.evaluate is not None
    values = estimated(ranking.systems[0].metrics)
    np.testing.assert_equal(evaluated(ranking.evaluate(ranking.systems[0], "")), values)
    return values


def by_task(scores: sed.Scores, truth: sed.GroundTruth, folder: Path) -> Values:
    (folder / "data").mkdir()
    sed.write_ground_truth(truth, folder / "data" / "ground_truth.tsv")
    write_durations(truth, folder / "data" / "durations.tsv")
    sed.write_scores(scores, folder / "one")
    task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset(METRICS)}, "home.macro")
    values = evaluated(sed.tasks.evaluate_task(task, folder / "one", folder / "data").datasets["home"])
    (ranked,) = sed.tasks.rank_task(task, {"one": folder / "one"}, folder / "data", resampling=3).systems
    of_metrics = {name: ranked.metrics[f"home.{name}"] for name in METRICS}
    np.testing.assert_equal(estimated(of_metrics), values)
    return values


def by_training(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    torch = pytest.importorskip("torch")
    from sedscope.torch import SEDMetrics

    metric = SEDMetrics(METRICS, CLASSES, frame=1.0, truth=truth)
    for clip in scores:
        metric.update(torch.from_numpy(scores[clip].values[None]), [clip])
    metric.compute()
    return evaluated(metric.result())


def by_groups(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    result = sed.evaluate(scores, truth, METRICS, by=dict.fromkeys(truth.clips, "all"))
    return evaluated(result.groups["clips"]["all"])


def by_deltas(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    criteria = dict.fromkeys(metric.criterion for metric in METRICS.values())
    deltas = [sed.deltas(scores, truth, criterion) for criterion in criteria]
    chosen = {name: metric for name, metric in METRICS.items() if name != "errors"}  # no substitutions
    return evaluated(sed.evaluate_deltas(deltas, chosen))


def by_report(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    page = build_page({"one": sed.evaluate(scores, truth, METRICS)})
    return {
        metric.name: (values.value, *values.per_class)
        for metric, values in zip(page.metrics, page.values[0], strict=True)
    }


def in_memory(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    return evaluated(sed.evaluate(scores, truth, METRICS, run=sed.Run(memory="2GB")))


def with_intervals(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    result = sed.evaluate(scores, truth, METRICS, resampling=3)
    return estimated({name: result.intervals[metric] for name, metric in METRICS.items()})


def by_sets(scores: sed.Scores, truth: sed.GroundTruth, _: Path) -> Values:
    return evaluated(sed.evaluate_sets(sed.approximate(scores, THRESHOLDS), truth, AT_THRESHOLDS))


ENTRIES: list[Callable[..., Values]] = [
    *(by_comparing, by_ranking, by_task, by_training, by_groups, by_deltas, by_report, in_memory),
    *(with_intervals, by_sets),
]


@pytest.fixture(params=range(8))
def data(request: pytest.FixtureRequest) -> tuple[sed.Scores, sed.GroundTruth]:
    scores, truth = random_set(request.param)
    assert {*truth.labels} < {*CLASSES}
    return scores, truth


@pytest.mark.parametrize("measure", ENTRIES, ids=lambda entry: entry.__name__)
def test_all_entries_have_the_same_values(
    measure: Callable[..., Values], data: tuple[sed.Scores, sed.GroundTruth], tmp_path: Path
) -> None:
    expected = evaluated(sed.evaluate(*data, METRICS))
    measured = measure(*data, tmp_path)
    left_out = {by_sets: {*METRICS}.difference(AT_THRESHOLDS), by_deltas: {"errors"}}
    assert {*METRICS}.difference(measured) == left_out.get(measure, set())
    np.testing.assert_equal(measured, {name: expected[name] for name in measured})


def test_choices_and_error_types_count_the_same_classes(
    data: tuple[sed.Scores, sed.GroundTruth],
) -> None:
    scores, truth = data
    best, error = sed.BestFScore(sed.Collar()), sed.FalseAlarmRate(sed.Collar(), average="macro")
    result = sed.evaluate(scores, truth, [best, error])
    tuning = sed.tune(scores, truth, best)
    assert tuning.value == result[best].value
    assert [*tuning.per_class] == [*CLASSES]
    points = sed.choose(sed.deltas(scores, truth, sed.Collar()))
    assert points.thresholds == tuning.points.thresholds == result[best].thresholds
    at_points = sed.evaluate(scores, truth, sed.FScore(sed.Collar(), average="micro"), points=points)
    (micro,) = at_points.results.values()
    assert micro.value == result[best].average("micro_tuned")  # a class without threshold is silent
    diagnosis = sed.diagnose(scores, truth, sed.Collar(), 0.5)
    for label in CLASSES:
        tally = result[error].per_class[label].tally
        assert tally is not None
        np.testing.assert_array_equal(diagnosis[label].tally().fp, [tally.fp])


def test_a_ranking_says_that_systems_have_different_classes() -> None:
    scores, truth = random_set(0)
    fewer = scores.relabelled(dict.fromkeys({*CLASSES}.difference(truth.labels)))
    score = AT_THRESHOLDS["micro"]
    ranking = sed.rank({"all": scores, "fewer": fewer}, truth, score, resampling=3)
    assert sum("do not have the same classes" in note for note in ranking.warnings) == 1
    values = {system.name: system.score.value for system in ranking.systems}
    for name, system in {"all": scores, "fewer": fewer}.items():
        assert values[name] == sed.evaluate(system, truth, score)[score].value
    assert values["all"] < values["fewer"]
    runs = sed.rank({"runs": [scores, fewer], "one": fewer}, truth, score, resampling=3)
    means = {system.name: system.score.value for system in runs.systems}
    assert means["runs"] == np.mean([values["all"], values["fewer"]])


@pytest.mark.parametrize(
    ("chosen", "note"),
    [
        (["macro"], "left out of the averages: "),
        (["macro", "micro"], "left out of the averages (but not of micro FScore): "),
        (["micro"], "detections are false positives for micro FScore: "),
        (["alarms"], None),
    ],
)
def test_the_result_says_where_classes_without_references_count(
    chosen: list[str], note: str | None
) -> None:
    result = sed.evaluate(*random_set(0), {name: METRICS[name] for name in chosen})
    notes = [warning for warning in result.warnings if "no reference events" in warning]
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]
