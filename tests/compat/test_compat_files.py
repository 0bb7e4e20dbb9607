"""The drop-in for sed_scores_eval: files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import clip_based, intersection_based, io
from sedscope.compat.sed_scores_eval.base_modules import detection

from ..support.compat.sets import DURATIONS, GRID, SCORES, TRUTH, simulated


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    io.write_sed_scores(frames, tmp_path / "scores")
    back = io.read_sed_scores(tmp_path / "scores")
    assert list(back) == sorted(frames)
    for clip, table in frames.items():
        assert np.array_equal(back[clip].to_numpy(), table.to_numpy())
    io.write_ground_truth_events(truth, tmp_path / "truth.tsv")
    read = io.read_ground_truth_events(tmp_path / "truth.tsv")
    assert {clip: [tuple(event) for event in events] for clip, events in read.items()} == truth
    assert io.read_ground_truth_events(pandas.read_csv(tmp_path / "truth.tsv", sep="\t")) == read
    rows = "".join(f"{clip}.wav\t{seconds}\n" for clip, seconds in durations.items())
    (tmp_path / "durations.tsv").write_text("filename\tduration\n" + rows)
    assert io.parse_audio_durations(tmp_path / "durations.tsv", audio_ids=list(frames)) == durations
    scores, events, clips = io.parse_inputs(tmp_path / "scores", tmp_path / "truth.tsv")
    assert clips == sorted(scores) == sorted(events)


def test_tags_are_read_from_rows_or_lists(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("filename\tevent_label\na.wav\tDog\na.wav\tCat\nb.wav\t\n")
    (tmp_path / "lists.tsv").write_text("filename\tevent_labels\na.wav\tDog,Cat\nb.wav\t\n")
    expected = ({"a": ["Dog", "Cat"], "b": []}, {"Dog": 1, "Cat": 1})
    assert io.read_ground_truth_tags(tmp_path / "rows.tsv") == expected
    assert io.read_ground_truth_tags(tmp_path / "lists.tsv") == expected
    given = clip_based.fscore(SCORES, {"a": ["Dog", "Cat"], "b": []}, 0.5)[0]
    assert clip_based.fscore(SCORES, tmp_path / "rows.tsv", 0.5)[0] == given


def test_detections_are_added_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "events.tsv"
    io.write_detection(SCORES, 0.5, path)
    io.write_detections({"a": SCORES["a"]}, {"Dog": 0.85, "Cat": 0.5}, path)
    assert path.read_text().splitlines() == [
        "filename\tonset\toffset\tevent_label",
        "a.wav\t1.0\t3.0\tDog",
        "b.wav\t0.0\t1.0\tCat",
        "a.wav\t1.0\t2.0\tDog",
    ]
    io.write_detections_for_multiple_thresholds(SCORES, [0.25, 0.5], tmp_path / "points")
    assert sorted(file.name for file in (tmp_path / "points").iterdir()) == ["0.250.tsv", "0.500.tsv"]


def test_rows_that_another_process_appends_meanwhile_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "detections.tsv"
    io.write_detection({}, 0.5, path)

    def slow(*arguments: Any) -> Any:
        with path.open("a") as file:
            file.write("other.wav\t0\t1\tDog\n")
        return detect(*arguments)

    detect = detection.scores_to_event_list
    monkeypatch.setattr(io, "scores_to_event_list", slow)
    io.write_detection(SCORES, 0.5, path)
    assert "other.wav" in path.read_text()


def test_a_score_transform_spreads_scores_in_references(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    io.write_score_transform(frames, truth, tmp_path / "transform.tsv", classwise_transform=True)
    transform = io.read_score_transform(tmp_path / "transform.tsv")
    moved = {clip: transform(table) for clip, table in frames.items()}
    before, *_ = intersection_based.psds(frames, truth, durations, **GRID)
    after, *_ = intersection_based.psds(moved, truth, durations, **GRID)
    assert after == pytest.approx(before, abs=1e-12)
    assert any(not moved[clip].equals(frames[clip]) for clip in frames)


def test_detections_in_files_are_operating_points(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    thresholds = np.linspace(0.1, 0.9, 9)
    approximate = intersection_based.reference.approximate_psds
    of_folder = intersection_based.reference.approximate_psds_from_detections_dir
    io.write_detections_for_multiple_thresholds(frames, thresholds, tmp_path)
    value, of_classes, roc, class_rocs = approximate(frames, truth, durations, thresholds, **GRID)
    again = of_folder(tmp_path, truth, durations, thresholds, **GRID)
    assert again[:2] == (value, of_classes)
    assert np.array_equal(again[2], roc)
    assert all(np.array_equal(again[3][label], class_rocs[label]) for label in of_classes)
    assert value < intersection_based.psds(frames, truth, durations, **GRID)[0]
    for name in ("0.100.tsv", "0.800.tsv"):
        (tmp_path / name).unlink()
    with pytest.raises(sed.SedscopeError, match=r"no file for 2 thresholds: 0.800.tsv, 0.100.tsv"):
        of_folder(tmp_path, truth, durations, thresholds, **GRID)


def test_scores_are_transformed_before_they_are_approximated(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    approximate = intersection_based.reference.approximate_psds
    io.write_score_transform(frames, truth, tmp_path / "transform.tsv")
    transform = io.read_score_transform(tmp_path / "transform.tsv")
    moved = {clip: transform(table) for clip, table in frames.items()}
    expected = approximate(moved, truth, durations, **GRID)[0]
    for given in (transform, tmp_path / "transform.tsv"):
        assert approximate(frames, truth, durations, **GRID, score_transform=given)[0] == expected
    assert approximate(frames, truth, durations, **GRID)[0] != expected


def test_float32_tables_keep_their_values(tmp_path: Path) -> None:
    values = np.array([[0.4], [0.1]], np.float32)
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    sed.write_scores(scores, tmp_path / "scores")
    table = io.read_sed_scores(tmp_path / "scores" / "a.tsv")
    assert table.columns.tolist() == ["onset", "offset", "Dog"]
    assert table["Dog"].tolist() == values.astype(np.float64).ravel().tolist()
    assert table["offset"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "read",
    [
        io.read_sed_scores,
        io.read_ground_truth_events,
        io.read_ground_truth_tags,
        io.read_audio_durations,
        io.parse_ground_truth,
        io.parse_audio_durations,
        lambda file: intersection_based.psds(file, TRUTH, DURATIONS, **GRID),
        lambda file: intersection_based.psds(SCORES, file, DURATIONS, **GRID),
        lambda file: intersection_based.psds(SCORES, TRUTH, file, **GRID),
        lambda file: clip_based.fscore(SCORES, file, 0.5),
    ],
)
def test_a_missing_file_is_not_found(read: Any, tmp_path: Path) -> None:
    file = tmp_path / "missing.tsv"
    with pytest.raises(FileNotFoundError, match=r"missing.tsv: there is no such file") as caught:
        read(file)
    assert isinstance(caught.value, sed.SedscopeError)


def test_test_data_is_not_downloaded() -> None:
    with pytest.raises(sed.SedscopeError, match="does not download the test data"):
        io.download_test_data()
