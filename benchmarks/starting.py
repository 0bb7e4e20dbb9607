"""What it costs to begin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from .timing import Row, seconds


def starting() -> list[Row]:
    """What it costs to begin."""

    def run(*command: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)

    nothing, numpy, sedscope, used, shown = seconds(
        run("-c", "pass"),
        run("-c", "import numpy"),
        run("-c", "import sedscope"),
        run("-c", "import sedscope; sedscope.evaluate"),
        run("-m", "sedscope", "--help"),
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
            "import sedscope and reach for sedscope.evaluate, which loads numpy and the core",
            used - nothing,
            "import numpy",
            (used - nothing) / (numpy - nothing),
        ),
        Row("sedscope --help", shown, "one second", shown, "≤ 0.5"),
    ]
