"""The logger examples of docs/training.md: their values arrive at the logger, without a network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

from ..support.documentation import code_blocks
from ..support.project import ROOT
from ..support.torch.batches import CLIPS, give, metrics

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the snippets use, in a folder of their own; some classes have no references, so no value."""
    monkeypatch.chdir(tmp_path)
    sed_metrics = metrics()
    give(sed_metrics, CLIPS[:4])
    assert any(map(math.isnan, sed_metrics.scalars().values()))
    return {"metrics": sed_metrics}


def run_snippet(logger: str, names: dict[str, Any]) -> dict[str, float]:
    """Run what the page says for a logger; what it has to know afterwards is returned."""
    (snippet,) = (
        block
        for block in code_blocks(ROOT / "docs" / "training.md", "python")
        if block.startswith(logger)
    )
    exec(compile(snippet, "training.md", "exec"), names)
    return {f"validation/{name}": value for name, value in names["metrics"].scalars().items()}


def test_tensorboard(names: dict[str, Any]) -> None:
    pytest.importorskip("tensorboard", reason="needs tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    expected = run_snippet("from torch.utils.tensorboard import", names)
    logged = EventAccumulator("logs")
    logged.Reload()
    assert [*logged.Tags()["scalars"]] == [*expected]
    for name, value in expected.items():
        (event,) = logged.Scalars(name)
        assert event.step == 1
        assert event.value == pytest.approx(value, nan_ok=True)


def test_wandb(names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb", reason="needs wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for kind in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"WANDB_{kind}_DIR", str(tmp_path / kind))
    expected = run_snippet("import wandb", names)
    wandb.teardown()  # waits until everything is written
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    logged = file.read_bytes()
    for name, value in expected.items():
        assert name.encode() in logged
        assert ("NaN" if math.isnan(value) else repr(value)).encode() in logged


@pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy")  # between MLflow and SQLAlchemy
def test_mlflow(names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(part, reason=f"needs {part}")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    import mlflow

    expected = run_snippet("import mlflow", names)
    run = mlflow.last_active_run()
    assert run.data.metrics == pytest.approx(expected, nan_ok=True, rel=0, abs=0)
    (event,) = mlflow.MlflowClient().get_metric_history(run.info.run_id, "validation/psds1")
    assert event.step == 1
