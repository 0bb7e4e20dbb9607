"""``--labels`` in every command, and ``sedscope labels``."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run, table_rows
from ..support.files import Files, table, write_files

TRUTH = table("filename onset offset event_label", "a 1 3 dog", "b 0 1 cat")
"""That of the set, with labels in lower case."""
DETECTIONS = table("filename onset offset event_label confidence", "a 1 3 Dog .9", "b 0 1 Cat .7")
POINTS = "[thresholds]\ndog = 0.5\ncat = 0.5\n"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    changes = {
        "truth.tsv": TRUTH,
        "list.tsv": DETECTIONS,
        "map.csv": "from,to\nDog,dog\nCat,cat\n",
        "points.toml": POINTS,
    }
    written = write_files(tmp_path, changes)
    (tmp_path / "sets").mkdir()
    for threshold in ("0.5", "0.8"):
        text = "".join(line.rsplit("\t", 1)[0] + "\n" for line in DETECTIONS.splitlines())
        (tmp_path / "sets" / f"{threshold}.tsv").write_text(text)
    return written


COMMANDS = {
    "evaluate": "evaluate {system} {truth} --durations {durations} --metric collar_f1",
    "compare": "compare x={system} y={system} {truth} --durations {durations} --metric collar_f1",
    "tune": "tune {system} {truth} --durations {durations} --criterion Collar() -o {folder}/out.toml",
    "report": "report {system} {truth} --durations {durations} --metric collar_f1 -o {folder}/out.html",
    "deltas": "deltas {system} {truth} --durations {durations} --metric collar_f1 -o {folder}/out.npz",
    "validate": "validate {system} {truth} --durations {durations}",
    "diagnose": "diagnose {system} {truth} --durations {durations} --threshold 0.5 -o {folder}/out.md",
    "latency": "latency {system} {truth} --durations {durations} --threshold 0.5 -o {folder}/out.png",
    "detect": "detect {system} --points {folder}/points.toml -o {folder}/out.tsv",
}


@pytest.mark.parametrize(
    ("command", "system"),
    [
        ("evaluate", "sets"),
        *((command, system) for command in COMMANDS for system in ("scores", "list.tsv")),
    ],
)
def test_every_command_refuses_labels_that_do_not_agree_and_takes_a_map(
    files: Files, command: str, system: str
) -> None:
    paths = {"truth": files.truth, "durations": files.durations, "folder": files.folder}
    line = COMMANDS[command].format(system=files.folder / system, **paths).split()
    refused = run(*line)
    message = "No label of the system is a label of the"
    assert (refused.code, message in refused.out + refused.err) == (
        1 if command == "validate" else 2,
        True,
    )
    assert "Dog may be dog" in refused.out + refused.err
    assert "sedscope labels SYSTEM GROUND_TRUTH -o map.csv" in refused.out + refused.err
    assert not [*files.folder.glob("out*")]
    accepted = run(*line, "--labels", files.folder / "map.csv")
    assert (accepted.code, "label map" in accepted.err) == (0, False), accepted.err
    if command == "evaluate":
        assert table_rows(accepted.out)["overall"][-1] == "1.0000"


def test_a_map_can_be_for_one_side(files: Files) -> None:
    line = [
        "evaluate",
        files.scores,
        files.truth,
        "--durations",
        files.durations,
        "--metric",
        "collar_f1",
    ]
    to_upper = files.folder / "upper.csv"
    to_upper.write_text("from,to\ndog,Dog\ncat,Cat\n")
    rows = table_rows(run(*line, "--truth-labels", to_upper).out)
    assert {"Dog", "Cat"} <= {*rows}
    assert {"dog", "cat"} <= {*table_rows(run(*line, "--system-labels", files.folder / "map.csv").out)}
    sides = files.folder / "map.toml"
    sides.write_text(
        '[system]\nDog = "animal"\nCat = "animal"\n[truth]\ndog = "animal"\ncat = "animal"\n'
    )
    assert table_rows(run(*line, "--labels", sides).out)["animal"] == ["2", "1.0000"]
    assert (
        "has a table [truth], but --system-labels is for one side"
        in run(*line, "--system-labels", sides).err
    )
    typo = files.folder / "typo.csv"
    typo.write_text("from,to\nDog,dog\nCat,cat\nDogg,dog\n")
    assert "the ground truth has: Dogg (did you mean dog?)." in run(*line, "--labels", typo).err


@pytest.mark.parametrize("system", ["scores", "list.tsv", "sets"])
def test_the_proposed_map_is_ready_for_use(files: Files, system: str) -> None:
    files.truth.write_text(TRUTH + table("b 2 3 rain"))
    output = files.folder / "proposal.csv"
    printed = run("labels", files.folder / system, files.truth, "-o", output)
    assert printed.code == 0
    assert "proposed: 2 new labels" in printed.out
    assert "  Cat → cat" in printed.out
    assert "only the ground truth: 1 label: rain" in printed.out
    assert output.read_text().splitlines() == [
        "from,to,note",
        'Cat,cat,"system, proposed"',
        'Dog,dog,"system, proposed"',
        "cat,cat,ground truth",
        "dog,dog,ground truth",
        "rain,rain,only the ground truth",
    ]
    names = sed.read_label_map(output).names
    assert None not in names.values()  # nothing is dropped unasked
    assert {label: new for label, new in names.items() if label != new} == {"Cat": "cat", "Dog": "dog"}


def test_a_proposal_is_a_table(files: Files) -> None:
    refused = run("labels", files.scores, files.truth, "-o", files.folder / "map.toml")
    assert (refused.code, "ends with .csv or .tsv" in refused.err) == (2, True)


def test_a_map_without_effect_changes_nothing(files: Files) -> None:
    identity = files.folder / "identity.csv"
    identity.write_text("from,to\nDog,Dog\nCat,Cat\n")
    files.truth.write_text(TRUTH.replace("dog", "Dog").replace("cat", "Cat"))
    line = ["evaluate", files.scores, files.truth, "--durations", files.durations, "--metric", "psds1"]
    assert run(*line, "--labels", identity).out == run(*line).out


def test_conversion_takes_a_map(files: Files) -> None:
    target = files.folder / "converted.npz"
    assert run("convert", files.scores, target, "--labels", files.folder / "map.csv").code == 0
    assert sed.read_scores(target).classes == ("dog", "cat")


@pytest.mark.parametrize("command", ["labels", *(name for name in COMMANDS if name != "compare")])
def test_columns_of_detections_choose_the_labels(files: Files, command: str) -> None:
    header = "Start (s),End (s),Scientific name,Common name,Confidence,File\n"
    (files.folder / "birdnet.csv").write_text(
        f"{header}1.0,3.0,dog,Dog,0.9,a.wav\n0.0,1.0,cat,Cat,0.7,b.wav\n"
    )
    paths = {"truth": files.truth, "durations": files.durations, "folder": files.folder}
    form = {**COMMANDS, "labels": "labels {system} {truth}"}[command]
    line = form.format(system=files.folder / "birdnet.csv", **paths).split()
    outcome = run(*line, "--scores-columns", "label=Scientific name")
    assert outcome.code == 0, outcome.err
    if command == "labels":
        assert "both sides: 2 labels: cat, dog" in outcome.out
    elif command == "evaluate":
        assert table_rows(outcome.out)["overall"][-1] == "1.0000"


def test_scientific_and_common_names_of_birdnet_are_paired(tmp_path: Path) -> None:
    header = "Start (s),End (s),Scientific name,Common name,Confidence,File\n"
    rows = (
        "0,3,Parus major,Great Tit,0.9,a.wav\n3,6,Turdus merula,Eurasian Blackbird,0.8,a.wav\n"
        "6,9,Strix aluco,Tawny Owl,0.8,a.wav\n0,3,Corvus one,Crow,0.8,a.wav\n3,6,Corvus two,Crow,0.8,a.wav\n"
    )
    (tmp_path / "birdnet").mkdir()
    (tmp_path / "birdnet" / "table.csv").write_text(header + rows)
    labels = ("Parus major", "turdus_merula", "Corvus one", "Wind")
    events = "".join(f"a\t{i}\t{i + 0.5}\t{label}\n" for i, label in enumerate(labels))
    (tmp_path / "truth.tsv").write_text(f"filename\tonset\toffset\tevent_label\n{events}")
    command = ("labels", tmp_path / "birdnet", tmp_path / "truth.tsv", "-o", tmp_path / "names.csv")
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    assert "proposed: 2 new labels" in outcome.out
    names = sed.read_label_map(tmp_path / "names.csv").names
    assert names["Great Tit"] == "Parus major"
    assert names["Eurasian Blackbird"] == "turdus_merula"
    assert names["Crow"] == "Crow"  # which of the two it is, nothing says
    (tmp_path / "truth.tsv").write_text("filename\tonset\toffset\tevent_label\na\t0\t1\tGreat Tit\n")
    outcome = run(*command[:3], "--scores-columns", "label=Scientific name")
    assert "Parus major → Great Tit" in outcome.out
