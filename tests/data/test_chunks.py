"""Chunks of recordings, joined to clips."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed

from ..support.equality import assert_equal_scores


def at(clip: sed.ClipScores, tick: int) -> np.ndarray[Any, Any] | None:
    """The scores of the frame that holds an instant."""
    row = int(np.searchsorted(clip.ticks, tick, side="right")) - 1
    return clip.values[row].astype(np.float64) if 0 <= row < len(clip.values) else None


@st.composite
def chunk_lists(draw: st.DrawFn) -> list[tuple[int, list[int], list[float]]]:
    """Where chunks begin, the lengths of their frames, and their scores."""
    chunks = []
    for _ in range(draw(st.integers(1, 4))):
        lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
        values = draw(st.lists(st.floats(-5, 5), min_size=len(lengths), max_size=len(lengths)))
        chunks.append((draw(st.integers(0, 12)), lengths, values))
    return chunks


@given(chunk_lists())
def test_stitching_is_the_mean_of_all_chunks_at_each_instant(
    chunks: Sequence[tuple[int, list[int], list[float]]],
) -> None:
    made = {
        f"chunk{i}": sed.ClipScores.from_ticks(np.array(values)[:, None], np.cumsum([0, *lengths]))
        for i, (_, lengths, values) in enumerate(chunks)
    }
    places = {f"chunk{i}": ("rec", start / 1e6) for i, (start, _, _) in enumerate(chunks)}
    joined = sed.Scores(made, made.__getitem__, classes=["Dog"]).stitch(places, gaps="silent")
    assert list(joined) == ["rec"]
    clip = joined["rec"]
    first = min(start for start, _, _ in chunks)
    last = max(start + sum(lengths) for start, lengths, _ in chunks)
    assert (clip.ticks[0], clip.ticks[-1]) == (first, last)
    for tick in range(first, last):
        there = [at(made[f"chunk{i}"], tick - start) for i, (start, _, _) in enumerate(chunks)]
        covering = [values for values in there if values is not None]
        expected = np.mean(covering, axis=0) if covering else np.array([-np.inf])
        got = at(clip, tick)
        assert got is not None
        assert got == pytest.approx(expected)


def test_chunks_as_maestro_names_them(tmp_path: Path) -> None:
    #  cafe_00   0    1    2    3 s
    #            [.2  |.4  )
    #                 [.8  |.6  )
    arrays = {
        "cafe_00-0-200": [[0.2], [0.4]],
        "cafe_00-100-300": [[0.8], [0.6]],
        "park-0-200": [[1], [0]],
    }
    scores = sed.Scores.from_arrays(
        {name: np.array(array, np.float32) for name, array in arrays.items()}, classes=["Dog"], frame=1.0
    )
    joined = scores.stitch(unit="centiseconds")
    assert joined["cafe_00"].values.ravel() == pytest.approx([0.2, 0.6, 0.6])
    assert joined["cafe_00"].values.dtype == np.float64
    assert joined["park"].values.dtype == np.float32  # nothing to average
    table = "filename\trecording\tstart\n" + "".join(
        f"{name}.wav\t{name.split('-')[0]}\t{int(name.split('-')[1]) / 100}\n" for name in arrays
    )
    (tmp_path / "chunks.tsv").write_text(table)
    assert_equal_scores(scores.stitch(tmp_path / "chunks.tsv"), joined)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a-10", ("a", 10)),
        ("a_10", ("a", 10)),
        ("a_10_20", ("a", 10)),
        ("a_10.500_20.500", ("a", 10.5)),
        ("a_20_10", ("a_20", 10)),
        ("cafe_00-1000", ("cafe_00", 1000)),
        ("park-1-1200-2200", ("park-1", 1200)),
    ],
)
def test_names_of_chunks(name: str, place: tuple[str, float]) -> None:
    length = {"a_10_20": 10, "a_10.500_20.500": 10, "park-1-1200-2200": 1000}.get(name, 1)
    scores = sed.Scores.from_arrays({name: [[0.5]]}, classes=["Dog"], frame=length)
    joined = scores.stitch()
    assert (list(joined), joined[place[0]].edges[0]) == ([place[0]], place[1])


def test_chunks_without_a_start() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]], "b": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"2 chunks are not named RECORDING-START.*a, b"):
        scores.stitch()
    with pytest.raises(sed.SedscopeError, match="1 chunk has scores but no recording and start: b"):
        scores.stitch({"a.wav": ("rec", 0)})
    with pytest.raises(sed.SedscopeError, match="1 chunk has no recording and start"):
        scores.stitch({"a": ("rec", float("nan"))})
    bad: Any = "hours"
    with pytest.raises(sed.SedscopeError, match="unit='hours'"):
        scores.stitch(unit=bad)


def maestro_chunks(frame: float = 1.0) -> sed.Scores:
    """Chunks of 10 s that begin each second, named in hundredths of seconds."""
    names = [f"park-{start}-{start + 1000}" for start in range(0, 2000, 100)]
    frames = int(10 / frame)
    arrays = {name: np.full((frames, 1), 0.5) for name in names}
    return sed.Scores.from_arrays(arrays, classes=["Dog"], frame=frame)


def test_chunks_that_do_not_have_the_length_of_their_names() -> None:
    assert maestro_chunks().stitch(unit="centiseconds")["park"].edges[-1] == 29
    message = (
        r"recording park: 19 chunks do not have .*park-0-1000 \(1000 s by its name, 10 s of scores\)"
    )
    with pytest.raises(sed.SedscopeError, match=message):
        maestro_chunks().stitch()["park"]
    with pytest.raises(sed.SedscopeError, match=r"park-0-1000 \(1 s by its name, 10 s of scores\)"):
        maestro_chunks().stitch(unit="milliseconds")["park"]
    single = maestro_chunks().only(["park-0-1000"])
    with pytest.raises(sed.SedscopeError, match="1 chunk does not have the length"):
        single.stitch()["park"]


def test_the_last_chunk_may_be_shorter_than_its_name_states() -> None:
    arrays = {"a-0-10": np.zeros((10, 1)), "a-10-20": np.zeros((3, 1))}
    joined = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0).stitch()
    assert joined["a"].edges[-1] == 13


def test_gaps_between_chunks() -> None:
    #       0   1   2   3   4   5 s
    #       [.1 |.2 )       [.3 )
    arrays = {"a-0": [[0.1], [0.2]], "a-4": [[0.3]]}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"recording a: No chunk covers 2–4 s.*`gaps='silent'`"):
        scores.stitch()["a"]
    silent = scores.stitch(gaps="silent")["a"]
    assert silent.values.ravel().tolist() == [0.1, 0.2, -np.inf, 0.3]


def test_a_frame_lasts_until_the_next_chunk() -> None:
    # 156 frames of 64 ms do not fill 10 s, and thirds of a second end within a microsecond of whole ones
    arrays = {"a-0-10": np.full((156, 1), 0.5), "a-10-20": np.full((156, 1), 0.5)}
    for frame in (0.064, 0.0641025):
        scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=frame)
        joined = scores.stitch()["a"]
        assert joined.values.min() == 0.5
    assert np.diff(joined.ticks).min() > 64_000
    assert scores.stitch(gaps="silent")["a"].values.min() == 0.5


def test_starts_beyond_ten_years_are_refused() -> None:
    scores = sed.Scores.from_arrays({"a-99999999999": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"chunk a-99999999999: .*within ten years"):
        scores.stitch()


@given(chunk_lists(), st.integers(1, 6))
def test_joined_chunks_have_the_mean_score_of_each_segment(
    chunks: Sequence[tuple[int, list[int], list[float]]], segment: int
) -> None:
    made = {
        f"chunk{i}": sed.ClipScores.from_ticks(np.array(values)[:, None], np.cumsum([0, *lengths]))
        for i, (_, lengths, values) in enumerate(chunks)
    }
    places = {f"chunk{i}": ("rec", start / 1e6) for i, (start, _, _) in enumerate(chunks)}
    events = {f"chunk{i}": [(0, sum(lengths) / 1e6, "Dog")] for i, (_, lengths, _) in enumerate(chunks)}
    joined, truth = sed.join_chunks(
        sed.Scores(made, made.__getitem__, classes=["Dog"]),
        sed.GroundTruth.from_dict(events),
        places,
        segment=segment / 1e6,
        uncovered=-7.0,
    )
    # instant by instant
    of_segment: dict[int, list[float]] = {}
    active: set[int] = set()
    for start, lengths, values in chunks:
        first = start // segment
        instants = np.repeat(values, lengths)
        active |= {first * segment + tick for tick in range(len(instants))}
        for i in range(0, len(instants), segment):
            of_segment.setdefault(first + i // segment, []).append(
                float(np.mean(instants[i : i + segment]))
            )
    number = max(of_segment) + 1
    expected = [np.mean(of_segment.get(i, [-7.0])) for i in range(number)]
    clip = joined["rec"]
    assert clip.values.ravel() == pytest.approx(np.array(expected))
    assert clip.ticks.tolist() == [*range(0, number * segment, segment), max(active) + 1]
    spans = [(round(on * 1e6), round(off * 1e6)) for on, off, _ in truth.events("rec")]
    assert {tick for on, off in spans for tick in range(on, off)} == active
    assert all(off < on for (_, off), (on, _) in pairwise(spans))  # none touch


def chunks_of_two_files() -> tuple[sed.Scores, sed.GroundTruth]:
    arrays = {"a-0-2": [[0.1], [0.2]], "a-2-4": [[0.3], [0.4]], "b-0-2": [[0.5], [0.6]]}
    truth = sed.GroundTruth.from_dict({"a-0-2": [], "a-2-4": [(0, 1, "Dog")], "b-0-2": []})
    return sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0), truth


def test_chunks_without_references_can_be_left_out() -> None:
    scores, truth = chunks_of_two_files()
    kept, kept_truth = sed.join_chunks(scores, truth)
    assert kept_truth.clips == ("a", "b")
    assert kept["a"].values.ravel().tolist() == [0.1, 0.2, 0.3, 0.4]
    assert kept_truth.durations is not None
    assert kept_truth.durations.tolist() == [4_000_000, 2_000_000]
    dropped, dropped_truth = sed.join_chunks(scores, truth, uncovered=0.0, unreferenced="drop")
    assert dropped_truth.clips == ("a",)
    assert dropped["a"].values.ravel().tolist() == [0.0, 0.0, 0.3, 0.4]
    assert dropped_truth.warnings == ("2 of 3 chunks have no reference events and are left out.",)
    with pytest.raises(sed.SedscopeError, match="No chunk has reference events"):
        sed.join_chunks(scores, truth, unreferenced="drop", classes=["Cat"])


def test_chunks_that_cannot_be_joined_are_refused() -> None:
    scores, truth = chunks_of_two_files()
    dropped, _ = sed.join_chunks(scores, truth, unreferenced="drop")
    with pytest.raises(sed.SedscopeError, match=r"recording a: No chunk covers 0–1 s, 1–2 s\."):
        dropped["a"]
    with pytest.raises(sed.SedscopeError, match="1 chunk has no scores: b-0-2"):
        sed.join_chunks(scores.only(["a-0-2", "a-2-4"]), truth)
    with pytest.raises(
        sed.SedscopeError, match="1 chunk has scores but no row in the ground truth: b-0-2"
    ):
        sed.join_chunks(scores, sed.GroundTruth.from_dict({"a-0-2": [], "a-2-4": []}))
    with pytest.raises(sed.SedscopeError, match="1 recording has no duration: b"):
        sed.join_chunks(scores, truth, durations={"a": 4})
    with pytest.raises(sed.SedscopeError, match="do not have the length"):
        sed.join_chunks(scores, truth, unit="milliseconds")[0]["a"]
    for options in (
        {"segment": 0},
        {"uncovered": float("nan")},
        {"unreferenced": "hide"},
        {"unit": "h"},
    ):
        with pytest.raises(sed.SedscopeError):
            sed.join_chunks(scores, truth, **options)


def test_joined_chunks_are_identified_by_their_files(tmp_path: Path) -> None:
    scores, truth = chunks_of_two_files()
    sed.write_scores(scores, tmp_path / "scores")
    read = sed.read_scores(tmp_path / "scores")
    identities = {sed.join_chunks(read, truth, segment=length)[0].identity("a") for length in (1.0, 2.0)}
    assert None not in identities
    assert len(identities) == 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=7))
def test_means_of_chunks_and_windows_are_rounded_once(values: list[float]) -> None:
    """All of them cover the same second."""
    expected = float(sum(map(Fraction, values)) / len(values))
    names = [f"chunk{i}" for i in range(len(values))]
    chunks = sed.Scores.from_arrays(
        {name: [[value]] for name, value in zip(names, values, strict=True)}, classes=["Dog"], frame=1.0
    )
    stitched = chunks.stitch(dict.fromkeys(names, ("rec", 0.0)))
    assert stitched["rec"].values.ravel().tolist() == [expected]
    truth = sed.GroundTruth.from_dict({name: [(0, 1, "Dog")] for name in names})
    joined, _ = sed.join_chunks(chunks, truth, dict.fromkeys(names, ("rec", 0.0)))
    assert joined["rec"].values.ravel().tolist() == [expected]
    windows = [(0.0, 1.0, "Dog", value) for value in values]
    averaged = sed.Scores.from_events({"rec": windows}, overlaps="average")
    assert averaged["rec"].values.ravel().tolist() == [expected]
    labels = [f"label{i}" for i in range(len(values))]
    of_labels = sed.Scores.from_arrays({"rec": [values]}, classes=labels, frame=1.0)
    merged = of_labels.relabelled(sed.LabelMap(dict.fromkeys(labels, "Dog"), "mean"))
    assert merged["rec"].values.ravel().tolist() == [expected]


def test_equal_scores_of_chunks_are_one_detection() -> None:
    #    0    1    2    3    4    5 s
    #    |--- 0.7 -----|
    #         |--- 0.7 -----|
    #              |--- 0.7 -----|     three chunks cover the third second
    chunks = {f"rec-{start}-{start + 3}": np.full((3, 1), 0.7) for start in range(3)}
    scores = sed.Scores.from_arrays(chunks, classes=["Dog"], frame=1.0).stitch()
    assert sed.detect(scores, np.nextafter(0.7, 0)) == {"rec": [(0.0, 5.0, "Dog")]}


def test_equal_frames_of_a_segment_have_the_mean_of_each() -> None:
    scores = sed.Scores.from_arrays({"rec-0-2": np.full((6, 1), 0.7)}, classes=["Dog"], frame=1 / 3)
    truth = sed.GroundTruth.from_dict({"rec-0-2": [(0, 1, "Dog")]})
    joined, _ = sed.join_chunks(scores, truth)
    assert joined["rec"].values.ravel().tolist() == [0.7, 0.7]


def test_means_of_infinite_scores() -> None:
    chunks = {"a": [[np.inf], [-np.inf]], "b": [[0.5], [0.5]], "c": [[1.0], [1.0]]}
    scores = sed.Scores.from_arrays(chunks, classes=["Dog"], frame=1.0)
    stitched = scores.stitch(dict.fromkeys(chunks, ("rec", 0.0)))
    assert stitched["rec"].values.ravel().tolist() == [np.inf, -np.inf]
    truth = sed.GroundTruth.from_dict({name: [(0, 1, "Dog")] for name in chunks})
    joined, _ = sed.join_chunks(scores, truth, dict.fromkeys(chunks, ("rec", 0.0)))
    assert joined["rec"].values.ravel().tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("frames", [[0.5, np.nan, 0.5], [0.5, np.inf, -np.inf]])
def test_segments_whose_mean_is_not_a_number_are_refused(frames: list[float]) -> None:
    scores = sed.Scores.from_arrays(
        {"a-0-2": np.array([frames + [0.5] * 3]).T}, classes=["Dog"], frame=1 / 3
    )
    truth = sed.GroundTruth.from_dict({"a-0-2": [(0, 1, "Dog")]})
    joined, joined_truth = sed.join_chunks(scores, truth)
    with pytest.raises(sed.SedscopeError, match=r"not a number \(NaN\): clip a, class Dog, frame 0"):
        sed.evaluate(joined, joined_truth, sed.AUROC(sed.Segment(1.0)))
