"""Without torch, the tests that need it are skipped; none is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_COLLECT = """
import sys
sys.modules["torch"] = sys.modules["torchmetrics"] = None  # as if they were not installed
import pytest
sys.exit(pytest.main(["--collect-only", "--quiet", "-p", "no:cacheprovider", sys.argv[1]]))
"""


def test_tests_that_need_torch_can_be_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEDSCOPE_REQUIRE_ALL", raising=False)
    folder = Path(__file__).parent
    collected = subprocess.run(
        [sys.executable, "-c", _COLLECT, folder], cwd=folder.parents[1], capture_output=True, text=True
    )
    assert collected.returncode == 0, collected.stdout
    assert "test_without_torch.py" in collected.stdout
