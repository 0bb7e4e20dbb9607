"""Tables of a comparison, as Markdown, LaTeX, CSV and text."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.results.text import format_csv, format_markdown

RATE = sed.ErrorRate(sed.Collar(0.5), threshold=0.4)


def ignoring(message: str) -> pytest.MarkDecorator:
    return pytest.mark.filterwarnings(f"ignore:{message}:sedscope.SedscopeWarning")


pytestmark = ignoring("Some classes are not defined in some resamples")


HOSTILE = [
    "a|b",
    r"back\slash|pipe",
    "under_score_",
    "100 %",
    "a, b",
    'say "x"',
    "two\nlines",
    "cr\rlf",
    "$x^2$ & {y} #1 ~",
    "[0] first",
    "*star*",
    "<b>bold</b>",
    "&amp;",
    "`code`",
]


@pytest.fixture(scope="module")
def hostile() -> sed.Comparison:
    """Classes and systems with names that are markup."""
    rng = np.random.default_rng(1)
    clips = [f"clip{i}" for i in range(6)]
    systems = {
        name: sed.Scores.from_arrays(
            {clip: rng.random((8, len(HOSTILE))) for clip in clips}, classes=HOSTILE, frame=0.5
        )
        for name in HOSTILE[:3] + HOSTILE[6:8]
    }
    events = {clip: [(1.0, 3.0, label) for label in HOSTILE] for clip in clips}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 4.0))
    return sed.compare(systems, truth, [sed.FScore(sed.Segment(1.0)), RATE], resampling=20)


def unescaped(cell: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell)


def markdown_tables(text: str) -> list[list[list[str]]]:
    """Cells end at a bar that no backslash escapes; a backslash may be escaped itself."""
    tables: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if not line.startswith("| "):
            tables.append([])
            continue
        cells = re.findall(r"((?:\\.|[^|\\])*)\|", line)[1:]
        tables[-1].append([unescaped(cell.strip()) for cell in cells])
    return [rows for rows in tables if rows]


def in_a_line(text: str) -> str:
    return text.replace("\n", r"\n").replace("\r", r"\r")


def test_markdown_reads_back(hostile: sed.Comparison, tmp_path: Path) -> None:
    text = hostile.to_markdown(tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == text
    systems, pairs, *per_metric = markdown_tables(text)
    assert [row[0] for row in systems[2:]] == [in_a_line(name) for name in hostile.systems]
    assert len(pairs) == 2 + 2 * 10
    assert len(per_metric) == 2
    for rows, metric in zip(per_metric, hostile.metrics, strict=True):
        assert [row[0] for row in rows[2:]] == [*map(in_a_line, HOSTILE), "overall"]
        assert {len(row) for row in rows} == {1 + 5}  # without the ten pairs
        for row, label in zip(rows[2:], HOSTILE, strict=False):
            values = [hostile.values[metric][name].per_class[label].value for name in hostile.systems]
            assert [cell.strip("*") for cell in row[1:6]] == [f"{value:.4f}" for value in values]
            best = max(values) if metric.higher_is_better else min(values)
            assert [cell for cell in row[1:6] if f"**{best:.4f}**" == cell]


def test_markdown_means_no_markup() -> None:
    text = format_markdown([["class", "[1]"], [r"_a_ __b__ c_d *e* `f` <g> &lt; \|", "+0.1 <"]])
    assert text.splitlines()[2] == (r"| \_a\_ \_\_b\_\_ c_d \*e\* \`f\` \<g> \&lt; \\\| | +0.1 < |")


def test_latex_has_as_many_cells_as_there_are(hostile: sed.Comparison, tmp_path: Path) -> None:
    text = hostile.to_latex(tmp_path / "tables.tex")
    assert "".join(line for line in text.splitlines() if not line.startswith("%")).isascii()
    assert (tmp_path / "tables.tex").read_text(encoding="utf-8") == text
    tables = re.findall(r"\\begin\{tabular\}\{(\w+)\}\n(.*?)\n\\end\{tabular\}", text, re.DOTALL)
    assert len(tables) == 4
    for columns, body in tables:
        rules = (r"\toprule", r"\midrule", r"\bottomrule")
        lines = [line for line in body.splitlines() if line not in rules]
        for line in lines:
            assert line.endswith(r" \\")
            assert not line.startswith(("[", "*"))
            assert len(re.split(r"(?<!\\)&", line)) == len(columns)
            assert not re.search(r"(?<!\\)[%#]", line)
            assert line.count("{") - line.count(r"\{") == line.count("}") - line.count(r"\}")
    assert len(tables[2][1].splitlines()) == len(HOSTILE) + 2 + 4


def test_csv_reads_back(hostile: sed.Comparison, tmp_path: Path) -> None:
    text = hostile.to_csv(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == list(csv.DictReader(io.StringIO(text, newline="")))
    systems, classes = len(hostile.systems), len(HOSTILE) + 1
    assert len(rows) == 2 * classes * (systems + systems * (systems - 1) // 2)
    for row in rows:
        metric = next(m for m in hostile.metrics if repr(m) == row["definition"])
        assert row["metric"] == hostile.names[metric]
        if row["less"]:
            overall: Any = hostile.differences[metric][row["system"], row["less"]]
        else:
            overall = hostile.values[metric][row["system"]]
        of_class = overall.per_class[row["class"]] if row["class"] else overall
        assert [float(row[k]) for k in ("value", "low", "high")] == [
            of_class.value,
            of_class.low,
            of_class.high,
        ]
        assert row["undefined_resamples"] == "0"
        if row["less"]:
            assert (float(row["p"]), int(row["verdict"])) == (of_class.p, of_class.verdict)
            assert row["p_corrected"] == ("" if row["class"] else repr(overall.p_corrected))


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1+1", "-1+1", "-x", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "=cmd|' /C calc'!A0"],
)
def test_csv_has_no_cells_that_spreadsheets_execute(cell: str) -> None:
    assert next(csv.reader(io.StringIO(format_csv([["class", cell]]), newline=""))) == [
        "class",
        f"'{cell}",
    ]


@pytest.mark.parametrize(
    "cell", ["-1", "-0.5", "+2", "-1e-05", "-.5", "-inf", "inf", "nan", "a=b", "'x", ""]
)
def test_csv_keeps_numbers_and_plain_text(cell: str) -> None:
    assert next(csv.reader(io.StringIO(format_csv([["class", cell]])))) == ["class", cell]


def test_readable_tables_have_a_line_for_each_row(hostile: sed.Comparison) -> None:
    assert len(hostile.table().splitlines()) == (1 + 5) + 1 + (1 + 20) + 1 + 2 + 1 + 5
    for metric in hostile.metrics:
        lines = hostile.class_table(metric).splitlines()
        assert len(lines) == len(HOSTILE) + 2
        assert len({len(line) for line in lines}) == 1
        assert "−" not in lines[0]  # a column for each of ten pairs would be too wide to read
