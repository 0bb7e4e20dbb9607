"""PSD-ROC and PSDS, compared with the oracle, the paper and the reference values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope._native import step_area
from sedscope.metrics.psds import class_psd_roc, effective_fpr

from ..support import oracle
from ..support.oracle import psds as oracle_psds
from ..support.real_data import desed_scores, desed_truth, excerpt_scores, excerpt_truth
from ..support.strategies import LABELS, clip_lists, criteria, to_scores, to_truth

UNIT = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000}

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@st.composite
def psds_metrics(draw: st.DrawFn) -> sed.PSDS:
    criterion = draw(criteria())
    unit = draw(st.sampled_from(sorted(UNIT)))
    # the clips are microseconds to a second long: rates are high
    return sed.PSDS(
        criterion,
        alpha_ct=draw(st.sampled_from([0.0, 0.5, 1.0])) if criterion.cttc else 0.0,
        alpha_st=draw(st.sampled_from([0.0, 0.5, 1.0])),
        max_efpr=draw(st.floats(0.5, 1e6)) * UNIT[unit] / 1e6,
        unit=unit,
        oracle=draw(st.booleans()),
    )


@settings(max_examples=300)
@given(clip_lists, psds_metrics())
def test_psds_is_that_of_the_oracle(case: Sequence[oracle.Clip], psds: sed.PSDS) -> None:
    result = sed.evaluate(to_scores(case), to_truth(case), psds)[psds]
    options: dict[str, Any] = {
        "dtc": psds.criterion.dtc,
        "gtc": psds.criterion.gtc,
        "cttc": psds.criterion.cttc,
        "alpha_ct": psds.alpha_ct,
        "unit": UNIT[psds.unit],
        "oracle": psds.oracle,
    }
    limits: dict[str, Any] = {"alpha_st": psds.alpha_st, "max_efpr": psds.max_efpr}
    expected = oracle_psds.psds(case, LABELS, **options, **limits)
    assert result.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
    for label in LABELS:
        expected = oracle_psds.psds(case, [label], **options, **{**limits, "alpha_st": 0})
        assert result.per_class[label].value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@settings(max_examples=200)
@given(
    st.lists(st.deferred(lambda: clip_lists), min_size=3, max_size=6),
    psds_metrics(),
    st.floats(0.001, 1),
)
def test_the_floor_changes_nothing(
    groups: list[Sequence[oracle.Clip]], psds: sed.PSDS, share: float
) -> None:
    case = [clip for group in groups for clip in group]
    # few allowed false positives in all, so that the floor prunes
    total = sum(clip.duration for clip in case)
    limit = share * len(case) * UNIT[psds.unit] / total
    psds = sed.PSDS(psds.criterion, psds.alpha_ct, psds.alpha_st, limit, psds.unit, psds.oracle)
    scores, truth = to_scores(case), to_truth(case)
    pruned = sed.evaluate(scores, truth, psds)[psds]
    full = psds.measure(sed.deltas(scores, truth, psds.criterion).counts())
    assert np.array_equal(pruned.value, full.value, equal_nan=True)
    for label in LABELS:
        for column in ("efpr", "tpr", "scores"):
            assert np.array_equal(
                getattr(pruned.per_class[label].curve, column),
                getattr(full.per_class[label].curve, column),
            )


@given(clip_lists, st.floats(0.1, 2))
def test_effective_rates_are_sums_over_the_classes_by_name(
    case: Sequence[oracle.Clip], alpha_ct: float
) -> None:
    criterion = sed.Intersection(0.5, 0.5, 0.3)
    counts = sed.deltas(to_scores(case), to_truth(case), criterion, classes=LABELS[::-1]).counts()
    for label, of_class in counts.items():
        others = [other for other in sorted(counts) if other != label and counts.references[other]]
        total = np.zeros(len(of_class.fp))
        for other in others:
            total += of_class.ct(other) / counts.reference_times[other]
        rate = of_class.fp / counts.duration + alpha_ct * total / max(1, len(others))
        efpr = effective_fpr(counts, label, alpha_ct=alpha_ct, unit="second")
        np.testing.assert_array_equal(efpr, rate)


@given(clip_lists, psds_metrics())
def test_a_limit_only_cuts_the_curve_of_each_class(case: Sequence[oracle.Clip], psds: sed.PSDS) -> None:
    counts = sed.deltas(to_scores(case), to_truth(case), psds.criterion).counts()
    for label in counts:
        whole = class_psd_roc(counts, label, alpha_ct=psds.alpha_ct, unit=psds.unit, oracle=psds.oracle)
        limited = psds.class_curve(counts, label)
        inside = whole.efpr <= psds.max_efpr
        assert np.array_equal(limited.efpr, whole.efpr[inside])
        assert np.array_equal(limited.tpr, whole.tpr[inside])
        assert np.array_equal(limited.scores, whole.scores[inside])


def test_the_floor_prunes_on_a_set_of_usual_size() -> None:
    truth = sed.simulate.ground_truth(300)
    scores = sed.simulate.scores(truth)
    result = sed.evaluate(scores, truth, [sed.presets.PSDS1, sed.presets.PSDS2])
    for metric in result:
        pruned = result.counts[metric.criterion]
        full = sed.deltas(scores, truth, metric.criterion).counts()
        assert sum(len(c.scores) for c in pruned.values()) < 0.2 * sum(
            len(c.scores) for c in full.values()
        )
        assert metric.measure(full).value == result[metric].value


def test_curve_starts_at_zero_and_names_its_thresholds() -> None:
    #              0    1    2    3    4    5
    scores = [[0.1], [0.8], [0.2], [0.9], [0.1], [0.1]]  # reference: second 1
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3600})
    psds = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=2)
    result = sed.evaluate(
        sed.Scores.from_arrays({"a": scores}, classes=["Dog"], frame=1.0), truth, psds, coverage="any"
    )[psds]
    curve = result.per_class["Dog"].curve
    assert curve.efpr.tolist() == [0, 1]
    assert curve.tpr.tolist() == [0, 1]
    assert curve.scores.tolist() == [np.inf, 0.8]
    assert result.value == result.per_class["Dog"].value == 0.5


def test_without_oracle_the_curve_may_fall() -> None:
    #          0    1    2    3    4    5      reference: 1–2 s and 3–4 s
    scores = [[0.1], [0.9], [0.5], [0.9], [0.5], [0.5]]
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog"), (3, 4, "Dog")]}, durations={"a": 3600})
    system = sed.Scores.from_arrays({"a": scores}, classes=["Dog"], frame=1.0)
    oracle_on = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=2)
    oracle_off = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=2, oracle=False)
    result = sed.evaluate(system, truth, [oracle_on, oracle_off], coverage="any")
    assert result[oracle_on].value == 1.0
    assert result[oracle_off].curve.efpr.tolist() == [0, 1]
    assert result[oracle_off].curve.etpr.tolist() == [1, 0]
    assert result[oracle_off].value == 0.5


def test_paper_example_of_the_intersection_criterion() -> None:
    #          0   1   2   3   4   5   6   7   8
    scores = [.3, .3, .4, .5, .6, .7, .8, .7, .6]  # fmt: skip
    #                 [ reference   ) [ other )
    truth = sed.GroundTruth.from_dict({"a": [(2, 6, "target"), (6, 8, "other")]}, durations={"a": 9})
    system = sed.Scores.from_arrays(
        {"a": [[s, 0.0] for s in scores]}, classes=["target", "other"], frame=1.0
    )
    target = sed.deltas(system, truth, sed.Intersection(0.5, 0.5, 0.5)).counts()["target"]
    changes = {
        float(score): (tp, fp, ct)
        for score, tp, fp, ct in zip(
            target.scores,
            np.diff(target.tp, prepend=0),
            np.diff(target.fp, prepend=0),
            np.diff(target.ct("other"), prepend=0),
            strict=True,
        )
    }
    assert changes == {0.8: (0, 1, 1), 0.6: (0, 0, -1), 0.5: (1, -1, 0), 0.3: (-1, 1, 0)}


def test_paper_figure(data: Path) -> None:
    figure = json.loads((data / "paper_psd_roc.json").read_text())
    areas = {
        (curve["panel"], curve["kind"]): step_area(
            np.array(curve["efpr_per_hour"]), np.array(curve["etpr"]), 100
        )
        / 100
        for curve in figure["curves"]
    }
    assert round(areas["50 thresholds", "approximation"], 3) == 0.358
    assert round(areas["50 thresholds", "exact"], 3) == 0.400


@pytest.mark.parametrize("dataset", ["desed_validation_student", "dcase2023_excerpt"])
def test_real_data(dataset: str, data: Path, reference_values: dict[str, Any]) -> None:
    if dataset == "dcase2023_excerpt":
        scores, truth, clips = excerpt_scores(data), excerpt_truth(data), "scored"
    else:
        scores, truth, clips = desed_scores(data), desed_truth(data), None
    result = sed.evaluate(scores, truth, [sed.presets.PSDS1, sed.presets.PSDS2], clips=clips)
    for metric, key in ((sed.presets.PSDS1, "psds1"), (sed.presets.PSDS2, "psds2")):
        expected = reference_values[dataset][key]
        assert result[metric].value == pytest.approx(expected["value"], abs=1e-9)
        got = {label: of_class.value for label, of_class in result[metric].per_class.items()}
        assert got == pytest.approx(expected["per_class"], abs=1e-9)


def test_exact_against_a_choice_of_thresholds(data: Path, reference_values: dict[str, Any]) -> None:
    psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    counts = sed.deltas(
        excerpt_scores(data), excerpt_truth(data), psds.criterion, clips="scored"
    ).counts()
    expected = reference_values["dcase2023_excerpt"]
    assert psds.measure(counts).value == pytest.approx(expected["psds_alpha_st_0_exact"], abs=1e-9)
    for number in (50, 500):
        thresholds = (np.arange(number) + 0.5) / number
        assert psds.measure(counts.at(thresholds)).value == pytest.approx(
            expected[f"psds_alpha_st_0_approx_{number}"], abs=1e-9
        )
