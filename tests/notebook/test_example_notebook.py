"""The example notebook runs in a kernel, and shows what it should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..support.project import ROOT

NOTEBOOK = ROOT / "examples" / "evaluate.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the outputs of all cells."""
    reason = "needs nbclient and ipykernel: pip install 'sedscope[test]'"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'sedscope[plot]'")
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(folder, str(tmp_path_factory.mktemp(folder)))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbformat.validate(notebook)
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_it_is_stored_without_outputs() -> None:
    assert '"output_type"' not in Path(NOTEBOOK).read_text(encoding="utf-8")


def test_results_are_shown_as_tables(outputs: list[Any]) -> None:
    shown = [output.data for output in outputs if output.output_type == "execute_result"]
    assert [data["text/plain"].split(":")[0] for data in shown[:2]] == ["<GroundTruth", "<Evaluation"]
    assert shown[-1]["text/plain"].startswith("<Comparison of other, this")
    assert all("<table" in data["text/html"] for data in shown)


def test_a_plot_is_shown(outputs: list[Any]) -> None:
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1


def test_progress_bars_end_complete(outputs: list[Any]) -> None:
    texts = [output.data["text/plain"] for output in outputs if output.output_type == "display_data"]
    bars = [text for text in texts if " of " in text]
    assert bars == ["Evaluating: 100 % (402 of 402)", "Comparing: 100 % (602 of 602)"]


def test_nothing_is_printed_to_standard_error(outputs: list[Any]) -> None:
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
