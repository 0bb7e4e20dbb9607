"""DCASE Task 5, few-shot bioacoustics, compared with its evaluator and with a brute force."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support.command_line import run
from ..support.few_shot import SHOTS, Mark, Recording, Subsets, count_subsets, overall, write_subsets

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
SHOWN: tuple[Mark, ...] = tuple((10 * i, 10 * i + 5, "POS") for i in range(SHOTS))  # the last ends at 45

EXAMPLE: Subsets = {
    "birds": {
        # the UNK at 40 ends with the last shot, the POS at 44 ends later and is evaluated
        "dawn": (
            (
                *SHOWN,
                (40, 45, "UNK"),
                (44, 54, "POS"),
                (60, 70, "POS"),
                (61, 71, "UNK"),
                (80, 90, "POS"),
            ),
            # a shot that is predicted is false; 0.3 of 80–90 is not enough; 60–70 is found twice
            [(0, 5), (44, 54), (60, 70), (61, 70), (62, 70), (80, 83)],
        ),
        "dusk": (
            (*SHOWN, (50, 60, "POS"), (55, 65, "POS"), (70, 75, "NEG")),
            [(50, 60), (52, 66), (70, 75)],
        ),
    },
    "bats": {
        "cave": ((*SHOWN, (50, 52, "POS"), (60, 61, "UNK")), [(50, 53), (60, 61), (90, 91)]),
        "roof": ((*SHOWN, (50, 52, "POS")), []),  # nothing is predicted: the shots are missed as well
    },
    "whales": {"sea": ((*SHOWN, (50, 60, "POS"), (70, 80, "POS")), [(51, 60), (70, 79)])},
}


def as_counts(result: sed.tasks.TaskEvaluation) -> dict[str, tuple[int, int, int]]:
    counts = {}
    for name, evaluation in result.datasets["bioacoustics"].groups["clips"].items():
        tally = next(iter(evaluation.counts.values()))["Q"].tally_at(0.5)
        counts[name] = (int(tally.tp), int(tally.fp), int(tally.fn))
    return counts


def test_the_values_of_the_evaluator(tmp_path: Path) -> None:
    predictions, reference = write_subsets(tmp_path, EXAMPLE)
    result = sed.tasks.evaluate_task("dcase_task5", predictions, reference)
    # measured with evaluation.py of the challenge
    assert as_counts(result) == {"bats": (1, 1, 6), "birds": (4, 4, 1), "whales": (2, 0, 0)}
    assert result.values["bioacoustics"] == pytest.approx(
        {"f1": 0.42105263157894735, "precision": 0.6, "recall": 0.3243243243243243}, rel=1e-14
    )
    assert result.score == result.values["bioacoustics"]["f1"]


events = st.tuples(st.integers(45, 70), st.integers(1, 20)).map(lambda event: (event[0], sum(event)))
marks = st.tuples(events, st.sampled_from(["POS", "POS", "UNK", "NEG"])).map(lambda it: (*it[0], it[1]))


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    predictions = draw(st.lists(events, max_size=4))
    return (*SHOWN, *draw(st.lists(marks, max_size=5))), predictions


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(st.lists(recordings(), min_size=1, max_size=2), min_size=1, max_size=3))
def test_counts_are_those_of_the_brute_force(
    drawn: list[list[Recording]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    subsets = {
        f"set{i}": {f"file{i}_{k}": recording for k, recording in enumerate(of_set)}
        for i, of_set in enumerate(drawn)
    }
    result = sed.tasks.evaluate_task(
        "dcase_task5", *write_subsets(tmp_path_factory.mktemp("sets"), subsets)
    )
    expected = count_subsets(subsets)
    assert as_counts(result) == expected
    assert result.values["bioacoustics"] == pytest.approx(overall(expected), rel=1e-12)


def test_the_pairing_with_the_fewest_false_positives(tmp_path: Path) -> None:
    #                46  50        60
    # POS                 ──────────
    # UNK             ──────────
    # predictions       ──────────      48 to 58, which fits both
    #                           ────
    marks = (*SHOWN, (46, 56, "UNK"), (50, 60, "POS"))
    predictions, reference = write_subsets(tmp_path, {"s": {"a": (marks, [(48, 58), (56, 60)])}})
    # evaluation.py of the challenge pairs the first prediction with the POS: (1, 1, 0)
    assert as_counts(sed.tasks.evaluate_task("dcase_task5", predictions, reference)) == {"s": (1, 0, 0)}


def test_rows_with_columns_of_classes(tmp_path: Path) -> None:
    predictions, reference = write_subsets(tmp_path, EXAMPLE)
    expected = sed.tasks.evaluate_task("dcase_task5", predictions, reference)
    classes = {"POS": "UNK,POS,NEG", "UNK": "NEG,UNK,NEG", "NEG": "NEG,NEG,NEG"}
    for file in reference.rglob("*.csv"):
        header, *lines = file.read_text().split()
        rows = [
            f"{times},{classes[mark]}" for times, _, mark in (line.rpartition(",") for line in lines)
        ]
        file.write_text("\n".join([header.replace("Q", "owl,crow,jay"), *rows, ""]))
    result = sed.tasks.evaluate_task("dcase_task5", predictions, reference)
    assert as_counts(result) == as_counts(expected)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_subsets(tmp_path, EXAMPLE)
    monkeypatch.chdir(tmp_path)
    task = ("--task", "dcase_task5", "--data", "reference")
    assert run("check", "predictions.csv", *task).out == "no problems\n"
    outcome = run("evaluate", "predictions.csv", *task, "--json", "result.json")
    assert outcome.code == 0, outcome.err
    assert "whales" in outcome.out
    assert "harmonic mean, values of at least 1e-05" in outcome.out
    plain = json.loads(Path("result.json").read_text())
    assert (
        plain["score"] == plain["datasets"]["bioacoustics"]["f1"] == pytest.approx(0.42105263157894735)
    )
    groups = plain["details"]["bioacoustics"]["groups"]["clips"]["groups"]
    assert groups["birds"]["metrics"][0]["value"] == pytest.approx(8 / 13)
    both = run("evaluate", "predictions.csv", "reference", "--task", "dcase_task5", "--json", "-")
    assert json.loads(both.out)["score"] == plain["score"]


def test_no_predictions_at_all(tmp_path: Path) -> None:
    nothing: Subsets = {
        name: {clip: (marks, []) for clip, (marks, _) in of.items()} for name, of in EXAMPLE.items()
    }
    result = sed.tasks.evaluate_task("dcase_task5", *write_subsets(tmp_path, nothing))
    assert result.values["bioacoustics"] == pytest.approx(
        dict.fromkeys(["f1", "precision", "recall"], 1e-5)
    )


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "predictions.csv",
            "owl.wav,1,2\n",
            "predictions.csv:16: the clip owl is not in the ground truth",
        ),
        (
            "predictions.csv",
            "sea.wav,2,1\n",
            r"predictions.csv:16: \(2.0, 1.0, 'Q'\) ends before it begins",
        ),
        ("reference/bats/roof.csv", None, r"roof.csv: 4 events are marked POS, but the first 5 are"),
        ("reference/bats/roof.csv", "cave.wav,1,2,POS\n", "roof.csv: the file has events of 2 clips"),
        ("reference/bats/sea.csv", "", r"1 clip is in two folders, .*: sea \(bats and whales\)"),
    ],
)
def test_what_is_refused(
    file: str, text: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_subsets(tmp_path, EXAMPLE)
    monkeypatch.chdir(tmp_path)
    path = Path(file)
    if text is None:
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:5]))
    elif path.exists():
        path.write_text(path.read_text() + text)
    else:
        path.write_text(Path("reference/whales/sea.csv").read_text())
    with pytest.raises(sed.SedscopeError, match=message):
        sed.tasks.evaluate_task("dcase_task5", "predictions.csv", "reference")
    checked = run("check", "predictions.csv", "--task", "dcase_task5", "--data", "reference")
    assert checked.code == (1 if file == "predictions.csv" else 2)
    if file == "predictions.csv":
        assert checked.out.startswith("predictions.csv:16: ")


def test_detections_must_be_certain(tmp_path: Path) -> None:
    _, reference = write_subsets(tmp_path, EXAMPLE)
    (tmp_path / "scored.tsv").write_text(
        "filename\tonset\toffset\tevent_label\tconfidence\nsea\t1\t2\tQ\t0.4\n"
    )
    with pytest.raises(sed.SedscopeError, match="a list of detections without confidences"):
        sed.tasks.evaluate_task("dcase_task5", tmp_path / "scored.tsv", reference)


def test_the_preset_points_to_the_task() -> None:
    assert "Use `task='dcase_task5'`" in sed.presets.PRESETS["few_shot_bioacoustics"].caution
