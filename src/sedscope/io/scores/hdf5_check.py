"""A damaged HDF5 file can crash or hang the HDF5 library, so another process goes through it first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.spawn import get_executable
from pathlib import Path

from ... import _import_path
from ...errors import SedscopeError
from ..locations import Location, location

SECONDS = 60.0
"""How long the process may take for a small file."""
BYTES_PER_SECOND = 20e6
"""How much longer it may take for a large one."""
_MEMORY = 2**33
_REFUSED = 3
_CODE = (
    "from sedscope.io.scores.hdf5 import walk; from sedscope.io.scores.hdf5_check import run; "
    "run(walk, sys.argv[1], float(sys.argv[2]))"
)
_checked: set[tuple[str, int, int]] = set()


def require_sound(path: Location) -> None:
    """Refuse a file on which the library crashes or does not come to an end.

    A file that is merely not one of scores passes: its reader has the better message.
    """
    identity = _identity(path)
    if identity is not None and identity in _checked:
        return
    seconds = SECONDS + (identity[1] if identity else 0) / BYTES_PER_SECOND
    # Isolated (-I), the process has nothing but this path to import from.
    code = f"import sys\nsys.path[:] = {_import_path()!a}\n{_CODE}"
    options = ["-I", "-W", "ignore", "-c", code, str(path), str(seconds)]
    command = [os.fsdecode(get_executable()), *options]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        child = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise SedscopeError(
            f"{path} is damaged, or is not an ordinary HDF5 file: going through it takes longer than "
            f"{seconds:.0f} s. If h5py can read it, convert it to npz."
        ) from None
    except OSError as error:
        raise SedscopeError(f"{path}: cannot start a process that checks the file: {error}.") from None
    if child.returncode == 1:
        reason = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise SedscopeError(f"{path}: the process that checks the file failed: {reason}.")
    if child.returncode not in (0, _REFUSED):
        raise SedscopeError(f"{path} is damaged: the HDF5 library crashes when it reads the file.")
    if identity is not None:
        _checked.add(identity)


def _identity(path: Location) -> tuple[str, int, int] | None:
    """Return what changes with the content of a file; None for a file on another machine."""
    if not isinstance(path, Path):
        return None
    status = path.stat()
    return str(path.absolute()), status.st_size, status.st_mtime_ns


def run(walk: Callable[[Location], None], path: str, seconds: float) -> None:
    """Go through a file, as the process that may crash."""
    _limit(seconds)
    try:
        walk(location(path))
    except Exception:  # the library is well, and the reader says what is wrong
        sys.exit(_REFUSED)


def _limit(seconds: float) -> None:
    """Bound time and memory, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: int(seconds) + 1}
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + _MEMORY
    for kind, limit in limits.items():
        _, most = resource.getrlimit(kind)
        lowered = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (lowered, lowered))
