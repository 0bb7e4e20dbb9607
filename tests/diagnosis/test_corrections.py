"""Corrections: answers come back from every program, and change exactly the references that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.diagnosis import Correction, apply_corrections, list_errors, read_corrections

from ..support.command_line import run
from ..support.files import write_files
from ..support.three_systems import refused

FILES = {
    "detected.tsv": "filename\tonset\toffset\tevent_label\tconfidence\n"
    "a.wav\t11.5\t14\tSiren\t0.9\na.wav\t50\t52\tSiren\t0.6\nb.wav\t1\t2\tBell\t0.6\n",
    "truth.tsv": "filename\tonset\toffset\tevent_label\n"
    "a.wav\t10\t20\tSiren\nb.wav\t1\t2.2\tSiren\nb.wav\t3\t4\tBell\nc.wav\t\t\t\n",
    "durations.tsv": "filename\tduration\na.wav\t99\nb.wav\t10\nc.wav\t5\n",
}
ANSWERS = {("a", 11.5): "replace", ("a", 50.0): "add", ("b", 1.0, "missed"): "remove", ("b", 3.0): "no"}
CORRECTED = {"a": [(11.5, 14.0, "Siren"), (50.0, 52.0, "Siren")], "b": [(3.0, 4.0, "Bell")], "c": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES)
    return tmp_path


def listed(folder: Path, written: str) -> Path:
    command = ("errors", folder / "detected.tsv", folder / "truth.tsv", "--threshold", 0.2)
    options = ("--durations", folder / "durations.tsv", "-o", folder / written)
    outcome = run(*command, *options)
    assert outcome.code == 0, outcome.err
    return folder / written


def answer(clip: str, onset: float, error_type: str) -> str:
    return ANSWERS.get((clip, onset, error_type)) or ANSWERS.get((clip, onset)) or ""


def apply(folder: Path, edited: Path, *options: object) -> dict[str, list[tuple[float, float, str]]]:
    command = ("errors", "apply", edited, folder / "truth.tsv", "-o", folder / "new.tsv")
    outcome = run(*command, "--durations", folder / "durations.tsv", *options)
    assert outcome.code == 0, outcome.err
    return dict(sed.read_events(folder / "new.tsv"))


def test_answers_in_a_table(folder: Path) -> None:
    table = listed(folder, "errors.csv")
    header, *lines = table.read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("answer")
    edited = [header]
    for line in lines:
        cells = line.split(",")
        cells[place] = answer(cells[0], float(cells[1]), cells[4])
        edited.append(",".join(cells))
    table.write_text("\n".join(edited), encoding="utf-8")
    options = ("--system", folder / "detected.tsv", "--metric", "f1=FScore(IoU(0.1))")
    assert apply(folder, table, *options, "--changes", folder / "changes.csv") == CORRECTED
    changes = (folder / "changes.csv").read_text(encoding="utf-8").splitlines()
    assert changes[0].startswith("filename,change,before_label")
    assert sorted(line.split(",")[1] for line in changes[1:]) == ["add", "remove", "replace"]


@pytest.mark.filterwarnings("ignore:1 of 3 clips")
def test_a_metric_before_and_after(folder: Path) -> None:
    table = listed(folder, "errors.csv")
    lines = table.read_text(encoding="utf-8").replace("detection,0.6,,,,", "detection,0.6,add,,,")
    table.write_text(lines, encoding="utf-8")
    command = ("errors", "apply", table, folder / "truth.tsv", "-o", folder / "new.tsv")
    durations = ("--durations", folder / "durations.tsv")
    metric = "found=Recall(IoU(0.1), average='micro')"
    outcome = run(*command, *durations, "--system", folder / "detected.tsv", "--metric", metric)
    before, after = (
        sed.evaluate(
            folder / "detected.tsv", folder / name, metric[6:], durations=folder / "durations.tsv"
        )
        for name in ("truth.tsv", "new.tsv")
    )
    cells = outcome.out.splitlines()[-1].split()
    assert cells == ["found", *(f"{result[metric[6:]].value:.4f}" for result in (before, after))]
    assert cells[1] != cells[2]


@pytest.mark.parametrize("written", ["raven", "labels.audacity", "errors.selections.txt", "list.tsv"])
def test_answers_in_the_labels_of_other_programs(folder: Path, written: str) -> None:
    place = listed(folder, written)
    for file in [place] if place.is_file() else [*place.iterdir()]:
        text = file.read_text(encoding="utf-8")
        for label, reply in (
            ("11.500000.*Siren [?] too_short of", "replace"),
            ("50.000000.*Siren [?] background", " Add "),
            ("1.000000.*Siren [?] missed of Siren 1.0", "remove"),
            ("3.000000.*Bell [?] missed", "no"),
        ):
            begin, end = map(re.escape, label.split(".*"))
            pattern = f"({begin}\t.*{end})".replace(r"\[\?\]", r")\[\?\](")
            text = re.sub(pattern, rf"\g<1>[{reply}]\g<2>", text)
        file.write_text(text, encoding="utf-8")
    assert apply(folder, place) == CORRECTED


def test_edited_times_and_classes(folder: Path) -> None:
    track = folder / "a.txt"
    track.write_text(
        "12\t18\tBell [replace] too_short of Siren 10.000000-20.000000\n30\t31\tDog\n", encoding="utf-8"
    )
    assert apply(folder, track)["a"] == [(12.0, 18.0, "Bell")]


def test_other_lists_of_events_are_refused(folder: Path) -> None:
    table = listed(folder, "errors.csv")
    table.write_text(table.read_text(encoding="utf-8").replace("answer", "Answer"), encoding="utf-8")
    for other in (table, folder / "detected.tsv"):
        refused = run("errors", "apply", other, folder / "truth.tsv", "-o", folder / "new.tsv")
        assert refused.code == 2
        assert "is not a list of errors" in refused.err


times = st.tuples(st.integers(0, 40), st.integers(1, 5)).map(lambda t: (t[0] / 4, (t[0] + t[1]) / 4))
events = st.lists(
    st.tuples(times, st.sampled_from("ab")).map(lambda e: (*e[0], e[1])), unique=True, max_size=6
)


@settings(max_examples=200)
@given(st.data(), st.dictionaries(st.sampled_from("xyz"), events, min_size=1))
def test_only_what_is_named_changes(
    data: st.DataObject, clips: dict[str, list[tuple[float, float, str]]]
) -> None:
    truth = sed.GroundTruth.from_dict(
        clips, durations=dict.fromkeys(clips, 20), ignored={"x": [(0, 1, "a")]}, overlaps="keep"
    ) if "x" in clips else sed.GroundTruth.from_dict(clips, overlaps="keep")  # fmt: skip
    expected = {clip: sorted(of_clip) for clip, of_clip in clips.items()}
    corrections = []
    for clip, of_clip in clips.items():
        for event in of_clip:
            action = data.draw(st.sampled_from(["keep", "remove", "replace"]))
            moved = (event[0] + 100.125, event[1] + 100.5, "c")
            if action == "remove" and not (clip == "x" and event == (0, 1, "a")):
                corrections.append(Correction("remove", clip, event, event))
                expected[clip].remove(event)
            elif action == "replace" and "x" not in clips:
                corrections.append(Correction("replace", clip, moved, event))
                expected[clip].remove(event)
                expected[clip].append(moved)
        if "x" not in clips:
            corrections.append(Correction("add", clip, (200, 201, "d")))
            expected[clip].append((200, 201, "d"))
    corrected = apply_corrections(truth, [*corrections, *corrections])
    assert corrected.changes == tuple(corrections)
    assert {clip: sorted(corrected.truth.events(clip)) for clip in clips} == {
        clip: sorted(of_clip) for clip, of_clip in expected.items()
    }
    assert corrected.truth.clips == truth.clips
    for clip in clips:
        assert corrected.truth.ignored_events(clip) == truth.ignored_events(clip)


def test_what_does_not_fit(folder: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 9})
    dog = (0.0, 2.0, "Dog")
    for corrections, message in (
        ([Correction("remove", "a", dog, (0, 2.1, "Dog"))], r"no reference Dog 0–2\.1 s"),
        ([Correction("add", "b", dog)], "no clip 'b'"),
        ([Correction("add", "a", dog)], "is a reference already"),
        (
            [Correction("remove", "a", dog, dog), Correction("replace", "a", (1, 2, "Cat"), dog)],
            "changed otherwise",
        ),
        ([Correction("add", "a", (1, 3, "Dog"))], "overlaps another one"),
        ([Correction("add", "a", (9, 12, "Dog"))], "at or after the end"),
    ):
        with pytest.raises(sed.SedscopeError, match=message):
            apply_corrections(truth, corrections)
    track = folder / "a.txt"
    track.write_text("1\t2\tDog [maybe] background\n3\t4\tDog [remove] background\n", encoding="utf-8")
    with pytest.raises(sed.SedscopeError, match=r"2 answers are not usable: .*'maybe'.*no reference"):
        read_corrections(track)
    command = ("errors", "apply", track, folder / "truth.tsv", "-o", folder / "new.tsv")
    assert "maybe" in refused(run(*command))
    assert not (folder / "new.tsv").exists()
    assert "--metric needs a system" in refused(run(*command, "--metric", "psds1"))


def test_a_perfect_system_after_all_corrections() -> None:
    truth = sed.simulate.ground_truth(20, classes=3)
    system = sed.simulate.scores(truth)
    listed = list_errors(system, truth, sed.IoU(0.5), 0.5)
    corrections = [
        Correction("add", e.clip, (e.onset, e.offset, e.label))
        if e.side == "detection"
        else Correction("remove", e.clip, (e.onset, e.offset, e.label), e.reference)
        for e in listed
    ]
    corrected = apply_corrections(
        sed.GroundTruth.from_dict(
            {clip: truth.events(clip) for clip in truth.clips},
            durations=dict.fromkeys(truth.clips, 10.0),
            overlaps="keep",
        ),
        corrections,
    ).truth
    values = [sed.evaluate(system, of, "iou_f1")["iou_f1"].value for of in (truth, corrected)]
    assert values[0] < values[1] == 1.0
