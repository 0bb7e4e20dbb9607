"""Checkpoints: finished parts are kept in a folder, and an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.clip_reader import read_digest
from ..counting.delta_files import load_known, save_deltas
from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..io.atomic_write import check_output, read_checked, write_checked
from ..io.locations import Location, local_path
from ..progress import ProblemLog, Progress
from .engine import Engine, Item, by_variant, clip_ranges, merge_parts, part_deltas, part_of
from .run import Run
from .states import StatePlan, partial, problems_of, raise_parts

CLIPS_PER_PART = 256


class CheckpointEngine(Engine):
    """Passes through the clips part by part, and keeps the deltas of each part in a folder.

    A part that is in the folder is not found again. The name of its file identifies what was evaluated
    (clips, classes, reference events, criteria, floors, version of sedscope) and the scores, so that
    parts of other evaluations are never used. Scores are identified by the state of their files. Where
    that is not known, they are read, but not counted again, and identified by what was read.
    """

    splits_clips = True

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, clips_per_part: int | None = None
    ) -> None:
        self.folder = local_path(folder)
        super().__init__(threads)
        self.clips_per_part = clips_per_part or CLIPS_PER_PART

    def for_system(self, name: str) -> Engine:
        tag = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()  # for names that look alike
        readable = re.sub(r"[^\w.-]+", "_", name)[:80]
        folder = self.folder / f"{readable}-{tag}"
        return CheckpointEngine(folder, threads=self.threads, clips_per_part=self.clips_per_part)

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        return merge_parts(*self._parts(alignment, requests, progress))

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        for part in self._parts(alignment, requests, progress):
            yield from by_variant(part)

    def _parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[dict[Criterion, Deltas]]:
        """Load or find the deltas of one part after the other, and keep those that were found. After a
        problem, the other parts are found and kept for the next time."""
        make_folder(self.folder)
        total, log = len(alignment.clips), ProblemLog(progress)
        problems: dict[str, SedscopeError] = {}
        log(0, total)
        for clips in clip_ranges(total, self.clips_per_part):
            try:
                deltas, path = self._part_deltas(part_of(alignment, clips), requests)
            except SedscopeError as error:
                problems[str(error)] = error
                log.add(str(error))
            else:
                if path is not None:
                    save_deltas(deltas.values(), path)
                if not problems:
                    yield deltas
            log(clips.stop, total)
        if len(problems) == 1:
            raise next(iter(problems.values()))
        raise_parts([*problems])

    def _part_deltas(
        self, part: Alignment, requests: Requests
    ) -> tuple[dict[Criterion, Deltas], Path | None]:
        """Load the deltas of a part from the folder, or find them and return where to keep them."""
        identity = _identity(part)  # before anything is read
        if identity is None:
            if not _content_tells(part, requests):
                return part_deltas(part, requests, self.threads), None
            part = replace(part, hashed=True)
        name = _fingerprint(part, requests)
        if name is None:
            return part_deltas(part, requests, self.threads), None
        path: Path | None
        if identity is None:
            path, digest = self._recognise_content(part, name)
        else:
            path, digest = self.folder / f"{name}-{identity}.deltas", None
        deltas = None if path is None else _load_part(path, part, requests, digest)
        if deltas is not None:
            return deltas, None
        deltas = part_deltas(part, requests, self.threads)
        if path is None or digest is not None:  # what was read just now is what counts
            digest = next(iter(deltas.values())).provenance.scores
            path = self.folder / _by_content(name, digest)
        return deltas, path

    def _recognise_content(self, part: Alignment, name: str) -> tuple[Path | None, int | None]:
        """Read the scores of a part, if the folder may hold its deltas, and return their file."""
        if not any(self.folder.glob(_by_content(name, None))):
            return None, None
        digest = read_digest(part.scores, part.clips, part.classes, self.threads)
        if digest is None:
            return None, None
        return self.folder / _by_content(name, digest), digest

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        make_folder(self.folder)
        name = key()

        def kept(numbered: tuple[int, Item]) -> FloatArray:
            number, block = numbered
            path = self.folder / f"{name}-{number}-of-{len(blocks)}.npy"
            array = _load_array(path)
            if array is None:
                array = work(block)
                _save_array(path, array)
            return array

        if name is None:
            return super().map_blocks(work, blocks, key, progress)
        return super().map_blocks(kept, [*enumerate(blocks)], key, progress)


def make_folder(folder: Path) -> None:
    """Make a folder for parts, unless it is there."""
    check_output(folder, "folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SedscopeError(f"Cannot write to {folder}: {error.strerror or error}.") from None


@dataclass(frozen=True)
class KeptStates:
    """Finds the states of a part on a worker, or reads them from a folder or address that keeps them.

    The name of their file identifies what was evaluated, and the scores by the state of their files. Where
    that is not known, nothing is kept. Parts with problems are looked at again.
    """

    folder: Location
    plan: StatePlan

    def __call__(self, part: Alignment) -> list[bytes]:
        name, identity = _fingerprint(part, self.plan.requests), _identity(part)
        if name is None or identity is None:
            return partial(part, self.plan)
        path = self.folder / f"{name}-{identity}-{self._blocks()}.states"
        content = read_checked(path)
        if content is None:
            states = partial(part, self.plan)
            if not problems_of(states):
                write_checked(
                    path, b"".join(len(state).to_bytes(8, "little") + state for state in states)
                )
            return states
        states, first = [], 0
        while first < len(content):
            begin = first + 8
            first = begin + int.from_bytes(content[first:begin], "little")
            states.append(content[begin:first])
        return states

    def _blocks(self) -> str:
        """Return a digest of what the blocks are."""
        digest = _digest()
        for block in self.plan.blocks:
            classes = None if block.classes is None else block.classes.tolist()
            digest.update(repr((block.criteria, classes, block.added_up)).encode())
        return digest.hexdigest()


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine that keeps its parts in the folder of the run."""
    assert run.checkpoint is not None
    yield CheckpointEngine(run.checkpoint, threads=run.threads)


def identify(alignment: Alignment, requests: Requests, threads: int) -> str | None:
    """Return a digest of everything that an evaluation depends on, the scores included.

    Scores are identified by the state of their files, or else by what is read from them. None if
    nothing identifies them.
    """
    scores = _identity(alignment)  # before anything is read
    name = _fingerprint(alignment, requests)
    if scores is None and name is not None and _content_tells(alignment, requests):
        content = read_digest(alignment.scores, alignment.clips, alignment.classes, threads)
        scores = None if content is None else f"read-{content:032x}"
    return None if name is None or scores is None else f"{name}-{scores}"


def _load_part(
    path: Path, part: Alignment, requests: Requests, digest: int | None
) -> dict[Criterion, Deltas] | None:
    """Load a part from its file; None if there is no file, an incomplete one, or one of something else.

    ``digest``: of the scores, if they were read.
    """
    if not path.exists():
        return None
    named = {repr(variant): variant for request in requests.values() for variant in request.variants}
    try:
        kept = {deltas.criterion: deltas for deltas in load_known(path, named)}
    except SedscopeError:
        return None  # it is found again, and the file is replaced
    fits = kept.keys() == requests.keys() and all(
        (deltas.clips, deltas.classes) == (part.clips, part.classes)
        and deltas.variants.keys() == set(requests[criterion].variants)
        and (digest is None or deltas.provenance.scores == digest)
        for criterion, deltas in kept.items()
    )
    return kept if fits else None


def _save_array(path: Path, array: FloatArray) -> None:
    content = BytesIO()
    np.save(content, array)
    write_checked(path, content.getvalue())


def _load_array(path: Path) -> FloatArray | None:
    """Load an array from its file; None if there is no file, or an incomplete or altered one."""
    content = read_checked(path)
    if content is None:
        return None
    try:
        array: FloatArray = np.load(BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return array


def _digest(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=16)


def _by_content(name: str, digest: int | None) -> str:
    """Return the file name of a part whose scores are identified by what was read; None for any."""
    return f"{name}-read-{'*' if digest is None else f'{digest:032x}'}.deltas"


def _identity(part: Alignment) -> str | None:
    """Return a digest of what identifies the scores of all clips; None if some must be read to tell."""
    digest = _digest()
    for clip in part.clips:
        identity = part.scores.identity(clip)
        if identity is None:
            return None
        digest.update(repr((clip, identity)).encode())
    return digest.hexdigest()


def _content_tells(part: Alignment, requests: Requests) -> bool:
    """Return whether what is read from the scores of a part is all that its deltas depend on.

    It is not if regions are post-processed: that depends on the whole recordings.
    """
    return part.scores._source.recut is None or not any(
        request.variants for request in requests.values()
    )


def _fingerprint(part: Alignment, requests: Requests) -> str | None:
    """Return a digest of what a part evaluates, except for the scores.

    It is None if nothing can tell: the code of a user's own post-processing may change.
    """
    from .. import __version__

    scores = part.scores
    digest = _digest(repr((__version__, part.clips, part.classes, part.invalid, part.hashed)).encode())
    digest.update(repr((scores.classes, scores.whole_clips, scores.processing)).encode())
    for array in (part.columns, part.events, part.labels, part.ignored, part.starts, part.durations):
        digest.update(repr((array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    if part.uncut is not None:
        digest.update(part.uncut.identity())
    for criterion, request in sorted(requests.items(), key=lambda item: repr(item[0])):
        variants = [variant.identity() for variant in request.variants]
        if None in variants or len({*map(repr, request.variants)}) < len(variants):
            return None
        digest.update(repr((criterion, request.any_label, variants)).encode())
        for variant in (None, *request.variants):
            digest.update(request.floors_of(variant, len(part.classes)).tobytes())
    return digest.hexdigest()
