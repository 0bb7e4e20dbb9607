"""What invalid ground truth in memory gets: an error that says where it is."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pytest

import sedscope as sed

NAN, INF = float("nan"), float("inf")
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


BAD_EVENTS: dict[str, tuple[Any, str]] = {
    "too short": ({"a": [(0, 1)]}, "a.*onset, offset, label"),
    "too long": ({"a": [(0, 1, "Dog", 0.9)]}, "a.*onset, offset, label"),
    "not in a list": ({"a": (0, 1, "Dog")}, "a.*onset, offset, label"),
    "None for no events": ({"a": None}, "a"),
    "an event of None": ({"a": [None]}, "a.*onset, offset, label"),
    "a number": ({"a": [0.5]}, "a.*onset, offset, label"),
    "text": ({"a": "0 1 Dog"}, "onset, offset, label"),
    "a mapping for an event": ({"a": [{"onset": 0, "offset": 1, "label": "Dog"}]}, "a"),
    "another order": ({"a": [("Dog", 0, 1)]}, "a.*Dog"),
    "text for a time": ({"a": [(0, 1, "Dog"), ("now", 1, "Dog")]}, "a.*now"),
    "None for a time": ({"a": [(0, 1, "Dog")], "b": [(0, None, "Dog")]}, "b.*None"),
    "NaN for a time": ({"a": [(0, 1, "Dog")], "b": [(NAN, 1, "Dog")]}, "b.*nan"),
    "infinite": ({"a": [(0, INF, "Dog")]}, "a.*inf"),
    "beyond all time": ({"a": [(0, 1e300, "Dog")]}, "a.*1e"),
    "no label": ({"a": [(0, 1, "")]}, "a.*label"),
    "None for a label": ({"a": [(0, 1, None)]}, "a.*label"),
    "NaN for a label": ({"a": [(0, 1, NAN)]}, "a.*label"),
    "negative length": (
        {"a": [(1, 1, "Dog"), (1, 0.5, "Dog")], "b": [(2, 1, "Dog")]},
        r"2 events .*a: Dog 1–0.5 s.*b: Dog 2–1 s",
    ),
    "a point in time twice": ({"a": [(1, 1, "Dog"), (1, 1, "Dog")]}, "a: Dog 1–1 s.*overlaps='keep'"),
    "a point in time inside": ({"a": [(1, 3, "Dog"), (2, 2, "Dog")]}, "a: Dog 2–2 s.*overlaps='keep'"),
    "overlapping": ({"a": [(0, 2, "Dog"), (1, 3, "Dog")]}, "a: Dog 1–3 s"),
    "one clip twice": ({"a": [], "a.wav": []}, r"'a' and 'a\.wav'"),
    "a number for a clip": ({3: [(0, 1, "Dog")]}, "3"),
    "a list for a mapping": ([(0, 1, "Dog")], "clip"),
}


@pytest.mark.parametrize(("events", "message"), BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_bad_events(events: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_dict(events)


BAD_DURATIONS: dict[str, tuple[Any, str]] = {
    "one for all": (10.0, "durations"),
    "a list": ([10], "durations"),
    "a path": ("durations.tsv", "durations"),
    "a frame": (pandas.DataFrame({"filename": ["a"], "duration": [3.0]}), "durations"),
    "None": ({"a": None}, "durations.*a"),
    "NaN": ({"a": 3, "b": NAN}, "durations.*b"),
    "infinite": ({"a": INF}, "durations.*a"),
    "text": ({"a": 3, "b": "long"}, "durations.*b.*long"),
    "zero as text": ({"a": "0"}, "durations.*a"),
    "zero and less": ({"a": 0, "b": -1}, r"a \(0 s\), b \(-1 s\)"),
    "a range": ({"a": [0, 10]}, "durations.*a"),
    "another clip": ({"b": 3}, "ground truth: 1 clip has no duration: a. Add them to `durations=`"),
    "none": ({}, "ground truth: 1 clip has no duration: a. Add them to `durations=`"),
    "one clip twice": ({"a": 3, "x/a.mp3": 3}, r"'a' and 'x/a\.mp3'"),
    "a number for a clip": ({"a": 3, 5: 3}, "5"),
}


@pytest.mark.parametrize(("durations", "message"), BAD_DURATIONS.values(), ids=BAD_DURATIONS)
def test_bad_durations(durations: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations=durations)


BAD_COLUMNS: dict[str, tuple[dict[str, list[Any]], str]] = {
    "no name": ({"filename": ["a", None]}, "row 1: no file name"),
    "no onset": ({"onset": [0.0, None]}, "row 1: onset"),
    "no label": ({"event_label": ["Dog", None]}, "row 1: no label"),
    "an empty label": ({"event_label": ["Dog", ""]}, "row 1: no label"),
    "text for times": ({"offset": ["x", "y"]}, "2 rows .*row 0: .*'x'.*row 1: .*'y'"),
    "negative length": ({"offset": [1.0, 0.5]}, r"row 1 \(b: Cat 1–0.5 s\)"),
}


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_bad_event_tables(frame: Any, columns: dict[str, list[Any]], message: str) -> None:
    good = {"filename": ["a", "b"], "onset": [0.0, 1.0], "offset": [1.0, 2.0]}
    table = frame({**good, "event_label": ["Dog", "Cat"], **columns})
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_table(table)


def event_table(**columns: Any) -> pandas.DataFrame:
    good = {"filename": ["a"], "onset": [0.0], "offset": [1.0], "event_label": ["Dog"]}
    return pandas.DataFrame({**good, **columns})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (event_table().drop(columns="onset"), "no column 'onset'"),
        (event_table(onset=pandas.to_timedelta([0], unit="s")), "row 0"),
        (pandas.concat([event_table(), event_table()[["onset"]]], axis=1), "onset"),
        (polars.from_pandas(event_table()).lazy(), "ground truth"),
        ([("a", 0, 1, "Dog")], "ground truth"),
        ("truth.tsv", "ground truth"),
        (None, "ground truth"),
    ],
)
def test_bad_kinds_of_event_tables(table: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_table(table)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"filename": ["a", "b"], "duration": [3.0, None]}, "durations.*b"),
        ({"filename": ["a", "b"], "duration": ["3", "long"]}, "durations.*long"),
        ({"filename": ["a", None], "duration": [3.0, 3.0]}, "durations.*row 1|durations.*''"),
        ({"filename": ["a", "a"], "duration": [3.0, 3.0]}, "durations: 1 duplicate clip: a"),
        ({"filename": ["a"]}, "durations: there is no column 'duration'"),
    ],
)
def test_bad_tables_of_durations(frame: Any, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_table(event_table(), durations=frame(columns))


def test_durations_of_another_kind() -> None:
    with pytest.raises(sed.SedscopeError, match="durations"):
        sed.GroundTruth.from_table(event_table(), durations=10.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"invalid": "skip"}, "invalid='skip' is not valid. Choose 'error' or 'drop'"),
        ({"overlaps": None}, "overlaps=None is not valid. Choose 'error', 'merge' or 'keep'"),
    ],
)
def test_bad_choices_of_the_ground_truth(options: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.GroundTruth.from_dict({}, **options)
