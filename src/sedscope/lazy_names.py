"""Packages that load each of their public names when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Its stub ``__init__.pyi``, which type checkers read, says in which module each public name is defined:
    ``from .collar import Collar as Collar``.
    """
    module = sys.modules[package]
    with open(f"{module.__path__[0]}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123 (pathlib is slow)
        imports = [line.split() for line in stub if line.startswith("from .")]
    homes = {name: home for _, home, _, name, *_ in imports}

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(homes[name], package), name)
        setattr(module, name, value)
        return value

    return get, lambda: sorted(homes)
