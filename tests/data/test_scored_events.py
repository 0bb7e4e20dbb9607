"""Scored events as a system: what they are made from, and what they answer."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.score_cache import ScoreDigests, cached, clip_digest
from sedscope.io.events.files import EVENT_FORMATS
from sedscope.io.systems import read_system

from ..support.command_line import run
from ..support.data_frames import FRAME_KINDS, frame_of

EVENTS: dict[str, list[tuple[float, float, str, float]]] = {
    "b": [(0.0, 2.0, "Dog", 0.9), (1.0, 3.0, "Dog", 0.4), (0.5, 3.0, "Cat", 0.1)],
    "a": [(1.0, 1.5, "Cat", 0.7)],
}
COLUMNS = ("filename", "onset", "offset", "event_label", "confidence")
ROWS = [(clip, *event) for clip, of_clip in EVENTS.items() for event in of_clip]


def table(rows: list[tuple[Any, ...]] = ROWS) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(COLUMNS)}


def write_table(path: Path, rows: list[tuple[Any, ...]]) -> Path:
    lines = ["\t".join(map(str, row)) for row in [COLUMNS, *rows]]
    path.write_text("\n".join([*lines, ""]))
    return path


def test_all_ways_make_the_same_events(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 4, "b": 4})
    file = write_table(tmp_path / "events.tsv", ROWS)
    as_lists: Any = {clip: [list(event) for event in of_clip] for clip, of_clip in EVENTS.items()}
    as_arrays: Any = {clip: np.array(of_clip, object) for clip, of_clip in EVENTS.items()}
    systems: list[Any] = [
        sed.Scores.from_events(EVENTS, overlaps="keep"),
        sed.ScoredEvents.from_events({clip: iter(of_clip) for clip, of_clip in EVENTS.items()}),
        sed.ScoredEvents.from_events(as_lists),
        sed.ScoredEvents.from_events(as_arrays),
        sed.ScoredEvents.from_table(table()),
        sed.ScoredEvents.from_table(polars.DataFrame(table()).cast({"confidence": polars.String})),
        read_system(file, truth, sed.SystemReading(overlaps="keep")),
    ]
    for system in systems:
        assert isinstance(system, sed.ScoredEvents)
        assert (system.classes, system.events()) == (("Cat", "Dog"), EVENTS)
    assert repr(systems[0]) == "<ScoredEvents: 2 clips, 2 classes>"
    assert "Scored events" in systems[0]._repr_html_()


@pytest.mark.parametrize("kind", FRAME_KINDS)
def test_data_frames_there_and_back(kind: str) -> None:
    system = sed.ScoredEvents.from_table(frame_of(kind, table()))
    again = sed.ScoredEvents.from_table(frame_of(kind, system.to_polars().to_dict(as_series=False)))
    assert again.events() == system.events() == EVENTS


def test_what_is_made_from_scored_events_are_scored_events() -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 4, "b": 4})
    system = sed.ScoredEvents.from_events(EVENTS)
    relabelled = system.relabelled({"Dog": "animal", "Cat": "animal"})
    regions, _ = sed.cut_to_regions(system, truth, {"b": [(1, 4)]})
    made: list[Any] = [system.only(["a"]), relabelled, regions, sed.at_thresholds(system, 0.5)]
    made += [
        cached(system),
        cached(system).relabelled({"Dog": "dog"}),
        ScoreDigests(system, system.classes).scores,
    ]
    assert all(isinstance(other, sed.ScoredEvents) for other in made)
    assert [event[2:] for event in made[1].events()["b"]] == [
        ("animal", 0.9),
        ("animal", 0.4),
        ("animal", 0.1),
    ]
    assert made[2].events()["b@1-4"][0] == (0.0, 1.0, "Dog", 0.9)


TIED = [(5.0, 6.0, "Dog", 0.5), (1.0, 3.0, "Cat", 0.5), (2.0, 4.0, "Dog", 0.5), (0.0, 2.0, "Cat", 0.5)]


@pytest.mark.parametrize("listed", [TIED, TIED[::-1]], ids=["as listed", "turned"])
def test_the_order_of_equal_confidences_is_kept(
    listed: list[tuple[float, float, str, float]], tmp_path: Path
) -> None:
    truth = sed.GroundTruth.from_dict({"x": []}, durations={"x": 8})
    rows = [("x", *event) for event in [*listed, (3.0, 4.0, "Cat", 0.7)]]
    file = write_table(tmp_path / "events.tsv", rows)
    formats = [name for name, format in EVENT_FORMATS.items() if "confidences" in format.holds]
    assert {"moments", "dcase", "activitynet"} <= {*formats}
    for format in formats:
        target = tmp_path / format / f"x{next(iter(EVENT_FORMATS[format].suffixes), '.tsv')}"
        target.parent.mkdir()
        with warnings.catch_warnings():  # some formats cannot keep labels
            warnings.simplefilter("ignore", sed.SedscopeWarning)
            sed.convert(file, target, to=format, lossy=True)
            read = read_system(target, truth, sed.SystemReading(overlaps="keep", format=format))
        assert isinstance(read, sed.ScoredEvents)
        times = [event[:2] for event in read.events()["x"]]
        assert times == [(3.0, 4.0), *(event[:2] for event in listed)], format
    system = sed.ScoredEvents.from_events({"x": listed})
    merged = system.relabelled({"Dog": "animal", "Cat": "animal"})
    regions, _ = sed.cut_to_regions(system, truth, {"x": [(0, 8)]})
    frame = sed.ScoredEvents.from_table(system.to_polars())
    again = sed.ScoredEvents.from_events(system.events())
    for other in (system, merged, regions, frame, again):
        assert isinstance(other, sed.ScoredEvents)
        (events,) = other.events().values()
        assert [event[:2] for event in events] == [event[:2] for event in listed]


def test_the_identity_of_scores_has_the_order_of_equal_confidences() -> None:
    def digest(events: list[tuple[float, float, str, float]]) -> bytes:
        return clip_digest(sed.ScoredEvents.from_events({"x": events}).open("x"))

    assert digest(TIED) != digest(TIED[::-1])
    unequal = [(*event[:3], 0.1 * place) for place, event in enumerate(TIED)]
    assert digest(unequal) == digest(unequal[::-1])


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_without_events() -> None:
    system = sed.ScoredEvents.from_events({"a": []}, classes=["Dog"], clips=["b"])
    assert system.events() == {"a": [], "b": []}
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": []}, durations={"a": 2, "b": 2})
    metrics = [sed.BestFScore(criterion) for criterion in (sed.Intersection(0.5, 0.5), sed.Segment(1))]
    assert [result.value for result in sed.evaluate(system, truth, metrics).values()] == [0, 0]


WRONG: list[tuple[Any, ...]] = [
    ("a", 3, 1, "Dog", 0.5),
    ("a", 1, 3, "Dog", "high"),
    ("a", "x", 3, "Dog", 0.5),
    ("b", 1, 2, "Dog", "nan"),
]


def test_wrong_rows_are_refused_together(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 4, "b": 4})
    file = write_table(tmp_path / "events.tsv", [ROWS[0], *WRONG])
    with pytest.raises(sed.SedscopeError, match="4 detections are not usable") as caught:
        read_system(file, truth, sed.SystemReading(overlaps="keep"))
    assert [line.split(": ")[0] for line in sorted(caught.value.lines)] == [
        f"{file}:{line}" for line in (3, 4, 5, 6)
    ]
    with pytest.raises(sed.SedscopeError, match=r"4 detections are not usable.*row 1.*row 4"):
        sed.ScoredEvents.from_table(table([ROWS[0], *[tuple(map(str, row)) for row in WRONG]]))
    with pytest.raises(sed.SedscopeError, match=r"clip a: 1 event is not usable.*\n.*clip b: 1 event"):
        sed.ScoredEvents.from_events({"a": [(3, 1, "Dog")], "b": [(1, 2, "")]})


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(1, 6), st.sampled_from("ab"), st.floats(0, 1)),
        min_size=1,
        max_size=8,
    )
)
def test_the_highest_confidence_at_each_instant(events: list[tuple[int, int, str, float]]) -> None:
    detected = [(onset, onset + length, label, score) for onset, length, label, score in events]
    system = sed.ScoredEvents.from_events({"x": detected}, classes=["a", "b"])
    highest = system.open("x").highest(2)
    for column, label in enumerate("ab"):
        for frame, (begin, end) in enumerate(pairwise(highest.edges.tolist())):
            covering = [
                score
                for on, off, name, score in detected
                if name == label and on <= begin and end <= off
            ]
            assert highest.values[frame, column] == max(covering, default=-np.inf)


UNREAD = "the detections are read without confidences.*`columns={'confidence': '%s'}"


def renamed(name: str) -> dict[str, list[Any]]:
    return {name if column == "confidence" else column: cells for column, cells in table().items()}


@pytest.mark.parametrize("name", ["score", "Probability", "conf", "Confidence"])
def test_confidences_in_a_column_of_another_name_warn(name: str) -> None:
    frame = polars.DataFrame(renamed(name))
    with pytest.warns(sed.SedscopeWarning, match=UNREAD % name):
        events = sed.read_events(frame)
    assert [len(event) for event in events["a"]] == [3]
    for cast in (polars.Float64, polars.String):
        with pytest.warns(sed.SedscopeWarning, match=UNREAD % name):
            sed.ScoredEvents.from_table(frame.cast({"onset": cast}))
    named = sed.ScoredEvents.from_table(frame, columns={"confidence": name})
    assert named.events() == EVENTS
    both = sed.ScoredEvents.from_table(frame.with_columns(confidence=0.5))  # no warning
    assert {event[3] for event in both.events()["b"]} == {0.5}


def test_confidences_of_another_name_on_the_command_line(tmp_path: Path) -> None:
    polars.DataFrame(renamed("score")).write_csv(tmp_path / "score.csv")
    truth = [(*row[:3], row[3], 1) for row in ROWS[::2]]
    write_table(tmp_path / "truth.tsv", truth)
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t4\nb\t4\n")
    files = [tmp_path / "score.csv", tmp_path / "truth.tsv", "--durations", tmp_path / "durations.tsv"]
    options = ["--overlaps", "keep", "--missing", "empty"]
    metric = ["--metric", "detection_map"]
    silent = run("evaluate", *files, *options, *metric)
    assert ": --scores-columns confidence=score." in silent.err
    assert "one operating point" in silent.err
    assert "detection_map" in silent.err
    named = run("evaluate", *files, *options, *metric, "--scores-columns", "confidence=score")
    assert (named.code, named.err) == (0, "")
    assert ": --scores-columns confidence=score." in run("validate", *files, *options).out
    converted = run("convert", tmp_path / "score.csv", tmp_path / "events.rttm")
    assert ": --columns confidence=score." in converted.err


@pytest.mark.parametrize("overlaps", ["error", "keep"])
def test_events_without_a_confidence_among_others_warn(overlaps: Any) -> None:
    boxes: dict[str, list[Any]] = {
        "a": [(0, 1, "Dog", 0.4), (2, 3, "Dog"), (0, 1, "Cat")],
        "b": [(0, 1, "Dog", 0.3)],
    }
    message = r"1 event has no confidence, unlike others .* confidence 1: clip a, \(2, 3, 'Dog'\)"
    with pytest.warns(sed.SedscopeWarning, match=message):
        sed.Scores.from_events(boxes, overlaps=overlaps)
