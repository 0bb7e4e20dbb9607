"""Deltas on disk: a pass writes them part by part, and some classes at a time are read back.

The rows of a part are ordered by class, so those of consecutive classes are one range of each column.
They lie in one temporary file. Where the system allows it, the file has no name, so that nothing is left
of it however the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion
from ..criteria.delta_tables import DeltaRows, row_starts
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from .deltas import Deltas
from .one_pass import PassPart, with_variants

_ADVICE = (
    "Free some disk space, set the environment variable TMPDIR to a folder with more of it, or raise the "
    "memory limit (`memory=`)."
)


@contextmanager
def spilled(parts: Iterable[PassPart], expected: float) -> Iterator[SpilledDeltas]:
    """Write the parts of a pass to a temporary file, which is deleted at the end of the ``with`` block.

    ``expected``: about how many bytes they are. If the disk has less room, nothing is begun.
    """
    with ExitStack() as closed_at_the_end:
        with _explained():
            free = disk_usage(gettempdir()).free
            if free < expected:
                raise SedscopeError(
                    f"The memory limit calls for about {expected / 1e9:.2g} GB of temporary files, but "
                    f"{gettempdir()} has room for {free / 1e9:.2g} GB. {_ADVICE}"
                )
            temporary = closed_at_the_end.enter_context(TemporaryFile(prefix="sedscope-"))
        file = _SpillFile(temporary)
        spilling: dict[Criterion, dict[PostProcessing | None, _Spilled]] = {}
        for variant, part in parts:
            spilling.setdefault(part.criterion, {}).setdefault(variant, _Spilled(file)).add(part)
            del part  # before the next one is found
        yield SpilledDeltas(spilling)


class SpilledDeltas:
    """The deltas of all clips, of several criteria, in a temporary file."""

    def __init__(
        self, by_criterion: Mapping[Criterion, Mapping[PostProcessing | None, _Spilled]]
    ) -> None:
        self._by_criterion = by_criterion

    def of_classes(self, classes: range) -> dict[Criterion, Deltas]:
        """Read the deltas of some consecutive classes, as a pass finds them that is asked for no others."""
        return {
            criterion: with_variants(
                {variant: part.of_classes(classes) for variant, part in by_variant.items()}
            )
            for criterion, by_variant in self._by_criterion.items()
        }


@dataclass(frozen=True, eq=False)
class _SpilledArray:
    """Where an array is in the file."""

    offset: int
    dtype: np.dtype[Any]


class _SpillFile:
    """A temporary file that arrays are appended to, and ranges of them read from."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._end = 0

    def append(self, array: NDArray[Any]) -> _SpilledArray:
        """Write an array."""
        written = _SpilledArray(self._end, array.dtype)
        with _explained():
            self._file.write(np.ascontiguousarray(array).data)
            self._file.flush()
        self._end += array.nbytes
        return written

    def read(self, array: _SpilledArray, first: int, last: int) -> NDArray[Any]:
        """Read the entries of an array from number ``first`` to before ``last``."""
        entries: NDArray[Any] = np.empty(last - first, array.dtype)
        with _explained():
            self._file.seek(array.offset + first * array.dtype.itemsize)
            # typeshed lacks readinto() of temporary files
            if self._file.readinto(entries.data) != entries.nbytes:  # type: ignore[attr-defined]
                raise OSError("it was cut short while it was in use")
        return entries


@contextmanager
def _explained() -> Iterator[None]:
    """Say what a problem with the temporary file means."""
    try:
        yield
    except OSError as error:
        raise SedscopeError(
            f"Cannot keep deltas in a temporary file: {error.strerror or error}. {_ADVICE}"
        ) from error


@dataclass(frozen=True, eq=False)
class _SpilledRows:
    """Where a table of changes is in the file."""

    clips: int
    class_starts: NDArray[np.int64]
    """Where the rows of each class begin, and the end."""
    starts: _SpilledArray
    columns: tuple[_SpilledArray, ...]
    """The scores, then the other columns."""


class _Spilled:
    """The deltas of one criterion and variant. What has a row per clip or reference stays in memory."""

    def __init__(self, file: _SpillFile) -> None:
        self._file = file
        self._parts: list[Deltas] = []
        """With tables of changes that have no clips."""
        self._tables: dict[str, list[_SpilledRows]] = {}

    def add(self, part: Deltas) -> None:
        """Write the changes in the next clips."""
        assert part.tables.any_label is None  # it is not by class
        changes = part.tables.changes()
        for name, table in changes.items():
            self._tables.setdefault(name, []).append(self._write(table))
        left: dict[str, Any] = {name: table.clip_range(0, 0) for name, table in changes.items()}
        self._parts.append(replace(part, tables=replace(part.tables, **left)))

    def of_classes(self, classes: range) -> Deltas:
        """Read the deltas of some classes. The floors of the others are infinite."""
        first, *others = self._parts
        merged = first.merge(*others)
        floors = np.full_like(merged.floors, np.inf)
        floors[classes.start : classes.stop] = merged.floors[classes.start : classes.stop]
        changes: dict[str, Any] = {
            name: self._read(parts, classes) for name, parts in self._tables.items()
        }
        certain = merged.tables.certain.above(floors)
        deltas = replace(
            merged, floors=floors, tables=replace(merged.tables, certain=certain, **changes)
        )
        return (
            deltas if (floors[classes.start : classes.stop] == -np.inf).all() else deltas.above(floors)
        )

    def _write(self, table: DeltaRows) -> _SpilledRows:
        columns = (table.scores, *table.columns)
        return _SpilledRows(
            table.starts.shape[1] - 1,
            table.class_starts(),
            self._file.append(table.starts),
            tuple(map(self._file.append, columns)),
        )

    def _read(self, parts: list[_SpilledRows], classes: range) -> DeltaRows:
        """Read the changes of some classes in all clips, ordered by class, then clip."""
        of_classes = slice(classes.start, classes.stop)
        counts = np.concatenate([self._counts(part, classes) for part in parts], axis=1)
        inside = row_starts(counts)
        starts = np.zeros((len(parts[0].class_starts) - 1, counts.shape[1] + 1), np.int64)
        starts[of_classes] = inside
        starts[classes.stop :] = inside[-1, -1]
        ends = np.cumsum([part.clips for part in parts])
        to = inside[:, ends - [part.clips for part in parts]]  # classes × parts: where rows go
        columns = [
            self._read_column(parts, k, classes, to, int(inside[-1, -1]))
            for k in range(len(parts[0].columns))
        ]
        return DeltaRows(starts, columns[0], tuple(columns[1:]))

    def _counts(self, part: _SpilledRows, classes: range) -> NDArray[np.int64]:
        """Return the number of rows of each of the classes and each clip of a part."""
        width = part.clips + 1
        starts = self._file.read(part.starts, classes.start * width, classes.stop * width)
        return np.diff(starts.reshape(len(classes), width), axis=1)

    def _read_column(
        self, parts: list[_SpilledRows], k: int, classes: range, to: NDArray[np.int64], rows: int
    ) -> NDArray[Any]:
        column = np.empty(rows, np.result_type(*(part.columns[k].dtype for part in parts)))
        for part, firsts in zip(parts, to.T.tolist(), strict=True):
            bounds = part.class_starts[classes.start : classes.stop + 1]
            read = self._file.read(part.columns[k], int(bounds[0]), int(bounds[-1]))
            begins = (bounds - bounds[0]).tolist()
            for first, begin, end in zip(firsts, begins, begins[1:], strict=False):
                column[first : first + end - begin] = read[begin:end]
        return column
