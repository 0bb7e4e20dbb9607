"""The table of official numbers states what the judges say now."""

from __future__ import annotations

from pathlib import Path

from ..support.project import ROOT
from . import parity


def test_the_table_is_up_to_date(peers_python: Path) -> None:
    assert peers_python == parity.PEERS
    _, stored, _ = parity.parts_of_page()
    assert stored == parity.table(), "run 'python -m tests.peers.parity'"


def test_every_task_has_a_row() -> None:
    _, stored, _ = parity.parts_of_page()
    for task in (ROOT / "src" / "sedscope" / "tasks" / "built_in").glob("*.toml"):
        assert f"`{task.stem}`" in stored
