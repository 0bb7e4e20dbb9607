"""Metrics read off counts: definitions, averages, thresholds, and where they are not defined."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import sedscope as sed
from sedscope.criteria import parse_criterion
from sedscope.metrics import Tally

from ..support import oracle
from ..support.examples import METRICS
from ..support.strategies import LABELS, clip_lists, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

#        a                        b
#  0  1  2  3  4  5 s       0  1  2  3  4  5 s
#  .9 .1 .6 .1 .1           .2 .8 .1 .3 .1       Dog
#  [  )     [  )                  [  )           references
SCORES = sed.Scores.from_arrays(
    {
        "a": [[0.9, 0.0], [0.1, 0.0], [0.6, 0.0], [0.1, 0.7], [0.1, 0.0]],
        "b": [[0.2, 0.0], [0.8, 0.0], [0.1, 0.0], [0.3, 0.0], [0.1, 0.0]],
    },
    classes=["Dog", "Cat"],
    frame=1.0,
)
TRUTH = sed.GroundTruth.from_dict(
    {"a": [(0, 1, "Dog"), (3, 4, "Dog"), (3, 4, "Cat")], "b": [(2, 3, "Dog")]},
    durations={"a": 5, "b": 5},
)
COLLAR = sed.Collar(0.2, 0.2, 0.0)


def value(metric: Any) -> Any:
    return sed.evaluate(SCORES, TRUTH, metric)[metric]


def test_rates_at_a_threshold() -> None:
    # Dog above 0.5: 0–1 (true), 2–3 and 1–2 of b (false); two references missed. Cat: one true.
    dog = value(sed.FScore(COLLAR)).per_class["Dog"]
    assert (dog.tally.tp, dog.tally.fp, dog.tally.fn) == (1, 2, 2)
    assert dog.value == pytest.approx(1 / 3)
    assert value(sed.Precision(COLLAR)).per_class["Dog"].value == pytest.approx(1 / 3)
    assert value(sed.Recall(COLLAR)).per_class["Dog"].value == pytest.approx(1 / 3)
    assert value(sed.MissRate(COLLAR)).per_class["Dog"].value == pytest.approx(2 / 3)
    assert value(sed.ErrorRate(COLLAR)).per_class["Dog"].value == pytest.approx(4 / 3)
    assert value(sed.FScore(COLLAR, beta=2)).per_class["Cat"].value == 1


def test_false_alarms_per_hour_of_all_classes() -> None:
    # above 0.5: Dog has 2 false alarms in 10 s, Cat has none; Bird has no references and 1 false alarm
    values = {clip: np.hstack([SCORES[clip].values, np.zeros((5, 1))]) for clip in ("a", "b")}
    values["a"][4, 2] = 0.9
    scores = sed.Scores.from_arrays(values, classes=["Dog", "Cat", "Bird"], frame=1.0)
    rate, mean = sed.FalseAlarmRate(COLLAR), sed.FalseAlarmRate(COLLAR, average="macro")
    result = sed.evaluate(scores, TRUTH, [rate, mean])
    assert {label: of_class.value for label, of_class in result[rate].per_class.items()} == {
        "Dog": 720,
        "Cat": 0,
        "Bird": 360,
    }
    assert (result[rate].value, result[mean].value) == (1080, 360)
    assert not result.warnings
    assert not result.false_alarms_per_hour
    assert result[rate].average("weighted") == 540  # of 3 references of Dog and 1 of Cat
    mixed = sed.evaluate(scores, TRUTH, [rate, sed.FScore(COLLAR)])
    assert any("averages (but not of FalseAlarmRate): Bird" in note for note in mixed.warnings)


def test_false_alarms_at_one_threshold_per_class() -> None:
    rate = sed.FalseAlarmRate(COLLAR, threshold=0.5)
    counts = sed.deltas(SCORES, TRUTH, COLLAR).counts()
    tallies = {"Dog": counts["Dog"].tally_at(0.25), "Cat": counts["Cat"].tally_at(0.9)}
    result = rate.of_tallies(tallies, counts)
    assert tallies["Dog"].fp == 3
    assert (result.value, result.per_class["Dog"].value) == (1080, 1080)


def test_averages() -> None:
    assert value(sed.FScore(COLLAR)).value == pytest.approx((1 / 3 + 1) / 2)
    assert value(sed.FScore(COLLAR, average="weighted")).value == pytest.approx((3 * 1 / 3 + 1) / 4)
    assert value(sed.FScore(COLLAR, average="micro")).value == pytest.approx(2 * 2 / (4 + 4))
    result = value(sed.FScore(COLLAR))
    assert result.average("micro") == value(sed.FScore(COLLAR, average="micro")).value
    with pytest.raises(sed.SedscopeError, match="average 'median'"):
        result.average("median")


def test_micro_with_one_threshold_and_with_tuned_ones_are_two_things() -> None:
    # one common threshold: above 0.7 one Dog is found, above 0.6 the Cat, too, and there are two more
    # detections; tuned, Dog stays above 0.8
    common = value(sed.BestFScore(COLLAR, average="micro"))
    assert common.value == pytest.approx(2 * 2 / (3 + 4))
    assert common.pooled().threshold == pytest.approx(0.65)
    tuned = value(sed.BestFScore(COLLAR, average="micro_tuned"))
    assert tuned.value == pytest.approx(2 * 2 / (2 + 4))
    assert tuned.thresholds == pytest.approx({"Dog": 0.85, "Cat": 0.35})


def test_substitutions() -> None:
    # Above 0.65 there are Dog 0–1 (a), Dog 1–2 (b), Cat 3–4 (a). Without the Cat's reference, the Cat
    # could be paired with the Dog of 3–4 s but for its label.
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog"), (3, 4, "Dog")], "b": [(0, 1, "Cat")]}, durations={"a": 5, "b": 5}
    )
    metric = sed.ErrorRate(COLLAR, threshold=0.65, average="micro")
    tally = sed.evaluate(SCORES, truth, metric)[metric].pooled().tally
    assert tally is not None
    assert (tally.tp, tally.fp, tally.fn, tally.substitutions) == (1, 2, 2, 1)
    assert tally.error_rate == pytest.approx((1 + 1 + 1) / 3)
    segments = sed.ErrorRate(sed.Segment(1.0), threshold=0.65, average="micro")
    assert sed.evaluate(SCORES, truth, segments)[segments].value == pytest.approx(1)


@settings(max_examples=30)
@given(clip_lists)
def test_thresholds_give_the_counts_that_they_stand_for(case: Sequence[oracle.Clip]) -> None:
    scores, truth = to_scores(case), to_truth(case)
    for metric in METRICS:
        result = sed.evaluate(scores, truth, metric)[metric]
        for label, threshold in getattr(result, "thresholds", {}).items():
            tally = result.counts[label].tally_at(threshold)
            chosen = result.per_class[label].tally
            assert (tally.tp, tally.fp) == (chosen.tp, chosen.fp)


@settings(max_examples=30)
@given(clip_lists)
def test_the_best_is_the_best_of_all(case: Sequence[oracle.Clip]) -> None:
    scores, truth = to_scores(case), to_truth(case)
    collar = sed.Collar(1e-5, 1e-5, 0.3)
    best, least = sed.BestFScore(collar), sed.BestErrorRate(collar)
    result = sed.evaluate(scores, truth, [best, least])
    for label in LABELS:
        counts = oracle.collar_counts(case, label, onset=10, offset=10, offset_rate=0.3)
        n = result.references[label]
        if not n:
            continue
        fscores = [0.0, *(2 * c.tp / (c.tp + c.fp + n) for c in counts.values())]
        rates = [1.0, *((n - c.tp + c.fp) / n for c in counts.values())]
        assert result[best].per_class[label].value == pytest.approx(max(fscores))
        assert result[least].per_class[label].value == pytest.approx(min(rates))


def test_constraints() -> None:
    assert value(sed.RecallAtPrecision(COLLAR, precision=1)).per_class["Dog"].value == pytest.approx(
        1 / 3
    )
    assert value(sed.PrecisionAtRecall(COLLAR, recall=0.3)).per_class["Dog"].value == 1
    assert value(sed.PrecisionAtRecall(COLLAR, recall=0.9)).per_class["Dog"].value == 0
    hours = 10 / 3600
    few, many = (sed.RecallAtFalseAlarms(COLLAR, false_alarms=n / hours) for n in (0.5, 1))
    assert value(few).per_class["Cat"].value == 1
    assert value(many).per_class["Dog"].value == pytest.approx(1 / 3)


@settings(max_examples=30)
@given(clip_lists)
def test_the_curve_of_false_alarms_gives_the_recall_of_every_limit(case: Sequence[oracle.Clip]) -> None:
    criterion = sed.IoU(0.3)
    counts = sed.deltas(to_scores(case), to_truth(case), criterion).counts()
    hours = counts.hours
    for of_class in (*counts.values(), counts.pooled()):
        if not of_class.references or not hours:
            continue
        curve = sed.curves.froc_curve(of_class, hours)
        assert (np.diff(curve.per_hour) > 0).all()
        for allowed in {0, *of_class.fp.tolist()}:
            metric = sed.RecallAtFalseAlarms(criterion, false_alarms=allowed / hours)
            assert curve.recall_at(allowed / hours) == metric.of_class(of_class, hours).value
            assert curve.recall_at((allowed + 0.5) / hours) == metric.of_class(of_class, hours).value
            missed = sed.MissRateAtFalseAlarms(criterion, 24 * allowed / hours, per="day")
            best = missed.of_class(of_class, hours)
            assert best.value == pytest.approx(1 - metric.of_class(of_class, hours).value, abs=1e-15)
            assert best.threshold == metric.of_class(of_class, hours).threshold


def test_areas_of_clips() -> None:
    # clips: Dog in both, Cat in one, which has the higher score
    auroc = value(sed.AUROC(sed.Clip()))
    assert auroc.per_class["Cat"].value == 1
    assert np.isnan(auroc.per_class["Dog"].value)  # no clip without a Dog
    assert value(sed.DPrime(sed.Clip())).per_class["Cat"].value == np.inf
    assert value(sed.AveragePrecision(sed.Clip())).per_class["Dog"].value == 1


@pytest.mark.parametrize("metric", [sed.AUROC, sed.DPrime, sed.Specificity, sed.BalancedAccuracy])
def test_rates_of_negatives_need_segments(metric: Any) -> None:
    for criterion in (COLLAR, sed.IoU(0.5), sed.Intersection(0.5, 0.5)):
        with pytest.raises(sed.SedscopeError, match=r"true negatives.*Use Segment, Clip or Time"):
            metric(criterion)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sed.ErrorRate(sed.Intersection(0.5, 0.5), average="micro"), "substitutions"),
        (lambda: sed.FScore(COLLAR, average="median"), "Choose 'macro' or 'micro' or 'weighted'"),
        (lambda: sed.FScore(COLLAR, average="micro_tuned"), "average='micro_tuned'"),
        (lambda: sed.FScore(COLLAR, beta=0), "beta=0 must be above 0"),
        (lambda: sed.FScore(COLLAR, threshold=float("nan")), "threshold=nan"),
        (lambda: sed.AUROC(sed.Clip(), max_fpr=0), "max_fpr=0"),
        (lambda: sed.AUROC(sed.Clip(), mcclish=True), "give max_fpr"),
        (lambda: sed.PrecisionAtRecall(COLLAR, recall=1.5), "recall=1.5"),
        (lambda: sed.RecallAtFalseAlarms(COLLAR, false_alarms=-1), "false_alarms=-1"),
        (lambda: parse_criterion("PSDS1"), "needs parameters in brackets"),
        (lambda: parse_criterion("0.5"), "is not a criterion"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        make()


def test_psds_needs_the_intersection_criterion() -> None:
    criterion: Any = COLLAR
    with pytest.raises(sed.SedscopeError, match="needs an Intersection"):
        sed.PSDS(criterion)


@pytest.mark.parametrize("name", sorted(sed.presets.PRESETS))
def test_presets(name: str) -> None:
    preset = sed.presets.PRESETS[name]
    assert getattr(sed.presets, name) is preset
    assert preset.about
    assert preset.source
    result = sed.evaluate(SCORES, TRUTH, preset)
    assert len(result) == len(preset.metrics)
    for metric in preset:
        assert sed.parse_metric(repr(metric)) == metric


def test_there_is_no_such_preset() -> None:
    with pytest.raises(AttributeError, match="The presets are dcase2016_task3"):
        _ = sed.presets.dcase1999


def test_rates_of_errors_add_up() -> None:
    tally = value(sed.ErrorRate(COLLAR, average="micro")).pooled().tally
    parts = tally.substitution_rate + tally.deletion_rate + tally.insertion_rate
    assert tally.error_rate == pytest.approx(parts)


def test_cross_trigger_matrix() -> None:
    # above 0.65 the Cat of 3–4 s stands where a Dog was to be found, too
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog"), (3, 4, "Dog")], "b": []}, durations={"a": 5, "b": 5}
    )
    for criterion in (sed.Collar(0.2, 0.2, 0.0, cross_triggers=True), sed.Intersection(0.5, 0.5, 0.5)):
        counts = sed.deltas(SCORES, truth, criterion).counts()
        assert counts.cross_trigger_matrix(0.65).tolist() == [[1, 0], [1, 0]]
        assert counts.cross_trigger_matrix(1.0).tolist() == [[0, 0], [0, 0]]


@pytest.mark.filterwarnings("ignore:The scores of 1 clip cover less:sedscope.SedscopeWarning")
def test_a_number_of_false_alarms_that_is_met_exactly() -> None:
    # 29 false alarms in 100 hours: 0.29 an hour, although 0.29 * 100 is less than 29 in floats
    scores = sed.Scores.from_arrays(
        {"a": [[0.9], [0.1]] * 29 + [[0.8], [0.1]]}, classes=["Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict({"a": [(58, 59, "Dog")]}, durations={"a": 360_000})
    metric = sed.RecallAtFalseAlarms(COLLAR, false_alarms=0.29)
    assert sed.evaluate(scores, truth, metric, coverage="any")[metric].value == 1
    counts = sed.deltas(scores, truth, COLLAR, coverage="any").counts()
    assert sed.choose(counts, "recall", max_false_alarms=0.29).thresholds["Dog"] < 0.8


@pytest.mark.parametrize("false_alarms", range(1, 30))
@pytest.mark.parametrize("seconds", [65, 91, 1001, 0.7])
def test_any_number_of_false_alarms_that_is_met_exactly(false_alarms: int, seconds: float) -> None:
    # false alarms from 0 s on, then the reference with a lower score
    values = [[0.9], [0.1]] * false_alarms + [[0.8], [0.1]]
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=0.01)
    reference = (0.02 * false_alarms, 0.02 * false_alarms + 0.01, "Dog")
    truth = sed.GroundTruth.from_dict({"a": [reference]}, durations={"a": seconds})
    per_hour = float(Fraction(false_alarms * 3600) / Fraction(str(seconds)))
    strict = sed.Collar(0.001, 0.001, 0)
    met = sed.RecallAtFalseAlarms(strict, false_alarms=per_hour)
    missed = sed.RecallAtFalseAlarms(strict, false_alarms=per_hour * (1 - 1e-14))
    result = sed.evaluate(scores, truth, [met, missed], coverage="any")
    assert (result[met].value, result[missed].value) == (1, 0)
    counts = sed.deltas(scores, truth, strict, coverage="any").counts()
    assert not sed.choose(counts, min_recall=1, max_false_alarms=per_hour).unmet
    assert sed.choose(counts, min_recall=1, max_false_alarms=per_hour * (1 - 1e-14)).unmet
    # the vertex at the end of a PSD-ROC
    psds = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=per_hour)
    psd_roc = sed.evaluate(scores, truth, psds, coverage="any")[psds].curve
    assert (psd_roc.efpr[-1], psd_roc.etpr[-1]) == (pytest.approx(per_hour, rel=1e-15), 1)
    assert psd_roc.efpr[-1] <= per_hour


@pytest.mark.parametrize(("found", "of"), [(1, 10), (3, 10), (7, 10), (5, 7), (2, 3), (29, 100)])
def test_a_recall_and_a_precision_that_are_met_exactly(found: int, of: int) -> None:
    tally = Tally(np.array([found]), np.array([of - found]), of)
    assert tally.recall >= found / of
    assert tally.precision >= found / of


def test_infinite_scores_of_several_classes_are_one_operating_point() -> None:
    scores = sed.Scores.from_arrays(
        {"a": [[np.inf, np.inf], [0.0, 0.0]]}, classes=["Cat", "Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Cat")]}, durations={"a": 2})
    metric = sed.BestFScore(sed.Segment(1.0), average="micro")
    assert sed.evaluate(scores, truth, metric)[metric].value == pytest.approx(2 / 3)
