"""The sources of the compiled core."""

from __future__ import annotations

import re
import sys

from ..support.project import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NATIVE = ROOT / "native"


def test_packages_of_the_core_are_included_in_the_order_of_the_python_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    python_names = {"clips": "data", "text": "io"}
    order = {name: len(layers) - row for row, names in enumerate(layers) for name in names.split(" | ")}
    order |= {"core": 0, "python": len(layers) + 1}
    packages = {path.name: order[python_names.get(path.name, path.name)] for path in NATIVE.iterdir()}
    upwards = [
        f"{file.relative_to(ROOT)} includes {package}"
        for file in NATIVE.rglob("*.[ch]pp")
        for package in re.findall(r'^#include "(\w+)/', file.read_text("utf-8"), re.MULTILINE)
        if packages[package] > packages[file.relative_to(NATIVE).parts[0]]
    ]
    assert not upwards
