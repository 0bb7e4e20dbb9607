"""The command line, run in this process: what it prints and its exit code."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass

import pytest

from sedscope import cli


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Outcome:
    """Run ``sedscope`` with arguments, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "300")
        patch.setattr(sys, "argv", ["sedscope", *map(str, arguments)])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as stop:
            cli.main()
    code = stop.value.code
    assert code is None or isinstance(code, int)
    return Outcome(code or 0, out.getvalue(), err.getvalue())


def table_rows(text: str) -> dict[str, list[str]]:
    """The table_rows of a table by their first cell."""
    return {cells[0]: cells[1:] for line in text.splitlines() if (cells := line.split())}
