"""The recipes for Ray and Spark run, on this machine, and give the same bits."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.documentation import code_blocks
from ..support.project import ROOT
from .conftest import small_set

__all__ = ["small_set"]

CHECK = "\nassert result.scalars() == sed.evaluate(scores, truth, best).scalars()\nprint('equal')\n"


def run_recipe(library: str, folder: Path, home: Path, **settings: str) -> None:
    (recipe,) = [text for text in code_blocks(ROOT / "docs" / "large_sets.md", "py") if library in text]
    assert "256" in recipe
    program = recipe.replace("256", "4") + CHECK  # the set is small
    environment = os.environ | {"HOME": str(home)} | settings
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.splitlines()[-1:] == ["equal"], done.stderr


def test_ray(small_set: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs ray: pip install ray")
    run_recipe("ray", small_set, tmp_path, RAY_AUTH_TOKEN=secrets.token_hex(16))


def test_spark(small_set: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs Spark: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: install default-jre-headless")
    run_recipe("pyspark", small_set, tmp_path, PYSPARK_PYTHON=sys.executable)
