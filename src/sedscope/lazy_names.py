"""Packages that load each of their public names when it is first used."""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = (
    False  # this module is imported before the current folder is off the path, so it needs little
)
if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Its stub ``__init__.pyi``, which type checkers read, says where each public name is defined:
    ``from .collar import Collar as Collar``. ``from .criteria import *`` stands for all names of that
    package but those marked ``# contract``, which only people who write criteria need.
    """
    module = sys.modules[package]
    homes = _homes(os.path.dirname(str(module.__file__)))  # noqa: PTH120 (pathlib is slow)

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = None if home == "." else getattr(import_module(home, package), name, None)
        if value is None:
            value = import_module(f"{home.rstrip('.')}.{name}", package)
        setattr(module, name, value)
        return value

    return get, lambda: sorted(homes)


def _homes(folder: str, contracts: bool = True) -> dict[str, str]:
    """Return where the public names of a package are defined, with or without those of contracts."""
    homes: dict[str, str] = {}
    with open(f"{folder}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123
        imports = [line.split() for line in stub if line.startswith("from .")]
    for _, home, _, name, *rest in imports:
        if name == "*":
            homes |= dict.fromkeys(_homes(f"{folder}/{home[1:]}", contracts=False), home)
        elif contracts or "#" not in rest:
            homes[name] = home
    return homes
