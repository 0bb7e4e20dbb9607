"""The transform that makes scores uniform where the class is present."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.postprocessing import Chain, MedianFilter, PerClass, ScoreTransform, parse_postprocessing

from ..support import oracle, strategies
from ..support.real_data import desed_scores, desed_truth


def same_order(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether equal scores are equal and different ones in the same order."""
    one, other = (np.unique(array, return_inverse=True)[1] for array in (before, after))
    return bool(np.array_equal(one, other))


def column(scores: sed.Scores, label: str) -> np.ndarray:
    number = scores.classes.index(label)
    return np.concatenate([scores[clip].values[:, number] for clip in scores])


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(case=strategies.clip_lists)
def test_the_order_of_all_scores_stays(dtype: type, case: list[oracle.Clip]) -> None:
    scores, truth = strategies.to_scores(case, dtype), strategies.to_truth(case)
    found = ScoreTransform.fit(scores, truth)(scores)
    for label in scores.classes:
        assert same_order(column(scores, label), column(found, label))


hard = st.floats(allow_nan=False) | st.integers(0, 40).map(lambda n: 0.5 + n * np.spacing(0.5))


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@given(st.lists(hard, min_size=1, max_size=40), st.lists(st.booleans(), min_size=40, max_size=40))
def test_neighbouring_and_extreme_scores_stay_apart(values: list[float], present: list[bool]) -> None:
    scores = sed.Scores.from_arrays({"x": [[value] for value in values]}, classes=["a"], frame=1)
    events = [(i, i + 1, "a") for i in range(len(values)) if present[i]]
    truth = sed.GroundTruth.from_dict({"x": events}, durations={"x": len(values)})
    found = ScoreTransform.fit(scores, truth)(scores)
    assert same_order(column(scores, "a"), column(found, "a"))
    finite = column(found, "a")[column(scores, "a") > -np.inf]
    if any(present[: len(values)]):
        assert np.all((finite >= 0) & (finite <= 1))
    assert np.array_equal(column(found, "a") == -np.inf, column(scores, "a") == -np.inf)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30, unique=True), st.lists(st.floats(-9, 9)))
def test_new_scores_never_change_places(fitted: list[float], new: list[float]) -> None:
    known = sed.Scores.from_arrays({"x": [[value] for value in fitted]}, classes=["a"], frame=1)
    truth = sed.GroundTruth.from_dict({"x": [(0, 2, "a")]}, durations={"x": len(fitted)})
    transform = ScoreTransform.fit(known, truth)
    other = sed.Scores.from_arrays({"y": np.array(sorted(new)).reshape(-1, 1)}, classes=["a"], frame=1)
    assert np.all(np.diff(column(transform(other), "a")) >= 0)


def test_scores_during_references_are_uniform() -> None:
    truth = sed.simulate.ground_truth(40)
    scores = sed.simulate.scores(truth)
    found = ScoreTransform.fit(scores, truth)(scores)
    for number, label in enumerate(scores.classes):
        inside: list[float] = []
        for clip in found:
            middles = (found[clip].edges[:-1] + found[clip].edges[1:]) / 2
            for onset, offset, of_event in truth.events(clip):
                if of_event == label:
                    chosen = (onset <= middles) & (middles < offset)
                    inside += found[clip].values[chosen, number].tolist()
        places = np.linspace(0, 1, 11)
        np.testing.assert_allclose(np.quantile(inside, places), places, atol=0.02)


def check_exact_metrics(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    metrics: list[Metric[Any]] = [sed.presets.PSDS1, sed.presets.PSDS2, sed.BestFScore(sed.Collar())]
    transformed = ScoreTransform.fit(scores, truth)(scores)
    before = sed.evaluate(scores, truth, metrics)
    after = sed.evaluate(transformed, truth, metrics)
    for metric in metrics:
        assert after[metric].value == before[metric].value
        for label, of_class in before[metric].per_class.items():
            assert after[metric].per_class[label].value == of_class.value
    thresholds = np.arange(1, 50, 2) / 50
    psds = sed.presets.PSDS1
    approximate = [
        sed.evaluate_sets(sed.approximate(of_system, thresholds), truth, psds)[psds].value
        for of_system in (scores, transformed)
    ]
    assert approximate[0] != approximate[1]
    assert approximate[1] <= before[psds].value


def test_exact_metrics_do_not_change_and_approximations_do() -> None:
    truth = sed.simulate.ground_truth(40)
    check_exact_metrics(sed.simulate.scores(truth), truth)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_exact_metrics_of_real_scores_do_not_change(data: Path) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    transformed = ScoreTransform.fit(scores, truth)(scores)
    for metric in (sed.presets.PSDS1, sed.BestFScore(sed.Collar())):
        values = [sed.evaluate(system, truth, metric)[metric].value for system in (scores, transformed)]
        assert values[0] == values[1]


def small() -> tuple[sed.Scores, sed.GroundTruth]:
    scores = sed.Scores.from_arrays(
        {"x": [[0.1, 0.5], [0.7, 0.4], [0.2, 0.4]]}, classes=["a", "b"], frame=1
    )
    truth = sed.GroundTruth.from_dict({"x": [(0, 2, "a"), (1, 2, "b")]}, durations={"x": 3})
    return scores, truth


def test_a_saved_transform_is_the_same(tmp_path: Path) -> None:
    scores, truth = small()
    fitted = ScoreTransform.fit(scores, truth)
    assert repr(fitted) == "ScoreTransform(<not saved>)"
    saved = fitted.save(tmp_path / "map.npz")
    assert repr(saved) == f"ScoreTransform({str(tmp_path / 'map.npz')!r})"
    for other in (saved, parse_postprocessing(repr(saved)), ScoreTransform.load(tmp_path / "map.npz")):
        assert other == fitted
        assert hash(other) == hash(fitted)
        np.testing.assert_array_equal(other(scores)["x"].values, fitted(scores)["x"].values)
    chain = Chain(MedianFilter(1), saved)
    assert parse_postprocessing(repr(chain)) == chain
    assert saved != ScoreTransform.fit(MedianFilter(3)(scores), truth)
    assert [path.name for path in tmp_path.iterdir()] == ["map.npz"]


def test_a_class_without_references_keeps_its_scores() -> None:
    scores, _ = small()
    truth = sed.GroundTruth.from_dict({"x": [(0, 2, "a")]}, durations={"x": 3})
    with pytest.warns(sed.SedscopeWarning, match="1 class has no reference events.*: b"):
        transform = ScoreTransform.fit(scores, truth)
    assert transform(scores)["x"].values[:, 1].tolist() == [0.5, 0.4, 0.4]


def test_classes_that_it_was_not_fitted_to_are_refused() -> None:
    transform = ScoreTransform.fit(*small())
    other = sed.Scores.from_arrays({"x": [[0.1, 0.5]]}, classes=["a", "c"], frame=1)
    with pytest.raises(sed.SedscopeError, match="not fitted to c"):
        transform(other)
    assert PerClass({"a": transform})(other)["x"].values[0, 1] == 0.5


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(sed.SedscopeError, match=r"Cannot read .*none\.npz: there is no such file"):
        ScoreTransform(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no arrays")
    with pytest.raises(sed.SedscopeError, match="is not a saved ScoreTransform"):
        ScoreTransform(tmp_path / "text.npz")
    np.savez(tmp_path / "falls.npz", classes=["a"], knots_0=[1.0, 0.0], values_0=[0.0, 1.0])
    with pytest.raises(sed.SedscopeError, match="are not increasing"):
        ScoreTransform(tmp_path / "falls.npz")
    with pytest.raises(sed.SedscopeError, match="name of a file"):
        parse_postprocessing("ScoreTransform(3)")


def test_all_clips_that_cannot_be_read_are_named() -> None:
    truth = sed.simulate.ground_truth(4)

    def load(clip: str) -> sed.ClipScores:
        raise sed.SedscopeError(f"{clip} is broken.")

    scores = sed.Scores.from_function(truth.clips, load, classes=sed.simulate.labels(10))
    with pytest.raises(sed.SedscopeError, match=r"^4 problems[\s\S]*clip_0 is[\s\S]*clip_3 is"):
        ScoreTransform.fit(scores, truth)
