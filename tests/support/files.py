"""A small set on disk, whole or with changed files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import sedscope as sed


def table(*rows: str) -> str:
    """Tab-separated text; spaces separate the cells of a row here, and ``·`` is an empty cell."""
    return "".join("\t".join(row.split()).replace("·", "") + "\n" for row in rows)


#            a                           b
#      0   1   2   3   4 s         0   1   2   3   4 s
# Dog  ·.1 ·.9 ·.8 ·.2 ·           ·.1 ·.1 ·.2 ·.1 ·
#          [ Dog   )
# Cat  ·.1 ·.1 ·.1 ·.1 ·           ·.7 ·.1 ·.1 ·.1 ·
#                                  [Cat)
SCORES = {
    "a": table("onset offset Dog Cat", "0 1 .1 .1", "1 2 .9 .1", "2 3 .8 .1", "3 4 .2 .1"),
    "b": table("onset offset Dog Cat", "0 1 .1 .7", "1 2 .1 .1", "2 3 .2 .1", "3 4 .1 .1"),
}
ARRAYS = {
    "a": [[0.1, 0.1], [0.9, 0.1], [0.8, 0.1], [0.2, 0.1]],
    "b": [[0.1, 0.7], [0.1, 0.1], [0.2, 0.1], [0.1, 0.1]],
}
TRUTH = table("filename onset offset event_label", "a 1 3 Dog", "b 0 1 Cat")
DURATIONS = table("filename duration", "a 4", "b 4")

Content: TypeAlias = str | bytes | None


@dataclass(frozen=True)
class Files:
    """The paths of the set."""

    folder: Path
    scores: Path
    truth: Path
    durations: Path

    def listing(self) -> list[str]:
        """All files, by their path in the folder."""
        files = (file for file in self.folder.rglob("*") if file.is_file())
        return sorted(file.relative_to(self.folder).as_posix() for file in files)


def write_files(folder: Path, changes: Mapping[str, Content] | None = None) -> Files:
    """Write the set; ``changes``: other content for some files, None for no such file."""
    contents: dict[str, Content] = {f"scores/{clip}.tsv": text for clip, text in SCORES.items()}
    contents |= {"truth.tsv": TRUTH, "durations.tsv": DURATIONS, **(changes or {})}
    (folder / "scores").mkdir()
    for name, content in contents.items():
        if content is not None:
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
    return Files(folder, folder / "scores", folder / "truth.tsv", folder / "durations.tsv")


def events(truth: sed.GroundTruth) -> dict[str, list[tuple[float, float, str]]]:
    """All clips with their events."""
    return {clip: truth.events(clip) for clip in truth.clips}


def write_durations(truth: sed.GroundTruth | Mapping[str, float], path: Path) -> None:
    """Write the table of durations of a set, or of clips with their seconds."""
    if isinstance(truth, sed.GroundTruth):
        assert truth.durations is not None
        truth = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(("filename", "duration"))
        table.writerows((clip, f"{seconds:.6f}") for clip, seconds in truth.items())
