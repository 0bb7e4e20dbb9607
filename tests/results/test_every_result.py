"""Every result is shown in all forms, and its parts are found by names and definitions."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.tabular import TabularResult

from ..support.output_kinds import (
    assert_csv,
    assert_json,
    assert_latex,
    assert_markdown,
    assert_notebook,
    assert_printable,
)

LABELS = ["=1+1|`x`", "Dog"]
COLLAR_F1 = sed.FScore(sed.Collar())


def _data() -> tuple[sed.Scores, sed.GroundTruth]:
    frames = [[0.2, 0.8], [0.9, 0.1], [0.4, 0.2], [0.7, 0.6]]
    clips = {f"clip*{k}*": [row[k % 2 :] + row[: k % 2] for row in frames] for k in range(6)}
    events = {clip: [(1, 2, LABELS[0]), (2, 4, LABELS[1])] for clip in clips}
    scores = sed.Scores.from_arrays(clips, classes=LABELS, frame=1.0)
    return scores, sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 4))


def _results() -> dict[str, TabularResult]:
    scores, truth = _data()
    by = {clip: f"site_{clip}" for clip in truth.clips}
    evaluation = sed.evaluate(scores, truth, [COLLAR_F1, "psds1"], by=by)
    systems = {"a|b": scores, "c": scores}
    resampling = sed.Resampling(20)
    task = sed.tasks.Task(
        "mi|ne", {"home": sed.tasks.Dataset({"collar_f1": COLLAR_F1})}, "100 * home.collar_f1"
    )
    of_task = sed.tasks.TaskEvaluation(task, {"home": sed.evaluate(scores, truth, "collar_f1")})
    metric = evaluation[COLLAR_F1]
    assert isinstance(metric, TabularResult)
    return {
        "evaluation": evaluation,
        "groups": evaluation.groups["clips"],
        "metric": metric,
        "comparison": sed.compare(systems, truth, COLLAR_F1, resampling=resampling),
        "ranking": sed.rank(systems, truth, COLLAR_F1, resampling=resampling),
        "task": of_task,
        "tuning": sed.tune(scores, truth, sed.BestFScore(sed.Collar()), "MedianFilter(0|2)", folds=2),
        "diagnosis": sed.diagnose(scores, truth, sed.Collar(), [0.5, 0.3]),
        "boundary errors": sed.boundary_errors(scores, truth, sed.IoU(0.1), 0.5),
        "latencies": sed.alarm_latencies(scores, truth, sed.Alarm(before=1), 0.5),
        "confusions": sed.diagnose(scores, truth, sed.Collar(), 0.5).confusions(),
        "clip costs": sed.diagnosis.clip_costs(scores, truth, sed.Collar(), 0.5),
        "errors": sed.diagnosis.list_errors(scores, truth, sed.Collar(), 0.5),
    }


pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
KINDS = [
    *("evaluation", "groups", "metric", "comparison", "ranking", "task"),
    *("tuning", "diagnosis", "boundary errors", "latencies", "confusions", "clip costs", "errors"),
]


@pytest.fixture(scope="module")
def results() -> dict[str, TabularResult]:
    return _results()


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_is_valid(results: dict[str, TabularResult], kind: str, tmp_path: Path) -> None:
    result = results[kind]
    assert_printable(result.table())
    assert_markdown(result.to_markdown())
    assert_latex(result.to_latex())
    assert_latex(result.to_latex(classes="columns"))
    floating = result.to_latex(caption=r"Ours \textbf{best}", label="tab:ours")
    assert_latex(floating)
    tables = floating.split(r"\end{table}")[:-1]
    assert len(tables) == result.to_latex().count(r"\begin{tabular}")
    assert "%" not in floating.replace(r"\%", "")
    assert all(r"\caption{Ours \textbf{best}" in table for table in tables)
    assert [re.findall(r"\\label\{(.*)\}", table) for table in tables] == [
        ["tab:ours"],
        *([f"tab:ours-{n}"] for n in range(2, len(tables) + 1)),
    ]
    with pytest.raises(sed.SedscopeError, match="needs a caption"):
        result.to_latex(label="tab:ours")
    for intervals in ("below", "column"):
        assert_latex(result.to_latex(intervals=intervals))
    with pytest.raises(sed.SedscopeError, match=r"intervals='above' is not valid\. Choose 'beside' or"):
        result.to_latex(intervals="above")  # type: ignore[arg-type]  # what is not allowed
    assert_notebook(result._repr_html_())
    for write, name in ((result.to_markdown, "md"), (result.to_latex, "tex"), (result.to_csv, "csv")):
        assert write(tmp_path / name) == (tmp_path / name).read_bytes().decode()
    assert assert_json(result.to_json(tmp_path / "json")) == result.to_dict()
    assert json.loads((tmp_path / "json").read_text(encoding="utf-8")) == result.to_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_csv_and_data_frames_have_the_same_rows(results: dict[str, TabularResult], kind: str) -> None:
    frame, result = results[kind].to_polars(), results[kind]
    assert_csv(result.to_csv())
    header, *rows = csv.reader(io.StringIO(result.to_csv(), newline=""))
    assert header == frame.columns == [*result.to_pandas().columns]
    assert len(rows) == len(frame) > 0
    for row, cells in zip(rows, frame.rows(), strict=True):
        for text, cell in zip(row, cells, strict=True):
            if cell is None:
                assert text in ("", "nan")
            elif isinstance(cell, str):
                assert text in (cell, f"'{cell}")
            else:
                assert float(text) == cell


def test_a_ranking_without_systems_is_an_empty_data_frame() -> None:
    from dataclasses import replace

    scores, truth = _data()
    ranking = sed.rank({"a": scores}, truth, COLLAR_F1, resampling=sed.Resampling(20))
    empty = replace(ranking, systems=(), pairs={})
    assert empty.to_polars().schema == ranking.to_polars().schema
    assert len(empty.to_polars()) == 0


@pytest.mark.parametrize("text", ["f", "collar_f1", "FScore(Collar())", "FScore(Collar(0.2), beta=1)"])
def test_any_definition_finds_a_metric(text: str) -> None:
    scores, truth = _data()
    result = sed.evaluate(scores, truth, {"f": COLLAR_F1, "p": "psds1"})
    assert result[text] is result[COLLAR_F1]
    comparison = sed.compare([scores, scores], truth, {"f": COLLAR_F1}, resampling=sed.Resampling(20))
    compared = comparison[text]
    assert (compared.metric, compared.name) == (COLLAR_F1, "f")
    assert compared.values is comparison.values[COLLAR_F1]
    assert compared.differences is comparison.differences[COLLAR_F1]
    assert [*comparison] == [COLLAR_F1]


def test_a_definition_finds_the_metric_at_operating_points() -> None:
    scores, truth = _data()
    points = sed.OperatingPoints(dict.fromkeys(LABELS, 0.3))
    result = sed.evaluate(scores, truth, COLLAR_F1, points=points)
    assert result["FScore(Collar())"] is result[COLLAR_F1]


def test_a_label_finds_the_result_of_a_class() -> None:
    scores, truth = _data()
    result = sed.evaluate(scores, truth, ["psds1", "collar_f1", "map"])
    for metric in result:
        assert result[metric]["Dog"] is result[metric].per_class["Dog"]
    assert sed.diagnose(scores, truth, sed.Collar(), 0.5)["Dog"].label == "Dog"


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (lambda result: result["psds2"], "There is no metric 'psds2' here. Did you mean psds1?"),
        (lambda result: result["FScore(Clip())"], r"There is no metric 'FScore\(Clip\(\)\)' here"),
        (lambda result: result[sed.presets.PSDS2], "There is no metric .PSDS.* There is psds1"),
        (lambda result: result["psds1"]["dog"], r"There is no class dog \(did you mean Dog\?\)"),
        (lambda result: result["psds1"]["Cow"], "There is no class Cow. The classes are"),
    ],
)
def test_an_unknown_name_is_refused_with_near_ones(look_up: Any, message: str) -> None:
    scores, truth = _data()
    result = sed.evaluate(scores, truth, "psds1")
    for error in (KeyError, sed.SedscopeError):
        with pytest.raises(error, match=message):
            look_up(result)
    assert sed.presets.PSDS2 not in result
