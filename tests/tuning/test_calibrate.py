"""Calibration: rising maps that change no metric over all thresholds, fits written out, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.probability_fits import isotonic_fit, logistic_fit
from sedscope.metrics import BrierScore, CalibrationError
from sedscope.postprocessing import IsotonicMap, LogisticMap, PerClass, parse_postprocessing
from sedscope.tuning import calibrate
from sedscope.tuning.calibration import ClassItems, calibrate_items, items_of_answers

from ..support.command_line import run
from ..support.real_data import desed_scores, desed_truth
from ..support.three_systems import refused

finite = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(
    [1e-30, 2e-30, 1.0]
)
maps = st.builds(LogisticMap, st.floats(0.01, 100), st.floats(-50, 50)) | st.lists(
    st.tuples(st.integers(-50, 50), st.integers(0, 20)), min_size=1, unique_by=lambda knot: knot[0]
).map(
    lambda knots: IsotonicMap(
        tuple(sorted(float(score) for score, _ in knots)),
        tuple(sorted(value / 20 for _, value in knots)),
    )
)


@settings(max_examples=300)
@given(maps, st.lists(finite | st.just(-np.inf), min_size=1, unique=True))
def test_maps_keep_the_order_of_scores(calibrated: Any, values: list[float]) -> None:
    assert parse_postprocessing(repr(calibrated)) == calibrated
    ordered = np.unique(np.array(values, np.float32) + np.float32(0))
    scores = sed.Scores.from_arrays({"a": ordered[:, None]}, classes=["Dog"], frame=1.0)
    mapped = calibrated(scores)["a"].values[:, 0]
    assert mapped.dtype == np.float64
    assert np.array_equal(np.isneginf(mapped), np.isneginf(ordered))
    assert (np.diff(mapped[np.isfinite(mapped)]) > 0).all()
    assert ((mapped[np.isfinite(mapped)] >= 0) & (mapped[np.isfinite(mapped)] <= 1)).all()
    curve = calibrated.probabilities(ordered[np.isfinite(ordered)])
    assert np.abs(mapped[np.isfinite(mapped)] - curve).max(initial=0) <= 1.1e-4


ALL_THRESHOLDS = ["psds1", "psds2", "map", "iou_map", "best_collar_f1", "best_segment_f1"]


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_metrics_over_all_thresholds_do_not_change(method: Any, data: Path) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    calibration = calibrate(scores, truth, method=method)
    probabilities = calibration.points.process(scores)
    before, after = (sed.evaluate(of, truth, ALL_THRESHOLDS) for of in (scores, probabilities))
    for metric in before:
        assert after[metric].value == before[metric].value
        for label, of_class in before[metric].per_class.items():
            assert after[metric].per_class[label].value == of_class.value
    metric = CalibrationError(sed.Segment(1))
    errors = [sed.evaluate(of, truth, metric)[metric].value for of in (scores, probabilities)]
    assert errors[1] < errors[0] / 2


def windows(seed: int = 0) -> tuple[dict[str, list[tuple[float, float, str, float]]], sed.GroundTruth]:
    """Windows with logits as scores that are right with the probability of the logit minus 1."""
    rng = np.random.default_rng(seed)
    detected, calls = {}, {}
    for k in range(40):
        logits = rng.normal(0, 2, 30)
        right = rng.random(30) < 1 / (1 + np.exp(1 - logits))
        detected[f"r{k}"] = [
            (3.0 * i, 3.0 * i + 3, "Tit", float(logit)) for i, logit in enumerate(logits)
        ]
        calls[f"r{k}"] = [(3.0 * i + 1, 3.0 * i + 2, "Tit") for i in np.flatnonzero(right).tolist()]
    return detected, sed.GroundTruth.from_dict(calls, durations=dict.fromkeys(calls, 90))


def test_kept_windows_become_probabilities() -> None:
    detected, truth = windows()
    system = sed.ScoredEvents.from_events(detected)
    calibration = calibrate(system, truth)
    probabilities = calibration.points.process(system)
    assert isinstance(probabilities, sed.ScoredEvents)
    for clip, events in system.events().items():
        mapped = probabilities.events()[clip]
        assert [event[:3] for event in mapped] == [event[:3] for event in events]
        expected = [1 / (1 + np.exp(1 - event[3])) for event in events]
        assert np.abs(np.array([event[3] for event in mapped]) - expected).max() < 0.12
    metrics: list[Any] = [sed.AveragePrecision(sed.Window()), sed.BestFScore(sed.Window())]
    before, after = (sed.evaluate(of, truth, metrics) for of in (system, probabilities))
    assert [after[m].value for m in metrics] == [before[m].value for m in metrics]
    others, of_others = windows(1)
    at = sed.DetectionPrecision(sed.Window(), threshold=0.85)
    held_out = calibration.points.process(sed.ScoredEvents.from_events(others))
    assert 0.84 < sed.evaluate(held_out, of_others, at)[at].value < 0.97
    brier = BrierScore(sed.Window())
    assert calibration.brier_after["Tit"] == pytest.approx(
        sed.evaluate(held_out, of_others, brier)[brier].value, abs=0.02
    )
    assert np.isnan(calibration.brier_before["Tit"])
    with pytest.raises(sed.SedscopeError, match="cannot be post-processed"):
        sed.postprocessing.Chain(LogisticMap(1, 0), sed.postprocessing.MedianFilter(1))(system)


@st.composite
def answered(draw: st.DrawFn) -> dict[str, ClassItems]:
    items = {}
    for label in ("a", "b", "c"):
        number = draw(st.integers(6 if label == "a" else 0, 15))
        scores = draw(st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.7]), min_size=number, max_size=number))
        right = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=number, max_size=number))
        folds = [i % 5 for i in range(number)]
        columns = (np.array(scores, np.float64), np.array(right, np.float64), np.ones(number))
        items[label] = ClassItems(*columns, np.array(folds, np.int64))
    return items


@settings(max_examples=100, deadline=None)
@given(answered(), st.sampled_from(["logistic", "isotonic"]))
def test_fits_written_out(items: dict[str, ClassItems], method: Any) -> None:
    fit = {"logistic": logistic_fit, "isotonic": isotonic_fit}[method]
    result = calibrate_items(items, method, {})

    def common(without: int) -> Any:
        rows = [(s, r) for of in items.values() for s, r, _, f in zip(*of, strict=True) if f != without]
        return fit([s for s, _ in rows], [r for _, r in rows])

    def of_class(label: str, shrinkage: float, without: int) -> Any:
        rows = [(s, r) for s, r, _, f in zip(*items[label], strict=True) if f != without]
        if not rows:
            return common(without)
        prior = [(s, float(common(without)([s])[0]), shrinkage / len(rows)) for s, _ in rows]
        table = [*((s, r, 1.0) for s, r in rows), *prior]
        return fit(*([row[k] for row in table] for k in range(3)))

    for label, of_label in items.items():
        number = len(of_label.scores)
        assert result.items[label] == number
        errors = {
            shrinkage: sum(
                (float(of_class(label, shrinkage, f)([s])[0]) - r) ** 2
                for s, r, _, f in zip(*of_label, strict=True)
            )
            for shrinkage in (1000.0, 100.0, 10.0, 1.0)
        }
        if number:
            assert result.brier_after[label] * number == pytest.approx(min(errors.values()), abs=1e-5)
            chosen = result.shrinkages[label]
            assert errors[chosen] == pytest.approx(min(errors.values()), abs=1e-5)
            curve = of_class(label, chosen, -1)
        else:
            assert np.isnan(result.brier_after[label])
            curve = common(-1)
        step: Any = result.points.postprocessing[label]
        at = np.array([0.0, 0.1, 0.3, 0.7, 0.9])
        assert np.abs(step.probabilities(at) - curve(at)).max() < 5e-3


def test_answers_with_weights() -> None:
    clips = [f"r{i % 4}" for i in range(12)]
    answers = np.array([1, 0, -1, 1, 1, 0, -2, 1, 0, 0, 1, 1], np.int8)
    scores = np.append(np.linspace(0.1, 0.9, 11), np.nan)
    items = items_of_answers(
        clips, ["a"] * 6 + ["b"] * 6, scores, answers, np.arange(1.0, 13), classes=["a", "b", "z"]
    )
    assert items["a"].right.tolist() == [1, 0, 1, 1, 0]
    assert items["a"].weights.tolist() == pytest.approx(np.array([1, 2, 4, 5, 6]) / 3.6)
    assert len(items["b"].scores) == 4
    assert len(items["z"].scores) == 0
    result = calibrate_items(items, "logistic", {})
    assert result.points.postprocessing["z"] != result.points.postprocessing["a"]
    with pytest.raises(sed.SedscopeError, match="nothing to calibrate"):
        calibrate_items({"a": items["z"]}, "auto", {})


def test_the_command_with_ground_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    truth = sed.simulate.ground_truth(40, classes=3)
    scores = sed.simulate.scores(truth, frame=0.1)
    sed.write_scores(scores, "scores.npz")
    sed.write_ground_truth(truth, "truth.tsv")
    lengths = "".join(f"{clip}\t10\n" for clip in truth.clips)
    Path("durations.tsv").write_text(f"filename\tduration\n{lengths}", encoding="utf-8")
    data = ("scores.npz", "truth.tsv", "--durations", "durations.tsv")
    options = ("--criterion", "Clip()", "--folds", 4, "-o", "calibrated.toml", "--json", "-")
    outcome = run("calibrate", *data, *options)
    assert outcome.code == 0, outcome.err
    expected = calibrate(scores, truth, sed.Clip(), folds=4)
    assert json.loads(outcome.out)["rows"][0]["brier_after"] == pytest.approx(
        expected.brier_after[truth.labels[0]]
    )
    assert sed.OperatingPoints.load("calibrated.toml").postprocessing == pytest.approx(
        expected.points.postprocessing
    )
    metrics = ("--metric", "psds1", "--metric", "ece=CalibrationError(Clip())", "--json", "-")
    before, after = (
        json.loads(run("evaluate", *data, *metrics, *extra).out)["metrics"]
        for extra in ((), ("--postprocess", "calibrated.toml"))
    )
    assert before[0]["value"] == after[0]["value"]
    assert before[1]["value"] > after[1]["value"]
    assert "must end with .toml" in refused(run("calibrate", *data, "-o", "calibrated.txt"))


def test_the_command_with_a_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    detected, truth = windows()
    rows = [(clip, *event) for clip, events in detected.items() for event in events]
    system = "".join(f"{clip}\t{on}\t{off}\t{x}\t{score}\n" for clip, on, off, x, score in rows)
    header = "filename\tonset\toffset\tevent_label\tconfidence\n"
    Path("system.tsv").write_text(header + system, encoding="utf-8")
    review = "filename,onset,offset,event_label,score,stratum,weight,correct\n"
    for clip, on, off, x, score in rows[::4]:
        right = any(begin < off and end > on for begin, end, _ in truth.events(clip))
        review += f"{clip},{on},{off},{x},{score},1,4,{'yes' if right else 'no'}\n"
    review += "r0,9000,9003,Tit,,silent,9,no\nr0,3,6,Tit,0.3,1,4,?\n"
    Path("review.csv").write_text(review, encoding="utf-8")
    command = ("calibrate", "system.tsv", "review.csv", "--overlaps", "keep")
    outcome = run(*command, "-o", "calibrated.toml")
    assert outcome.code == 0, outcome.err
    assert "Tit" in outcome.out
    assert " 300 " in outcome.out
    steps = sed.OperatingPoints.load("calibrated.toml").postprocessing
    held_out = sed.ScoredEvents.from_events(windows(2)[0])
    mapped = PerClass(steps)(held_out)
    metric = CalibrationError(sed.Window(), bins=5)
    assert sed.evaluate(mapped, windows(2)[1], metric)[metric].value < 0.08
    assert "--criterion has no use" in refused(run(*command, "--criterion", "Window()"))
    Path("review.csv").write_text(review.replace(",Tit,", ",Owl,"), encoding="utf-8")
    assert "classes that the system lacks: Owl" in refused(run(*command))
