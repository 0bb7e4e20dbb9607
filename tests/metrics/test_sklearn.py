"""Segments and clips are binary decisions: their curves and areas equal scikit-learn's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.criteria import Criterion

from ..support.random_sets import KINDS, random_set
from ..support.real_data import desed_scores, desed_truth, excerpt_scores, excerpt_truth

sklearn: Any = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")

RANDOM = [f"random-{i}" for i in range(40)]
NAMES = [*RANDOM, "simulated", "excerpt", "desed"]
MAX_FPRS = (0.05, 0.1, 0.5)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

Binary = dict[str, tuple[NDArray[np.bool_], NDArray[Any]]]
"""By label: whether it is to be found, and the score."""
Case = tuple[Criterion, sed.Counts, Binary]


def binary(scores: sed.Scores, truth: sed.GroundTruth, length: int | None) -> Binary:
    """The segments of ``length`` microseconds, or the clips, in the plainest way."""
    assert truth.durations is not None
    durations = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
    targets: list[list[bool]] = []
    highest: list[NDArray[Any]] = []
    for clip, of_clip in scores.items():
        events = [(round(on * 1e6), round(off * 1e6), label) for on, off, label in truth.events(clip)]
        for begin in range(0, durations[clip], length or durations[clip]):
            end = min(begin + (length or durations[clip]), durations[clip])
            active = {label for on, off, label in events if on < end and off > begin}
            frames = (of_clip.ticks[:-1] < end) & (of_clip.ticks[1:] > begin)
            targets.append([label in active for label in scores.classes])
            highest.append(of_clip.values[frames].max(axis=0))
    columns = zip(scores.classes, np.transpose(targets), np.transpose(highest), strict=True)
    return {label: (target, score) for label, target, score in columns}


@pytest.fixture(scope="module", params=NAMES)
def scored(request: pytest.FixtureRequest) -> tuple[sed.Scores, sed.GroundTruth, float]:
    """A set, and a length for its segments."""
    name = request.param
    if name == "simulated":
        truth = sed.simulate.ground_truth(60)
        return sed.simulate.scores(truth), truth, 1.0
    if name in ("excerpt", "desed"):
        data: Path = request.getfixturevalue("data")
        if name == "excerpt":
            return excerpt_scores(data), excerpt_truth(data), 1.0
        return desed_scores(data), desed_truth(data), 1.0
    number = int(name.split("-")[1])
    rng = np.random.default_rng([number, 9])
    scores, truth = random_set(rng, KINDS[number % len(KINDS)], never=False)
    # no segment without scores: nothing is ever detected there, which scikit-learn cannot say
    events = {clip: truth.events(clip) for clip in scores}
    ends = {clip: float(of_clip.edges[-1]) for clip, of_clip in scores.items()}
    return scores, sed.GroundTruth.from_dict(events, durations=ends), 0.07


@pytest.fixture(scope="module", params=["segment", "clip"])
def case(request: pytest.FixtureRequest, scored: tuple[sed.Scores, sed.GroundTruth, float]) -> Case:
    scores, truth, length = scored
    segments = request.param == "segment"
    criterion: Criterion = sed.Segment(length) if segments else sed.Clip()
    counts = sed.deltas(scores, truth, criterion, clips="scored").counts()
    return criterion, counts, binary(scores, truth, round(length * 1e6) if segments else None)


def test_precision_recall_curve(case: Case) -> None:
    _, counts, decisions = case
    for label, (targets, scores) in decisions.items():
        if not targets.any():
            continue
        precision, recall, thresholds = sklearn.precision_recall_curve(targets, scores)
        curve = sed.curves.precision_recall_curve(counts[label])
        np.testing.assert_array_equal(curve.scores[1:], thresholds[::-1])
        np.testing.assert_allclose(curve.precision, precision[::-1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(curve.recall, recall[::-1], rtol=0, atol=1e-12)


def test_average_precision(case: Case) -> None:
    criterion, counts, decisions = case
    result = sed.AveragePrecision(criterion).measure(counts)
    for label, (targets, scores) in decisions.items():
        if targets.any():
            expected = sklearn.average_precision_score(targets, scores)
            assert result.per_class[label].value == pytest.approx(expected, abs=1e-12)


def test_roc_curve(case: Case) -> None:
    _, counts, decisions = case
    for label, (targets, scores) in with_both(decisions).items():
        fpr, tpr, thresholds = sklearn.roc_curve(targets, scores, drop_intermediate=False)
        curve = sed.curves.roc_curve(counts[label])
        np.testing.assert_array_equal(curve.scores, thresholds)
        np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-12)
        np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-12)


def test_det_curve(case: Case) -> None:
    """Its curve begins where there are false positives and ends where nothing is missed any more."""
    _, counts, decisions = case
    for label, (targets, scores) in with_both(decisions).items():
        fpr, fnr, thresholds = sklearn.det_curve(targets, scores)
        curve = sed.curves.det_curve(counts[label])
        rows = [curve.scores.tolist().index(threshold) for threshold in thresholds]
        np.testing.assert_allclose(curve.fpr[rows], fpr, rtol=0, atol=1e-12)
        np.testing.assert_allclose(curve.fnr[rows], fnr, rtol=0, atol=1e-12)


def test_area_under_the_roc(case: Case) -> None:
    criterion, counts, decisions = case
    result = sed.AUROC(criterion).measure(counts)
    for label, (targets, scores) in with_both(decisions).items():
        expected = sklearn.roc_auc_score(targets, scores)
        assert result.per_class[label].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("max_fpr", MAX_FPRS)
def test_partial_area_under_the_roc(case: Case, max_fpr: float) -> None:
    criterion, counts, decisions = case
    corrected = sed.AUROC(criterion, max_fpr=max_fpr, mcclish=True).measure(counts)
    plain = sed.AUROC(criterion, max_fpr=max_fpr).measure(counts)
    chance = max_fpr**2 / 2
    for label, (targets, scores) in with_both(decisions).items():
        expected = sklearn.roc_auc_score(targets, scores, max_fpr=max_fpr)
        assert corrected.per_class[label].value == pytest.approx(expected, abs=1e-12)
        area = chance + (2 * expected - 1) * (max_fpr - chance)
        assert plain.per_class[label].value == pytest.approx(area / max_fpr, abs=1e-11)


def with_both(decisions: Binary) -> Binary:
    """The labels that are sometimes to be found and sometimes not."""
    return {
        label: (targets, scores)
        for label, (targets, scores) in decisions.items()
        if targets.any() and not targets.all()
    }


def test_the_last_positives_come_after_all_negatives() -> None:
    #            a    b    c    d
    scores =    [0.9, 0.8, 0.7, 0.1]  # fmt: skip
    targets =   [1,   0,   0,   1  ]  # fmt: skip
    result = tagging([scores], [targets])
    assert result.value == sklearn.roc_auc_score(targets, scores) == 0.5


def test_without_negatives_there_is_no_area() -> None:
    result = tagging([[0.9, 0.1], [0.9, 0.1]], [[1, 1], [1, 0]])
    assert np.isnan(result.per_class["0"].value)
    assert result.per_class["1"].value == result.value == 1


def tagging(scores: list[list[float]], targets: list[list[int]]) -> Any:
    """The area under the ROC of clips: scores and targets by class, then clip."""
    labels = [str(i) for i in range(len(scores))]
    arrays = {f"clip{i}": [list(of_clip)] for i, of_clip in enumerate(zip(*scores, strict=True))}
    events = {
        f"clip{i}": [(0, 1, label) for label, target in zip(labels, of_clip, strict=True) if target]
        for i, of_clip in enumerate(zip(*targets, strict=True))
    }
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 1.0))
    area = sed.AUROC(sed.Clip())
    return sed.evaluate(sed.Scores.from_arrays(arrays, classes=labels, frame=1.0), truth, [area])[area]
