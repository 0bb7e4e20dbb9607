"""Checkpoints: finished parts are kept in a folder, and an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..counting.delta_files import load_deltas, save_deltas
from ..counting.deltas import Deltas
from ..counting.one_pass import largest_false_alarms
from ..counting.request import Requests
from ..counting.threads import thread_count
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..data.progress import Progress
from ..errors import SedscopeError
from ..io.atomic_write import replacing
from ..io.locations import local_path
from ..postprocessing import PostProcessing
from .engine import Engine, Item
from .parts import clip_ranges, merge_parts, part_deltas, part_of

CLIPS_PER_PART = 256


class CheckpointEngine:
    """Passes through the clips part by part, and keeps the deltas of each part in a folder.

    A part that is in the folder is not found again. The name of its file identifies what was evaluated
    (clips, classes, reference events, criteria, floors), so that parts of other evaluations are never
    used. The scores themselves are not part of the name: use one folder per system.
    """

    splits_clips = True

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, clips_per_part: int | None = None
    ) -> None:
        self.folder = local_path(folder)
        self.threads = thread_count(threads)
        self.clips_per_part = clips_per_part or CLIPS_PER_PART

    def for_system(self, name: str) -> Engine:
        tag = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()  # for names that look alike
        readable = re.sub(r"[^\w.-]+", "_", name)[:80]
        folder = self.folder / f"{readable}-{tag}"
        return CheckpointEngine(folder, threads=self.threads, clips_per_part=self.clips_per_part)

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        self._make_folder()
        total = len(alignment.clips)
        if progress:
            progress(0, total)
        parts: list[dict[Criterion, Deltas]] = []
        for clips in clip_ranges(total, self.clips_per_part):
            part = part_of(alignment, clips)
            path = self.folder / f"{_fingerprint(part, requests)}.deltas"
            deltas = _load_part(path)
            if deltas is None:
                deltas = part_deltas(part, requests, self.threads)
                save_deltas(deltas.values(), path)
            parts.append(deltas)
            if progress:
                progress(clips.stop, total)
        return merge_parts(*parts)

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        return largest_false_alarms(alignment, variant, self.threads)

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str],
        progress: Progress | None,
    ) -> list[FloatArray]:
        self._make_folder()
        values: list[FloatArray] = []
        name = key()
        for number, block in enumerate(blocks):
            path = self.folder / f"{name}-{number}-of-{len(blocks)}.npy"
            array = _load_array(path)
            if array is None:
                array = work(block)
                with replacing(path) as temporary, temporary.open("wb") as file:
                    np.save(file, array)
            values.append(array)
            if progress:
                progress(len(values), len(blocks))
        return values

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SedscopeError(f"Cannot write to {self.folder}: {error.strerror or error}.") from None


def _load_part(path: Path) -> dict[Criterion, Deltas] | None:
    """Load a part from its file; None if there is no file, or an incomplete one."""
    if not path.exists():
        return None
    try:
        return {deltas.criterion: deltas for deltas in load_deltas(path)}
    except SedscopeError:
        return None  # it is found again, and the file is replaced


def _load_array(path: Path) -> FloatArray | None:
    """Load an array from its file; None if there is no file, or an incomplete one."""
    if not path.exists():
        return None
    try:
        array: FloatArray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return array


def _fingerprint(part: Alignment, requests: Requests) -> str:
    """Return a digest of what a part evaluates."""
    digest = hashlib.blake2b(digest_size=16)
    for words in (part.clips, part.classes):
        digest.update(repr(words).encode())
    for array in (part.columns, part.events, part.labels, part.starts, part.durations):
        digest.update(np.ascontiguousarray(array).tobytes())
    for criterion, request in sorted(requests.items(), key=lambda item: repr(item[0])):
        digest.update(repr((criterion, request.any_label, request.variants)).encode())
        for variant in (None, *request.variants):
            digest.update(request.floors_of(variant, len(part.classes)).tobytes())
    return digest.hexdigest()
