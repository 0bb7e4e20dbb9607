"""Sums over the clips of many resamples are those of whole numbers, to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedscope.resampling.unread_scores import weighted_sums

MOST = 2**24  # the heaviest weight


@given(st.data(), st.sampled_from([3, MOST]), st.sampled_from([2, 2**20, 2**36]))
def test_sums_are_exact(data: st.DataObject, heaviest: int, largest: int) -> None:
    resamples, clips, columns = (data.draw(st.integers(0, most)) for most in (70, 6, 3))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    weights = generator.integers(0, heaviest, (resamples, clips), np.int32, endpoint=True)
    values = generator.integers(-largest, largest, (clips, columns), endpoint=True)

    sums = weighted_sums(weights, threads=2).of(values.astype(np.float64))

    assert sums.dtype == np.float64
    assert np.array_equal(sums, (weights.astype(np.int64) @ values).astype(np.float64))


@pytest.mark.parametrize(
    ("weights", "values", "message"),
    [
        (np.full((1, 2), MOST + 1, np.int32), np.ones((2, 1)), "the weights are too large"),
        (np.ones((1, 2), np.int32), np.ones((3, 1)), "one row of values per clip"),
        (np.full((1, 2), MOST, np.int32), np.full((2, 1), 2.0**40), "the weights are too large"),
    ],
)
def test_what_does_not_fit_is_refused(weights: Any, values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weighted_sums(weights, threads=1).of(values)
