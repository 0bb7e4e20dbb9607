"""Scores from arrays, functions and data frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas
import pytest

import sedscope as sed

from ..support.data_frames import FRAME_KINDS, frame_of

INF = float("inf")
PSDS = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=10, unit="minute")
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int8, np.float64),
        (np.uint8, np.float64),
        (np.int32, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_the_type_of_scores(dtype: Any, kept: Any) -> None:
    array = np.array([[0, 1], [1, 0]], dtype)
    scores = sed.Scores.from_arrays({"a": array}, classes=["Dog", "Cat"], frame=0.5)
    assert scores["a"].values.dtype == kept
    assert np.array_equal(scores["a"].values, array)
    if dtype == kept:
        assert np.shares_memory(scores["a"].values, array)


def test_large_integers_are_never_rounded() -> None:
    values = np.array([[2**53], [2**53 + 1]])
    try:
        scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    except sed.SedscopeError:
        pass
    else:
        assert scores["a"].values[0] < scores["a"].values[1]
    frame = pandas.DataFrame({"onset": [0, 1], "offset": [1, 2], "Dog": values[:, 0]})
    try:
        clip = sed.Scores.from_tables({"a": frame})["a"]
    except sed.SedscopeError:
        pass
    else:
        assert clip.values[0] < clip.values[1]


def test_small_integers_are_scores_on_every_platform() -> None:
    scores = sed.Scores.from_arrays({"a": [[0], [1], [0]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    assert sed.evaluate(scores, truth, PSDS)[PSDS].value == 1


def test_frame_boundaries() -> None:
    arrays = {"a": [[0.1], [0.2]], "b.wav": [[0.1], [0.2]]}
    frame = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=0.1)
    assert frame["a"].edges.tolist() == [0, 0.1, 0.2]
    common = sed.Scores.from_arrays(arrays, classes=["Dog"], edges=[0, 1, 3])
    assert common["b"].edges.tolist() == [0, 1, 3]
    edges = {"a": [0, 1, 3], "b.wav": [1, 2, 5]}
    each = sed.Scores.from_arrays(arrays, classes=["Dog"], edges=edges)
    assert each["b"].edges.tolist() == [1, 2, 5]


def test_edges_may_name_clips_in_another_way() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], edges={"eval/a.wav": [0, 1]})
    assert scores["a"].edges.tolist() == [0, 1]


def test_boundaries_do_not_drift() -> None:
    # 20 ms for a day: a sum of floats would be off by then
    scores = sed.Scores.from_arrays({"a": np.zeros((4_320_000, 1))}, classes=["Dog"], frame=0.02)
    assert np.array_equal(scores["a"].ticks, np.arange(4_320_001) * 20_000)


def test_scores_from_a_function() -> None:
    calls: list[str] = []

    def load(name: str) -> Any:
        calls.append(name)
        assert threading.current_thread() is threading.main_thread()
        return sed.ClipScores([[0.5]], [0, 2]) if name == "b.wav" else [[0.5]]

    scores = sed.Scores.from_function(["a", "b.wav"], load, classes=["Dog"], frame=1.0)
    assert (list(scores), calls) == (["a", "b"], [])
    assert scores["b"].edges.tolist() == [0, 2]
    truth = sed.GroundTruth.from_dict({"a": [], "b": []})
    sed.evaluate(scores, truth, [PSDS, sed.presets.PSDS1], run=sed.Run(threads=4))
    assert calls == ["b.wav", "a", "b.wav"]


BUFFER = np.empty((4, 1))
BUFFER_TICKS = np.empty(5, np.int64)


def filled_buffer(name: str) -> Any:
    BUFFER[:] = float(name)
    BUFFER_TICKS[:] = np.arange(5) * int(name)
    return BUFFER


class ArrayLike:
    """Converts to an array that is used again."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return BUFFER


WAYS_TO_USE_A_BUFFER_AGAIN: dict[str, Any] = {
    "array": lambda buffer: buffer,
    "view": lambda buffer: buffer[:],
    "transposed": lambda buffer: buffer.T.T,
    "conversion": lambda _: ArrayLike(),
    "memory view": memoryview,
    "clip": lambda buffer: sed.ClipScores(buffer, np.arange(5)),
    "ticks": lambda buffer: sed.ClipScores.from_ticks(buffer, BUFFER_TICKS),
    "read-only view": lambda buffer: np.broadcast_to(buffer, buffer.shape),
    "new array": lambda buffer: buffer + 0,
    "list": lambda buffer: buffer.tolist(),
}


@pytest.mark.parametrize("wrap", WAYS_TO_USE_A_BUFFER_AGAIN.values(), ids=WAYS_TO_USE_A_BUFFER_AGAIN)
def test_a_function_may_use_its_arrays_again(wrap: Callable[[Any], Any]) -> None:
    names = ["1", "2", "3"]
    scores = sed.Scores.from_function(
        names, lambda name: wrap(filled_buffer(name)), classes=["Dog"], frame=1.0
    )
    clips = dict(scores)
    assert [clip.values.tolist() for clip in clips.values()] == [[[n]] * 4 for n in (1, 2, 3)]
    if wrap is WAYS_TO_USE_A_BUFFER_AGAIN["ticks"]:
        assert [clip.ticks[-1] for clip in clips.values()] == [4, 8, 12]


def test_a_mapping_may_use_its_arrays_again() -> None:
    class Lazy(Mapping[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return filled_buffer(name)

        def __iter__(self) -> Iterator[str]:
            return iter(["1", "2"])

        def __len__(self) -> int:
            return 2

    scores = sed.Scores.from_arrays(Lazy(), classes=["Dog"], frame=1.0)
    assert [clip.values[0, 0] for clip in scores.values()] == [1, 2]


def test_pieces_may_use_one_buffer() -> None:
    values = np.array([[0.1], [0.9], [0.8], [0.2], [0.7], [0.3]])

    def pieces() -> Iterator[Any]:
        buffer = np.empty((2, 1))
        for first in (0, 2, 4):
            buffer[:] = values[first : first + 2]
            yield buffer

    recording = sed.ClipPieces(pieces, frames=6, frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog")]}, durations={"a": 6})
    whole = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    in_pieces = sed.Scores.from_pieces({"a": recording}, classes=["Dog"])
    metrics: list[sed.Metric[Any]] = [PSDS, sed.BestFScore(sed.Collar())]
    expected = sed.evaluate(whole, truth, metrics).to_json()
    assert sed.evaluate(in_pieces, truth, metrics).to_json() == expected


def test_read_only_arrays_are_not_copied() -> None:
    mapped = np.zeros((4, 1))
    mapped.flags.writeable = False
    scores = sed.Scores.from_function(["a"], lambda _: mapped, classes=["Dog"], frame=1.0)
    assert np.shares_memory(scores["a"].values, mapped)


@pytest.mark.parametrize("kind", FRAME_KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_score_tables_as_frames(kind: str, dtype: Any) -> None:
    values = np.array([[0.1, 0.2], [0.3, INF]], dtype)
    columns = {"onset": [0.0, 2.0], "offset": [1.0, 3.0]}
    first = frame_of(kind, {**columns, "Dog": values[:, 0], "Cat": values[:, 1]})
    second = frame_of(kind, {**columns, "Cat": values[:, 1], "Dog": values[:, 0]})
    tables = {"dir/a.wav": first, "b": second}
    with pytest.raises(sed.SedscopeError, match=r"clip a: There is 1 gap .*before frame 1 \(1–2 s\)"):
        sed.Scores.from_tables(tables)["a"]
    scores = sed.Scores.from_tables(tables, gaps="silent")
    assert scores.classes == ("Dog", "Cat")
    for clip in ("a", "b"):
        assert scores[clip].values.dtype == dtype
        # frames 0–1, 2–3, and the gap between them
        assert scores[clip].edges.tolist() == [0, 1, 2, 3]
        assert np.array_equal(scores[clip].values, np.insert(values, 1, -INF, axis=0))


@pytest.mark.parametrize("kind", FRAME_KINDS)
def test_columns_of_different_types(kind: str) -> None:
    data = {
        "onset": [0, 1],
        "offset": [1, 2],
        "a": np.array([0.1, 0.2], np.float32),
        "b": np.array([0.1, 0.2], np.float64),
        "c": [0, 1],
        "d": [False, True],
    }
    clip = sed.Scores.from_tables({"x": frame_of(kind, data)})["x"]
    assert clip.values.dtype == np.float64
    expected = [[np.float32(0.1), 0.1, 0, 0], [np.float32(0.2), 0.2, 1, 1]]
    assert clip.values.tolist() == expected


def test_infinite_scores() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})

    def value(*column: float) -> float:
        scores = sed.Scores.from_arrays(
            {"a": np.array(column, np.float64)[:, None]}, classes=["Dog"], frame=1.0
        )
        return float(sed.evaluate(scores, truth, PSDS)[PSDS].value)

    assert value(-1, INF, 1e308) == value(0, 3, 2) == 1
    assert value(-INF, -INF, -INF) == 0  # never detected
    assert value(-INF, -1e308, -INF) == 1
    assert value(INF, INF, INF) == value(1, 1, 1) == 0
