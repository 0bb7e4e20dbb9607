"""Files that sedscope writes, with one byte changed: each is refused, or gives the same values."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import ScoreTransform

RNG = np.random.default_rng(0)
SCORES = sed.Scores.from_arrays(
    {f"clip-{i}é": RNG.random((100 + i, 3), np.float32) for i in range(4)},
    classes=["Dog", "Cät", "Speech"],
    frame=0.02,
)
TRUTH = sed.GroundTruth.from_dict(
    {clip: [(0.1, 0.5, "Dog"), (0.3, 1, "Cät"), (1.5, 1.8, "Speech")] for clip in SCORES},
    durations=dict.fromkeys(SCORES, 2.0),
)


def read_scores(path: Path) -> Any:
    scores = sed.read_scores(path)
    clips = [(clip, scores[clip]) for clip in scores]
    arrays = [
        (clip, read.values.dtype, read.values.tobytes(), read.ticks.tobytes()) for clip, read in clips
    ]
    return scores.classes, scores.whole_clips, arrays


def read_deltas(path: Path) -> Any:
    (deltas,) = sed.load_deltas(path)
    rows = deltas.tables.detections
    arrays = (rows.starts, rows.scores, *rows.columns, deltas.durations, deltas.floors)
    return deltas.clips, deltas.classes, deltas.criterion, [array.tobytes() for array in arrays]


def write_one_array_per_clip(path: Path, save: Callable[..., None]) -> None:
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    save(path, classes=np.array(SCORES.classes), frame=0.02, **arrays)


WRITTEN: dict[str, tuple[Callable[[Path], object], Callable[[Path], Any], int]] = {
    "a.store": (lambda path: sed.write_scores(SCORES, path), read_scores, 400),
    "a.npz": (lambda path: sed.write_scores(SCORES, path), read_scores, 300),
    "a.parquet": (lambda path: sed.write_scores(SCORES, path), read_scores, 300),
    "a.h5": (lambda path: sed.write_scores(SCORES, path), read_scores, 12),
    "clips.npz": (lambda path: write_one_array_per_clip(path, np.savez), read_scores, 300),
    "packed.npz": (lambda path: write_one_array_per_clip(path, np.savez_compressed), read_scores, 300),
    "a.deltas": (
        lambda path: sed.save_deltas(sed.deltas(SCORES, TRUTH, sed.Collar()), path),
        read_deltas,
        300,
    ),
    "transform": (
        lambda path: ScoreTransform.fit(SCORES, TRUTH).save(path),
        lambda path: ScoreTransform.load(path).identity(),
        300,
    ),
}
"""By name: how it is written, how it is read, and how many bytes are changed."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_changed_byte_never_changes_a_value(name: str, tmp_path: Path) -> None:
    write, read, changes = WRITTEN[name]
    path = tmp_path / name
    write(path)
    expected = read(path)
    files = [path] if path.is_file() else sorted(path.iterdir())
    chance, outcomes = random.Random(1), Counter[str]()
    for number in range(changes):
        file = files[number % len(files)]
        whole = file.read_bytes()
        # the ends of files, where descriptions and directories are, have their share
        first = 0 if number % 3 else max(0, len(whole) - 600)
        place = chance.randrange(first, len(whole))
        byte = chance.choice([whole[place] ^ 1 << chance.randrange(8), chance.randrange(256)])
        file.unlink()  # a new file, as a memory map may still have the old one
        file.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        try:
            same = read(path) == expected
        except sed.SedscopeError:
            outcomes["refused"] += 1
        else:
            assert same, f"byte {place} of {file.name} became {byte}"
        file.unlink()
        file.write_bytes(whole)
    assert outcomes["refused"] > changes / 2


def test_an_npz_whose_directory_loses_a_clip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clips.npz"
    write_one_array_per_clip(path, np.savez)
    whole = path.read_bytes()
    name = "clip-1é.npy".encode()
    place = whole.rindex(name)
    path.write_bytes(whole[:place] + name.replace(b"npy", b"npx") + whole[place + len(name) :])
    with pytest.raises(sed.SedscopeError, match="its directory does not list what it contains"):
        sed.read_scores(path)
    for number in range(len(SCORES) + 2):
        path.write_bytes(whole)
        with ZipFile(path, "a") as archive:
            archive.filelist.pop(number)
            archive._didModify = True  # type: ignore[attr-defined]
        with pytest.raises(sed.SedscopeError, match="its directory does not list what it contains"):
            sed.read_scores(path)
