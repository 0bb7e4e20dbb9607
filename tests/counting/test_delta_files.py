"""Deltas on disk: a file is read back exactly as it was written, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.counting.compact_rows import compress, decompress
from sedscope.counting.delta_files import merge_files
from sedscope.criteria.delta_tables import DeltaRows
from sedscope.postprocessing import MedianFilter

from ..support import oracle
from ..support.strategies import clip_lists, to_scores, to_truth

CRITERIA: list[Any] = [
    sed.Intersection(0.5, 0.5, 0.3),
    sed.Collar(1e-5, 1e-5, 0.5, cross_triggers=True, errors=True),
    sed.IoU(0.3),
    sed.Segment(0.05, cross_triggers=True),
    sed.Clip("mean"),
]


def in_order(table: DeltaRows) -> DeltaRows:
    """The order of the rows of a class and clip means nothing."""
    pairs = np.repeat(np.arange(table.starts[:, 1:].size), np.diff(table.starts, axis=1).ravel())
    scores = table.scores.view(np.int32 if table.scores.itemsize == 4 else np.int64)
    order = np.lexsort((*table.columns, scores, pairs))
    return DeltaRows(table.starts, table.scores[order], tuple(c[order] for c in table.columns))


def arrays_of(value: Any) -> list[Any]:
    """All arrays in a value, with their types."""
    if isinstance(value, np.ndarray):
        return [value.dtype, value.shape, value.tobytes()]
    if isinstance(value, DeltaRows):
        value = in_order(value)
    if isinstance(value, tuple):
        return [arrays_of(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return [arrays_of(getattr(value, name)) for name in value.__dataclass_fields__]
    if isinstance(value, dict):
        return [(key, arrays_of(part)) for key, part in value.items()]
    return [value]


@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
@settings(max_examples=20)
@given(case=clip_lists, dtype=st.sampled_from([np.float32, np.float64]))
def test_there_and_back(
    criterion: Any, case: Sequence[oracle.Clip], dtype: type, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("deltas") / "part.deltas"
    deltas = sed.deltas(
        to_scores(case, dtype), to_truth(case), criterion, postprocessing=[MedianFilter(3e-6)]
    )
    sed.save_deltas(deltas, path)
    (back,) = sed.load_deltas(path)
    assert back.criterion == deltas.criterion
    assert arrays_of(back) == arrays_of(deltas)


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Three shards of a set, with two criteria each."""
    truth = sed.simulate.ground_truth(30)
    scores = sed.simulate.scores(truth, frame=0.1)
    paths = []
    for k in range(3):
        deltas = [
            sed.deltas(scores, truth, criterion, clips=truth.clips[k::3], system="simulated")
            for criterion in CRITERIA[:2]
        ]
        paths.append(tmp_path / f"{k}.deltas")
        sed.save_deltas(deltas, paths[-1])
    return paths


def test_shards_make_the_whole(parts: list[Path]) -> None:
    truth = sed.simulate.ground_truth(30)
    scores = sed.simulate.scores(truth, frame=0.1)
    for merged in merge_files(parts):
        whole = sed.deltas(scores, truth, merged.criterion)
        one, other = merged.counts(), whole.counts()
        for label in whole.classes:
            np.testing.assert_array_equal(one[label].scores, other[label].scores)
            np.testing.assert_array_equal(one[label].tp, other[label].tp)
            np.testing.assert_array_equal(one[label].fp, other[label].fp)


def test_new_clips_are_added_to_a_file(parts: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "all.deltas"
    for part in parts:
        sed.save_deltas(sed.load_deltas(part), path, append=True)
    assert arrays_of(tuple(sed.load_deltas(path))) == arrays_of(tuple(merge_files(parts)))
    before = path.read_bytes()
    with pytest.raises(sed.SedscopeError, match=r"the new deltas: .* in more than one of the deltas"):
        sed.save_deltas(sed.load_deltas(parts[0]), path, append=True)
    fewer = sed.load_deltas(parts[0])[:1]
    others = [replace(found, clips=tuple(f"new_{clip}" for clip in found.clips)) for found in fewer]
    with pytest.raises(sed.SedscopeError, match="Not all clips have deltas of the same criteria"):
        sed.save_deltas(others, path, append=True)
    assert path.read_bytes() == before


def test_a_clip_counts_once(parts: list[Path]) -> None:
    with pytest.raises(sed.SedscopeError, match="10 clips are in more than one of the deltas"):
        merge_files([*parts, parts[0]])


@settings(max_examples=150)
@given(data=st.data())
def test_every_altered_file_is_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("altered") / "part.deltas"
    truth = sed.simulate.ground_truth(3)
    scores = sed.simulate.scores(truth, frame=1.0)
    sed.save_deltas(sed.deltas(scores, truth, CRITERIA[0]), path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["cut", "flip", "insert", "drop"]))
    if how == "cut":
        content = content[:place]
    elif how == "flip":
        content[place] ^= data.draw(st.integers(1, 255))
    elif how == "insert":
        content.insert(place, data.draw(st.integers(0, 255)))
    else:
        del content[place]
    path.write_bytes(content)
    with pytest.raises(sed.SedscopeError, match=r"part\.deltas"):
        sed.load_deltas(path)


def test_other_files_and_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.deltas"
    path.write_bytes(b"onset\toffset\n")
    with pytest.raises(sed.SedscopeError, match="is not a file of deltas"):
        sed.load_deltas(path)
    path.write_bytes(b"sedscope-deltas 1 10 abc\n")
    with pytest.raises(sed.SedscopeError, match="of version 1, but this sedscope reads version 2"):
        sed.load_deltas(path)
    with pytest.raises(sed.SedscopeError, match="Cannot read"):
        sed.load_deltas(tmp_path / "none.deltas")


def test_a_header_that_lies_about_sizes_takes_no_memory(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "x.deltas"
    header = b'{"deltas":[],"arrays":[{"dtype":"<i8","shape":[100000000],"size":9,"digest":""}]}'
    digest = hashlib.blake2b(header, digest_size=16).hexdigest().encode()
    path.write_bytes(b"sedscope-deltas 2 %d %s\n%s" % (len(header), digest, header))
    with pytest.raises(sed.SedscopeError, match="shorter than it says"):
        sed.load_deltas(path)


@given(data=st.data(), dtype=st.sampled_from(["<i1", "<i4", "<i8", "<u4", "<u8", "<f4", "<f8"]))
def test_compressed_numbers_come_back(data: st.DataObject, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    content = data.draw(st.binary(max_size=64 * size))
    array = np.frombuffer(content[: len(content) // size * size], dtype)
    assert decompress(compress(array), array.dtype, len(array)).tobytes() == array.tobytes()
    repeated = np.repeat(array, 3000)
    assert decompress(compress(repeated), array.dtype, len(repeated)).tobytes() == repeated.tobytes()


def test_a_file_is_smaller_than_the_scores(tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(200, classes=20)
    scores = sed.simulate.scores(truth, frame=0.04)
    path = tmp_path / "all.deltas"
    criteria = [sed.presets.PSDS1.criterion, sed.presets.PSDS2.criterion]
    sed.save_deltas([sed.deltas(scores, truth, criterion) for criterion in criteria], path)
    assert path.stat().st_size < 0.6 * 4 * 200 * 250 * 20


def test_criteria_of_ones_own_cannot_be_saved(tmp_path: Path) -> None:
    own: Any = object()
    truth = sed.simulate.ground_truth(2)
    deltas = sed.deltas(sed.simulate.scores(truth), truth, CRITERIA[0])
    with pytest.raises(sed.SedscopeError, match="cannot define a custom criterion"):
        sed.save_deltas(replace(deltas, criterion=own), tmp_path / "x.deltas")
