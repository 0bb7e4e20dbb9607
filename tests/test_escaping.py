"""Names that others chose, in everything that is printed or written: a name stays a name."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import sedscope as sed
from sedscope.cli.options.arguments import PrintableStream
from sedscope.compat.sed_eval.sound_event import SegmentBasedMetrics
from sedscope.errors import listing
from sedscope.escaping import csv_cell, csv_name, one_line, printable, toml_string
from sedscope.io.label_maps import LabelProposal
from sedscope.plots.axes import drawn_name
from sedscope.progress import ProgressBar

from .support.command_line import run
from .support.files import write_durations
from .support.output_kinds import (
    assert_csv,
    assert_json,
    assert_latex,
    assert_markdown,
    assert_notebook,
    assert_page,
    assert_printable,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

TERMINAL = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b2J and \x85 and \x90",
    "del\x7f",
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "a\u200bb",
    "Dog\u00ad",
    "Dog\u3164",
    "\U000e0041tag",
    "vt\x0bff\x0cnext",
    "u2028\u2028u2029\u2029x",
]
LINES = ["two\nlines", "cr\r\\input{x}", "crlf\r\nerror: none"]
MARKUP = [
    '=HYPERLINK("x","y")',
    "@SUM(1)",
    "+1-1",
    "'=1+1",
    "''@x",
    "[x](javascript:alert(1))",
    "![x](x.png)",
    "[x]: javascript:x",
    "<script>alert(1)</script>",
    "<https://x.example>",
    "&lt;b&gt;",
    "a|b`c``d",
    "# heading",
    "- item",
    "1. item",
    "~~struck~~ **bold** _soft_",
    "$x^2$",
    "_hidden",
    r"\input{evil}",
    r"^^M\input{evil}",
    "^^5cinput{evil}",
    "% comment",
    "[red]rich[/red]",
    "{0} {task.id} %s",
    "[0] first",
    "*star",
]
HOSTILE = [*TERMINAL, *LINES, *MARKUP]
IN_FILES = [name for name in HOSTILE if name not in LINES and "/" not in name]
"""Those that a line of a text file can hold."""
FOLDERS = r"[/\\]"
"""What divides the names of clips."""


# ---- what is written


@pytest.fixture(scope="module")
def data() -> tuple[sed.Scores, sed.GroundTruth]:
    """Clips and classes with all names."""
    rng = np.random.default_rng(1)
    clips = [f"{re.sub(FOLDERS, '', name)} {i}" for i, name in enumerate(HOSTILE)]
    arrays = {clip: rng.random((4, len(HOSTILE))) for clip in clips}
    events = {clip: [(1.0, 3.0, label)] for clip, label in zip(clips, HOSTILE, strict=True)}
    return (
        sed.Scores.from_arrays(arrays, classes=HOSTILE, frame=1.0),
        sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 4.0)),
    )


METRICS = {name: sed.FScore(sed.Segment(1.0), threshold=i / 100) for i, name in enumerate(HOSTILE)}
FEW = {
    name: METRICS[name]
    for name in ("two\nlines", "[x](javascript:alert(1))", "^^M\\input{evil}", "a|b`c``d")
}


@pytest.fixture(scope="module")
def results(data: tuple[sed.Scores, sed.GroundTruth]) -> dict[str, Any]:
    """Every kind of result. Groups, metrics and systems have the names, too."""
    scores, truth = data
    groups = {clip: HOSTILE[i % len(HOSTILE)] for i, clip in enumerate(truth.clips)}
    systems = dict.fromkeys(HOSTILE, scores)
    few = dict.fromkeys(["\x1b[31mred", "two\nlines", "=x|[y](z)"], scores)
    return {
        "evaluation": sed.evaluate(scores, truth, METRICS, by=groups),
        "comparison": sed.compare(few, truth, FEW, resampling=20),
        "ranking": sed.rank(systems, truth, FEW, resampling=20),
    }


KINDS = ("evaluation", "comparison", "ranking")


@pytest.mark.parametrize("kind", KINDS)
def test_results_can_be_printed(results: dict[str, Any], kind: str) -> None:
    result = results[kind]
    assert_printable(repr(result))
    assert_printable(result.table())
    lines = result.table().splitlines()
    assert lines == result.table().split("\n")
    assert_notebook(result._repr_html_())
    for warning in result.warnings:
        assert_printable(warning)
    if kind == "comparison":
        for name in FEW:
            assert_printable(result.class_table(name))


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_of_results_is_a_table_of_names(results: dict[str, Any], kind: str) -> None:
    cells = assert_markdown(results[kind].to_markdown())
    names = HOSTILE if kind == "evaluation" else FEW
    assert {one_line(name) for name in names} <= {*cells}


@pytest.mark.parametrize("kind", KINDS)
def test_latex_of_results_has_no_commands_of_names(results: dict[str, Any], kind: str) -> None:
    assert_latex(results[kind].to_latex())


@pytest.mark.parametrize("kind", KINDS)
def test_csv_of_results_is_not_executed(results: dict[str, Any], kind: str) -> None:
    rows = assert_csv(results[kind].to_csv())
    column = rows[0].index("class")
    assert {csv_name(row[column]) for row in rows[1:] if row[column]} == {*HOSTILE}
    if kind == "ranking":
        assert_csv(results[kind].pairs_to_csv())


@pytest.mark.parametrize("kind", ["evaluation", "ranking"])
def test_json_of_results_can_be_printed(results: dict[str, Any], kind: str) -> None:
    assert assert_json(results[kind].to_json()) == json.loads(json.dumps(results[kind].to_dict()))


def test_pages_hold_no_elements_of_names(results: dict[str, Any], tmp_path: Path) -> None:
    results["ranking"].site(tmp_path / "site", title=TERMINAL[0] + MARKUP[8])
    assert_page((tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    results["evaluation"].report(tmp_path / "report.html", name=TERMINAL[4] + MARKUP[8])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert_page(page)
    held = re.search('<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert held is not None
    assert HOSTILE[0] in json.loads(held[1])["classes"]


def test_other_objects_can_be_printed(
    data: tuple[sed.Scores, sed.GroundTruth], results: dict[str, Any]
) -> None:
    scores, truth = data
    errors = sed.boundary_errors(scores, truth, sed.Collar(), 0.5)
    diagnosis = sed.diagnose(scores, truth, sed.Collar(), 0.5)
    validation = sed.validate(scores, truth)
    counts = next(iter(results["evaluation"].counts.values()))
    for shown in (errors.table(), str(validation), str(LabelProposal(HOSTILE, ["x"]))):
        assert_printable(shown)
        assert not any(line.startswith("error: none") for line in shown.splitlines())
    assert_json(validation.to_json())
    for thing in (scores, truth, errors, diagnosis, counts, results["evaluation"].groups["clips"]):
        assert_printable(repr(thing))
        if hasattr(thing, "_repr_html_"):
            assert_notebook(thing._repr_html_())
    for label in HOSTILE:
        assert_printable(repr(counts[label]) + repr(diagnosis[label]) + repr(errors[label]))


def test_reports_of_older_tools_can_be_printed() -> None:
    events = [{"onset": 0.0, "offset": 1.0, "event_label": label} for label in HOSTILE]
    assert_printable(str(SegmentBasedMetrics(HOSTILE).evaluate(events, events)))


@pytest.mark.parametrize("name", HOSTILE)
def test_messages_can_be_printed(name: str) -> None:
    error = sed.SedscopeError(f"{name} is wrong.", lines=[f"{name}:1: wrong"])
    assert_printable(str(error))
    assert_printable("".join(error.lines))
    assert_printable(str(sed.SedscopeWarning(f"{name} is odd.")))
    assert "\n" not in listing([name])
    assert_printable(ProgressBar(name).text())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(name, sed.SedscopeWarning, stacklevel=1)
    assert_printable(str(caught[0].message))


@pytest.mark.parametrize("name", HOSTILE)
def test_toml_reads_back(name: str) -> None:
    text = f"{toml_string(name)} = {toml_string(name)}"
    assert_printable(text)
    assert tomllib.loads(text) == {name: name}


@pytest.mark.parametrize("name", [*HOSTILE, "-1", "'tis", "'", "-", "−1", "", "''=x"])
def test_cells_of_csv_read_back(name: str) -> None:
    assert csv_name(csv_cell(name)) == name


def test_only_what_cannot_be_seen_is_escaped() -> None:
    plain = "Überholspur – 犬の鳴き声, שלום, كلب, ½ ≤ 1 … 🐕 \u2009"
    assert printable(plain) == one_line(plain) == plain
    assert printable("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\nc") == r"a\tb\nc"


@pytest.mark.parametrize(
    "format", ["dcase", "sed_eval", "birdnet", "birdnet_kaleidoscope", "few_shot", "csv_bi"]
)
def test_comma_separated_events_are_not_executed_and_read_back(format: str, tmp_path: Path) -> None:
    clip = "clip" if format == "csv_bi" else "=clip"
    names = [name for name in IN_FILES if ";" not in name]  # it would divide the cells of a header
    events = {clip: [(float(i), i + 1.0, name) for i, name in enumerate(names)]}
    file = tmp_path / "clip.csv"
    sed.write_events(events, file, format=format, durations={clip: 99.0}, lossy=True)
    files = [file] if file.is_file() else [*file.iterdir()]
    for text in files:
        assert_csv(text.read_text(encoding="utf-8"))
    (read,) = sed.read_events(file, format=format).values()
    assert sorted(row[2] for row in read) == sorted(names)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_proposed_label_map_is_not_executed_and_reads_back(suffix: str, tmp_path: Path) -> None:
    system = [*IN_FILES, "=Dog bark"]
    file = tmp_path / f"map{suffix}"
    LabelProposal(system, ["=dog_bark"]).save(file)
    if suffix == ".csv":
        assert_csv(file.read_text(encoding="utf-8"))
    names = sed.read_label_map(file).names
    assert names["=Dog bark"] == "=dog_bark"
    assert {*names} == {*system, "=dog_bark"}


# ---- plots


def test_plots_show_names_as_they_are(
    data: tuple[sed.Scores, sed.GroundTruth], results: dict[str, Any]
) -> None:
    matplotlib.use("agg")

    shown = ["$x^2$", "_hidden", r"\input{evil}", "\x1b[31mred"]
    scores, truth = data
    arrays = {clip: scores[clip].values[:, : len(shown)] for clip in scores}
    system = sed.Scores.from_arrays(arrays, classes=shown, frame=1.0)
    events = {clip: [(1.0, 3.0, label) for label in shown] for clip in truth.clips}
    few_truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 4.0))
    result = sed.evaluate(system, few_truth, {"_$x$": sed.AveragePrecision(sed.Segment(1.0))})
    of_classes = result["_$x$"].plot()
    of_a_clip = sed.plots.plot_clip(system, few_truth, truth.clips[0])[0]
    figures: list[Any] = [
        of_classes,
        sed.plot({"$a$": result, "_b": result}, "_$x$"),
        of_a_clip,
        sed.plots.plot_groups(results["evaluation"], HOSTILE[0]),
    ]
    for axes in figures:
        for text in axes.figure.findobj(matplotlib.text.Text):
            drawn, is_math = text._preprocess_math(text.get_text())
            assert not is_math
            assert_printable(drawn)
    legends: list[Any] = [of_classes.figure.legends[0], of_a_clip.get_legend()]
    for legend in legends:
        texts = [text._preprocess_math(text.get_text())[0].strip() for text in legend.get_texts()]
        assert texts[: len(shown)] == [*map(one_line, shown)]


@pytest.mark.parametrize("name", HOSTILE)
def test_plots_that_are_typeset_by_latex_hold_no_commands_of_names(name: str) -> None:
    with matplotlib.rc_context({"text.usetex": True}):
        assert_latex(f"name: {drawn_name(name)}")


# ---- commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems and a ground truth whose files, clips and labels have hostile names."""
    place = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(2)
    clips = [f"{i} {re.sub(FOLDERS, '', name)}" for i, name in enumerate(IN_FILES)]
    events = {clip: [(1.0, 3.0, label)] for clip, label in zip(clips, IN_FILES, strict=True)}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 4.0))
    for name in ("\x1b[31mone", "\u202etwo"):
        arrays = {clip: rng.random((4, len(IN_FILES))) for clip in clips}
        scores = sed.Scores.from_arrays(arrays, classes=IN_FILES, frame=1.0)
        sed.write_scores(scores, place / f"{name}.npz")
    sed.write_ground_truth(truth, place / "truth.tsv")
    write_durations(truth, place / "durations.tsv")
    lines = [f"{clip}\t{IN_FILES[i % 5]}" for i, clip in enumerate(clips)]
    (place / "groups.tsv").write_text("\n".join(["filename\tgroup", *lines, ""]), encoding="utf-8")
    sed.write_ground_truth(truth.relabelled({IN_FILES[0]: "other"}), place / "other.tsv")
    return place


ONE, TWO = "\x1b[31mone.npz", "\u202etwo.npz"
TRUTH = ("truth.tsv", "--durations", "durations.tsv")
F1 = "\x1b[1mf\u202e1=FScore(Segment(1.0))"
FEW_RESAMPLES = ("--bootstrap", "20")
COMMANDS = {
    "evaluate": ("evaluate", ONE, *TRUTH, "--metric", F1, "--by", "groups.tsv"),
    "evaluate to JSON": ("evaluate", ONE, *TRUTH, "--metric", F1, "--json", "-"),
    "report": ("report", ONE, *TRUTH, "--metric", F1, "-o", "{out}/\x1breport.html"),
    "compare": ("compare", ONE, TWO, *TRUTH, "--metric", F1, *FEW_RESAMPLES),
    "rank": ("rank", ONE, TWO, *TRUTH, "--metric", F1, *FEW_RESAMPLES, "-o", "{out}/\x1bboard"),
    "deltas": ("deltas", ONE, *TRUTH, "--metric", "FScore(Segment(1.0))", "-o", "{out}/\x1b.deltas"),
    "tune": ("tune", ONE, *TRUTH, "--metric", "BestFScore(Segment(1.0))", "-o", "{out}/\x1bpoints.toml"),
    "validate": ("validate", ONE, *TRUTH),
    "validate to JSON": ("validate", ONE, *TRUTH, "--json", "-"),
    "labels": ("labels", ONE, "other.tsv", "-o", "{out}/\x1bmap.csv"),
    "convert": ("convert", ONE, "{out}/\x1bscores", "--to", "store"),
    "no file": ("evaluate", "\x1b[2J\u202e.npz", *TRUTH),
    "no command": ("\x1b[2J\u202e",),
    "no option": ("evaluate", ONE, *TRUTH, "--\x1b[2J"),
    "no metric": ("evaluate", ONE, *TRUTH, "--metric", "\x1b[2J(\u202e)"),
    "no such choice": ("evaluate", ONE, *TRUTH, "--gaps", "\x1b[2J"),
    "labels do not match": ("evaluate", ONE, "other.tsv", "--durations", "durations.tsv"),
    "no label map": ("evaluate", ONE, *TRUTH, "--labels", "map.toml"),
    "no points": ("detect", ONE, "--points", "points.toml"),
    "no task": ("check", ".", "--task", "task.toml", "--data", "."),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_no_control_characters(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for written in ("map.toml", "points.toml", "task.toml"):
        text = '"\\u001b[2J\\u202e" = "\\u009b"\n["\\u0007\\u2066"]\n"\\u001b" = 1\n'
        Path(written).write_text(text, encoding="utf-8")
    done = run(*(argument.replace("{out}", str(tmp_path)) for argument in COMMANDS[name]))
    assert_printable(done.out)
    assert_printable(done.err)
    assert done.out + done.err
    assert done.code == (2 if name.startswith(("no ", "labels do")) else 0), done.err
    if name.endswith("JSON"):
        assert_json(done.out)
    for file in tmp_path.glob("*.csv"):
        assert_csv(file.read_text(encoding="utf-8"))
    for file in tmp_path.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        assert_printable(text)
        assert {*tomllib.loads(text)["thresholds"]} == {*IN_FILES}


@pytest.mark.parametrize("terminal", [False, True])
def test_detected_events_are_unchanged_in_a_pipe_and_printable_on_a_terminal(
    terminal: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrintableStream, "isatty", lambda self: terminal)
    done = run("detect", folder / ONE, "--threshold", 0.0)
    assert done.code == 0, done.err
    if terminal:
        assert_printable(done.out.replace("\t", " "))
    else:
        rows = list(csv.reader(io.StringIO(done.out, newline=""), delimiter="\t"))
        assert {row[3] for row in rows[1:]} == {*IN_FILES}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_tasks_are_escaped(name: str, folder: Path, tmp_path: Path) -> None:
    segments = sed.tasks.Dataset({"f1": sed.FScore(sed.Segment(1.0))})
    task = sed.tasks.Task(
        name, {"_rooms_\u1160_": segments}, "_rooms_\u1160_.f1", about=name, source=name
    )
    sed.tasks.write_task(task, tmp_path / "task.toml")
    assert_printable((tmp_path / "task.toml").read_text(encoding="utf-8"))
    assert sed.tasks.read_task(tmp_path / "task.toml").name == name
    result = sed.tasks.evaluate_task(
        task, folder / ONE, truth=folder / "truth.tsv", durations=folder / "durations.tsv"
    )
    assert_printable(repr(result) + result.table())
    assert_markdown(result.to_markdown())
    assert_latex(result.to_latex())
    assert_csv(result.to_csv())
    assert assert_json(result.to_json())["task"] == name
