"""Event lists of other tools: every format is recognised, read, and written back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io.event_files import write_event_set
from sedscope.io.events.files import EVENT_FORMATS, recognise_event_format
from sedscope.io.events.format import EventSet
from sedscope.io.events.source import EventReadOptions, Source
from sedscope.io.side_tables import read_durations
from sedscope.io.systems import read_system

from ..support.data_frames import FRAME_KINDS, frame_of
from ..support.event_files import SAMPLES
from ..support.event_files.annotation_tools import RAVEN, annotation, jams, observation
from ..support.event_files.sample import PLAIN, SCORED, Events, Sample, tabs
from ..support.event_files.seizures import HED_SCORE, csv_bi

samples = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


@samples
def test_samples_are_read(sample: Sample, tmp_path: Path) -> None:
    assert sed.read_events(sample.write(tmp_path), **sample.options) == sample.events


@samples
def test_samples_are_recognised(sample: Sample, tmp_path: Path) -> None:
    sample.write(tmp_path)
    options = {key: value for key, value in sample.options.items() if key != "durations"}
    for name, content in sample.files.items():
        if content and "params" not in name:
            format_found = recognise_event_format(Source(tmp_path / name), EventReadOptions(**options))
            assert format_found.name == sample.format


@samples
def test_naming_the_format_gives_the_same(sample: Sample, tmp_path: Path) -> None:
    where = sample.write(tmp_path)
    assert sed.read_events(where, format=sample.format, **sample.options) == sample.events


@samples
def test_samples_are_ground_truth(sample: Sample, tmp_path: Path) -> None:
    scored = any(len(event) > 3 for events in sample.events.values() for event in events)
    if sample.format == "moments" and scored:
        with pytest.raises(sed.SedscopeError, match="holds predictions"):
            sed.read_ground_truth(sample.write(tmp_path))
        return
    truth = sed.read_ground_truth(sample.write(tmp_path), **sample.options)
    expected = {
        name.split("/")[-1].removesuffix(".wav"): sorted(event[:3] for event in events)
        for name, events in sample.events.items()
    }
    assert {clip: sorted(truth.events(clip)) for clip in truth.clips} == expected
    if sample.durations:
        assert truth.durations is not None
        assert dict(zip(truth.clips, truth.durations / 1e6, strict=True)) == sample.durations


labels = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
plain_labels = st.from_regex(r"[A-Za-zäé_\-]+( [a-z]+)?", fullmatch=True)
ticks = st.integers(0, 10**10)


@st.composite
def event_sets(draw: st.DrawFn, label: st.SearchStrategy[str]) -> EventSet:
    """Up to three clips with events to the microsecond."""
    scored = draw(st.booleans())
    events: Events = {}
    for clip in draw(st.lists(st.sampled_from(["a", "b_1.5", "Ü x"]), unique=True, min_size=1)):
        events[clip] = []
        for onset, length in draw(st.lists(st.tuples(ticks, st.integers(1, 10**8)), max_size=3)):
            rest = (draw(st.floats(0, 1, width=32)),) if scored else ()
            name = draw(label).strip() or "x"
            events[clip].append((onset / 1e6, (onset + length) / 1e6, name, *rest))
    durations = dict.fromkeys(events, 12_345.678901) if draw(st.booleans()) else {}
    return EventSet(events, durations)


@pytest.mark.filterwarnings("ignore:.*no confidences, unlike the others")  # all of a file may be 1
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, format in EVENT_FORMATS.items()
        if "times" in format.holds and format.name != "biodcase"
    ],
)
@settings(max_examples=40)
@given(data=st.data())
def test_what_a_format_holds_is_read_back(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = EVENT_FORMATS[name]
    events = data.draw(event_sets(labels if "any label" in made.holds else plain_labels))
    target = tmp_path_factory.mktemp("written") / ("out" if EVENT_FORMATS[name].per_clip else "out.txt")
    if made.reads_durations:  # to place the clips one after the other
        events = replace(events, durations=dict.fromkeys(events.events, 12_345.678901))
    losses = made.losses(events)
    if losses:
        with pytest.raises(sed.SedscopeError, match=r"cannot hold .*`lossy=True`"):
            write_event_set(events, target, format=name)
        assert not target.exists()
        return
    write_event_set(events, target, format=name)
    if target.is_file() and not target.read_bytes().strip():
        assert not any(events.events.values())
        return
    again = dict(sed.read_events(target, format=name))
    if made.reads_durations:  # these formats add the suffix of the sound file
        again = {clip.removesuffix(".wav"): found for clip, found in again.items()}
    expected = dict(events.events)
    if {row[4] for row in events.rows()} <= {1.0}:  # a confidence is 1 unless given
        again = {clip: [event[:3] for event in found] for clip, found in again.items()}
        expected = {clip: [event[:3] for event in found] for clip, found in expected.items()}
    assert again == expected
    if events.durations and "durations" in made.holds:
        truth = sed.read_ground_truth(target, format=name, overlaps="merge")
        assert truth.durations is not None
        assert set(truth.durations.tolist()) == {12_345_678_901}


def test_files_named_by_time_are_written(tmp_path: Path) -> None:
    events = {"kerguelen2014_2014-02-18T21-00-00_500": [(1.0, 3.5, "bma")]}
    sed.write_events(events, tmp_path / "calls.csv", format="biodcase")
    assert sed.read_events(tmp_path / "calls.csv") == events
    with pytest.raises(sed.SedscopeError, match="1 clip is not named DATASET_FILE"):
        sed.write_events({"a": [(0.0, 1.0, "bma")]}, tmp_path / "other.csv", format="biodcase")


def test_uncertain_annotations_are_ignored_references(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "Audiofilename,Starttime,Endtime,Q\na.wav,1,2,POS\na.wav,3,4,UNK\na.wav,5,6,NEG\n"
    )
    truth = sed.read_ground_truth(tmp_path / "a.csv")
    assert (truth.onsets.tolist(), truth.ignored.tolist()) == ([1_000_000, 3_000_000], [False, True])
    (tmp_path / "b.csv").write_text("Audiofilename,Starttime,Endtime,Q\na.wav,1,2,MAYBE\n")
    with pytest.raises(sed.SedscopeError, match=r"b\.csv line 2: a class has a mark other than POS"):
        sed.read_ground_truth(tmp_path / "b.csv")


def test_lossy_writing_leaves_out_what_cannot_be_held(tmp_path: Path) -> None:
    events: Events = {"a": [(0.0, 1.0, "a\tb", 0.5)], "c": []}
    with pytest.raises(sed.SedscopeError, match="the confidences of events; the white space in labels"):
        sed.write_events(events, tmp_path / "out", format="audacity")
    sed.write_events(events, tmp_path / "out", format="audacity", lossy=True)
    assert sed.read_events(tmp_path / "out") == {"a": [(0.0, 1.0, "a b")], "c": []}


def test_raven_plays_the_recordings_of_one_table_one_after_the_other(tmp_path: Path) -> None:
    events: Events = {"a.flac": [(1.0, 2.5, "Wren", 0.9)], "b": [(5.0, 6.0, "Tit", 0.4)]}
    boxes = sed.Boxes(audio_suffix=".mp3", low=100, high=8000)
    table = tmp_path / "site.selections.txt"
    with pytest.raises(sed.SedscopeError, match=r"1 clip has none: a\.flac\. Give the durations"):
        sed.write_events(events, table)
    sed.write_events(events, table, durations={"a": 60.0}, boxes=boxes)
    header, *rows = (line.split("\t") for line in table.read_text().splitlines())
    assert header[:7] == RAVEN.split("|")
    assert header[7:] == ["Begin File", "File Offset (s)", "Annotation", "Confidence"]
    box = ["Spectrogram 1", "1"]
    assert rows[0][:7] == ["1", *box, "1.000000", "2.500000", "100", "8000"]
    assert rows[0][7:] == ["a.flac", "1.000000", "Wren", "0.9"]
    assert rows[1][:7] == ["2", *box, "65.000000", "66.000000", "100", "8000"]
    assert rows[1][7:] == ["b.mp3", "5.000000", "Tit", "0.4"]
    assert sed.read_events(table) == {"a.flac": events["a.flac"], "b.mp3": events["b"]}


def test_raven_has_a_table_per_recording_in_a_folder(tmp_path: Path) -> None:
    events: Events = {"a": [(1.0, 2.5, "Wren")], "b": [(5.0, 6.0, "Tit")]}
    sed.write_events(events, tmp_path / "tables")
    names = sorted(path.name for path in (tmp_path / "tables").iterdir())
    assert names == ["a.Table.1.selections.txt", "b.Table.1.selections.txt"]
    (row,) = (tmp_path / "tables" / names[1]).read_text().splitlines()[1:]
    assert row.split("\t")[3:] == ["5.000000", "6.000000", "0", "15000", "b.wav", "5.000000", "Tit"]
    sed.write_events(events, tmp_path / "labels.audacity")
    assert (tmp_path / "labels.audacity/a.txt").read_text() == "1.000000\t2.500000\tWren\n"
    with pytest.raises(sed.SedscopeError, match=r"does not select a format of events\. It may end in "):
        sed.write_events(events, tmp_path / "events.json")


def test_frequencies_are_converted(tmp_path: Path) -> None:
    rows = ("1|Spectrogram 1|1|0|1|500|900.5|Wren", "2|Spectrogram 1|1|2|3|0|0|Tit")
    (tmp_path / "a.txt").write_text(tabs(f"{RAVEN}|Species", *rows))
    sed.convert(tmp_path / "a.txt", tmp_path / "tables.raven")
    written = (tmp_path / "tables.raven/a.Table.1.selections.txt").read_text().splitlines()
    assert [row.split("\t")[5:7] for row in written[1:]] == [["500", "900.5"], ["0", "15000"]]


def test_weak_labels_are_written(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 10, "Wren"), (0, 10, "Tit")], "c": []})
    with pytest.raises(sed.SedscopeError, match="the times of events"):
        sed.write_ground_truth(truth, tmp_path / "weak.tsv", format="dcase_weak")
    sed.write_ground_truth(truth, tmp_path / "weak.tsv", format="dcase_weak", lossy=True)
    again = sed.read_ground_truth(tmp_path / "weak.tsv", durations={"a": 10.0, "c": 10.0})
    assert again.events("a") == [(0, 10, "Tit"), (0, 10, "Wren")]
    with pytest.raises(sed.SedscopeError, match=r"need the clips' durations.*2 clips have none: a, c"):
        sed.read_ground_truth(tmp_path / "weak.tsv")


def test_weak_labels_and_the_clip_criterion(tmp_path: Path) -> None:
    where = SAMPLES["DCASE, weak"].write(tmp_path)
    truth = sed.read_ground_truth(where, durations={"a": 10, "b": 5, "c": 5})
    system = sed.Scores.from_events(
        {"a": [(1, 2, "Wren", 0.9)], "b": [], "c": [(0, 1, "Wren", 0.4)]}, classes=["Great Tit", "Wren"]
    )
    counts = sed.deltas(system, truth, sed.Clip()).counts()["Wren"]
    assert (counts.tp.tolist(), counts.fp.tolist()) == ([1, 1], [0, 1])


def test_ambiguity_names_the_candidates(tmp_path: Path) -> None:
    #    clip  onset offset label     or    onset offset label confidence
    file = tmp_path / "list.txt"
    file.write_text(tabs("12|13.5|14.5|3", "15|16|17|4"))
    with pytest.raises(sed.SedscopeError, match=r"could be sed_eval or birdnet_audacity. .*`format='"):
        sed.read_events(file)
    assert sed.read_events(file, format="sed_eval") == {
        "12": [(13.5, 14.5, "3")],
        "15": [(16.0, 17.0, "4")],
    }
    assert sed.read_events(file, format="birdnet_audacity") == {
        "list": [(12.0, 13.5, "14.5", 3.0), (15.0, 16.0, "17", 4.0)]
    }


def test_the_column_of_labels_is_found_or_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.selections.txt"
    file.write_text(tabs(f"{RAVEN}|Species|Annotation", "1|Spectrogram 1|1|0|1|0|9|Wren|song"))
    with pytest.raises(sed.SedscopeError, match="'Species', 'Annotation' with `columns="):
        sed.read_events(file)
    assert sed.read_events(file, columns={"label": "Annotation"}) == {"a": [(0, 1, "song")]}
    with pytest.raises(sed.SedscopeError, match="no column 'Call'"):
        sed.read_events(file, columns={"label": "Call"})
    with pytest.raises(sed.SedscopeError, match="no role 'species'"):
        sed.read_events(file, columns={"species": "Species"})
    file.write_text(tabs(RAVEN, "1|Spectrogram 1|1|0|1|0|9"))
    with pytest.raises(sed.SedscopeError, match=r"no column holds labels.*`label="):
        sed.read_events(file)
    assert sed.read_events(file, label="Wren") == {"a": [(0, 1, "Wren")]}


def test_several_recordings_without_their_offsets_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.selections.txt"
    rows = ["1|Spectrogram 1|1|0|1|0|9|a.wav|Wren", "2|Spectrogram 1|1|5|6|0|9|b.wav|Wren"]
    file.write_text(tabs(f"{RAVEN}|Begin File|Species", *rows))
    with pytest.raises(sed.SedscopeError, match=r"2 recordings and no column 'File Offset \(s\)'"):
        sed.read_events(file)
    named = {"filename": "Begin File", "onset": "Begin Time (s)", "offset": "End Time (s)"}
    events = sed.read_events(file, format="table", columns={**named, "label": "Species"})
    assert events == {"a.wav": [(0, 1, "Wren")], "b.wav": [(5, 6, "Wren")]}


@pytest.mark.parametrize("offset", ["", "x", "nan"])
def test_offsets_that_are_no_numbers_are_refused(offset: str, tmp_path: Path) -> None:
    file = tmp_path / "a.selections.txt"
    row = f"1|Spectrogram 1|1|0|1|0|9|a.wav|{offset}|Wren"
    file.write_text(tabs(f"{RAVEN}|Begin File|File Offset (s)|Species", row))
    with pytest.raises(sed.SedscopeError, match=rf"line 2: onset '{offset}', offset '1'"):
        sed.read_events(file)


def test_namespaces_of_jams(tmp_path: Path) -> None:
    file = tmp_path / "a.jams"
    tags = annotation("tag_open", [observation(0, 1, "Wren", None)])
    segments = annotation("segment_open", [observation(0, 2, "Tit", None)])
    file.write_text(jams(10, tags, segments))
    with pytest.raises(sed.SedscopeError, match=r"tag_open, segment_open\. Choose one"):
        sed.read_events(file)
    assert sed.read_events(file, columns={"namespace": "segment_open"}) == {"a": [(0, 2, "Tit")]}
    file.write_text(jams(10, annotation("beat", [])))
    with pytest.raises(sed.SedscopeError, match=r"no annotation in the namespace scaper or .*beat"):
        sed.read_events(file)
    file.write_text(jams(10, annotation("tag_open", [{"time": 1}, observation(0, 1, 5, None)])))
    with pytest.raises(sed.SedscopeError, match=r"2 problems: .*observation 0: the observation lacks a"):
        sed.read_events(file)


def test_jams_are_what_the_jams_library_expects(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0.1, 0.4, "Wren")]}, durations={"a": 10})
    sed.write_ground_truth(truth, tmp_path / "out", format="jams")
    whole = json.loads((tmp_path / "out" / "a.jams").read_text())
    assert whole["file_metadata"]["duration"] == 10
    [part] = whole["annotations"]
    assert part["namespace"] == "tag_open"
    assert part["data"] == [{"time": 0.1, "duration": 0.3, "value": "Wren", "confidence": 1.0}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0;0,5;Wren\n", "onset '0', offset '0,5' \\(write decimals with a point\\)"),
        ("a;0.5;Wren\n", "event_label"),
        ("0.5;1.0;Wren;x;y;z\n", "event_label"),
        ("0.0\t0.5\n", "Give one with `label=|no label"),
        ('{"annotations": 5}', "must be a list"),
        ('{"annotations": [', "not a JSON file"),
        ('{"sounds": []}', "no column"),
        ("onset\toffset\tDog\n0\t1\t.5\n", "holds scores of frames"),
        ("PAR1", "not a readable Parquet file"),
        ("recording,begin,end,species\na,0,1,Wren\n", "no columns 'filename', 'onset', 'offset'"),
    ],
)
def test_files_that_are_no_event_lists(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(content)
    format = "sed_eval" if content.startswith("0;0,5") else None
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_events(tmp_path / "x.txt", format=format)


def test_folders_of_files(tmp_path: Path) -> None:
    with pytest.raises(sed.SedscopeError, match="holds no files of events"):
        sed.read_events(tmp_path)
    (tmp_path / "a.txt").write_text(tabs("0|1|Wren"))
    (tmp_path / "b.txt").write_text(tabs("0|x|Wren"))
    (tmp_path / "c.txt").write_text(tabs("0|y|Wren"))
    with pytest.raises(sed.SedscopeError, match=r"(?s)2 rows.*b\.txt line 1.*'x'.*c\.txt line 1.*'y'"):
        sed.read_events(tmp_path)
    with pytest.raises(sed.SedscopeError, match=r"no event format 'ravens'\. Choose from dcase, "):
        sed.read_events(tmp_path, format="ravens")


@pytest.mark.parametrize("kind", [*FRAME_KINDS, "dict"])
def test_tables_in_memory(kind: str) -> None:
    data = {
        "recording": ["a", "a", "b"],
        "onset": [1.0, 1.0, 0.0],
        "length": [2.5, 1.0, 1.25],
        "event_label": ["Great Tit", "Wren", "Wren"],
    }
    table = data if kind == "dict" else frame_of(kind, data)
    columns = {"filename": "recording", "duration": "length"}
    assert sed.read_events(table, columns=columns) == PLAIN
    truth = sed.GroundTruth.from_table(table, columns=columns, durations={"a": 10, "b": 5})
    assert truth.events("b") == PLAIN["b"]
    ends: Any = {"filename": ["a", "b"], "duration": [10, 5]}
    again = sed.GroundTruth.from_table(
        table, columns=columns, durations=ends if kind == "dict" else frame_of(kind, ends)
    )
    assert again.durations is not None
    assert again.durations.tolist() == [10_000_000, 5_000_000]


def test_durations_with_commas(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("filename,duration\na,10\n")
    assert read_durations(tmp_path / "d.csv") == {"a": 10.0}


def test_scored_events_are_a_system(tmp_path: Path) -> None:
    where = SAMPLES["BirdNET, Raven"].write(tmp_path)
    system = sed.Scores.from_events(sed.read_events(where))
    assert sed.detect(system, 0.5) == {"a": [(0, 3, "Great Tit")], "b": [(0, 3, "Wren")]}
    assert sed.Scores.from_events(SCORED).classes == system.classes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SPEAKER a 1 0 1 <NA> <NA> ann <NA> <NA>\nSPEAKER a 1 2",
            "1 problem: a.rttm line 2: the line does not have 10 cells",
        ),
        ("SPEAKER a 1 0 x <NA> <NA> ann <NA> <NA>", "a.rttm line 1: onset '0', offset 'x'"),
        (
            "SPEAKER a 1 0 1 <NA> <NA> ann <NA> <NA>\nSPEAKER a 2 0 1 <NA> <NA> ann <NA> <NA>",
            r"1 file has several channels: a \(1, 2\)",
        ),
        (
            "SPEAKER a 1 0 1 <NA> <NA> ann 0.5 <NA>\nSPEAKER a 1 2 1 <NA> <NA> ann <NA> <NA>",
            "a.rttm line 2: confidence '<NA>'",
        ),
    ],
)
def test_lines_of_rttm_that_are_not_events(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.rttm").write_text(text)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_events(tmp_path / "a.rttm")


def test_spaces_that_rttm_cannot_hold_become_underscores(tmp_path: Path) -> None:
    events: Events = {"a b": [(0.0, 1.0, "Great Tit")]}
    with pytest.raises(sed.SedscopeError, match="the spaces in names: 'Great Tit', 'a b'"):
        sed.write_events(events, tmp_path / "a.rttm", format="rttm")
    sed.write_events(events, tmp_path / "a.rttm", format="rttm", lossy=True)
    assert sed.read_events(tmp_path / "a.rttm") == {"a_b": [(0.0, 1.0, "Great_Tit")]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv_bi", csv_bi("a", "ten"), "duration 'ten' is not a positive number .*a.csv_bi line 3"),
        ("a.csv_bi", csv_bi("a", "9", "TERM,1,seiz"), "line 7 has 3 cells"),
        ("a.csv_bi", csv_bi("a", "9", "TERM,1,x,seiz,1"), "a.csv_bi line 7: onset '1', offset 'x'"),
        ("a.tsv", tabs(HED_SCORE, "1|2|sz|n/a|n/a|n/a|0"), "duration '0' is not a positive number"),
        (
            "a.tsv",
            tabs(HED_SCORE, "1|2|sz|n/a|n/a|n/a|9", "5|2|sz|n/a|n/a|n/a|8"),
            "recordingDuration has several durations of one recording: 9, 8",
        ),
        (
            "a.tsv",
            tabs(HED_SCORE, "1|2|sz|0.5|n/a|n/a|9", "5|2|sz|n/a|n/a|n/a|9"),
            "a.tsv line 3: confidence 'n/a'",
        ),
    ],
)
def test_mistakes_in_files_of_seizures(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_ground_truth(tmp_path / name)


@pytest.mark.parametrize("format", ["csv_bi", "hed_score"])
def test_background_is_no_event(tmp_path: Path, format: str) -> None:
    with pytest.raises(sed.SedscopeError, match="label 'bckg', which means background"):
        sed.write_events({"a": [(0.0, 1.0, "bckg")]}, tmp_path / "out", format=format)


@pytest.mark.parametrize("format", ["csv_bi", "hed_score"])
def test_folders_of_scored_seizures_are_systems(tmp_path: Path, format: str) -> None:
    seizures = {"a": [(10.0, 40.0, "sz", 0.8), (300.0, 310.0, "sz", 0.3)], "b": []}
    durations = {"a": 600.0, "b": 900.0}
    for folder in ("system", "truth"):
        write_event_set(EventSet(seizures, durations), tmp_path / folder, format=format)
    truth = sed.read_ground_truth(tmp_path / "truth", confidence="> 0.5")
    system = read_system(tmp_path / "system", truth, sed.SystemReading())
    assert isinstance(system, sed.Scores)
    counts = sed.deltas(system, truth, sed.AnyOverlap(before=30)).counts()
    assert counts.duration == 1500
    assert (counts["sz"].tp.tolist(), counts["sz"].fp.tolist()) == ([1, 1], [0, 1])


def test_files_without_confidences_beside_others_are_named(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({clip: [(1, 2, "sz")] for clip in "abc"})
    (tmp_path / "a_events.tsv").write_text(tabs(HED_SCORE, "1|2|sz|0.4|n/a|n/a|9"))
    (tmp_path / "b_events.tsv").write_text(tabs(HED_SCORE, "1|2|sz|n/a|n/a|n/a|9"))
    (tmp_path / "c_events.tsv").write_text(tabs(HED_SCORE, "0|9|bckg|n/a|n/a|n/a|9"))
    with pytest.warns(
        sed.SedscopeWarning, match=r"1 file has no confidences.*confidence 1: .*b_events.tsv\."
    ):
        scores = read_system(tmp_path, truth, sed.SystemReading(overlaps="keep"))
    assert isinstance(scores, sed.ScoredEvents)
    assert scores.events()["b"] == [(1, 3, "sz", 1)]


def test_advice_on_columns_that_are_missing(tmp_path: Path) -> None:
    lengths = tmp_path / "lengths.tsv"
    lengths.write_text("filename\tonset\tduration\tevent_label\na\t1.0\t0.5\tDog\n")
    with pytest.raises(sed.SedscopeError, match=r"columns=\{'duration': 'duration'\}"):
        sed.read_events(lengths)
    assert sed.read_events(lengths, columns={"duration": "duration"}) == {"a": [(1.0, 1.5, "Dog")]}
    unlabelled = tmp_path / "unlabelled.tsv"
    unlabelled.write_text("filename\tonset\toffset\na\t1.0\t1.5\n")
    with pytest.raises(sed.SedscopeError, match=r"no column 'event_label'.* give it with `label="):
        sed.read_events(unlabelled)
    assert sed.read_events(unlabelled, label="Dog") == {"a": [(1.0, 1.5, "Dog")]}
    renamed = tmp_path / "renamed.tsv"
    renamed.write_text("file\tstart\toffset\tevent_label\na\t1.0\t1.5\tDog\n")
    with pytest.raises(
        sed.SedscopeError, match=r"are no columns .*`columns=\{'filename': …, 'onset': …\}`"
    ):
        sed.read_events(renamed)


@pytest.mark.parametrize("suffix", [".csv", ".txt"])
@pytest.mark.parametrize("format", [None, "sed_eval"])
def test_lists_may_begin_with_a_clip_without_events(
    suffix: str, format: str | None, tmp_path: Path
) -> None:
    events: Events = {"silent": [], "a": [(1.0, 2.0, "Dog")], "b": [(0.5, 0.75, "Cat")]}
    path = tmp_path / f"events{suffix}"
    sed.write_events(events, path, format="sed_eval")
    assert sed.read_events(path, format=format) == events


@pytest.mark.parametrize("format", ["birdnet", "birdnet_raven", "birdnet_kaleidoscope", "raven"])
def test_quotes_around_names_are_kept(format: str, tmp_path: Path) -> None:
    events: Events = {'"a"': [(1.0, 2.0, '"Dog"', 0.5)]}
    path = tmp_path / "events.txt"
    sed.write_events(events, path, format=format)
    clip = '"a".wav' if EVENT_FORMATS[format].reads_durations else '"a"'
    assert sed.read_events(path, format=format) == {clip: events['"a"']}


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        *(("Filename", "a.wav"), ("FILE", "a"), ("file_name", "a"), ("clip", "a"), ("Clip ID", "a")),
        *(("path", "a"), ("audio file", "a"), ("recording_id", "a"), ('"\ufefffilename"', "a")),
        *(("Datei", "Ton/a.WAV"), ("Fichier", "a.flac")),
    ],
)
@pytest.mark.parametrize("header", ["onset\toffset\tevent_label", "Begin Time (s)\tEnd Time (s)\tlabel"])
def test_a_column_that_may_hold_clips_is_not_passed_over(
    header: str, column: str, cell: str, tmp_path: Path
) -> None:
    path = tmp_path / "truth.tsv"
    path.write_text(f"{header}\t{column}\n0\t1\tDog\t{cell}\n2\t3\tDog\tb\n", encoding="utf-8")
    name = column.strip('"')
    with pytest.raises(sed.SedscopeError, match=r"may hold the clips of the rows\. If it does") as error:
        sed.read_events(path)
    assert repr(name) in str(error.value)
    if "onset" in header:
        events = sed.read_events(path, columns={"filename": name})
        assert [*events] == [cell, "b"]


@pytest.mark.parametrize("column", ["name", "id", "uri", "sample", "ｆilename", "anything"])
def test_a_first_column_of_texts_may_hold_clips(column: str, tmp_path: Path) -> None:
    path = tmp_path / "truth.tsv"
    header = f"{column}\tonset\toffset\tevent_label"
    path.write_text(f"{header}\nc0\t0\t1\tDog\nc1\t2\t3\tDog\n", encoding="utf-8")
    with pytest.raises(sed.SedscopeError, match="may hold the clips of the rows"):
        sed.read_events(path)
    path.write_text(f"{header}\n1\t0\t1\tDog\n2\t2\t3\tDog\n", encoding="utf-8")
    if column != "ｆilename":
        assert [*sed.read_events(path)] == ["truth"]  # the rows are numbered


def test_other_columns_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("onset\toffset\tevent_label\tprofile\tannotator\n0\t1\tDog\tloud\tN/A\n")
    assert [*sed.read_events(path)] == ["a"]


@pytest.mark.parametrize("marks", [1, 2, 3])
def test_byte_order_marks_are_not_part_of_the_first_name(marks: int, tmp_path: Path) -> None:
    for text in ("filename\tonset\toffset\tevent_label\na.wav\t0\t1\tDog\n", "a.wav\t0\t1\tDog\n"):
        (tmp_path / "truth.tsv").write_text("\ufeff" * marks + text, encoding="utf-8")
        assert sed.read_events(tmp_path / "truth.tsv") == {"a.wav": [(0, 1, "Dog")]}
    (tmp_path / "durations.csv").write_text(
        "\ufeff" * marks + "filename,duration\na,2\n", encoding="utf-8"
    )
    truth = sed.read_ground_truth(tmp_path / "truth.tsv", durations=tmp_path / "durations.csv")
    assert truth.clips == ("a",)
