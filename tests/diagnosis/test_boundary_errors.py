"""Boundary errors of matched events, and their percentiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings

import sedscope as sed

from ..support import oracle
from ..support.strategies import clip_lists, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@settings(max_examples=30)
@given(clip_lists)
def test_they_add_up_to_the_sums_of_the_counts(case: Sequence[oracle.Clip]) -> None:
    scores, truth = to_scores(case), to_truth(case)
    summed = sed.deltas(scores, truth, sed.Collar(1e-5, 1e-5, 0.5, errors=True)).counts()
    for threshold in (0.3, 0.0):
        errors = sed.boundary_errors(scores, truth, sed.Collar(1e-5, 1e-5, 0.5), threshold)
        for label, of_class in summed.items():
            at = of_class.at([threshold])
            assert at.errors is not None
            assert len(errors[label].onset) == at.tp[0]
            sums = [errors[label].onset.sum(), errors[label].offset.sum()]
            np.testing.assert_allclose(sums, at.errors[0], atol=1e-12)


def test_percentiles_of_late_detections() -> None:
    # reference i is from 10 i to 10 i + 5 s, its detection begins i s late and ends 1 s early
    starts = range(4)
    values = np.zeros((40, 2))
    for i in starts:
        values[10 * i + i : 10 * i + 4, 0] = 0.9
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog", "Cat"], frame=1.0)
    events = [(10.0 * i, 10.0 * i + 5, "Dog") for i in starts]
    truth = sed.GroundTruth.from_dict({"a": [*events, (0, 1, "Cat")]}, durations={"a": 40})
    errors = sed.boundary_errors(scores, truth, sed.IoU(0.01), {"Dog": 0.5, "Cat": 0.2})
    assert errors["Dog"].onset.tolist() == [0, 1, 2, 3]
    assert errors["Dog"].percentiles((0, 50, 90, 100))["onset"] == pytest.approx([0, 1.5, 2.7, 3])
    assert errors.to_dict()["Dog"] == pytest.approx(
        {"threshold": 0.5, "pairs": 4, "onset_10": 0.3, "onset_50": 1.5, "onset_90": 2.7}
        | {"offset_10": -1, "offset_50": -1, "offset_90": -1}
    )
    assert errors.to_dict()["Cat"]["onset_50"] is None
    assert errors.table().splitlines()[2].split()[:3] == ["Cat", "0", "nan"]


def test_only_pairs_have_boundary_errors() -> None:
    truth = sed.simulate.ground_truth(3)
    with pytest.raises(sed.SedscopeError, match="makes no pairs of detections and references"):
        sed.boundary_errors(sed.simulate.scores(truth), truth, sed.Intersection(0.5, 0.5), 0.5)
