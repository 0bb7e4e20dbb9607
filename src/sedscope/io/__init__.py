"""Files in and out: one module per format, and whatever a format needs is imported on first use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

from ..errors import SedscopeError, listing

Format = TypeVar("Format")


class FormatTable(Mapping[str, Format]):
    """The formats of a package, by name. A module is loaded when one of its formats may be needed.

    ``what``: what the formats hold, for messages. ``modules``: the modules of the package, and the kind of
    content that each recognises.
    """

    def __init__(self, package: str, what: str, modules: Mapping[str, str]) -> None:
        self._package, self._what, self._modules = package, what, modules

    def named(self, name: str) -> Format:
        """Return the format of a name, and refuse an unknown one."""
        if name not in self:
            known = listing([*self], limit=30)
            raise SedscopeError(f"There is no {self._what} format {name!r}. Choose from {known}.")
        return self[name]

    def by_suffix(self) -> dict[str, str]:
        """Return the names of the formats by the endings of file names that select them."""
        formats: Mapping[str, Any] = self
        return {suffix: name for name, format in formats.items() for suffix in format.suffixes}

    def of_kind(self, *kinds: str) -> dict[str, Format]:
        """Return the formats that recognise content of some kinds, by name."""
        return self._load(module for module, kind in self._modules.items() if kind in kinds)

    def _load(self, modules: Iterable[str]) -> dict[str, Format]:
        loaded: list[Any] = [import_module(f"{self._package}.{module}") for module in modules]
        return {format.name: format for module in loaded for format in module.FORMATS}

    def __getitem__(self, name: str) -> Format:
        own = self._load([name]) if name in self._modules else {}
        return own[name] if name in own else self._load(self._modules)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load(self._modules))

    def __len__(self) -> int:
        return len(self._load(self._modules))
