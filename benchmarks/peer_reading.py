"""Times how sed_scores_eval reads a folder of score tables. Runs in the peers' own environment.

Usage: peer_reading.py FOLDER. Prints the shortest time in seconds.
"""

from __future__ import annotations

import sys
import time


def main() -> None:
    """Read the folder three times."""
    from sed_scores_eval import io

    times = []
    for _ in range(3):
        start = time.perf_counter()
        io.read_sed_scores(sys.argv[1])
        times.append(time.perf_counter() - start)
    print(min(times))


if __name__ == "__main__":
    main()
