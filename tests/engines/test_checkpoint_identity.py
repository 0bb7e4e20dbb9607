"""A checkpoint is checked, never trusted: parts of other scores, truths or settings are not used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.engines import checkpoint, engine
from sedscope.postprocessing import MedianFilter, PostProcessing, ScoreTransform

BEST = sed.BestFScore(sed.Collar())
TRUTH = sed.simulate.ground_truth(24, seed=1)
A = sed.simulate.scores(TRUTH, frame=0.1, seed=1)
B = sed.simulate.scores(TRUTH, frame=0.1, quality=0.5, seed=2)


def stored(scores: sed.Scores, path: Path) -> sed.Scores:
    sed.write_scores(scores, path)
    return sed.read_scores(path)


def in_pieces(scores: sed.Scores) -> sed.Scores:
    def pieces(clip: str) -> sed.ClipPieces:
        values = scores[clip].values
        return sed.ClipPieces(lambda: [values[:7], values[7:]], edges=scores[clip].edges)

    return sed.Scores.from_function(list(scores), pieces, classes=scores.classes)


KINDS: dict[str, Callable[[sed.Scores, Path], sed.Scores]] = {
    "arrays": lambda scores, _: scores,
    "function": lambda scores, _: sed.Scores.from_function(
        list(scores), scores.__getitem__, classes=scores.classes
    ),
    "pieces": lambda scores, _: in_pieces(scores),
    "tsv": lambda scores, path: stored(scores, path),
    "npz": lambda scores, path: stored(scores, path.with_suffix(".npz")),
    "store": lambda scores, path: stored(scores, path.with_suffix(".store")),
    "parquet": lambda scores, path: stored(scores, path.with_suffix(".parquet")),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "CLIPS_PER_PART", 10)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The parts that are counted, as their numbers of clips."""
    parts: list[int] = []
    find = engine.part_deltas

    def part_deltas(part: Any, *arguments: Any) -> Any:
        parts.append(len(part.clips))
        return find(part, *arguments)

    monkeypatch.setattr(checkpoint, "part_deltas", part_deltas)
    yield parts
    parts.clear()


def value(scores: sed.Scores, kept: Path, truth: sed.GroundTruth = TRUTH, **options: Any) -> float:
    """The metric with a checkpoint, which must be that without."""
    found = sed.evaluate(scores, truth, BEST, run=sed.Run(checkpoint=kept), **options)[BEST].value
    assert found == sed.evaluate(scores, truth, BEST, **options)[BEST].value
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_another_system_are_not_used(kind: str, tmp_path: Path, counted: list[int]) -> None:
    kept = tmp_path / "kept"
    a, b = (KINDS[kind](scores, tmp_path / name) for scores, name in ((A, "a"), (B, "b")))
    assert value(a, kept) != value(b, kept)
    assert counted == [10, 10, 4] * 2
    value(a, kept), value(b, kept)
    assert counted == [10, 10, 4] * 2, "both systems' parts are in the folder"


@pytest.mark.parametrize("kind", ["tsv", "npz", "store", "parquet"])
@pytest.mark.parametrize("reread", [True, False])
def test_a_changed_file_is_read_again(
    kind: str, reread: bool, tmp_path: Path, counted: list[int]
) -> None:
    """Also by scores that were opened before, whichever content they then give."""
    kept, path = tmp_path / "kept", tmp_path / "scores"
    scores = KINDS[kind](A, path)
    before = value(scores, kept)
    changed = {clip: A[clip].values.copy() for clip in A}
    changed |= {clip: B[clip].values for clip in sorted(A)[-4:]}
    other = sed.Scores.from_arrays(changed, classes=A.classes, edges=A[TRUTH.clips[0]].edges)
    made = KINDS[kind](other, tmp_path / "other")
    suffix = path.with_suffix("" if kind == "tsv" else f".{kind}")
    files = [*suffix.iterdir()] if suffix.is_dir() else [suffix]
    for file in files:
        new = tmp_path / "other" / file.name
        if kind != "tsv":
            folder = (tmp_path / "other").with_suffix(f".{kind}")
            new = folder / file.name if folder.is_dir() else folder
        if new.read_bytes() != file.read_bytes():
            times = file.stat()
            new.replace(file)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a copy that keeps times
    del made
    counted.clear()
    value(sed.read_scores(suffix) if reread else scores, kept)
    if kind == "tsv":
        assert counted == [4], "only the part of the changed files"
    fresh = value(sed.read_scores(suffix), kept)
    assert fresh == sed.evaluate(other, TRUTH, BEST)[BEST].value != before


def test_arrays_that_change_in_place(tmp_path: Path) -> None:
    arrays = {clip: A[clip].values.copy() for clip in A}
    scores = sed.Scores.from_arrays(arrays, classes=A.classes, edges=A[TRUTH.clips[0]].edges)
    before = value(scores, tmp_path)
    for clip in arrays:
        arrays[clip][:] = B[clip].values
    assert value(scores, tmp_path) != before


@pytest.mark.parametrize("kind", ["arrays", "tsv"])
def test_post_processing_and_thresholds_count(kind: str, tmp_path: Path, counted: list[int]) -> None:
    scores, kept = KINDS[kind](A, tmp_path / "a"), tmp_path / "kept"
    thresholds = dict.fromkeys(A.classes, 0.4)
    variants = [
        scores,
        MedianFilter(0.5)(scores),
        MedianFilter(0.9)(scores),
        sed.OperatingPoints(thresholds).apply(scores),
        sed.OperatingPoints(thresholds | {A.classes[0]: 0.6}).apply(scores),
    ]
    values = [value(variant, kept) for variant in variants]
    assert len({*values}) == len(values)
    counted.clear()
    assert [value(variant, kept) for variant in variants] == values
    assert counted == []


def test_a_transform_is_its_content_not_its_file(tmp_path: Path) -> None:
    path = tmp_path / "transform.npz"
    for scores in (A, B):
        transform = ScoreTransform.fit(scores, TRUTH).save(path)
        value(transform(A), tmp_path / "kept")
        fixed = sed.FScore(sed.Collar(), threshold=0.5)
        options: dict[str, Any] = {"postprocessing": [transform]}
        one = sed.deltas(A, TRUTH, fixed.criterion, run=sed.Run(checkpoint=tmp_path / "kept"), **options)
        two = sed.deltas(A, TRUTH, fixed.criterion, **options)
        found, expected = (part.variants[transform].counts()[A.classes[0]] for part in (one, two))
        np.testing.assert_array_equal(found.scores, expected.scores)


@dataclass(frozen=True)
class Scaled(PostProcessing):
    """A post-processing of a user's own, whose code changes while its definition does not."""

    def process(self, clip: sed.ClipScores, classes: Any) -> sed.ClipScores:
        return sed.ClipScores.unchecked(np.where(clip.values > CUT[0], clip.values, -np.inf), clip.ticks)


CUT = [0.0]


@pytest.mark.parametrize("kind", ["arrays", "tsv"])
def test_the_code_of_a_post_processing_may_change(kind: str, tmp_path: Path) -> None:
    scores, kept = KINDS[kind](A, tmp_path / "a"), tmp_path / "kept"
    values = []
    for cut in (0.0, 0.7):
        CUT[0] = cut
        values.append(value(Scaled()(scores), kept))
        deltas = sed.deltas(
            scores, TRUTH, BEST.criterion, postprocessing=[Scaled()], run=sed.Run(checkpoint=kept)
        )
        found = BEST.measure(deltas.variants[Scaled()].counts()).value
        assert found == values[-1]
    assert values[0] != values[1]


def test_the_truth_and_the_choice_of_clips_and_classes_count(tmp_path: Path) -> None:
    scores = stored(A, tmp_path / "a")
    kept = tmp_path / "kept"
    value(scores, kept)
    events = {clip: TRUTH.events(clip) for clip in TRUTH.clips}
    first = next(clip for clip in TRUTH.clips if events[clip])
    durations = dict.fromkeys(TRUTH.clips, 10.0)
    onset, offset, label = events[first][0]
    moved = {**events, first: [(onset + 0.5, offset + 0.5, label), *events[first][1:]]}
    value(scores, kept, sed.GroundTruth.from_dict(moved, durations=durations))
    counting = {**events, first: events[first][1:]}
    ignored = {first: events[first][:1]}
    value(scores, kept, sed.GroundTruth.from_dict(counting, ignored=ignored, durations=durations))
    longer = {**durations, first: 11.0}
    value(scores, kept, sed.GroundTruth.from_dict(events, durations=longer))
    value(scores, kept, clips=TRUTH.clips[:20])
    value(scores, kept, clips=TRUTH.clips[::-1])
    value(scores, kept, classes=A.classes[:-1])
    value(scores, kept, classes=A.classes[::-1])


def test_post_processed_regions_depend_on_the_whole_recordings(tmp_path: Path) -> None:
    inside = [[0.9], [0.2], [0.9], [0.2], [0.2], [0.2], [0.2], [0.2]]
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog"), (3, 4, "Dog")]}, durations={"a": 9})
    metric = sed.PiPSDS(
        sed.Intersection(0.5, 0.5), max_efpr=1e4, postprocessing="MedianFilter(3)", unit="hour"
    )
    values = []
    for outside in (0.9, 0.1):
        scores = sed.Scores.from_arrays({"a": [[outside], *inside]}, classes=["Dog"], frame=1.0)
        cut = sed.cut_to_regions(scores, truth, {"a": [(1, 9)]})
        values.append(sed.evaluate(*cut, metric)[metric].value)
        assert sed.evaluate(*cut, metric, run=sed.Run(checkpoint=tmp_path))[metric].value == values[-1]
    assert values[0] != values[1]


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_events_that_were_dropped_are_still_refused(tmp_path: Path) -> None:
    clip = TRUTH.clips[0]
    scores = A.only([clip])
    events = {clip: [(1.0, 2.0, A.classes[0]), (20.0, 21.0, A.classes[0])]}
    sed.evaluate(
        scores, sed.GroundTruth.from_dict(events, invalid="drop"), BEST, run=sed.Run(checkpoint=tmp_path)
    )
    with pytest.raises(sed.SedscopeError, match="begins at or after the last boundary"):
        sed.evaluate(
            scores,
            sed.GroundTruth.from_dict(events, invalid="error"),
            BEST,
            run=sed.Run(checkpoint=tmp_path),
        )


def test_a_part_under_another_name_is_not_used(tmp_path: Path) -> None:
    a, b = stored(A, tmp_path / "a"), stored(B, tmp_path / "b")
    expected = value(b, tmp_path / "of b")
    value(a.only(TRUTH.clips[::-1]), tmp_path / "of a")
    names = sorted(path.name for path in (tmp_path / "of b").iterdir())
    for name, part in zip(names, sorted((tmp_path / "of a").iterdir()), strict=True):
        part.replace(tmp_path / "of b" / name)
    assert value(b, tmp_path / "of b") == expected


def test_other_versions_of_sedscope_find_their_own(
    tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    value(A, tmp_path)
    monkeypatch.setattr(sed, "__version__", "0.0.other")
    value(A, tmp_path)
    assert counted == [10, 10, 4] * 2


def test_scores_kept_in_memory_are_those_that_were_read(tmp_path: Path) -> None:
    from sedscope.data.score_cache import cached

    path = tmp_path / "scores"
    scores = cached(stored(A, path))
    before = value(scores, tmp_path / "kept")
    for clip in B:
        (path / f"{clip}.tsv").unlink()
    path.rmdir()
    fresh = stored(B, path)
    assert value(scores, tmp_path / "kept") == before
    assert value(fresh, tmp_path / "kept") != before


def test_a_user_may_say_what_identifies_the_scores(tmp_path: Path, counted: list[int]) -> None:
    read: list[str] = []

    def load(clip: str) -> sed.ClipScores:
        read.append(clip)
        return A[clip]

    for version in ("1", "1", "2"):
        scores = sed.Scores(list(A), load, classes=A.classes, identify=version.format)
        read.clear()
        sed.evaluate(scores, TRUTH, BEST, run=sed.Run(checkpoint=tmp_path))
        assert len(read) == (len(TRUTH.clips) if counted else 0)
        counted.clear()


def test_altered_resamples_are_measured_again(tmp_path: Path) -> None:
    deltas = sed.deltas(A, TRUTH, BEST.criterion)
    few = sed.Resampling(20, interval="percentile")  # in one file
    expected = sed.bootstrap(deltas, BEST, few).values
    sed.bootstrap(deltas, BEST, few, run=sed.Run(checkpoint=tmp_path))
    (kept,) = tmp_path.glob("*.npy")
    content = bytearray(kept.read_bytes())
    content[-100] ^= 16
    kept.write_bytes(content)
    np.testing.assert_array_equal(
        sed.bootstrap(deltas, BEST, few, run=sed.Run(checkpoint=tmp_path)).values, expected
    )


EVALUATION = """
import sys, sedscope as sed
from sedscope.engines import checkpoint
checkpoint.CLIPS_PER_PART = 2
truth = sed.simulate.ground_truth(24, seed=1)
best = sed.BestFScore(sed.Collar())
kept = sed.Run(checkpoint=sys.argv[2])
print(repr(sed.evaluate(sed.read_scores(sys.argv[1]), truth, best, run=kept)[best].value))
"""


def test_two_evaluations_may_use_one_folder_at_once(tmp_path: Path) -> None:
    systems = [stored(A, tmp_path / "a"), stored(B, tmp_path / "b")]
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", EVALUATION, tmp_path / name, tmp_path / "kept"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "a")
    ]
    values = [float(process.communicate(timeout=120)[0]) for process in processes]
    a, b = (sed.evaluate(scores, TRUTH, BEST)[BEST].value for scores in systems)
    assert values == [a, b, a]
