"""Ground truth from files, frames and mappings: spellings, clips and unusual events."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io.side_tables import read_durations, write_durations

from ..support.data_frames import FRAME_KINDS, frame_of
from ..support.files import ARRAYS, DURATIONS, TRUTH, events, table, write_files
from ..support.systems import posix_only

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

PSDS = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=10, unit="minute")
EVENTS = "filename onset offset event_label"


def test_a_table_of_events(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    truth = sed.read_ground_truth(files.truth)
    assert repr(truth) == "<GroundTruth: 2 events, 2 clips, 2 classes>"
    assert events(truth) == {"a": [(1, 3, "Dog")], "b": [(0, 1, "Cat")]}
    assert (truth.labels, truth.durations, truth.warnings) == (("Cat", "Dog"), None, ())
    timed = sed.read_ground_truth(str(files.truth), durations=str(files.durations))
    assert timed.durations is not None
    assert timed.durations.tolist() == [4_000_000, 4_000_000]
    assert read_durations(files.durations) == {"a": 4, "b": 4}


@pytest.mark.parametrize(
    "text",
    [
        TRUTH,
        TRUTH.replace("\n", "\r\n"),
        "\ufeff" + TRUTH,
        TRUTH.rstrip("\n"),
        TRUTH.replace("\n", "\n\n"),
        TRUTH.replace("a\t", "eval/a.wav\t"),
        TRUTH.replace("Dog", '"Dog"'),
        TRUTH.replace("Dog", " Dog "),
        TRUTH.replace("\t1\t3\t", "\t 1.0\t3.0000001\t"),
        table("event_label duration offset onset filename", "Dog 2 3 1 a", "Cat 1 1 0 b"),
        table(EVENTS, "b 0 1 Cat", "a 2 3 Dog", "a 1 2 Dog"),  # touching, and in any order
    ],
    ids=[
        "plain", "Windows", "BOM", "no last line end", "blank lines", "folder and suffix", "quotes",
        "spaces", "numbers", "columns", "touching",
    ],
)  # fmt: skip
def test_spellings_of_events(text: str, tmp_path: Path) -> None:
    truth = sed.read_ground_truth(write_files(tmp_path, {"truth.tsv": text}).truth)
    assert sorted(truth.clips) == ["a", "b"]
    assert truth.events("b") == [(0, 1, "Cat")]
    events = truth.events("a")
    assert (events[0][0], events[-1][1]) == (1, 3)
    assert {label for _, _, label in events} == {"Dog"}


@pytest.mark.parametrize("row", ["c\t\t\t", "c\tnan\tnan\tnan", "c\tNone\tNone\tNone", "c.wav\t \t\t"])
def test_clips_without_events(row: str, tmp_path: Path) -> None:
    durations = DURATIONS + table("c 4", "d 4")
    changes = {"truth.tsv": f"{TRUTH}{row}\n", "durations.tsv": durations}
    files = write_files(tmp_path, changes)
    assert set(sed.read_ground_truth(files.truth).clips) == {"a", "b", "c"}
    truth = sed.read_ground_truth(files.truth, durations=files.durations)
    assert set(truth.clips) == {"a", "b", "c", "d"}
    assert truth.events("c") == truth.events("d") == []


def test_clips_keep_the_order_of_the_file(tmp_path: Path) -> None:
    text = table(EVENTS, "c · · ·", "b 0 1 Dog", "d · · ·", "a 0 1 Dog")
    truth = sed.read_ground_truth(write_files(tmp_path, {"truth.tsv": text}).truth)
    assert truth.clips == ("c", "b", "d", "a")


def test_events_of_a_clip_by_any_of_its_names() -> None:
    truth = sed.GroundTruth.from_dict({"eval/a.wav": [(0, 1, "Dog")]})
    assert truth.events("a") == truth.events("eval/a.wav") == [(0, 1, "Dog")]


@pytest.mark.parametrize("kind", FRAME_KINDS)
def test_events_as_frames(kind: str) -> None:
    frame = frame_of(
        kind,
        {
            "extra": [1, 2, 3],
            "filename": ["a.wav", "b", "b"],
            "onset": [1.0, 0.0, None],
            "offset": [3.0, 1.0, None],
            "event_label": ["Dog", "Cat", None],
        },
    )
    durations = frame_of(kind, {"filename": ["a", "b", "c"], "duration": [4, 4, 5]})
    truth = sed.GroundTruth.from_table(frame, durations=durations)
    assert events(truth) == {"a": [(1, 3, "Dog")], "b": [(0, 1, "Cat")], "c": []}
    assert truth.durations is not None
    assert truth.durations.tolist() == [4_000_000, 4_000_000, 5_000_000]


@pytest.mark.parametrize(
    "types",
    [
        {"onset": "Float64", "offset": "Float64", "event_label": "string"},
        {"onset": "Int64", "offset": "Int64", "event_label": "category"},
        {"onset": "float32", "offset": "float64", "event_label": "object"},
    ],
    ids=["nullable", "integers and categories", "floats and objects"],
)
def test_types_of_columns(types: dict[str, str]) -> None:
    frame = pandas.DataFrame(
        {
            "filename": ["a", "b"],
            "onset": [1.0, None],
            "offset": [3.0, None],
            "event_label": ["Dog", None],
        }
    ).astype(types)
    assert events(sed.GroundTruth.from_table(frame)) == {"a": [(1, 3, "Dog")], "b": []}


def test_a_frame_without_rows() -> None:
    frame = polars.DataFrame({name: [] for name in EVENTS.split()})
    truth = sed.GroundTruth.from_table(frame, durations={"a": 4})
    assert (truth.clips, len(truth)) == (("a",), 0)


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(str.strip)
labels = names.filter(bool)


@given(
    st.dictionaries(
        names.filter(lambda name: name and not set(name) & {"/", "\\"}),
        st.lists(st.tuples(st.integers(0, 10**9), labels), max_size=3, unique_by=lambda event: event[1]),
        max_size=3,
    )
)
@example({'"': [(0, '"')]})
@example({"'": [(0, "'")]})
@example({'a"b': [(0, "null")]})
@example({"nan": [(0, "nan")]})
@example({"a": [(0, "None")]})
def test_ground_truth_is_read_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, case: dict[str, list[tuple[int, str]]]
) -> None:
    truth = sed.GroundTruth.from_dict(
        {
            clip: [(tick / 1e6, tick / 1e6 + 0.5, label) for tick, label in found]
            for clip, found in case.items()
        },
        durations=dict.fromkeys(case, 1e4),
    )
    folder = tmp_path_factory.mktemp("written")
    sed.write_ground_truth(truth, folder / "truth.tsv")
    write_durations(truth, folder / "durations.tsv")
    again = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    assert events(again) == events(truth)
    assert np.array_equal(np.sort(again.onsets), np.sort(truth.onsets))


def test_ground_truth_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]})
    with pytest.raises(sed.SedscopeError, match="Cannot write"):
        sed.write_ground_truth(truth, tmp_path / "no folder" / "truth.tsv")
    with pytest.raises(sed.SedscopeError, match="Cannot write"):
        sed.write_ground_truth(truth, tmp_path)
    with pytest.raises(sed.SedscopeError, match="no durations"):
        write_durations(truth, tmp_path / "durations.tsv")
    assert not list(tmp_path.iterdir())


@posix_only
def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]})
    target, link = tmp_path / "target.tsv", tmp_path / "link.tsv"
    target.write_text("before")
    link.symlink_to(target)
    sed.write_ground_truth(truth, link)
    assert link.is_symlink()
    assert events(sed.read_ground_truth(target)) == events(truth)


# Events that are odd


def test_invalid_events_may_be_dropped() -> None:
    # clip of 4 s:    [0   1   2   3   4)  5
    case = {"a": [(1, 3, "Dog"), (2, 2, "Cat"), (3, 1, "Cat"), (4, 5, "Cat"), (3, 9, "Cat")]}
    truth = sed.GroundTruth.from_dict(case, durations={"a": 4}, invalid="drop")
    assert truth.events("a") == [(1, 3, "Dog"), (3, 9, "Cat")]
    empty, late, kept = truth.warnings
    assert "2 events have no positive length and were left out" in empty
    assert "1 event begins at or after the end of its clip and was left out" in late
    assert "1 reference event ends after its clip does and was kept (first: clip 'a', 3–9 s" in kept
    scores = sed.Scores.from_arrays({"a": ARRAYS["a"]}, classes=["Dog", "Cat"], frame=1.0)
    with pytest.warns(sed.SedscopeWarning, match="2 events have no positive length and were left out"):
        result = sed.evaluate(scores, truth, PSDS)
    assert result.references == {"Dog": 1, "Cat": 1}
    assert result.warnings == truth.warnings


def test_events_after_the_last_score_may_be_dropped() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog"), (4, 5, "Cat")]}, invalid="drop")
    scores = sed.Scores.from_arrays({"a": ARRAYS["a"]}, classes=["Dog", "Cat"], frame=1.0)
    with pytest.warns(sed.SedscopeWarning, match="1 reference event begins at or after"):
        result = sed.evaluate(scores, truth, PSDS)
    assert result.references == {"Dog": 1, "Cat": 0}


def test_overlapping_events_may_be_merged() -> None:
    # Dog  0 [----) 2            4 [--) 5 [--) 6   touching: two events
    #         1 [-) 2
    #         1 [----) 3
    # Cat   0.5 [---) 2.5          of another class
    dog = [(0, 2, "Dog"), (1, 2, "Dog"), (1, 3, "Dog"), (4, 5, "Dog"), (5, 6, "Dog")]
    truth = sed.GroundTruth.from_dict({"a": [*dog, (0.5, 2.5, "Cat")], "b": dog[:1]}, overlaps="merge")
    assert truth.events("a") == [(0, 3, "Dog"), (0.5, 2.5, "Cat"), (4, 5, "Dog"), (5, 6, "Dog")]
    assert truth.events("b") == [(0, 2, "Dog")]
    (note,) = truth.warnings
    assert "2 events overlap another one of the same class and clip and were merged" in note


@pytest.mark.parametrize("seconds", [2.5, 4, 100])
def test_clips_shorter_or_longer_than_their_scores(seconds: float) -> None:
    # scores of 4 s; in clip a the event ends at 3 s
    scores = sed.Scores.from_arrays(ARRAYS, classes=["Dog", "Cat"], frame=1.0)
    events_of_clips = {"a": [(1, 3, "Dog")], "b": [(0, 1, "Cat")]}
    truth = sed.GroundTruth.from_dict(events_of_clips, durations={"a": seconds, "b": seconds})
    result = sed.evaluate(scores, truth, PSDS, coverage="any")
    assert result.hours == pytest.approx(2 * seconds / 3600)
    assert result[PSDS].value == 1
    assert any("after its clip does" in warning for warning in result.warnings) == (seconds < 3)


@pytest.mark.filterwarnings("ignore:The scores of 1 clip cover less:sedscope.SedscopeWarning")
def test_an_event_after_the_scores_and_before_the_end_of_the_clip_is_missed() -> None:
    scores = sed.Scores.from_arrays({"a": ARRAYS["a"]}, classes=["Dog", "Cat"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog"), (7, 8, "Dog")]}, durations={"a": 9})
    result = sed.evaluate(scores, truth, PSDS, classes=["Dog"], coverage="any")
    assert (result.references, result[PSDS].value) == ({"Dog": 2}, 0.5)


@pytest.mark.filterwarnings("ignore:The scores of 2 clips cover less:sedscope.SedscopeWarning")
def test_a_clip_without_frames() -> None:
    scores = sed.Scores.from_arrays({"a": np.zeros((0, 1)), "b": [[0.9]]}, classes=["Dog"], frame=1.0)
    events_of_clips = {"a": [(0, 1, "Dog")], "b": [(0, 1, "Dog")]}
    truth = sed.GroundTruth.from_dict(events_of_clips, durations={"a": 2, "b": 2})
    result = sed.evaluate(scores, truth, PSDS, coverage="any")
    assert (result.references, result[PSDS].value) == ({"Dog": 2}, 0.5)
    alone = sed.evaluate(scores, sed.GroundTruth.from_dict({"a": []}), PSDS, clips=["a"])
    assert (alone.clips, alone.to_dict()["metrics"][0]["value"]) == (1, None)


def test_a_class_without_references_is_named_and_left_out() -> None:
    scores = sed.Scores.from_arrays(ARRAYS, classes=["Dog", "Cat"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog")], "b": []}, durations={"a": 4, "b": 4})
    with pytest.warns(sed.SedscopeWarning, match=r"1 class has no reference events.*: Cat"):
        result = sed.evaluate(scores, truth, PSDS)
    assert result[PSDS].value == result[PSDS].per_class["Dog"].value == 1
    assert np.isnan(result[PSDS].per_class["Cat"].value)
    assert result.to_dict()["metrics"][0]["per_class"] == {"Dog": 1.0, "Cat": None}


def test_durations_that_contradict_the_file_are_named(tmp_path: Path) -> None:
    queries = [
        {"qid": qid, "vid": "v", "duration": 60, "relevant_windows": [[1, 2]]} for qid in (1, 2, 3)
    ]
    file = tmp_path / "queries.jsonl"
    file.write_text("".join(json.dumps(query) + "\n" for query in queries))
    durations = {"v_1": 300, "v_2": 61.5, "v_3": 60}
    truth = sed.read_ground_truth(file, durations=durations)
    assert truth.warnings == (
        f"1 clip has another duration in {file} than in `durations=`, which counts: v_1 (60 s, "
        "not 300 s).",
    )
    assert sed.read_ground_truth(file).warnings == ()
