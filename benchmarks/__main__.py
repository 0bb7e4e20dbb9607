"""``python -m benchmarks [TOPIC …]``: sedscope, what it is measured by, and its peers, in one run."""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable

import numpy as np

import sedscope as sed
from sedscope.counting.clip_reader import thread_count

from .counting import in_memory
from .long_recordings import long_recordings
from .peers import PEERS_PYTHON
from .ranking import ranking
from .reading import reading
from .reports import report
from .resampling import resampling
from .scored_events import scored_events
from .starting import starting
from .sweeps import sweeps
from .timing import Row, markdown
from .training import training


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--clips", type=int, default=1168, help="size of the sets")
    parser.add_argument("--hours", type=float, default=24, help="length of the long recording")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="what to measure; all by default")
    options = parser.parse_args()
    topics: dict[str, Callable[[], list[Row]]] = {
        "counting": lambda: in_memory(options.clips),
        "sweeps": lambda: sweeps(options.clips),
        "resampling": lambda: resampling(options.clips),
        "long": lambda: long_recordings(options.hours),
        "reading": lambda: reading(options.clips),
        "report": lambda: report(options.clips),
        "ranking": lambda: ranking(options.clips),
        "training": lambda: training(options.clips),
        "starting": starting,
        "events": scored_events,
    }
    unknown = [topic for topic in options.topics if topic not in topics]
    if unknown:
        parser.error(f"unknown topic {unknown[0]!r}; there are {', '.join(topics)}")
    if not PEERS_PYTHON.exists():
        raise SystemExit("the peers' environment is missing: run 'make peers'")
    start = time.perf_counter()
    rows = [row for topic in options.topics or topics for row in topics[topic]()]
    print(markdown(rows))
    print(
        f"\nsedscope {sed.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{thread_count(None)} cores; measured in {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
