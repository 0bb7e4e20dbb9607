"""A catalogue of broken inputs. Each gets its stated answer from every way in, and ``validate`` is never
milder than ``evaluate``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest

import sedscope as sed
from sedscope.data.choices import truth_overlaps
from sedscope.io.systems import read_system_scores

from ..support.command_line import run
from ..support.files import ARRAYS, DURATIONS, SCORES, TRUTH, Content, Files, table, write_files

Answer: TypeAlias = Literal["refuse", "warn", "accept"]

EVENTS = "filename onset offset event_label"
SCORED_EVENTS = "filename onset offset event_label confidence"
METRIC = sed.FScore(sed.Collar())


@dataclass(frozen=True)
class Case:
    """Changes of files, and what they get."""

    answer: Answer
    changes: Mapping[str, Content] = field(default_factory=dict)
    phrase: str = ""
    """In the message of the error or warning."""
    options: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The options for Python."""


def truth_rows(*rows: str) -> dict[str, Content]:
    return {"truth.tsv": table(EVENTS, *rows)}


def detected(*rows: str) -> dict[str, Content]:
    return {"events.tsv": table(EVENTS, *rows)}


REFERENCES = {
    "a good set": Case("accept"),
    "onset and offset swapped": Case("refuse", truth_rows("a 3 1 Dog", "b 0 1 Cat"), "swapped"),
    "no length, dropped": Case(
        "warn",
        truth_rows("a 1 1 Dog", "a 1 3 Dog", "b 0 1 Cat"),
        "no positive length",
        ("--invalid", "drop"),
        {"invalid": "drop"},
    ),
    "a negative onset": Case("refuse", truth_rows("a -1 3 Dog", "b 0 1 Cat"), "before 0 s"),
    "a negative onset, dropped": Case(
        "warn",
        truth_rows("a -1 0.5 Dog", "a 1 3 Dog", "b 0 1 Cat"),
        "before 0 s",
        ("--invalid", "drop"),
        {"invalid": "drop"},
    ),
    "a row twice": Case("refuse", truth_rows("a 1 3 Dog", "a 1 3 Dog", "b 0 1 Cat"), "overlaps another"),
    "a row twice, merged": Case(
        "warn",
        truth_rows("a 1 3 Dog", "a 1 3 Dog", "b 0 1 Cat"),
        "overlap",
        ("--overlaps", "merge"),
        {"overlaps": "merge"},
    ),
    "overlapping events": Case("refuse", truth_rows("a 1 3 Dog", "a 2 4 Dog", "b 0 1 Cat"), "overlaps"),
    "an event after the end": Case(
        "refuse", truth_rows("a 1 3 Dog", "b 5 6 Cat"), "the end of its clip"
    ),
    "a duration shorter than an event": Case(
        "warn",
        {"durations.tsv": table("filename duration", "a 3.5", "b 4")}
        | truth_rows("a 1 3.6 Dog", "b 0 1 Cat"),
        "ends after",
    ),
    "a suffix in the ground truth": Case("accept", truth_rows("a.wav 1 3 Dog", "x/b.flac 0 1 Cat")),
    "a clip under two names": Case(
        "refuse", truth_rows("a.wav 1 2 Dog", "a 2 3 Dog", "b 0 1 Cat"), "'a.wav'"
    ),
    "a time that is not a number": Case("refuse", truth_rows("a 1 x Dog", "b 0 1 Cat"), "'x'"),
    "no label": Case("refuse", truth_rows("a 1 3 ·", "b 0 1 Cat"), "no label"),
    "a cell too few": Case("refuse", {"truth.tsv": TRUTH + "b\t2\t3\n"}, "3 cells"),
    "another case": Case("refuse", truth_rows("a 1 3 dog", "b 0 1 Cat"), "did you mean Dog"),
    "an unknown label": Case("refuse", truth_rows("a 1 3 Dog", "b 0 1 Cat", "b 2 3 Cow"), "Cow"),
    "another case, classes chosen": Case(
        "refuse",
        truth_rows("a 1 3 dog", "b 0 1 Cat"),
        "spelled differently",
        ("--classes", "Dog,Cat"),
        {"classes": ["Dog", "Cat"]},
    ),
    "an unknown label, classes chosen": Case(
        "warn",
        truth_rows("a 1 3 Dog", "b 0 1 Cat", "b 2 3 Cow"),
        "Cow",
        ("--classes", "Dog,Cat"),
        {"classes": ["Dog", "Cat"]},
    ),
    "no common label": Case("refuse", truth_rows("a 1 3 Emu", "b 0 1 Cow"), "No label of the system"),
    "no common label, classes chosen": Case(
        "refuse",
        truth_rows("a 1 3 Emu", "b 0 1 Cow"),
        "No label of the system",
        ("--classes", "Dog"),
        {"classes": ["Dog"]},
    ),
    "two spellings on both sides": Case(
        "warn",
        {
            "truth.tsv": table(EVENTS, "a 1 3 Dog", "b 0 1 dog"),
            "scores/a.tsv": SCORES["a"].replace("Cat", "dog"),
            "scores/b.tsv": SCORES["b"].replace("Cat", "dog"),
        },
        "differ only in case",
    ),
    "a clip without scores": Case(
        "refuse",
        {"truth.tsv": TRUTH + table("c · · ·"), "durations.tsv": DURATIONS + table("c 4")},
        "no scores",
    ),
    "a clip without scores, left out": Case(
        "warn",
        {"truth.tsv": TRUTH + table("c · · ·"), "durations.tsv": DURATIONS + table("c 4")},
        "no scores",
        ("--clips", "scored"),
        {"clips": "scored"},
    ),
    "a clip that is not listed": Case("refuse", {"scores/c.tsv": SCORES["a"].replace(".9", ".7")}, "c"),
    "a clip that is not listed, empty": Case(
        "warn",
        {"scores/c.tsv": SCORES["a"].replace(".9", ".7"), "durations.tsv": None},
        "",
        ("--missing", "empty"),
        {"missing": "empty"},
    ),
    "a clip without a duration": Case(
        "refuse", {"durations.tsv": table("filename duration", "a 4")}, "no duration"
    ),
    "a negative duration": Case(
        "refuse", {"durations.tsv": table("filename duration", "a -4", "b 4")}, "above zero"
    ),
    "NaN": Case("refuse", {"scores/a.tsv": SCORES["a"].replace(".9", "nan")}, "NaN"),
    "weak labels without durations": Case(
        "refuse",
        {"truth.tsv": table("filename event_labels", "a.wav Dog", "b.wav Cat"), "durations.tsv": None},
        "durations",
    ),
    "weak labels with a negative duration": Case(
        "refuse",
        {
            "truth.tsv": table("filename event_labels", "a.wav Dog", "b.wav Cat"),
            "durations.tsv": table("filename duration", "a -5", "b 4"),
        },
        "above zero",
    ),
}

DETECTIONS = {
    "a good list": Case("accept", detected("a 1 3 Dog", "b 0 1 Cat")),
    "onset and offset swapped": Case(
        "refuse", detected("a 3 1 Dog", "b 0 1 Cat"), "ends before it begins"
    ),
    "an onset before 0 s": Case("accept", detected("a -0.1 3 Dog", "b 0 1 Cat")),
    "before 0 s": Case("refuse", detected("a -2 -1 Dog", "a 1 3 Dog", "b 0 1 Cat"), "ends before 0 s"),
    "a row twice": Case(
        "refuse", detected("a 1 3 Dog", "a 1 3 Dog", "b 0 1 Cat"), "average them into frames with"
    ),
    "overlapping windows": Case(
        "refuse", detected("a 0 3 Dog", "a 1 4 Dog", "b 0 1 Cat"), "merge them with"
    ),
    "overlapping events, merged": Case(
        "accept",
        detected("a 0 3 Dog", "a 1 4 Dog", "b 0 1 Cat"),
        "",
        ("--overlaps", "merge"),
        {"overlaps": "merge"},
    ),
    "overlapping windows, averaged": Case(
        "accept",
        detected("a 0 3 Dog", "a 1 4 Dog", "b 0 1 Cat"),
        "",
        ("--overlaps", "average"),
        {"overlaps": "average"},
    ),
    "a suffix": Case("accept", detected("a.wav 1 3 Dog", "b.mp3 0 1 Cat")),
    "no common label": Case("refuse", detected("a 1 3 dog", "b 0 1 cat"), "No label of the system"),
    "another case": Case("refuse", detected("a 1 3 dog", "b 0 1 Cat"), "spelled differently"),
    "a typo": Case("warn", detected("a 1 3 Doog", "b 0 1 Cat"), "Doog may be Dog"),
    "a class that is never detected": Case("warn", detected("a 1 3 Dog"), "never detected"),
    "a clip that is not listed": Case("refuse", detected("c 1 3 Dog", "b 0 1 Cat"), "c"),
    "a confidence that is not a number": Case(
        "refuse", {"events.tsv": table(SCORED_EVENTS, "a 1 3 Dog high", "b 0 1 Cat .9")}, "high"
    ),
    "no durations": Case(
        "refuse", detected("a 1 3 Dog", "b 0 1 Cat") | {"durations.tsv": None}, "durations"
    ),
}

CASES = {
    **{f"references: {name}": ("scores", case) for name, case in REFERENCES.items()},
    **{f"detections: {name}": ("events.tsv", case) for name, case in DETECTIONS.items()},
}
TRAINING = {  # the metric gets scores, clips and classes in another way
    name: case
    for name, case in REFERENCES.items()
    if not any(file.startswith("scores") for file in case.changes)
    and not {"classes", "clips", "missing"} & set(case.arguments)
}


def evaluate(files: Files, system: Path, case: Case) -> tuple[Answer, str]:
    """Evaluate in Python, and return the answer and its message."""
    options = {"classes", "clips", "missing"}
    chosen = {name: value for name, value in case.arguments.items() if name in options}
    overlaps = case.arguments.get("overlaps", "error")
    reading = {name: value for name, value in case.arguments.items() if name == "invalid"}
    durations = files.durations if files.durations.exists() else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        try:
            truth = sed.read_ground_truth(
                files.truth, durations=durations, overlaps=truth_overlaps(overlaps), **reading
            )
            scores = read_system_scores(system, truth, sed.SystemReading(overlaps=overlaps))
            result = sed.evaluate(scores, truth, METRIC, **chosen)
        except sed.SedscopeError as error:
            return "refuse", str(error)
    notes = [
        note for note in result.warnings if "no reference events" not in note or case.answer == "warn"
    ]
    return ("warn", "\n".join(notes)) if notes else ("accept", "")


@pytest.mark.parametrize(("system", "case"), CASES.values(), ids=CASES)
def test_every_way_in_gives_the_stated_answer(system: str, case: Case, tmp_path: Path) -> None:
    files = write_files(tmp_path, case.changes)
    path = files.folder / system
    stated = files.durations if files.durations.exists() else None
    durations = [] if stated is None else ["--durations", stated]

    answer, message = evaluate(files, path, case)
    assert (answer, case.phrase in message) == (case.answer, True), message

    metric = ["--metric", repr(METRIC)]
    outcome = run("evaluate", path, files.truth, *durations, *case.options, *metric)
    assert outcome.code == (2 if case.answer == "refuse" else 0), outcome.err
    assert case.answer == "accept" or case.phrase in outcome.err
    assert ("warning: " in outcome.err) == (case.answer == "warn")

    options = dict(case.arguments)
    overlaps, invalid = options.pop("overlaps", "error"), options.pop("invalid", "error")
    validation = sed.validate(
        path,
        files.truth,
        system_reading=sed.SystemReading(overlaps=overlaps),
        truth_reading=sed.TruthReading(
            durations=stated, invalid=invalid, overlaps=truth_overlaps(overlaps)
        ),
        **options,
    )
    assert bool(validation.errors) == (case.answer == "refuse"), str(validation)
    assert bool(validation.findings) or case.answer != "warn"
    outcome = run("validate", path, files.truth, *durations, *case.options)
    assert outcome.code == (case.answer == "refuse")


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("case", TRAINING.values(), ids=TRAINING)
def test_the_metric_for_training_gives_the_stated_answer(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")
    import torch

    from sedscope.torch import SEDMetric

    files = write_files(tmp_path, case.changes)
    durations = files.durations if files.durations.exists() else None

    def train() -> None:
        truth = sed.read_ground_truth(files.truth, durations=durations, **case.arguments)
        metric = SEDMetric(METRIC, ["Dog", "Cat"], frame=1.0, truth=truth)
        metric.update(torch.tensor(np.array(list(ARRAYS.values()))), list(ARRAYS))
        metric.compute()

    if case.answer != "refuse":
        train()
    elif case.phrase != "no scores":  # an epoch may end before all clips have come
        with pytest.raises(sed.SedscopeError, match=case.phrase):
            train()


def test_one_bad_row_hides_no_other(tmp_path: Path) -> None:
    rows = [
        "a 1 3 Dog",
        "a 3 x Dog",
        "b 0",
        "b 0 1 ·",
        "b 2 1 Cat",
        "b -1 1 Cat",
        "b 9 10 Cat",
        "b 0 1 Cat",
        "b 0 1 Cat",
        "b 2 3 Cow",
    ]
    files = write_files(tmp_path, truth_rows(*rows))
    text = str(
        sed.validate(
            files.scores, files.truth, truth_reading=sed.TruthReading(durations=files.durations)
        )
    )
    lines = text.splitlines()
    for message in (
        "3: onset '3', offset 'x'",
        "4: the row has 2 cells instead of 4",
        "5: no label",
        "6: b: Cat 2–1 s has no positive length",
        "7: b: Cat -1–1 s begins before 0 s",
        "8: b: Cat 9–10 s begins at or after the end of its clip",
        "10: b: Cat 0–1 s repeats another row",
    ):
        assert f"{files.truth}:{message}" in lines
    assert "Cow" in text


def test_ground_truth_alone(tmp_path: Path) -> None:
    files = write_files(tmp_path, truth_rows("a 1 3 Dog", "b 2 1 Cat"))
    validation = sed.validate(
        truth=files.truth, truth_reading=sed.TruthReading(durations=files.durations)
    )
    assert [finding.kind for finding in validation.errors] == ["events"]
    outcome = run("validate", files.truth)
    assert outcome.code == 1
    assert f"{files.truth}:3: b: Cat 2–1 s has no positive length" in outcome.out.splitlines()
    outcome = run("validate", files.truth, "--invalid", "drop")
    assert (outcome.code, "reference events: 1" in outcome.out) == (0, True)
    assert "Give SCORES and GROUND_TRUTH" in run("validate", *[files.truth] * 3).err
    with pytest.raises(sed.SedscopeError, match="nothing to check"):
        sed.validate()


def test_recordings_in_pieces_are_checked() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog")]}, durations={"a": 4})

    def scores(values: list[float]) -> sed.Scores:
        array = np.array(values)[:, None]
        pieces = sed.ClipPieces(lambda: [array[:3], array[3:]], frames=4, frame=1.0)
        return sed.Scores.from_pieces({"a": pieces}, classes=["Dog"])

    good = sed.validate(scores([0.1, 0.9, 0.8, 0.2]), truth)
    assert (good.findings, good.summary["frames"]) == ((), 4)
    [error] = sed.validate(scores([0.1, 0.9, 0.8, np.nan]), truth).errors
    assert (error.kind, error.where) == ("nan", ("clip a, class Dog, frame 3",))


def test_quotes_are_short(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    for change in (
        truth_rows(f"a 1 {long} Dog"),
        truth_rows(f"a 3 1 {long}"),
        truth_rows(f"{long} 3 1 Dog"),
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        files = write_files(folder, change)
        with pytest.raises(sed.SedscopeError) as error:
            sed.read_ground_truth(files.truth)
        assert len(str(error.value)) < 2000
        assert len(str(sed.validate(files.scores, files.truth))) < 5000
    with pytest.raises(sed.SedscopeError) as error:
        sed.GroundTruth.from_dict({"a": [(1, long, "Dog")]})  # type: ignore[list-item]
    assert len(str(error.value)) < 2000
    with pytest.raises(sed.SedscopeError) as error:
        sed.Scores.from_events({"a": [(1, long, "Dog")]})
    assert len(str(error.value)) < 2000


def test_sets_of_detections_need_a_common_label() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog")]}, durations={"a": 4})
    with pytest.raises(sed.SedscopeError, match="No label of the system is a label of the ground truth"):
        sed.evaluate_sets({0.5: {"a": [(1, 3, "dog")]}}, truth, METRIC)


def test_compare_refuses_labels_as_evaluate_does(tmp_path: Path) -> None:
    files = write_files(tmp_path, truth_rows("a 1 3 Dog", "b 0 1 Cow"))
    outcome = run(
        *("compare", f"x={files.scores}", f"y={files.scores}", files.truth),
        *("--durations", files.durations),
    )
    assert (outcome.code, "Cow" in outcome.err) == (2, True), outcome.err
