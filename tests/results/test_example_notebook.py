"""The example notebooks run in a kernel, and show what they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..support.project import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def run_notebook(name: str, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the outputs of all cells of a notebook."""
    reason = "needs nbclient and ipykernel: pip install 'sedscope[test]'"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'sedscope[plot]'")
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(folder, str(tmp_path_factory.mktemp(folder)))
        notebook = nbformat.read(ROOT / "examples" / name, as_version=4)
        nbformat.validate(notebook)
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return run_notebook("evaluate.ipynb", tmp_path_factory)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_stored_without_outputs(notebook: Path) -> None:
    assert '"output_type"' not in notebook.read_text(encoding="utf-8")


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
    assert bars == ["Evaluating: 100 % (882 of 882)", "Comparing: 100 % (1082 of 1082)"]


def test_nothing_is_printed_to_standard_error(outputs: list[Any]) -> None:
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


def test_systems_are_compared_and_a_threshold_chosen(tmp_path_factory: pytest.TempPathFactory) -> None:
    outputs = run_notebook("compare.ipynb", tmp_path_factory)
    shown = [output.data for output in outputs if output.output_type == "execute_result"]
    assert [data["text/plain"].split(" ")[0] for data in shown] == [
        "<Comparison",
        "{'Alarm_bell_ringing':",
        "<Evaluation:",
    ]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    printed = [output.text for output in outputs if output.get("name") == "stdout"]
    assert "[thresholds]" in printed[0]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
