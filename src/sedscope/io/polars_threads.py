"""The threads of polars, and processes that lack them."""

from __future__ import annotations

import math
import os
from pathlib import Path

from ..errors import SedscopeError

_TASKS = Path("/proc/self/task")
_NAMES = ("polars-0", "async-executor")


class _Forks:
    """Whether polars had started its threads before this process was forked.

    A fork copies only the thread that forks. Polars would wait forever for the others.
    """

    used = False
    at_fork = False
    lost = False

    def before(self) -> None:
        self.at_fork = self.started()

    def in_child(self) -> None:
        self.lost = self.lost or self.at_fork
        self.used = False

    def started(self) -> bool:
        """Whether the threads of polars run."""
        try:
            names = [(task / "comm").read_text() for task in _TASKS.iterdir()]
        except OSError:  # another system, which does not tell
            return self.used
        return any(name.startswith(_NAMES) for name in names)


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forks.before, after_in_child=_forks.in_child)


def require_polars_threads(path: object) -> None:
    """Refuse to read or write a file if polars would wait forever for threads that a fork left behind, or
    would end this process because there is no room for them."""
    if _forks.lost:
        raise SedscopeError(
            f"{path} cannot be read or written here: this process was forked after polars had started its "
            "threads, which a fork does not copy. Start processes with the method 'spawn' or "
            "'forkserver' (of a torch DataLoader: multiprocessing_context='spawn'), or convert scores to a "
            "store first (sedscope convert)."
        )
    room, needed = _address_space(), _space_of_threads()
    if room < needed and not _forks.started():
        raise SedscopeError(
            f"{path} cannot be read or written here: the threads of polars need {needed / 1e6:.0f} MB of "
            f"address space, and the limit of this process (ulimit -v) leaves {max(0, room) / 1e6:.0f} MB. "
            "Raise the "
            "limit, set POLARS_MAX_THREADS=1, or convert scores to npz (sedscope convert)."
        )
    _forks.used = True


def _address_space() -> float:
    """Return how many bytes this process may still map; ``inf`` if there is no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(limit - pages * resource.getpagesize())
    except (ImportError, OSError):  # another system, which does not tell
        return math.inf


def _space_of_threads() -> float:
    """Return how many bytes polars maps for its threads, with an arena of memory for most of them.

    That covers what was measured with 1 to 32 threads. With less, it aborts, hangs or raises, as it happens.
    """
    cores = os.cpu_count() or 1
    number = os.environ.get("POLARS_MAX_THREADS", "")
    threads = 3 * (int(number) if number.isdecimal() else cores) + 8
    return 2.0**26 * min(threads, 8 * cores) + 2**22 * threads
