"""Logistic and isotonic curves: compared with slow fits that are obviously right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedscope import SedscopeError
from sedscope.data.probability_fits import isotonic_fit, logistic_fit

ANSWERS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([0.0, 0.25, 1.0]), st.integers(1, 4)),
    min_size=1,
    max_size=12,
)


@given(ANSWERS)
def test_isotonic_values_are_the_minimax_of_means(answers: list[tuple[int, float, int]]) -> None:
    x, y, w = (np.array(column, float) for column in zip(*answers, strict=True))
    fit = isotonic_fit(x, y, w)
    for score in np.unique(x):
        # the well-known formula: the largest over starts below of the smallest mean over ends above
        means = [
            [
                np.average(y[inside], weights=w[inside])
                for end in np.unique(x[x >= score])
                if (inside := (x >= start) & (x <= end)).any()
            ]
            for start in np.unique(x[x <= score])
        ]
        assert fit(score) == pytest.approx(max(map(min, means)), abs=1e-12)


@given(ANSWERS)
def test_isotonic_curve_never_falls(answers: list[tuple[int, float, int]]) -> None:
    x, y, w = zip(*answers, strict=True)
    values = isotonic_fit(x, y, w)(np.linspace(-1, 10, 200))
    assert (np.diff(values) >= -1e-15).all()
    assert ((values >= 0) & (values <= 1)).all()


@given(ANSWERS)
def test_weights_count_as_repeated_answers(answers: list[tuple[int, float, int]]) -> None:
    x, y, w = zip(*answers, strict=True)
    fit, repeated = logistic_fit(x, y, w), logistic_fit(np.repeat(x, w), np.repeat(y, w))
    at = np.linspace(0, 9, 7)
    np.testing.assert_allclose(fit(at), repeated(at), atol=1e-6)


def test_logistic_fit_finds_the_curve_of_many_answers() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200_000)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(1.5 * x - 0.5)))
    fit = logistic_fit(x, y)
    assert fit.slope == pytest.approx(1.5, abs=0.03)
    assert fit.intercept == pytest.approx(-0.5, abs=0.03)


def test_logistic_fit_equals_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    rng = np.random.default_rng(1)
    x = rng.random(300)
    y = (rng.random(300) < x).astype(int)
    w = rng.integers(1, 9, 300)
    model = linear_model.LogisticRegression(C=1e9, tol=1e-10).fit(x[:, None], y, w)
    np.testing.assert_allclose(
        logistic_fit(x, y, w)(x), model.predict_proba(x[:, None])[:, 1], atol=1e-3
    )


def test_separable_answers_keep_a_finite_slope() -> None:
    fit = logistic_fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert np.isfinite(fit.slope)
    assert fit(0.1) < 0.05
    assert fit(0.9) > 0.95


def test_answers_that_fall_make_a_flat_curve() -> None:
    fit = logistic_fit([0, 1, 2, 3], [1, 1, 0, 0])
    assert fit.slope == 0
    assert fit([0, 3]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("fit", [logistic_fit, isotonic_fit])
def test_refuses_what_it_cannot_fit(fit) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SedscopeError, match="as many scores as answers"):
        fit([], [])
    with pytest.raises(SedscopeError, match="finite scores"):
        fit([np.inf], [1])
