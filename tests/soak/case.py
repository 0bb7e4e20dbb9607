"""A case: some clips, some definitions, and the check that they are for. It can be saved and replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.data.ground_truth import EventColumns

from ..support import oracle

FOLDER = Path(__file__).parent / "cases"
LABELS = ("a", "b", "c")


class Mismatch(AssertionError):
    """Two results differ that must not. ``what`` names the kind of difference, without its values."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what}: {detail}" if detail else what)
        self.what = what
        self.detail = detail


@dataclass(frozen=True)
class SoakClip:
    """One clip, in microseconds. ``scores`` holds a list per class, ``references`` the class's index."""

    edges: Sequence[int]
    scores: Sequence[Sequence[float]]
    references: Sequence[tuple[int, int, int]]
    duration: int
    ignored: Sequence[tuple[int, int, int]] = ()
    """Ignored references. They may overlap."""


@dataclass(frozen=True)
class Case:
    """What a check is run on. All that it chooses at random follows from ``seed`` and ``options``."""

    check: str
    seed: str
    dtype: str
    clips: Sequence[SoakClip]
    definitions: Sequence[str]
    """Criteria, metrics or post-processings, as their ``repr``."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels of the classes."""
        return LABELS[: len(self.clips[0].scores)]

    @property
    def names(self) -> list[str]:
        """The ids of the clips."""
        return [f"clip{i}" for i in range(len(self.clips))]

    @cached_property
    def scores(self) -> sed.Scores:
        """The scores, in memory."""
        made = {
            name: sed.ClipScores.from_ticks(
                np.ascontiguousarray(np.array(clip.scores, self.dtype).T), np.array(clip.edges, np.int64)
            )
            for name, clip in zip(self.names, self.clips, strict=True)
        }
        return sed.Scores(made, made.__getitem__, classes=self.classes, in_memory=True, thread_safe=True)

    @cached_property
    def truth(self) -> sed.GroundTruth:
        """The references and durations."""
        rows = [
            (name, onset, offset, LABELS[label], ignored)
            for name, clip in zip(self.names, self.clips, strict=True)
            for ignored, events in ((False, clip.references), (True, clip.ignored))
            for onset, offset, label in events
        ]
        columns = EventColumns(
            clip=[row[0] for row in rows],
            onset=np.array([row[1] for row in rows], np.int64),
            offset=np.array([row[2] for row in rows], np.int64),
            label=[row[3] for row in rows],
            where=lambda i: f"event {i}",
            ignored=np.array([row[4] for row in rows], bool),
        )
        return sed.GroundTruth(
            columns,
            clips=self.names,
            durations=self.durations,
            overlaps="keep" if any(clip.ignored for clip in self.clips) else "error",
        )

    @property
    def durations(self) -> dict[str, float]:
        """In seconds."""
        return {name: clip.duration / 1e6 for name, clip in zip(self.names, self.clips, strict=True)}

    def for_oracle(self) -> list[oracle.Clip]:
        """The clips as the oracle takes them."""
        return [
            oracle.Clip(
                clip.edges,
                dict(zip(self.classes, clip.scores, strict=True)),
                [(onset, offset, LABELS[label]) for onset, offset, label in clip.references],
                clip.duration,
            )
            for clip in self.clips
        ]

    def to_json(self) -> str:
        """All of it, a clip a line."""
        body = asdict(self)
        clips = ",\n  ".join(json.dumps(clip) for clip in body.pop("clips"))
        return f'{json.dumps(body, indent=1)[:-2]},\n "clips": [\n  {clips}\n ]\n}}\n'

    @classmethod
    def from_json(cls, text: str) -> Case:
        """The case that was saved."""
        body = json.loads(text)
        clips = [
            SoakClip(
                clip["edges"],
                clip["scores"],
                [(onset, offset, label) for onset, offset, label in clip["references"]],
                clip["duration"],
                [(onset, offset, label) for onset, offset, label in clip.get("ignored", ())],
            )
            for clip in body.pop("clips")
        ]
        return cls(clips=clips, **body)

    def save(self, folder: Path) -> Path:
        """Write a file named after the check and the content."""
        text = self.to_json()
        folder.mkdir(parents=True, exist_ok=True)
        tag = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
        path = folder / f"{self.check}-{tag}.json"
        path.write_text(text, encoding="utf-8")
        return path
