"""Recordings that come in pieces: the same bits as whole clips, wherever they are cut."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.criteria import Criterion, FoundChanges
from sedscope.criteria.delta_tables import DeltaRows, DeltaTables, IgnoredRows, ReferenceRows
from sedscope.data.scores import ScoreArray
from sedscope.metrics import Metric

from ..support import oracle
from ..support.equality import assert_equal_evaluations
from ..support.examples import METRICS
from ..support.passes import find_deltas
from ..support.strategies import LABELS, clip_lists, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA: list[Criterion] = [
    sed.Intersection(0.7, 0.7),
    sed.Intersection(0.1, 0.1, 0.3),
    sed.Collar(1e-5, 1e-5, 0.5),
    sed.Collar(None, 1e-5, 0.2, cross_triggers=True, errors=True),
    sed.Collar(0.05, None, cross_triggers=True, errors=True),
    sed.IoU(0.3),
    sed.IoU(0.5, cross_triggers=True),
    sed.Segment(0.01, cross_triggers=True),
    sed.Segment(0.05, aggregation="mean"),
    sed.Clip(cross_triggers=True),
    sed.Clip("mean"),
]


def cut(values: ScoreArray, places: Sequence[int]) -> list[ScoreArray]:
    """Pieces of an array; places that occur twice give empty ones."""
    bounds = [0, *sorted(min(place, len(values)) for place in places), len(values)]
    return [values[first:last] for first, last in pairwise(bounds)]


def in_pieces(scores: sed.Scores, places: Sequence[int]) -> sed.Scores:
    """The same scores, each clip cut at these frames."""

    def pieces_of(clip: sed.ClipScores) -> sed.ClipPieces:
        return sed.ClipPieces(lambda: iter(cut(clip.values, places)), edges=clip.edges)

    made = {clip: pieces_of(scores[clip]) for clip in scores}
    return sed.Scores.from_pieces(made, classes=scores.classes)


def in_order(table: DeltaRows) -> DeltaRows:
    """The rows of each class and clip by score, sign of zero and changes: they come in any order."""
    segments = np.repeat(np.arange(table.starts[:, 1:].size), np.diff(table.starts, axis=1).ravel())
    order = np.lexsort((*table.columns, np.signbit(table.scores), table.scores, segments))
    columns = tuple(column[order] for column in table.columns)
    return DeltaRows(table.starts, table.scores[order], columns)


def arrays(tables: DeltaTables) -> Iterator[tuple[str, Any]]:
    """All arrays of the tables, by name, but for the false alarms that only whole clips are searched for."""
    for field in fields(tables):
        if field.name == "certain":
            continue
        table = getattr(tables, field.name)
        if isinstance(table, DeltaRows):
            table = in_order(table)
            yield from ((f"{field.name} {i}", a) for i, a in enumerate((table.starts, table.scores)))
            yield from ((f"{field.name} column {i}", a) for i, a in enumerate(table.columns))
        elif isinstance(table, (ReferenceRows, IgnoredRows)):
            yield from ((f"{field.name} {key}", array) for key, array in vars(table).items())
        else:
            yield field.name, table


def assert_same_bits(a: DeltaTables, b: DeltaTables) -> None:
    for (name, one), (_, other) in zip(arrays(a), arrays(b), strict=True):
        if one is None or other is None:
            assert one is other, name
        else:
            assert (one.dtype, one.shape) == (other.dtype, other.shape), name
            assert one.tobytes() == other.tobytes(), name


def found(
    scores: sed.Scores,
    truth: sed.GroundTruth,
    *,
    any_label: bool,
    threads: int = 1,
    more: Sequence[Criterion] = (),
) -> dict[Criterion, sed.Deltas]:
    wanted = {
        criterion: {"any_label": any_label and not isinstance(criterion, sed.Intersection)}
        for criterion in (*CRITERIA, *more)
    }
    return find_deltas(scores, truth, wanted, threads, coverage="any")


@settings(max_examples=60)
@given(
    clip_lists,
    st.lists(st.integers(0, 12), max_size=14),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_deltas_are_the_same_bits(
    case: Sequence[oracle.Clip], places: list[int], dtype: type, any_label: bool
) -> None:
    scores, truth = to_scores(case, dtype), to_truth(case)
    short = [sed.Segment(3e-6, cross_triggers=True), sed.Segment(3e-6, "mean")]
    whole = found(scores, truth, any_label=any_label, more=short)
    pieces = found(in_pieces(scores, places), truth, any_label=any_label, more=short)
    for criterion, deltas in whole.items():
        assert_same_bits(deltas.tables, pieces[criterion].tables)
        assert deltas.clips == pieces[criterion].clips
        assert np.array_equal(deltas.durations, pieces[criterion].durations)


@settings(max_examples=10)
@given(clip_lists, st.lists(st.integers(0, 12), max_size=4))
def test_metrics_are_the_same_bits(case: Sequence[oracle.Clip], places: list[int]) -> None:
    scores, truth = to_scores(case), to_truth(case)
    metrics = [one for one in METRICS if one.criterion.reads_pieces and not one.variants]
    whole = sed.evaluate(scores, truth, metrics)
    assert_equal_evaluations(whole, sed.evaluate(in_pieces(scores, places), truth, metrics))


@pytest.mark.parametrize("threads", [1, 4])
def test_long_recordings(threads: int) -> None:
    truth = sed.simulate.ground_truth(2, seconds=1200, seed=3)
    scores = sed.simulate.scores(truth, seed=4)  # 60,000 frames: worth several threads
    whole = found(scores, truth, any_label=True, threads=threads)
    pieces = found(in_pieces(scores, [1, 17_000, 50_000]), truth, any_label=True, threads=threads)
    for criterion, deltas in whole.items():
        assert_same_bits(deltas.tables, pieces[criterion].tables)


def test_among_clips_that_are_whole() -> None:
    truth = sed.simulate.ground_truth(40, seed=5)
    scores = sed.simulate.scores(truth, seed=6)
    cut_up = in_pieces(scores, [100, 250])

    def some(clip: str) -> sed.ClipScores | sed.ClipPieces:
        pieces = cut_up.open(clip)
        assert isinstance(pieces, sed.ClipPieces)
        return pieces if int(clip.removeprefix("clip_")) % 3 == 0 else scores[clip]

    mixed = sed.Scores.from_function(truth.clips, some, classes=scores.classes)
    metrics: list[Metric[Any]] = [sed.presets.PSDS1, sed.presets.PSDS2, sed.BestErrorRate(sed.Collar())]
    done: list[tuple[int, int]] = []
    result = sed.evaluate(
        mixed, truth, metrics, run=sed.Run(progress=lambda *counts: done.append(counts))
    )
    assert_equal_evaluations(sed.evaluate(scores, truth, metrics), result)
    assert done[-1] == (40, 40)


def test_pruned_by_the_floors_of_other_clips_and_its_own() -> None:
    truth = sed.simulate.ground_truth(200, seed=7)
    scores = sed.simulate.scores(truth, seed=8)
    psds = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=20)
    wanted = {psds.criterion: {"false_positive_limit": psds.false_positive_limit}}
    deltas = find_deltas(in_pieces(scores, [300]), truth, wanted)[psds.criterion]
    assert np.isfinite(deltas.floors).all()
    whole = find_deltas(scores, truth, wanted)[psds.criterion]
    assert (deltas.floors <= whole.floors).all()  # whole clips are searched for certain false alarms
    assert_equal_evaluations(
        sed.evaluate(scores, truth, psds), sed.evaluate(in_pieces(scores, [300]), truth, psds)
    )


def test_a_clip_without_frames() -> None:
    nothing = sed.ClipPieces(lambda: [np.empty((0, 3)), np.empty((0, 3))], edges=[0.0])
    scores = sed.Scores.from_pieces({"a": nothing}, classes=LABELS)
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "b")]}, durations={"a": 2.0})
    whole = sed.Scores.from_arrays({"a": np.empty((0, 3), np.float32)}, classes=LABELS, edges=[0.0])
    for criterion, deltas in found(whole, truth, any_label=True).items():
        assert_same_bits(deltas.tables, found(scores, truth, any_label=True)[criterion].tables)


def test_duration_from_the_last_boundary() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1], [0.9], [0.2]]}, classes=["Dog"], frame=0.5)
    truth = sed.GroundTruth.from_dict({"a": [(0.5, 1, "Dog")]})
    result = sed.evaluate(in_pieces(scores, [1]), truth, sed.BestFScore(sed.Collar()))
    assert result.hours == 1.5 / 3600


CODE = """
import resource, sys
import numpy as np
import sedscope as sed

pieces = int(sys.argv[1])
truth = sed.GroundTruth.from_dict({"a": [(5.0, 9.0, "class_1")]}, durations={"a": 20_000.0 * pieces})

def read():
    for number in range(pieces):
        made = np.random.default_rng(number).random((20_000, 40), dtype=np.float32)
        yield np.repeat(made[::100], 100, axis=0)

clip = sed.ClipPieces(read, frames=20_000 * pieces, frame=1.0)
scores = sed.Scores.from_pieces({"a": clip}, classes=[f"class_{c}" for c in range(40)])
metrics = [sed.BestFScore(sed.Intersection(0.5, 0.5)), sed.AUROC(sed.Segment(3600.0))]
sed.evaluate(scores, truth, metrics)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured in kilobytes on Linux only")
def test_memory_grows_with_the_changes_and_not_with_the_scores() -> None:
    def peak(pieces: int) -> float:
        """Megabytes."""
        command = [sys.executable, "-W", "ignore", "-c", CODE, str(pieces)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return int(done.stdout) / 1e3

    megabytes_of_scores = 60 * 20_000 * 40 * 4 / 1e6
    assert peak(64) - peak(4) < 0.3 * megabytes_of_scores


def pieces_of(*arrays: Any, frames: int = 4) -> sed.Scores:
    clip = sed.ClipPieces(lambda: arrays, frames=frames, frame=1.0)
    return sed.Scores.from_pieces({"a.wav": clip}, classes=["Cat", "Dog"])


TWO = np.full((2, 2), 0.5, np.float32)
TRUTH = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 4})


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([TWO], r"clip a: Its pieces have 2 frames, but .* those of 4 frames\. The function is called"),
        ([], "clip a: Its pieces have 0 frames, but its boundaries are those of 4"),
        ([TWO, TWO, TWO], "clip a: Its pieces have 6 frames or more, but its boundaries are those of 4"),
        ([TWO, TWO[:, :1]], "clip a: piece 2, from frame 2 on: There is 1 column for 2 classes"),
        ([TWO[0]], r"clip a: piece 1, from frame 0 on: Scores must be frames × classes, not .*\(2,\)"),
        (
            [TWO, TWO[:0].astype(np.float64), TWO.astype(np.float64)],
            "piece 3, from frame 2 on: float64 follows float32. All pieces must have one type",
        ),
        ([TWO, TWO.astype(complex)], "piece 2, from frame 2 on: Scores must be float32 or float64"),
    ],
)
def test_wrong_pieces(arrays: list[Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(pieces_of(*arrays), TRUTH, sed.AUROC(sed.Clip()))


def test_nans_are_named_across_pieces() -> None:
    bad = TWO.copy()
    bad[1, 1] = np.nan
    with pytest.raises(sed.SedscopeError) as error:
        sed.evaluate(pieces_of(TWO, bad, bad, frames=6), TRUTH, sed.AUROC(sed.Clip()))
    frames = "clip a, class Dog, frame 3, clip a, class Dog, frame 5"
    assert str(error.value) == f"2 scores are not a number (NaN): {frames}."


def test_many_nans_are_counted() -> None:
    bad = np.full((50, 2), np.nan)
    with pytest.raises(
        sed.SedscopeError, match=r"^200 scores are not .*class Cat, frame 4 and 195 more\.$"
    ):
        sed.evaluate(pieces_of(bad, bad, frames=100), TRUTH, sed.AUROC(sed.Clip()))


def test_all_problems_are_reported_together() -> None:
    bad = TWO * np.float32(np.nan)
    good = sed.ClipPieces(lambda: [TWO], frames=2, frame=1.0)
    short = sed.ClipPieces(lambda: [TWO], frames=3, frame=1.0)
    spoilt = sed.ClipPieces(lambda: [TWO, bad], frames=4, frame=1.0)
    clips = {"a": good, "b": short, "c": spoilt}
    scores = sed.Scores.from_pieces(clips, classes=["Cat", "Dog"])
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")], "b": [], "c": []})
    with pytest.raises(sed.SedscopeError, match="2 problems") as error:
        sed.evaluate(scores, truth, sed.AUROC(sed.Clip()))
    assert "clip c, class Cat, frame 2" in str(error.value)
    assert "clip b: Its pieces have 2 frames, but its boundaries are those of 3" in str(error.value)


def test_late_events_and_durations_before_zero() -> None:
    clip = sed.ClipPieces(lambda: [TWO], edges=[-3.0, -2.0, -1.0])
    scores = sed.Scores.from_pieces({"a": clip}, classes=["Cat", "Dog"])
    truth = sed.GroundTruth.from_dict({"a": []})
    with pytest.raises(
        sed.SedscopeError,
        match="The scores of 1 clip end before 0 s, so they do not say how long the clip is: a",
    ):
        sed.evaluate(scores, truth, sed.AUROC(sed.Segment()))
    late = sed.GroundTruth.from_dict({"a": [(4, 5, "Dog")]})
    with pytest.raises(sed.SedscopeError, match=r"1 reference event begins .*clip a, Dog"):
        sed.evaluate(pieces_of(TWO, TWO), late, sed.AUROC(sed.Segment()))


@dataclass(frozen=True, repr=False)
class Nothing(sed.CustomCriterion):
    def clip_deltas(self, detections: object, references: object, others: object) -> FoundChanges:
        return FoundChanges([], [], [])


def test_what_needs_whole_clips_says_so() -> None:
    scores = pieces_of(TWO, TWO)
    with pytest.raises(
        sed.SedscopeError,
        match=r"clip a: it arrives in pieces, but whole clips are needed for Nothing\(\)\. Give",
    ):
        sed.evaluate(scores, TRUTH, sed.BestFScore(Nothing()))
    median = sed.postprocessing.MedianFilter(2)
    with pytest.raises(
        sed.SedscopeError,
        match=r"clip a: it arrives in pieces, but whole clips are needed for MedianFilter\(",
    ):
        sed.deltas(scores, TRUTH, sed.IoU(), postprocessing=[median])
    message = "[Cc]lip a comes in pieces, but this operation needs all of its scores at once"
    with pytest.raises(sed.SedscopeError, match=message):
        sed.detect(scores, 0.5)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(median(scores), TRUTH, sed.AUROC(sed.Clip()))
    with pytest.raises(sed.SedscopeError, match=message):
        sed.postprocessing.ScoreTransform.fit(scores, TRUTH)
    clip: Any = scores.open("a")
    with pytest.raises(sed.SedscopeError, match=message):
        sed.Scores.from_arrays({"a": clip}, classes=["Cat", "Dog"], frame=1)
    with pytest.raises(sed.SedscopeError, match="Substitutions are not defined for Intersection"):
        find_deltas(scores, TRUTH, {sed.Intersection(0.5, 0.5): {"any_label": True}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Give either frame="),
        ({"frame": 1.0}, "frame= \\(the frame length\\) and frames= \\(their number\\) go together"),
        ({"frames": 3}, "frame= \\(the frame length\\) and frames= \\(their number\\) go together"),
        ({"frames": -1, "frame": 1.0}, "frames=-1 must be a whole number, at least 0"),
        ({"frames": 1.5, "frame": 1.0}, r"frames=1\.5 must be a whole number"),
        ({"frames": 2, "frame": 0.0}, r"frame=0\.0 must be a number of seconds"),
        ({"frames": 2, "frame": 1.0, "edges": [0, 1, 2]}, "Give either frame="),
        ({"edges": [0, 2, 1]}, r"1 frame ends before it begins or has no length: frame 1"),
        ({"edges": []}, "0 frames need 1 boundaries, not 0"),
        ({"edges": "soon"}, "frame boundaries: "),
    ],
)
def test_wrong_boundaries(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.ClipPieces(lambda: [TWO], **options)


def test_wrong_functions() -> None:
    array: Any = TWO
    with pytest.raises(
        sed.SedscopeError, match="read must be a function that returns pieces, not ndarray"
    ):
        sed.ClipPieces(array, frames=2, frame=1.0)
    number: Any = 3
    clip = sed.ClipPieces(lambda: number, frames=4, frame=1.0)
    scores = sed.Scores.from_pieces({"a": clip}, classes=["Cat", "Dog"])
    with pytest.raises(
        sed.SedscopeError, match="The function must return an iterable of arrays, not int"
    ):
        sed.evaluate(scores, TRUTH, sed.AUROC(sed.Clip()))
    with pytest.raises(sed.SedscopeError, match="1 clip is not ClipPieces: a"):
        sed.Scores.from_pieces({"a": array}, classes=["Cat", "Dog"])
    with pytest.raises(sed.SedscopeError, match="Give a mapping from clips to ClipPieces, not ndarray"):
        sed.Scores.from_pieces(array, classes=["Cat", "Dog"])
    once = iter([TWO, TWO])
    clip = sed.ClipPieces(lambda: once, frames=4, frame=1.0)
    scores = sed.Scores.from_pieces({"a": clip}, classes=["Cat", "Dog"])
    sed.evaluate(scores, TRUTH, sed.AUROC(sed.Clip()))
    with pytest.raises(sed.SedscopeError, match="clip a: Its pieces have 0 frames"):
        sed.evaluate(scores, TRUTH, sed.AUROC(sed.Clip()))


def test_a_piece_is_let_go_before_the_next_is_made() -> None:
    alive: list[weakref.ref[ScoreArray]] = []

    def read() -> Iterator[ScoreArray]:
        for _ in range(4):
            assert all(one() is None for one in alive)
            piece = np.random.default_rng(len(alive)).random((500, 2), dtype=np.float32)
            alive.append(weakref.ref(piece))
            yield piece
            del piece

    scores = sed.Scores.from_pieces(
        {"a": sed.ClipPieces(read, frames=2000, frame=0.002)}, classes=["Cat", "Dog"]
    )
    sed.evaluate(scores, TRUTH, [sed.BestFScore(sed.Collar()), sed.AUROC(sed.Segment())])
    assert len(alive) == 4
