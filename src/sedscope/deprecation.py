"""Deprecations: what is renamed or removed keeps working for one minor version, and warns.

``docs/stability.md`` states the policy, and ``CONTRIBUTING.md`` shows how to use these functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Deprecation(NamedTuple):
    """Something that will be removed."""

    what: str
    """As users write it."""
    since: str
    """The first minor version that warns, such as ``"0.2"``."""
    instead: str
    """What to use."""

    @property
    def removed_in(self) -> str:
        """The minor version after the first one that warns."""
        major, minor = _minor_version(self.since)
        return f"{major}.{minor + 1}"

    def is_overdue(self, version: str) -> bool:
        """Return whether it should be gone in a version of sedscope."""
        return _minor_version(version) >= _minor_version(self.removed_in)

    def warn(self, *, stacklevel: int = 2) -> None:
        """Warn the caller of the function that calls this method."""
        warnings.warn(
            f"{self.what} is deprecated since sedscope {self.since} and will be removed in "
            f"{self.removed_in}. Use {self.instead} instead.",
            FutureWarning,
            stacklevel=stacklevel + 1,
        )


DEPRECATIONS: list[Deprecation] = []
"""All deprecations of the modules that are loaded."""


def deprecate(what: str, *, since: str, instead: str) -> Deprecation:
    """Register a deprecation. Its method ``warn`` is called where the old way is used."""
    deprecation = Deprecation(what, since, instead)
    DEPRECATIONS.append(deprecation)
    return deprecation


def deprecated(*, since: str, instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function or a method that will be removed.

    >>> @deprecated(since="0.2", instead="evaluate()")
    ... def score():
    ...     return 0.5
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     score()
    0.5
    >>> print(caught[0].message)
    score() is deprecated since sedscope 0.2 and will be removed in 0.3. Use evaluate() instead.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        deprecation = deprecate(f"{function.__qualname__}()", since=since, instead=instead)

        @wraps(function)
        def warning(*args: P.args, **kwargs: P.kwargs) -> R:
            deprecation.warn()
            return function(*args, **kwargs)

        return warning

    return decorate


def renamed_arguments(*, since: str, **new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose arguments have new names: ``renamed_arguments(since="0.2", old="new")``.

    The old names are accepted as keywords. Both names at once are a TypeError.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        called = f"{function.__qualname__}()"
        deprecations = {
            old: deprecate(f"The argument {old!r} of {called}", since=since, instead=repr(new))
            for old, new in new_names.items()
        }

        @wraps(function)
        def renaming(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in deprecations.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(f"{called} got {new!r} and its old name {old!r}. Use {new!r} alone.")
                deprecations[old].warn()
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return renaming

    return decorate


def renamed_names(module: str, new_names: Mapping[str, str], *, since: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a module whose names have changed.

    The new names may be of other modules: ``{"Old": "New", "moved": "sedscope.metrics.moved"}``.
    """
    homes = {old: new if "." in new else f"{module}.{new}" for old, new in new_names.items()}
    deprecations = {
        old: deprecate(f"{module}.{old}", since=since, instead=home) for old, home in homes.items()
    }

    def getattr_renamed(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        deprecations[name].warn()
        home, _, new = homes[name].rpartition(".")
        return getattr(import_module(home), new)

    return getattr_renamed


def _minor_version(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)
