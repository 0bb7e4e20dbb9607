"""How long start-up takes, and that nothing is loaded before it is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import sedscope


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_import_loads_only_numpy_and_the_core() -> None:
    loaded = run("import sys, sedscope; print(*sorted({m.split('.')[0] for m in sys.modules}))").split()
    heavy = {"polars", "narwhals", "pandas", "typer", "rich", "matplotlib", "scipy", "torch"}
    assert not heavy & set(loaded)


def test_import_costs_at_most_twice_numpy() -> None:
    def best(code: str) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            run(code)
            times.append(time.perf_counter() - start)
        return min(times)

    nothing = best("pass")
    assert best("import sedscope") - nothing <= 2 * (best("import numpy") - nothing)


def test_help_is_quick() -> None:
    def seconds() -> float:
        """Of the processor: other programs on the machine are not ours to judge."""
        before = os.times()
        command = [sys.executable, "-m", "sedscope", "--help"]
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        user = after.children_user - before.children_user
        return user + after.children_system - before.children_system

    assert min(seconds() for _ in range(5)) < 0.5


def test_the_command_line_loads_only_typer() -> None:
    loaded = run(
        "import sys, sedscope.cli; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    ).split()
    assert not {"numpy", "polars", "narwhals", "pandas", "matplotlib", "scipy", "torch"} & set(loaded)


def test_names_for_type_checkers_are_those_of_the_package() -> None:
    stub = (Path(sedscope.__file__).parent / "__init__.pyi").read_text()
    one_by_one = set(re.findall(r"import (\w+) as \1$", stub, re.MULTILINE))
    rooms = re.findall(r"^from \.(\w+) import \*$", stub, re.MULTILINE)
    whole_rooms = {name for room in rooms for name in dir(import_module(f"sedscope.{room}"))}
    assert one_by_one <= set(sedscope.__all__) <= one_by_one | whole_rooms
    for name in sedscope.__all__:
        assert getattr(sedscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'psds'"):
        _ = sedscope.psds  # type: ignore[attr-defined]
