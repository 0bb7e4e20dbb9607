"""Deltas in a temporary file: read back by class, they are those that a pass keeps in memory."""

from __future__ import annotations

import errno
import tempfile
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.counting import clip_reader, spilled_deltas
from sedscope.counting.one_pass import one_pass, pass_in_parts
from sedscope.counting.request import DeltaRequest
from sedscope.counting.spilled_deltas import spilled
from sedscope.criteria import Criterion
from sedscope.criteria.delta_tables import FalseAlarmRows
from sedscope.postprocessing import MedianFilter

from ..support.random_sets import KINDS, random_set

CRITERIA: list[Criterion] = [
    sed.Intersection(0.3, 0.3),
    sed.Intersection(0.3, 0.3, 0.3),
    sed.Collar(),
    sed.Collar(cross_triggers=True, errors=True),
    sed.IoU(0.3),
    sed.IoU(0.3, cross_triggers=True),
    sed.Segment(0.05),
    sed.Segment(0.05, cross_triggers=True),
    sed.OfLength(sed.Intersection(0.3, 0.3, 0.3), 0.05),
]


def assert_same(left: Any, right: Any) -> None:
    """Compare every field and every bit, except where deltas come from."""
    if is_dataclass(left) and not isinstance(left, type) and not isinstance(left, Criterion):
        for field in fields(left):
            if field.name != "provenance":
                assert_same(getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
    elif isinstance(left, (tuple, list)):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif isinstance(left, dict):
        assert_same([*left], [*right])
        assert_same([*left.values()], [*right.values()])
    else:
        assert left == right


@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    batch=st.integers(1, 4),
    per_second=st.sampled_from([None, 2.0, 30.0]),
    cuts=st.sets(st.integers(1, 3)),
    narrow=st.booleans(),
)
def test_classes_that_were_spilled_are_those_of_a_pass_in_memory(
    criterion: Criterion,
    seed: int,
    kind: str,
    batch: int,
    per_second: float | None,
    cuts: set[int],
    narrow: bool,
) -> None:
    held, truth = random_set(np.random.default_rng(seed), kind)
    read = {clip: held[clip] for clip in held}
    if narrow and kind == "ties":  # types that differ from part to part
        first, *_ = read
        values = read[first].values.astype(np.float32)
        read[first] = sed.ClipScores.from_ticks(values, read[first].ticks)
    scores = sed.Scores(read, read.__getitem__, classes=held.classes)
    alignment = align(scores, truth)
    number = len(alignment.classes)
    requests = {
        criterion: DeltaRequest(per_second, variants=(MedianFilter(0.05),)),
        sed.Collar(onset=0.01): DeltaRequest(),
    }
    bounds = sorted({0, number, *(cut for cut in cuts if cut < number)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(clip_reader, "_BATCH_CLIPS", batch)
        with spilled(pass_in_parts(alignment, requests), 0) as on_disk:
            for first_class, last_class in pairwise(bounds):
                classes = np.zeros(number, bool)
                classes[first_class:last_class] = True
                asked = {
                    each: replace(request, classes=dict.fromkeys((None, *request.variants), classes))
                    for each, request in requests.items()
                }
                block = on_disk.of_classes(range(first_class, last_class))
                expected = one_pass(alignment, asked)
                if per_second is None:  # classes that are asked for alone are verified later
                    expected = {each: without_certain(deltas) for each, deltas in expected.items()}
                assert_same(block, expected)


def without_certain(deltas: sed.Deltas) -> sed.Deltas:
    variants = {variant: without_certain(part) for variant, part in deltas.variants.items()}
    tables = replace(deltas.tables, certain=FalseAlarmRows.none())
    return replace(deltas, tables=tables, variants=variants)


def small_limit() -> tuple[sed.Scores, sed.GroundTruth, dict[str, Any]]:
    truth = sed.simulate.ground_truth(40, seed=2)
    scores = sed.simulate.scores(truth, frame=0.1, seed=2)
    return scores, truth, {"metrics": sed.BestFScore(sed.Collar()), "run": sed.Run(memory="300kB")}


def test_no_room_is_noticed_before_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth, options = small_limit()
    monkeypatch.setattr(spilled_deltas, "disk_usage", lambda _: SimpleNamespace(free=1000))
    steps: list[int] = []
    options["run"] = replace(options["run"], progress=lambda done, _: steps.append(done))
    with pytest.raises(
        sed.SedscopeError, match=r"GB of temporary files, but .* TMPDIR to .* or raise the"
    ):
        sed.evaluate(scores, truth, **options)
    assert not steps


class FullDisk:
    """A file on a disk that fills up."""

    def __init__(self, file: IO[bytes], room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, content: memoryview) -> None:
        self.room -= content.nbytes
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        self.file.flush()


def test_a_disk_that_fills_up(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth, options = small_limit()
    files: list[FullDisk] = []

    def temporary_file(**named: Any) -> FullDisk:
        files.append(FullDisk(opened(**named), room=10_000))
        return files[0]

    opened = tempfile.TemporaryFile
    monkeypatch.setattr(spilled_deltas, "TemporaryFile", temporary_file)
    with pytest.raises(sed.SedscopeError, match=r"temporary file: No space left on device\. Free some"):
        sed.evaluate(scores, truth, **options)
    assert files[0].file.closed


@pytest.mark.parametrize("ended_by", [KeyboardInterrupt, OSError])
def test_nothing_is_left_when_the_pass_ends_early(
    ended_by: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, truth, options = small_limit()
    files: list[IO[bytes]] = []

    def temporary_file(**named: Any) -> IO[bytes]:
        files.append(opened(**named))
        return files[0]

    def load(clip: str) -> sed.ClipScores:
        if files and clip == truth.clips[30]:
            raise ended_by
        return made[clip]

    opened = tempfile.TemporaryFile
    monkeypatch.setattr(spilled_deltas, "TemporaryFile", temporary_file)
    monkeypatch.setattr(clip_reader, "_BATCH_CLIPS", 4)
    with pytest.raises(ended_by):
        sed.evaluate(sed.Scores(made, load, classes=made.classes), truth, **options)
    assert files[0].closed
