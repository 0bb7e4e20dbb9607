"""A lazy mapping of score tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any


class LazyScores(Mapping[str, Any]):
    """A read-only mapping from clip to score table, which loads a table at each access.

    ``folder``: the folder of the tables, unless they are processed after loading.
    """

    def __init__(self, names: list[str], load: Callable[[str], Any], folder: Path | None = None) -> None:
        self._names = dict.fromkeys(names)
        self._load = load
        self.folder = folder

    def map(self, process: Callable[[Any], Any]) -> LazyScores:
        """Return the same clips, with each table processed after it is loaded."""
        return LazyScores(list(self), lambda name: process(self[name]))

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
