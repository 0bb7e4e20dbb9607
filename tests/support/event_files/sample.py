"""A sample: files of events, as a tool writes them, and the events that they hold."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

Events = dict[str, list[tuple[Any, ...]]]

#      0   1   2   3   4   5   6 s
# a        [ Great Tit )
#          [ Wren )
# b    [Wren)
PLAIN: Events = {"a": [(1.0, 3.5, "Great Tit"), (1.0, 2.0, "Wren")], "b": [(0.0, 1.25, "Wren")]}
SCORED: Events = {
    "a": [(0.0, 3.0, "Great Tit", 0.8123), (3.0, 6.0, "Wren", 0.4411)],
    "b": [(0.0, 3.0, "Wren", 0.9101)],
}


@dataclass(frozen=True)
class Sample:
    """Files by name, as a tool leaves them, and what is in them. One file or a folder of them."""

    format: str
    files: dict[str, str | bytes]
    events: Events
    options: dict[str, Any] = field(default_factory=dict)
    durations: dict[str, float] | None = None

    def write(self, folder: Path) -> Path:
        """Write the files; where to read them."""
        for name, content in self.files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(data)
        return folder if len(self.files) > 1 else folder / next(iter(self.files))


def tabs(*lines: str) -> str:
    """Lines whose cells are separated by ``|`` here and by tabs in the file."""
    return "".join(line.replace("|", "\t") + "\n" for line in lines)


def lines(*texts: str) -> str:
    return "".join(text + "\n" for text in texts)


def parquet(columns: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    polars.DataFrame(columns).write_parquet(file)
    return file.getvalue()
