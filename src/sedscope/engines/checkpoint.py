"""Parts that are kept in a folder: an evaluation that was interrupted goes on where it was."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..counting.checked_clips import Progress
from ..counting.delta_files import load_deltas, save_deltas
from ..counting.one_pass import Wanted, largest_false_alarms
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment
from ..errors import SedscopeError
from ..io.locations import local_path
from .parts import Found, find, merge, part_of, ranges

CLIPS_PER_PART = 256


class CheckpointEngine:
    """Goes through the clips part by part, and keeps the deltas of each part in a folder.

    A part that is there already is not found again. The name of a part's file tells what was evaluated
    (clips, classes, reference events, criteria, floors), so that parts of something else are never
    taken; that the scores are the same is for the user to see to.
    """

    def __init__(self, folder: str | Path, *, clips_per_part: int | None = None) -> None:
        self.folder = local_path(folder)
        self.clips_per_part = clips_per_part or CLIPS_PER_PART

    def __call__(
        self,
        alignment: Alignment,
        wanted: Mapping[Criterion, Wanted],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Found:
        """See :class:`~sedscope.engines.floor_search.Engine`."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SedscopeError(f"cannot write to {self.folder}: {error.strerror or error}") from None
        total = len(alignment.clips)
        if progress:
            progress(0, total)
        found: list[Found] = []
        for clips in ranges(total, self.clips_per_part):
            part = part_of(alignment, clips)
            path = self.folder / f"{_fingerprint(part, wanted)}.deltas"
            known = _kept(path)
            if known is None:
                known = find(part, wanted, threads)
                save_deltas(known.values(), path)
            found.append(known)
            if progress:
                progress(clips.stop, total)
        return merge(*found)

    largest_false_alarms = staticmethod(largest_false_alarms)


def _kept(path: Path) -> Found | None:
    """The part that a file holds; None if there is none, or none that is whole."""
    if not path.exists():
        return None
    try:
        return {deltas.criterion: deltas for deltas in load_deltas(path)}
    except SedscopeError:
        return None  # found again, and written again


def _fingerprint(part: Alignment, wanted: Mapping[Criterion, Wanted]) -> str:
    """What a part is about, in short."""
    digest = hashlib.blake2b(digest_size=16)
    for words in (part.clips, part.classes):
        digest.update(repr(words).encode())
    for array in (part.columns, part.events, part.labels, part.starts, part.durations):
        digest.update(np.ascontiguousarray(array).tobytes())
    for criterion, want in sorted(wanted.items(), key=lambda item: repr(item[0])):
        digest.update(repr((criterion, want.any_label, want.variants)).encode())
        for variant in (None, *want.variants):
            digest.update(want.lowest(variant, len(part.classes)).tobytes())
    return digest.hexdigest()
