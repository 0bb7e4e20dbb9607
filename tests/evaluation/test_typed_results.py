"""The result of a metric has the type that a type checker expects; mypy checks this file as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sedscope as sed
from sedscope.metrics import ClasswiseResult, PSDSResult
from sedscope.metrics.curves import PrecisionRecallCurve, ThresholdCurve
from sedscope.metrics.psds import PSDROC

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: object, _: object) -> object:
        return value


PSDS = sed.PSDS(sed.Intersection(0.7, 0.7))
BEST = sed.BestFScore(sed.Collar())
AREA = sed.AveragePrecision(sed.Collar())


def test_a_metric_finds_its_own_kind_of_result() -> None:
    truth = sed.simulate.ground_truth(60)
    result = sed.evaluate(sed.simulate.scores(truth), truth, [PSDS, BEST, AREA])
    psds = result[PSDS]
    assert_type(psds, PSDSResult)
    assert_type(psds.curve, PSDROC)
    assert isinstance(psds, PSDSResult)
    best = result[BEST]
    assert_type(best, "ClasswiseResult[ThresholdCurve]")
    assert_type(best.per_class["Speech"].curve, "ThresholdCurve | None")
    assert isinstance(best.per_class["Speech"].curve, ThresholdCurve)
    area = result[AREA]
    assert_type(area.per_class["Speech"].curve, "PrecisionRecallCurve | None")
    assert isinstance(area, ClasswiseResult)
    assert isinstance(area.per_class["Speech"].curve, PrecisionRecallCurve)
