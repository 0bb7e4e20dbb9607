"""Ground truth from soft labels: which events are references, by their confidence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run

ROWS = [
    ("a", 0.0, 1.0, "Dog", "0.5"),
    ("a", 1.0, 2.0, "Dog", "0.6"),
    ("b", 0.0, 1.0, "Cat", "0.4"),
    ("c", "", "", "", ""),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    header = "filename\tonset\toffset\tevent_label\tconfidence"
    path = tmp_path / "truth.tsv"
    path.write_text("\n".join([header, *("\t".join(map(str, row)) for row in ROWS)]) + "\n")
    return path


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        ("> 0.5", [(1.0, 2.0, "Dog")]),
        (">=0.5", [(0.0, 1.0, "Dog"), (1.0, 2.0, "Dog")]),
        (" >1e-1 ", [(0.0, 1.0, "Dog"), (1.0, 2.0, "Dog")]),
    ],
)
def test_references_are_the_confident_events(
    path: Path, confidence: str, expected: list[tuple[float, float, str]]
) -> None:
    truth = sed.read_ground_truth(path, confidence=confidence)
    assert truth.events("a") == expected
    assert truth.clips == ("a", "b", "c")
    assert not truth.warnings
    names = ["filename", "onset", "offset", "event_label", "confidence"]
    columns = dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))
    columns["conf"] = columns.pop("confidence")
    from_table = sed.GroundTruth.from_table(
        columns, columns={"confidence": "conf"}, confidence=confidence
    )
    assert from_table.events("a") == expected


def test_confidences_that_nobody_asked_for_are_pointed_out(path: Path) -> None:
    truth = sed.read_ground_truth(path)
    assert len(truth) == 3
    (note,) = truth._warnings_about(["a"], ["Dog"])
    assert "all its events were taken as references" in note
    assert "confidences" in {finding.kind for finding in sed.validate(truth=path).findings}
    assert not sed.validate(truth=path, truth_reading=sed.TruthReading(confidence="> 0.5")).findings
    path.write_text(path.read_text().replace("0.5", "1").replace("0.6", "1.0").replace("0.4", "1"))
    assert not sed.read_ground_truth(path).warnings


@pytest.mark.parametrize("condition", ["0.5", "> x", "> nan", "< 0.5", "", 0.5])
def test_other_conditions_are_refused(path: Path, condition: str) -> None:
    with pytest.raises(sed.SedscopeError, match=r"Write .> 0\.5. or .>= 0\.5."):
        sed.read_ground_truth(path, confidence=condition)


def test_events_without_a_confidence_are_refused(path: Path) -> None:
    path.write_text(path.read_text().replace("0.4", "nan"))
    with pytest.raises(sed.SedscopeError, match="1 event has no number as confidence") as error:
        sed.read_ground_truth(path, confidence="> 0.5")
    assert error.value.lines == (f"{path}:4: the confidence is not a number",)
    path.write_text("filename\tonset\toffset\tevent_label\na\t0\t1\tDog\n")
    with pytest.raises(sed.SedscopeError, match="there are no confidences to choose"):
        sed.read_ground_truth(path, confidence="> 0.5")


def test_commands_choose_by_confidence(path: Path, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays(
        {clip: [[0.2, 0.1], [0.9, 0.3]] for clip in "abc"}, classes=["Dog", "Cat"], frame=1.0
    )
    sed.write_scores(scores, tmp_path / "scores")
    arguments = ("evaluate", tmp_path / "scores", path, "--metric", "BestFScore(Segment(1))")
    chosen = run(*arguments, "--truth-confidence", "> 0.5")
    assert "0.5000" in chosen.out  # Dog: 1 reference in three clips, all alike
    assert "taken as references" not in chosen.err
    assert "taken as references" in run(*arguments).err
