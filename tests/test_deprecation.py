"""Deprecations warn, keep working, and are gone after one minor version."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import sedscope as sed
from sedscope.deprecation import (
    DEPRECATIONS,
    Deprecation,
    deprecated,
    renamed_arguments,
    renamed_names,
)

from .api.listing import PUBLIC_MODULES, load, missing_packages


@pytest.fixture(autouse=True)
def _own_deprecations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.deprecation.DEPRECATIONS", [])


def test_a_function_warns_at_the_line_that_calls_it() -> None:
    @deprecated(since="0.2", instead="evaluate()")
    def score(value: float) -> float:
        """Return a score."""
        return value

    with pytest.warns(FutureWarning, match=r"score\(\) .* 0\.2 .* 0\.3\. Use evaluate\(\)") as caught:
        assert score(0.5) == 0.5
    assert caught[0].filename == __file__
    assert score.__doc__ == "Return a score."


def test_an_argument_is_accepted_under_its_old_name() -> None:
    @renamed_arguments(since="0.2", jobs="threads")
    def count(*, threads: int = 1) -> int:
        return threads

    assert count(threads=2) == 2
    with pytest.warns(
        FutureWarning, match=r"The argument 'jobs' of .*count\(\).* Use 'threads'"
    ) as caught:
        assert count(jobs=3) == 3  # type: ignore[call-arg]
    assert caught[0].filename == __file__
    with pytest.raises(TypeError, match="got 'threads' and its old name 'jobs'"):
        count(threads=2, jobs=3)  # type: ignore[call-arg]


def test_a_module_has_its_old_names(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sedscope.room")
    vars(module).update(New=1)
    renamed = {"Old": "New", "Matching": "sedscope.criteria.Collar"}
    vars(module)["__getattr__"] = renamed_names("sedscope.room", renamed, since="0.9")
    monkeypatch.setitem(sys.modules, "sedscope.room", module)
    with pytest.warns(FutureWarning, match=r"room\.Old .* removed in 0\.10\. .*room\.New") as caught:
        assert module.Old == 1
    assert caught[0].filename == __file__
    with pytest.warns(FutureWarning, match=r"Use sedscope\.criteria\.Collar instead"):
        assert module.Matching is sed.Collar
    with pytest.raises(AttributeError, match=r"'sedscope\.room' has no attribute 'Older'"):
        _ = module.Older


@pytest.mark.parametrize(
    ("version", "overdue"), [("0.9.0", False), ("0.9.7", False), ("0.10.0", True), ("1.0.0", True)]
)
def test_it_is_removed_in_the_next_minor_version(version: str, overdue: bool) -> None:
    assert Deprecation("x", "0.9", "y").is_overdue(version) is overdue


def test_nothing_is_kept_longer_than_promised() -> None:
    for module in PUBLIC_MODULES:
        if not missing_packages(module):
            load(module)
    assert not [entry for entry in DEPRECATIONS if entry.is_overdue(sed.__version__)]
