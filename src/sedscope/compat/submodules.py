"""Modules of the original tools that have no file here. They are made when their package is imported."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from typing import Any


def add_submodule(package: str, name: str, about: str, members: Mapping[str, Any]) -> None:
    """Make a module that can be imported like one with a file. Its ``__file__`` is that of the package."""
    parent = sys.modules[package]
    spec = ModuleSpec(f"{package}.{name}", None, origin=parent.__file__)
    spec.has_location = True
    module: Any = module_from_spec(spec)
    module.__doc__ = about
    module.__all__ = sorted(name for name in members if not name.startswith("_"))
    vars(module).update(members)
    sys.modules[spec.name] = module
    setattr(parent, name, module)
    if hasattr(parent, "__all__"):
        parent.__all__.append(name)


def by_name(*members: Any) -> dict[str, Any]:
    """Return functions and classes by their names."""
    return {member.__name__: member for member in members}
