"""Metrics and criteria as text: a definition is parsed back to the same value."""

from __future__ import annotations

from typing import Any

import pytest

import sedscope as sed
from sedscope.metrics import Metric

from ..support.examples import METRICS


@pytest.mark.parametrize("metric", [*METRICS, sed.presets.PSDS1, sed.presets.PSDS2], ids=repr)
def test_a_definition_reads_back_as_the_same_metric(metric: Metric[Any]) -> None:
    assert sed.parse_metric(repr(metric)) == metric
    assert hash(sed.parse_metric(repr(metric))) == hash(metric)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (
            sed.presets.PSDS2,
            "PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1, "
            "max_efpr=100, unit='hour')",
        ),
        (
            sed.PSDS(sed.Intersection(1, 1 / 3), max_efpr=0.1, unit="minute", oracle=False),
            "PSDS(Intersection(dtc=1, gtc=0.3333333333333333), alpha_ct=0, alpha_st=0, "
            "max_efpr=0.1, unit='minute', oracle=False)",
        ),
    ],
)
def test_repr_is_the_full_definition(metric: Metric[Any], text: str) -> None:
    assert repr(metric) == text


def test_defaults_may_be_left_out_and_numbers_spelled_differently() -> None:
    text = "PSDS( Intersection(.7, 0.70), alpha_st = 1.0 )"
    assert sed.parse_metric(text) == sed.presets.PSDS1
