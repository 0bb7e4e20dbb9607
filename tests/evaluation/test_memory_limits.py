"""What needs more memory than there is, is refused before the memory is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.compat.sed_eval import util
from sedscope.counting import checked_clips, one_pass
from sedscope.counting.request import DeltaRequest, Requests
from sedscope.criteria import Criterion
from sedscope.data import choices as size_limits
from sedscope.evaluation.class_blocks import estimate_memory
from sedscope.plots.clip_picture import mel_spectrogram
from sedscope.resampling.resampling import each_left_out

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

LABELS = list("ABCDE")
LITTLE = 2.0**28


def scores_of(clips: int, seconds: int) -> sed.Scores:
    rng = np.random.default_rng(0)
    arrays = {f"clip{k}": rng.random((10 * seconds, 5)) for k in range(clips)}
    return sed.Scores.from_arrays(arrays, classes=LABELS, frame=0.1)


def truth_of(clips: int, seconds: float | None) -> sed.GroundTruth:
    events = {f"clip{k}": [(0.5, 1, "A")] for k in range(clips)}
    return sed.GroundTruth.from_dict(
        events, durations=None if seconds is None else dict.fromkeys(events, seconds)
    )


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "machine_memory", lambda: LITTLE)


@pytest.mark.parametrize("stated", [2, None])
@pytest.mark.parametrize(
    "criterion",
    [sed.Segment(1e-6), sed.OfLength(sed.Segment(1e-6), longest=9), sed.Segment(1e-6, "mean")],
)
@pytest.mark.usefixtures("little_memory")
def test_short_segments(stated: int | None, criterion: Criterion) -> None:
    message = (
        r"cuts clip clip0 \(2 s\) into 2000000 segments, which for 5 classes need 0.32 GB, more than the "
        r"memory of this machine. Check the durations, use longer segments, evaluate fewer"
    )
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(scores_of(1, 2), truth_of(1, stated), sed.FScore(criterion))


@pytest.mark.usefixtures("little_memory")
def test_short_segments_of_events_and_of_pieces() -> None:
    metric, truth = sed.FScore(sed.Segment(1e-6)), truth_of(1, 2)
    events = sed.Scores.from_events({"clip0": [(0.5, 1, "A", 0.9)]}, classes=LABELS, overlaps="keep")
    piece = np.zeros((20, 5))
    pieces = sed.Scores.from_pieces(
        {"clip0": sed.ClipPieces(lambda: [piece], frames=20, frame=0.1)}, classes=LABELS
    )
    for scores in (events, pieces):
        with pytest.raises(sed.SedscopeError, match=r"into 2000000 segments, which for 5 classes need"):
            sed.evaluate(scores, truth, metric)


def test_segments_of_a_very_long_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "machine_memory", lambda: 2e10)
    truth = sed.GroundTruth.from_dict(
        {"clip0": [(0.5, 1, "A")]}, durations={"clip0": 3.15e8, "clip1": 1}
    )
    message = r"2 clips, of which clip clip0 \(315000000 s\) is the longest, into 315000001 segments"
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(scores_of(2, 1), truth, sed.FScore(sed.Segment(1.0)), coverage="any")


@pytest.mark.parametrize("stated", [10, None])
def test_segments_beyond_the_limit_of_the_user(stated: int | None) -> None:
    metric = sed.FScore(sed.Segment(1e-6))
    message = (
        r"10000000 segments, which for 5 classes need 1.6 GB, more than the limit of 1 GB. .* or raise"
    )
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(scores_of(20, 10), truth_of(20, stated), metric, run=sed.Run(memory="1GB"))


def test_the_rows_of_all_clips_are_estimated_from_the_first_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_pass, "_ROWS_TO_EXPECT", 100)
    monkeypatch.setattr(checked_clips, "_CELLS_OF_A_BATCH", 1)
    monkeypatch.setattr(size_limits, "_ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(size_limits, "machine_memory", lambda: 20_000.0)
    message = r"found 150 changes of counts in 3 clips, so 40 clips will need about 3\.36e-05 GB"
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(scores_of(40, 1), truth_of(40, None), sed.FScore(sed.Segment(0.1)))


def test_one_long_clip_counts_in_the_estimate() -> None:
    durations = {f"clip{k}": 1.0 for k in range(100)} | {"clip50": 1000.0}
    truth = sed.GroundTruth.from_dict({"clip0": [(0.5, 1, "A")]}, durations=durations)
    alignment = align(scores_of(100, 1), truth, coverage="any")
    estimate = estimate_memory(alignment, {sed.Segment(1.0): DeltaRequest()})
    assert estimate.deltas.tolist() == [1099 * 2 * (8 + 2)] * 5


def test_the_estimate_reads_few_clips_if_they_have_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.evaluation.class_blocks._ROWS_OF_SAMPLE", 100)
    monkeypatch.setattr(checked_clips, "_CELLS_OF_A_BATCH", 1)
    read: list[str] = []

    def load(clip: str) -> np.ndarray[Any, Any]:
        read.append(clip)
        return np.ones((10, 5))

    clips = [f"clip{k}" for k in range(32)]
    scores = sed.Scores.from_function(clips, load, classes=LABELS, frame=0.1)
    criteria: Requests = {sed.Segment(0.1): DeltaRequest(), sed.Segment(0.2): DeltaRequest()}
    monkeypatch.setattr("sedscope.counting.clip_reader._BATCH_CLIPS", 1)
    estimate = estimate_memory(align(scores, truth_of(32, None)), criteria, threads=1)
    assert len(read) < 8
    assert estimate.deltas.tolist() == [(10 + 5) * 32 * 2 * (8 + 2)] * 5


@pytest.mark.parametrize("kind", ["frames", "events"])
def test_small_batches_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(30, seed=3)
    scores = sed.simulate.scores(truth, frame=0.1, seed=3)
    if kind == "events":
        found = sed.detect(scores, 0.5)
        scores = sed.Scores.from_events(found, classes=scores.classes, overlaps="keep")
    else:
        arrays = {clip: scores[clip].values for clip in scores}
        scores = sed.Scores.from_arrays(arrays, classes=scores.classes, frame=0.1)
    alignment = align(scores, truth)
    requests: Requests = {sed.Segment(0.5): DeltaRequest(any_label=True)}
    whole = [*one_pass.pass_in_parts(alignment, requests)]
    metrics = [sed.BestFScore(sed.Segment(0.5)), sed.BestErrorRate(sed.Segment(0.5), average="micro")]
    values = sed.evaluate(scores, truth, metrics).scalars()
    monkeypatch.setattr(checked_clips, "_CELLS_OF_A_BATCH", 1000)  # 5 clips
    parts = [*one_pass.pass_in_parts(alignment, requests)]
    assert len(whole) == 1
    assert sum((part.clips for _, part in parts), ()) == whole[0][1].clips
    assert len(parts) == 7
    assert sed.evaluate(scores, truth, metrics).scalars() == values


def test_boundaries_of_too_many_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "machine_memory", lambda: 2.0e10)
    with pytest.raises(
        sed.SedscopeError, match=r"2147484648 frames need more than 34.4 GB, .* into several"
    ):
        sed.ClipPieces(list, frames=2**31 + 1000, frame=0.01)


def long_chunks() -> object:
    arrays = {"a-0": np.ones((10, 5)), "a-20000000": np.ones((10, 5))}
    scores = sed.Scores.from_arrays(arrays, classes=LABELS, frame=0.1)
    truth = sed.GroundTruth.from_dict({"a-0": [(0, 1, "A")], "a-20000000": []})
    return dict(sed.join_chunks(scores, truth, uncovered=0.0)[0])


def split_references() -> object:
    truth = sed.GroundTruth.from_dict({"clip0": [(0, 3e8, "A")]}, durations={"clip0": 3.1e8})
    metric = sed.FScore(sed.AnyOverlap(split=30))
    return sed.evaluate(scores_of(1, 1), truth, metric, coverage="any")


def many_blocks() -> object:
    truth = truth_of(2, 3.15e6)
    resampling = sed.Resampling(n=10, blocks=2)
    return sed.evaluate(
        scores_of(2, 1), truth, sed.FScore(sed.Collar()), resampling=resampling, coverage="any"
    )


def many_boundaries() -> object:
    events = [(k, k + 0.5, LABELS[0], 0.5) for k in range(20_000)]
    return dict(
        sed.Scores.from_events({"a": events}, classes=[f"class{k}" for k in range(1000)] + LABELS)
    )


@pytest.mark.parametrize(
    ("allocate", "message"),
    [
        (long_chunks, "20000001 segments of 1 s need"),
        (split_references, "10000000 pieces of references, each of 30 s, need 1 GB"),
        (many_blocks, "About 3150000 blocks of 2 s need 3.15 GB"),
        (many_boundaries, "clip a: its 20000 events begin and end at 40000 times"),
        (lambda: each_left_out(np.arange(9000)), "evaluates 9000 clips 9000 times"),
        (lambda: sed.simulate.ground_truth(10**8), "So many clips, events and classes need"),
        (
            lambda: sed.simulate.scores(truth_of(1, 1e6))["clip0"],
            "The scores of clip clip0 in 50000000 frames need 0.6 GB",
        ),
        (
            lambda: mel_spectrogram(np.zeros(9), 2**31 - 1, 0, 1, columns=1),
            "with 2147483647 samples per",
        ),
        (
            lambda: util.event_list_to_event_roll(
                [{"onset": 0.0, "offset": 20.0, "event_label": "A"}], time_resolution=1e-6
            ),
            "An event roll of 20000000 segments needs",
        ),
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_sizes_that_a_number_decides(allocate: Callable[[], object], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        allocate()
