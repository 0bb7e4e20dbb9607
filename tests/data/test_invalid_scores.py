"""What invalid scores in memory get: an error that says where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from numpy.typing import NDArray

import sedscope as sed

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

NAN, INF = float("nan"), float("inf")
_masked_array: Any = np.ma.masked_array
MASKED = _masked_array([[0.1], [0.2]], [[True], [False]])
PSDS = sed.PSDS(sed.Intersection(0.7, 0.7))

#         0      1      2      3 s
VALUES = [[0.2], [0.9], [0.4]]
EDGES = [0, 1, 2, 3]
#                [ Dog )
TRUTH = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})


BAD_VALUES: dict[str, tuple[Any, str]] = {
    # scores of a clip, and what the message says beside the clip's name
    "ragged": ([[0.1], [0.1, 0.2]], ""),
    "a number": (0.5, "frames × classes"),
    "one dimension": ([0.1, 0.2], r"frames × classes, not an array of shape \(2,\)"),
    "three dimensions": ([[[0.1]]], "frames × classes"),
    "no frames, no classes": ([], "frames × classes"),
    "too many columns": ([[0.1, 0.2]], "2 columns for 1 class"),
    "transposed": (np.zeros((1, 100)), "100 columns for 1 class"),
    "None": (None, "float32 or float64"),
    "a cell of None": ([[0.1], [None]], "float32 or float64"),
    "objects": (np.array([[0.1]], object), "float32 or float64"),
    "text": ([["0.1"], ["loud"]], "float32 or float64"),
    "complex": ([[1j]], "complex128"),
    "dates": (np.array([["2020-01-01"]], "M8[D]"), "datetime64"),
    "a mapping": ({"Dog": [0.1]}, "float32 or float64"),
    "a generator": (([0.1] for _ in range(3)), "float32 or float64"),
    "masked": (MASKED, "mask"),
}


@pytest.mark.parametrize(("values", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values(values: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=f"clip a: .*{message}"):
        sed.Scores.from_arrays({"dir/a.wav": values}, classes=["Dog"], frame=1.0)
    later = sed.Scores.from_function(["a"], lambda _: values, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=f"clip a: .*{message}"):
        sed.evaluate(later, TRUTH, PSDS)


def test_every_bad_clip_is_named() -> None:
    arrays = {"a": [[0.1, 0.2]], "b": [[0.1]], "c": [[0.1, 0.2, 0.3]]}
    with pytest.raises(sed.SedscopeError, match=r"(?s)clip a.*clip c"):
        sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)


def test_nan_is_found_in_every_clip() -> None:
    # more clips than are read at once
    names = [f"c{i}" for i in range(1500)]
    scores = sed.Scores.from_function(
        names, lambda name: [[NAN if name in ("c0", "c1400") else 0.5]], classes=["Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict({name: [] for name in names})
    with pytest.raises(sed.SedscopeError, match=r"(?s)clip c0, class Dog, frame 0.*clip c1400"):
        sed.evaluate(scores, truth, PSDS)


def test_nan_in_a_class_that_is_not_evaluated_does_not_matter() -> None:
    values = [[0.2, NAN], [0.9, 0.1], [0.4, 0.1]]
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog", "Cat"], frame=1.0)
    assert sed.evaluate(scores, TRUTH, PSDS, classes=["Dog"])[PSDS].value == 1
    with pytest.raises(sed.SedscopeError, match="clip a, class Cat, frame 0"):
        sed.evaluate(scores, TRUTH, PSDS)


@pytest.mark.parametrize(
    "make",
    [
        lambda values: np.array([tuple(row) for row in values], [("Dog", np.float32)])["Dog"][:, None],
        lambda values: np.array([(0, row) for row in values], [("x", "i1"), ("s", "f4", (1,))])["s"],
        lambda values: np.array(values, ">f8"),
        lambda values: np.array(values, np.longdouble),
    ],
    ids=["field of a record", "packed record", "other byte order", "long double"],
)
def test_odd_layouts_give_the_result_or_are_refused(make: Callable[[Any], Any]) -> None:
    try:
        scores = sed.Scores.from_arrays({"a": make(VALUES)}, classes=["Dog"], frame=1.0)
        value = sed.evaluate(scores, TRUTH, PSDS)[PSDS].value
    except sed.SedscopeError:
        return
    assert value == 1


@pytest.mark.parametrize(
    "frame", [0, -1, 4e-7, 6e-7, NAN, INF, 1e300, "long", [0.02], np.array([1.0, 2.0])], ids=repr
)
def test_bad_frame_lengths(frame: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="frame"):
        sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], frame=frame)


BAD_EDGES: dict[str, Any] = {
    "too few": [0, 1],
    "a number": 3,
    "none": [],
    "two dimensions": [[0, 1], [2, 3]],
    "decreasing": [0, 2, 1, 3],
    "a frame of no length": [0, 1, 1, 2],
    "NaN": [0, 1, NAN, 3],
    "infinite": [0, 1, 2, INF],
    "None": [0, 1, None, 3],
    "text": ["a", "b", "c", "d"],
}


@pytest.mark.parametrize("edges", BAD_EDGES.values(), ids=BAD_EDGES)
def test_bad_edges(edges: Any) -> None:
    with pytest.raises(sed.SedscopeError):
        sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], edges=edges)
    with pytest.raises(sed.SedscopeError, match="clip a: "):
        sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], edges={"a": edges})
    with pytest.raises(sed.SedscopeError):
        sed.ClipScores(VALUES, edges)


def test_edges_of_another_clip() -> None:
    with pytest.raises(sed.SedscopeError, match="clip a"):
        sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], edges={"b": EDGES})


def test_frame_or_edges() -> None:
    choices: list[dict[str, Any]] = [{}, {"frame": 1.0, "edges": EDGES}]
    for options in choices:
        with pytest.raises(sed.SedscopeError, match=r"either frame=.*or edges="):
            sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], **options)
    without = sed.Scores.from_function(["a"], lambda _: VALUES, classes=["Dog"])
    with pytest.raises(sed.SedscopeError, match="clip a: Give frame= or edges="):
        sed.evaluate(without, TRUTH, PSDS)


def read_only(ticks: list[int]) -> NDArray[np.int64]:
    array = np.array(ticks, np.int64)
    array.flags.writeable = False
    return array


BAD_FRAMES: dict[str, Callable[[], sed.ClipScores]] = {
    "read-only and decreasing": lambda: sed.ClipScores.from_ticks(VALUES, read_only([0, 2, 1, 3])),
    "decreasing": lambda: sed.ClipScores.from_ticks(VALUES, np.array([0, 2, 1, 3])),
    "too few": lambda: sed.ClipScores.from_frames(VALUES, [0, 1], [1, 2]),
    "NaN": lambda: sed.ClipScores.from_frames(VALUES, [0, 1, NAN], [1, 2, 3]),
    "overlapping": lambda: sed.ClipScores.from_frames(VALUES, [0, 0.5, 2], [1, 2, 3]),
    "numbers for arrays": lambda: sed.ClipScores.from_frames(0.5, 0, 1),
    "a number for an array": lambda: sed.ClipScores(0.5, EDGES),
}


@pytest.mark.parametrize("make", BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_bad_frames(make: Callable[[], sed.ClipScores]) -> None:
    with pytest.raises(sed.SedscopeError):
        make()


@pytest.mark.parametrize("ticks", [[0, 1, 2, 3], np.arange(4.0), np.arange(4, dtype=np.int32)])
def test_ticks_of_another_type_are_taken_or_refused(ticks: Any) -> None:
    try:
        clip = sed.ClipScores.from_ticks(VALUES, ticks)
        scores = sed.Scores.from_function(["a"], lambda _: clip, classes=["Dog"])
        result = sed.evaluate(scores, sed.GroundTruth.from_dict({"a": []}), PSDS)
    except sed.SedscopeError:
        return
    assert result.hours == pytest.approx(3e-6 / 3600)


@pytest.mark.parametrize(
    "classes",
    ["Dog", [], [""], [None], [1], ["Dog", "Dog"], [1, 1, "a", "a"], [["Dog"]], None],
    ids=repr,
)
def test_bad_classes(classes: Any) -> None:
    with pytest.raises(sed.SedscopeError, match=r"[Cc]lass"):
        sed.Scores.from_arrays({"a": VALUES}, classes=classes, frame=1.0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": VALUES, "x/a.wav": VALUES}, "'a' and 'x/a.wav'"),
        ({"": VALUES}, "''"),
        ({"audio/.flac": VALUES}, r"'audio/\.flac'"),
        ({0: VALUES}, "0"),
        ({None: VALUES}, "None"),
        ({("a", 1): VALUES}, "a"),
        ([VALUES], "clip"),
        (np.zeros((2, 3, 1)), "clip"),
    ],
)
def test_bad_clips(arrays: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)


def test_no_clips() -> None:
    scores = sed.Scores.from_arrays({}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="no clip"):
        sed.evaluate(scores, sed.GroundTruth.from_dict({}), PSDS)
    with pytest.raises(sed.SedscopeError, match="1 of the 1 clip in the ground truth has no scores"):
        sed.evaluate(scores, TRUTH, PSDS)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"Dog": ["loud", "quiet"]}, "float32 or float64"),
        ({"Dog": [["x"], ["y"]]}, ""),
        ({"onset": ["a", "b"]}, ""),
        ({"onset": [0, None]}, ""),
        ({"onset": [0.0, 0.5]}, "overlap"),
        ({"onset": [1, 0], "offset": [2, 1]}, "not in order of time"),
        ({"Dog": np.array(["2020-01-01"] * 2, "M8[ns]")}, "float32 or float64"),
    ],
)
def test_bad_score_tables(frame: Any, columns: dict[str, Any], message: str) -> None:
    table = frame({"onset": [0.0, 1.0], "offset": [1.0, 2.0], "Dog": [0.1, 0.2], **columns})
    scores = sed.Scores.from_tables({"a.wav": table})
    with pytest.raises(sed.SedscopeError, match=f"clip a: .*{message}"):
        scores["a"]


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
def test_missing_cells_of_score_tables_are_nan(frame: Any) -> None:
    table = frame({"onset": [0.0, 1.0], "offset": [1.0, 2.0], "Dog": [0.1, None]})
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 2})
    with pytest.raises(sed.SedscopeError, match="clip a, class Dog, frame 1"):
        sed.evaluate(sed.Scores.from_tables({"a": table}), truth, PSDS)


GOOD_TABLE = pandas.DataFrame({"onset": [0.0], "offset": [1.0], "Dog": [0.1]})


def test_the_columns_of_a_score_table_may_have_any_order() -> None:
    scores = sed.Scores.from_tables({"b": GOOD_TABLE, "a": GOOD_TABLE[["Dog", "offset", "onset"]]})
    assert scores.classes == ("Dog",)
    assert scores["a"].values.tolist() == scores["b"].values.tolist() == [[0.1]]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "no score table"),
        (GOOD_TABLE, "clip"),
        (polars.from_pandas(GOOD_TABLE), "clip"),
        ({"a": np.zeros((2, 3))}, "clip a"),
        ({"a": polars.from_pandas(GOOD_TABLE).lazy()}, "clip a"),
        ({"b": GOOD_TABLE, "a": None}, "clip a"),
        ({"b": GOOD_TABLE, "a": GOOD_TABLE.rename(columns={"Dog": "Cat"})}, "clip a: .*Dog.*Cat"),
        ({"a": GOOD_TABLE[["onset", "offset"]]}, "one per class"),
        ({"a": GOOD_TABLE[["Dog", "onset"]]}, "onset, offset"),
        ({"a": GOOD_TABLE.rename(columns={"Dog": 3})}, "Class names"),
        ({"a": pandas.DataFrame([[0, 1, 0.5, 0.5]], columns=["onset", "offset", "Dog", "Dog"])}, "Dog"),
        ({0: GOOD_TABLE}, "0"),
    ],
)
def test_bad_sets_of_score_tables(tables: Any, message: str) -> None:
    def read_all() -> None:
        scores = sed.Scores.from_tables(tables)
        for clip in scores:
            scores[clip]

    with pytest.raises(sed.SedscopeError, match=message):
        read_all()


MASKED = np.ma.array([0.0, 1.0, 2.0, 3.0], mask=[False, True, False, False])
ROWS = [np.ma.array([0.1], mask=[True]), np.array([0.2]), np.array([0.3])]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: sed.ClipScores(ROWS, [0, 1, 2, 3]), "scores"),
        (lambda: sed.ClipScores(np.ones((3, 1)), MASKED), "times"),
        (lambda: sed.ClipScores.from_ticks(np.ones((3, 1)), MASKED.astype(np.int64)), "boundaries"),
        (lambda: sed.ClipScores.from_frames(np.ones((3, 1)), MASKED[:3], [1, 2, 3]), "times"),
        (lambda: sed.Scores.from_arrays({"a": np.ones((3, 1))}, classes=["A"], edges=MASKED), "times"),
    ],
)
def test_masked_values_are_not_lost(make: Any, what: str) -> None:
    with pytest.raises(sed.SedscopeError, match=rf"Some {what} are missing \(masked\)"):
        make()


def test_tensors_without_values() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'sedscope[torch]'")
    for tensor in (torch.empty(3, 1, device="meta"), torch.ones(3, 1).to_sparse()):
        with pytest.raises(
            sed.SedscopeError, match=r"NumPy cannot read the scores: .* Convert them first"
        ):
            sed.Scores.from_arrays({"a": tensor}, classes=["A"], frame=1.0)


def test_complex_boundaries() -> None:
    with pytest.raises(sed.SedscopeError, match="real numbers of seconds, not complex"):
        sed.ClipScores(np.ones((1, 1)), np.array([0, 1 + 1j]))
