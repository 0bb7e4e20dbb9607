"""What it costs to begin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .timing import Row, seconds

FIRST_USE = Path(__file__).with_name("first_use.py")


def starting() -> list[Row]:
    """What it costs to begin."""
    # with bytecode, as a user has it from the second time on
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(*command: str) -> Callable[[], object]:
        return lambda: subprocess.run(
            [sys.executable, *command], check=True, capture_output=True, env=environment
        )

    nothing, numpy, sedscope, used, shown = seconds(
        run("-c", "pass"),
        run("-c", "import numpy"),
        run("-c", "import sedscope"),
        run(str(FIRST_USE)),
        run("-m", "sedscope", "--help"),
        repeat=16,
    )
    return [
        Row(
            "import sedscope",
            sedscope - nothing,
            "import numpy",
            (sedscope - nothing) / (numpy - nothing),
            "≤ 2",
        ),
        Row(
            "first use: import sedscope, and PSDS 1 of 20 clips in memory",
            used - nothing,
            "import numpy",
            (used - nothing) / (numpy - nothing),
            "≤ 2",
        ),
        Row("sedscope --help", shown, "one second", shown, "≤ 0.5"),
    ]
