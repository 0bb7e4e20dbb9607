"""The examples run, here in a shortened form."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import sedscope as sed

from ..support.project import ROOT


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_train_crnn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")
    example = runpy.run_path(str(ROOT / "examples" / "train_crnn.py"))
    example["main"](["--output", str(tmp_path), "--clips", "32", "--epochs", "3"])
    printed = capsys.readouterr().out
    assert printed.count("validation {'psds':") == 3
    assert "with tuned filters and thresholds" in printed
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["clips"] == 8
    assert sed.OperatingPoints.load(tmp_path / "points.toml").thresholds.keys() == {*example["CLASSES"]}
    assert "data:audio" in (tmp_path / "report.html").read_text()
