"""Conversion between formats and back: nothing is lost, or a message says what would be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.io.events.files import EVENT_FORMATS
from sedscope.io.scores.files import SCORE_FORMATS
from sedscope.io.side_tables import read_durations

from ..support.command_line import run
from ..support.equality import assert_equal_scores
from ..support.event_files import SAMPLES
from ..support.event_files.sample import PLAIN, SCORED, Events, Sample
from ..support.files import ARRAYS, TRUTH, table, write_files
from ..support.project import ROOT
from ..support.real_data import desed_scores, excerpt_scores
from ..support.score_files import TARGETS
from ..support.systems import posix_only

if os.name == "posix":
    import resource

PER_CLIP = [name for name, format in EVENT_FORMATS.items() if format.per_clip]
WITH_TIMES = [
    name
    for name, format in EVENT_FORMATS.items()
    if "times" in format.holds and format.name != "biodcase" and format.label is None
]


def events_file(folder: Path, events: Events) -> Path:
    sed.write_events(events, folder / "events.tsv")
    return folder / "events.tsv"


@pytest.mark.parametrize("name", WITH_TIMES)
@pytest.mark.parametrize("scored", [False, True])
def test_events_there_and_back(name: str, scored: bool, tmp_path: Path) -> None:
    events = SCORED if scored else PLAIN
    if not EVENT_FORMATS[name].holds_spaces:
        events = {
            clip: [(on, off, label.replace(" ", "_"), *rest) for on, off, label, *rest in of_clip]
            for clip, of_clip in events.items()
        }
    target = tmp_path / ("out" if name in PER_CLIP else "out.txt")
    if scored and "confidences" not in EVENT_FORMATS[name].holds:
        with pytest.raises(
            sed.SedscopeError, match=r"cannot hold the confidences of events.*`lossy=True`"
        ):
            sed.convert(events_file(tmp_path, events), target, to=name)
        assert not target.exists()
        return
    durations = dict.fromkeys(events, 60.0) if EVENT_FORMATS[name].reads_durations else None
    done = sed.convert(events_file(tmp_path, events), target, to=name, durations=durations)
    assert (done.kind, done.source, done.target, done.clips) == ("events", "dcase", name, 2)
    back = sed.convert(
        target,
        tmp_path / "back.tsv",
        reading=sed.SystemReading(format=name if name == "table" else None),
    )
    assert back.clips == 2
    got = sed.read_events(tmp_path / "back.tsv")
    if durations is not None:  # these formats add the suffix of the sound file
        got = sed.Events((clip.removesuffix(".wav"), of_clip) for clip, of_clip in got.items())
    expected = events if scored or name not in ("birdnet", "birdnet_audacity") else None
    assert {clip: [event[:3] for event in of_clip] for clip, of_clip in got.items()} == {
        clip: [event[:3] for event in of_clip] for clip, of_clip in events.items()
    }
    if expected and scored:
        assert got == expected


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_samples_become_tables(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    where = sample.write(tmp_path / "in")
    how = dict(sample.options)
    options: dict[str, Any] = {"durations": how.pop("durations", None)}
    options["reading"] = sed.SystemReading(**how)
    if sample.durations:
        with pytest.raises(sed.SedscopeError, match="cannot hold the durations of"):
            sed.convert(where, tmp_path / "out.tsv", **options)
        options["durations_output"] = tmp_path / "durations.tsv"
    sed.convert(where, tmp_path / "out.tsv", **options)
    assert sed.read_events(tmp_path / "out.tsv") == sample.events
    if sample.durations:
        assert read_durations(tmp_path / "durations.tsv") == sample.durations


@pytest.mark.parametrize("first", SCORE_FORMATS)
@pytest.mark.parametrize("second", SCORE_FORMATS)
def test_scores_there_and_back(first: str, second: str, tmp_path: Path) -> None:
    scores = sed.read_scores(write_files(tmp_path).scores)
    one, other = (tmp_path / f"{number}{TARGETS[name]}" for number, name in ((1, first), (2, second)))
    sed.convert(tmp_path / "scores", one, to=first)
    done = sed.convert(one, other, to=second)
    assert (done.kind, done.source, done.target, done.clips) == ("scores", first, second, 2)
    assert_equal_scores(sed.read_scores(other), scores)


def test_names_of_targets(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    for name, format in (
        ("a", "store"),
        ("a.store", "store"),
        ("a.npz", "npz"),
        ("a.H5", "hdf5"),
        ("a.parquet", "parquet"),
    ):
        assert sed.convert(files.scores, tmp_path / "out" / name).target == format
    for name, format in (
        ("a.tsv", "dcase"),
        ("a.csv", "dcase"),
        ("a.parquet", "table"),
        ("x.selections.txt", "raven"),
        ("x.BirdNET.results.csv", "birdnet"),
        ("x.BirdNET.selection.table.txt", "birdnet_raven"),
    ):
        durations = files.durations if EVENT_FORMATS[format].reads_durations else None
        done = sed.convert(files.truth, tmp_path / "out" / name, durations=durations)
        assert done.target == format
    with pytest.raises(sed.SedscopeError, match=r"Choose one with `to=` from dcase, .*audacity"):
        sed.convert(files.truth, tmp_path / "labels.txt")
    with pytest.raises(sed.SedscopeError, match=r"Choose one with `to=` from tsv, store, npz"):
        sed.convert(files.scores, tmp_path / "scores.wav")
    with pytest.raises(sed.SedscopeError, match=r"no format 'wav'\. Choose from tsv"):
        sed.convert(files.scores, tmp_path / "y", reading=sed.SystemReading(format="wav"))
    (files.scores / "a.tsv").write_text("onset\toffset\tDog\n0\tx\t1\n")  # which is not read
    with pytest.raises(sed.SedscopeError, match=r"Choose one with `to=` from tsv, store, npz"):
        sed.convert(files.scores, tmp_path / "scores.st", reading=sed.SystemReading(stitch=None))
    with pytest.raises(sed.SedscopeError, match=r"no score format 'wav'\. Choose from tsv"):
        sed.convert(files.scores, tmp_path / "y", reading=sed.SystemReading(stitch=None), to="wav")
    with pytest.raises(
        sed.SedscopeError, match=r"holds scores, but dcase holds events.*sedscope detect"
    ):
        sed.convert(files.scores, tmp_path / "y", to="dcase")
    with pytest.raises(sed.SedscopeError, match="it is also an input"):
        sed.convert(files.truth, files.truth)


def test_scored_events_as_scores(tmp_path: Path) -> None:
    where = SAMPLES["BirdNET, csv"].write(tmp_path)
    done = sed.convert(where, tmp_path / "out", to="store")
    assert (done.kind, done.target) == ("events", "store")
    scores = sed.read_scores(tmp_path / "out")
    assert sed.detect(scores, 0.5) == {"a": [(0, 3, "Great Tit")], "b": [(0, 3, "Wren")]}
    with pytest.raises(sed.SedscopeError, match="do not say how long their clips are"):
        sed.convert(where, tmp_path / "out.parquet", to="parquet")


def test_windows_that_overlap_are_averaged(tmp_path: Path) -> None:
    #   0   1.5   3   4.5   6 s
    #   [   .9    )
    #       [   .3    )
    #             [   .6    )
    events = {
        "a": [(0, 3, "Wren", 0.9), (1.5, 4.5, "Wren", 0.3), (3, 6, "Wren", 0.6), (0, 3, "Tit", 0.5)]
    }
    with pytest.raises(sed.SedscopeError, match="overlap another one of the same class"):
        sed.Scores.from_events(events)
    scores = sed.Scores.from_events(events, overlaps="average")
    assert scores["a"].edges.tolist() == [0, 1.5, 3, 4.5, 6]
    assert scores["a"].values[:, 1] == pytest.approx([0.9, 0.6, 0.45, 0.6])
    assert scores["a"].values[:, 0].tolist() == [0.5, 0.5, -np.inf, -np.inf]
    sed.convert(
        events_file(tmp_path, events),
        tmp_path / "out",
        reading=sed.SystemReading(overlaps="average"),
        to="store",
    )
    assert_equal_scores(sed.read_scores(tmp_path / "out"), scores)
    done = sed.convert(
        events_file(tmp_path, events),
        tmp_path / "named.store",
        reading=sed.SystemReading(overlaps="average"),
    )
    assert done.target == "store"
    assert_equal_scores(sed.read_scores(tmp_path / "named.store"), scores)


# The command line


def test_convert_on_the_command_line(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    outcome = run("convert", files.scores, tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"2 clips of scores, from tsv to store: {tmp_path / 'out'}\n"
    assert sed.read_scores(tmp_path / "out")["a"].values.tolist() == ARRAYS["a"]
    again = run("convert", files.scores, tmp_path / "out")
    assert again.code == 2
    assert "is not empty" in again.err


def test_columns_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("rec;Begin Time, s;End (s);species\na;0;1;Wren\n")
    columns = 'filename=rec, onset="Begin Time, s",offset=End (s),label=species'
    assert run("convert", file, tmp_path / "out.tsv", "--columns", columns).code == 0
    assert sed.read_events(tmp_path / "out.tsv") == {"a": [(0, 1, "Wren")]}
    outcome = run("convert", file, tmp_path / "out2.tsv", "--columns", "filename")
    assert outcome.code == 2
    assert "Write key=name,key=name" in outcome.err


def test_formats_are_listed() -> None:
    outcome = run("formats")
    assert outcome.code == 0
    for name in (*SCORE_FORMATS, *EVENT_FORMATS):
        assert f"  {name} " in outcome.out


def test_formats_are_documented() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for name in (*SCORE_FORMATS, *EVENT_FORMATS):
        assert f"`{name}`" in page


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    for source, options, message in (
        (files.scores, {"label": "Dog"}, "holds scores, so label= cannot be used"),
        (files.scores, {"durations_output": "x"}, "holds scores, so durations_output="),
        (files.scores, {"frame": 0.5}, "the format tsv states classes and times itself"),
        (files.truth, {"frame": 0.5, "classes": ["Dog"]}, "holds events, so classes=, frame="),
        (files.truth, {"stitch": None}, "holds events, so stitch="),
    ):
        arguments: dict[str, Any] = dict(options)
        if "durations_output" not in options:
            arguments = {"reading": sed.SystemReading(**arguments)}
        with pytest.raises(sed.SedscopeError, match=message):
            sed.convert(
                source, tmp_path / "out.tsv", to=None if source == files.truth else "tsv", **arguments
            )
    (tmp_path / "a.txt").write_text("0\t1\tDog\n")
    with pytest.raises(sed.SedscopeError, match="the format audacity has no columns that can be named"):
        sed.read_events(tmp_path / "a.txt", columns={"label": "x"})
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "0.5.tsv").write_text(TRUTH)
    outcome = run("validate", tmp_path / "sets", files.truth)
    assert (outcome.code, "one per threshold. Validate one of them" in outcome.err) == (2, True)


@pytest.mark.parametrize("command", ["evaluate", "tune", "detect"])
@pytest.mark.parametrize("name", [name for name in SCORE_FORMATS if name != "tsv"])
def test_commands_take_scores_in_every_format(command: str, name: str, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    sed.convert(files.scores, tmp_path / TARGETS[name], to=name)

    def outcome(scores: Path) -> tuple[int, str]:
        truth = [] if command == "detect" else [files.truth, "--durations", files.durations]
        more = {"detect": ["--threshold", 0.5], "tune": ["-o", tmp_path / "p.toml"], "evaluate": []}[
            command
        ]
        done = run(command, scores, *truth, *more)
        return done.code, done.out

    expected = outcome(files.scores)
    assert expected[0] == 0
    assert outcome(tmp_path / TARGETS[name]) == expected


@pytest.mark.parametrize("name", [name for name in WITH_TIMES if name != "dcase"])
def test_commands_take_events_in_every_format(name: str, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    target = tmp_path / ("out" if name in PER_CLIP else "out.txt")
    durations = files.durations if EVENT_FORMATS[name].reads_durations else None
    sed.convert(files.truth, target, to=name, durations=durations)
    arguments = ["--durations", files.durations, "--json", "-"]
    format = ["--format", "table"] if name == "table" else []
    expected = run("evaluate", files.scores, files.truth, *arguments)
    got = run("evaluate", files.scores, target, *arguments, *format)
    assert (got.code, got.out) == (0, expected.out)
    metric = ["--metric", "FScore(Collar())"]
    system = ["--scores-format", name] if name == "table" else []
    detected = run("evaluate", target, files.truth, *arguments, *metric, *system)
    assert (detected.code, '"value": 1.0' in detected.out) == (0, True)


def test_a_table_of_ones_own_on_the_command_line(tmp_path: Path) -> None:
    own = TRUTH.replace("filename\tonset\toffset\tevent_label", "File\tBegin (s)\tEnd (s)\tCall")
    files = write_files(tmp_path, {"truth.tsv": own})
    columns = "filename=File,onset=Begin (s),offset=End (s),label=Call"
    outcome = run("evaluate", files.scores, files.truth, "--columns", columns)
    assert outcome.code == 0
    assert "overall" in outcome.out


def test_chunks_on_the_command_line(tmp_path: Path) -> None:
    header = "onset offset Dog Cat"
    changes: dict[str, Any] = {
        "scores/a-0-2.tsv": table(header, "0 1 .1 .1", "1 2 .9 .1"),
        "scores/a-1-4.tsv": table(header, "0 1 .9 .1", "1 2 .8 .1", "2 3 .2 .1"),
        "scores/b-0.tsv": table(header, "0 4 .1 .7"),
        "scores/a.tsv": None,
        "scores/b.tsv": None,
    }
    files = write_files(tmp_path, changes)
    outcome = run("detect", files.scores, "--threshold", 0.5, "--stitch", "seconds")
    assert outcome.out == table(
        "filename onset offset event_label confidence",
        "a 1.000000 3.000000 Dog 0.9",
        "b 0.000000 4.000000 Cat 0.7",
    )
    assert run("evaluate", files.scores, files.truth, "--stitch", "seconds").code == 0
    assert run("convert", files.scores, tmp_path / "out", "--stitch", "seconds").code == 0
    assert list(sed.read_scores(tmp_path / "out")) == ["a", "b"]
    chunks = table("filename recording start", "a-0-2 x 0", "a-1-4 x 1", "b-0 y 0")
    (tmp_path / "chunks.tsv").write_text(chunks)
    done = run("detect", files.scores, "--threshold", 0.5, "--stitch", tmp_path / "chunks.tsv")
    assert "x\t1.000000\t3.000000\tDog" in done.out


# Real data


def test_the_excerpt_in_every_format(data: Path, tmp_path: Path) -> None:
    scores = excerpt_scores(data)
    for name, target in TARGETS.items():
        (tmp_path / name).mkdir()
        sed.convert(data / "dcase2023_excerpt" / "scores", tmp_path / name / target, to=name)
        assert_equal_scores(sed.read_scores(tmp_path / name / target), scores)


def test_the_validation_set_as_a_store(data: Path, tmp_path: Path) -> None:
    scores = desed_scores(data)
    sed.write_scores(scores, tmp_path / "out", format="store")
    assert_equal_scores(sed.read_scores(tmp_path / "out"), scores)
    truth = data / "desed_validation" / "ground_truth.tsv"
    for name in WITH_TIMES:
        target = tmp_path / name / ("out" if name in PER_CLIP else "out.txt")
        target.parent.mkdir()
        durations = truth.with_name("durations.tsv") if EVENT_FORMATS[name].reads_durations else None
        sed.convert(truth, target, to=name, durations=durations, lossy=True)
        format = "table" if name == "table" else None
        again = sed.read_ground_truth(target, format=format)
        assert len(again) == len(sed.read_ground_truth(truth)), name


# A full disk, and an end in the middle


@posix_only
@pytest.mark.parametrize("name", SCORE_FORMATS)
def test_a_full_disk_is_reported(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"clip{i}": rng.random((2000, 10)) for i in range(4)}
    scores = sed.Scores.from_arrays(arrays, classes=list("abcdefghij"), frame=0.02)
    sed.write_scores(scores, tmp_path / "in", format="store")
    target = tmp_path / "to" / TARGETS[name]
    code = (
        "import resource, signal, sys, sedscope as sed\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sed.write_scores, sed.read_scores\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        f"    sed.convert({str(tmp_path / 'in')!r}, {str(target)!r}, to={name!r})\n"
        "except sed.SedscopeError as error:\n"
        "    print(error)\n"
    )
    (tmp_path / "to").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )
    assert "Cannot write" in done.stdout
    assert "File too large" in done.stdout
    assert not list((tmp_path / "to").iterdir())


@posix_only
def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path) -> None:
    def load(clip: str) -> Any:
        if clip == "c":
            raise KeyboardInterrupt
        return [[0.1]]

    scores = sed.Scores.from_function("abcd", load, classes=["Dog"], frame=1.0)
    for name, target in TARGETS.items():
        with pytest.raises(KeyboardInterrupt):
            sed.write_scores(scores, tmp_path / target, format=name)
        assert not list(tmp_path.iterdir()), name
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
