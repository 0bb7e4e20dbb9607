"""Short names of metrics: where they are accepted, and where they are shown."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.metrics import NAMED_METRICS
from sedscope.metrics.names import name_metrics, parse_named_metric

from ..support.command_line import run
from ..support.project import ROOT

STRICT = sed.FScore(sed.Collar(onset=0.1))
OTHER = sed.FScore(sed.Collar(onset=0.3))


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(12, classes=3)


@pytest.fixture(scope="module")
def scores(truth: sed.GroundTruth) -> sed.Scores:
    return sed.simulate.scores(truth)


@pytest.mark.parametrize("name", NAMED_METRICS)
def test_a_name_means_its_definition(name: str, scores: sed.Scores, truth: sed.GroundTruth) -> None:
    metric = NAMED_METRICS[name].metric
    assert sed.parse_metric(name) == metric == sed.parse_metric(repr(metric))
    if isinstance(metric, (sed.MeanAveragePrecision, sed.MeanIoU, sed.RecallAt)):  # of scored events
        events = {clip: [(1.0, 2.0, label, 0.5) for label in scores.classes] for clip in scores}
        scores = sed.Scores.from_events(events, overlaps="keep")
    result = sed.evaluate(scores, truth, name)
    assert result.names == {metric: name}
    assert result[name] is result[metric] is result[repr(metric)]


def test_presets_and_names_agree() -> None:
    assert [*name_metrics([sed.presets.PSDS1, sed.presets.PSDS2])] == ["psds1", "psds2"]


def test_another_class_of_the_same_name_has_no_short_name() -> None:
    @dataclass(frozen=True, repr=False)
    class PSDS(sed.PSDS):
        """A metric of one's own."""

    own = PSDS(sed.Intersection(dtc=0.7, gtc=0.7), alpha_st=1)
    assert repr(own) == repr(sed.presets.PSDS1)
    assert [*name_metrics(own)] == ["PSDS"]


def test_no_two_names_mean_the_same() -> None:
    assert len({named.metric for named in NAMED_METRICS.values()}) == len(NAMED_METRICS)


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        (STRICT, ["FScore"]),
        ("collar_f1", ["collar_f1"]),
        ([STRICT, "psds1", OTHER, STRICT], ["FScore", "psds1", "FScore_2"]),
        ({"strict": STRICT, "loose": repr(OTHER)}, ["strict", "loose"]),
        ({"psds1": OTHER}, ["psds1"]),
    ],
)
def test_names_of_metrics(metrics: Any, names: list[str]) -> None:
    assert [*name_metrics(metrics)] == names


def test_a_made_up_name_is_never_one_that_was_chosen() -> None:
    assert [*name_metrics({"FScore": OTHER})] == ["FScore"]
    named = name_metrics([STRICT, OTHER])
    assert [*named] == ["FScore", "FScore_2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("psds3", r"no metric 'psds3'\. Did you mean psds"),
        ("PSDS1", "Did you mean psds1"),
        ("quality", r"no metric 'quality'\. 'sedscope metrics' lists all names"),
        ("FScore", "needs parameters in brackets"),
    ],
)
def test_an_unknown_name_lists_near_ones(text: str, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.parse_metric(text)


def test_an_unknown_result(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    result = sed.evaluate(scores, truth, {"strict": STRICT, "psds1": "psds1"})
    assert result.get("psds2") is None  # type: ignore[call-overload]  # a name is a key, too
    with pytest.raises(KeyError, match="Did you mean strict"):
        result["stric"]
    with pytest.raises(sed.SedscopeError, match="There is strict, psds1"):
        result["recall"]


def test_a_chosen_name_comes_before_a_usual_one(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    psds1, psds2 = sed.presets.PSDS1, sed.presets.PSDS2
    result = sed.evaluate(scores, truth, {"other": psds1, "psds1": psds2})
    assert result["psds1"] is result[psds2]
    assert result["psds2"] is result[psds2]
    assert result["other"] is result[psds1] is result[repr(psds1)]
    strict = sed.evaluate(scores, truth, {"strict": STRICT, "other": OTHER})
    with pytest.raises(KeyError):
        strict["FScore"]


def test_a_name_of_ones_own_comes_before_the_short_name_of_another_metric(
    scores: sed.Scores, truth: sed.GroundTruth
) -> None:
    first, second = sed.presets.PSDS1, sed.presets.PSDS2
    result = sed.evaluate(scores, truth, {"x": first, "psds1": second, repr(first): STRICT})
    assert result["psds1"] is result[second]
    assert result[repr(first)] is result[STRICT]
    assert result["psds2"] is result[second]


def test_scalars_have_one_value_for_each_name(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    label = scores.classes[0]
    result = sed.evaluate(scores, truth, {f"f/{label}": STRICT, "f": OTHER})
    with pytest.raises(sed.SedscopeError, match=f"the same name: f/{label}"):
        result.scalars()


def test_a_name_in_front_of_a_definition() -> None:
    assert parse_named_metric("strict = FScore(Collar(onset=0.1))") == ("strict", STRICT)
    assert parse_named_metric("mine=psds1") == ("mine", sed.presets.PSDS1)
    assert parse_named_metric(repr(STRICT)) == (None, STRICT)


def test_the_documentation_has_all_names() -> None:
    page = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    for name, named in NAMED_METRICS.items():
        assert f"| `{name}` | `{named.metric!r}` |\n" in page


def test_names_head_tables(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    result = sed.evaluate(scores, truth, {"strict": STRICT, "psds1": "psds1"})
    assert result.table().splitlines()[0].split() == ["class", "references", "strict", "psds1"]
    assert f"strict: {STRICT!r}" in result.table()
    assert [entry["name"] for entry in result.to_dict()["metrics"]] == ["strict", "psds1"]
    assert [*result.scalars()][:2] == ["strict", f"strict/{result.classes[0]}"]
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == 2 * (1 + 3)
    for row in rows:
        of_metric: Any = result[row["metric"]]
        assert row["definition"] == repr(sed.parse_metric(row["definition"]))
        of_class = of_metric.per_class[row["class"]] if row["class"] else of_metric
        assert float(row["value"]) == of_class.value


def test_latex_of_an_evaluation(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    result = sed.evaluate(scores, truth, ["psds1", "collar_f1"])
    lines = result.to_latex().splitlines()
    header = lines.index(r"class & references & psds1 & collar\_f1 \\")
    assert lines[header - 1 : header + 2 : 2] == [r"\toprule", r"\midrule"]
    assert lines[-3].endswith(f"& {result['psds1'].value:.3f} & {result['collar_f1'].value:.3f} \\\\")
    turned = result.to_latex(classes="columns", digits=4)
    assert f"& {result['psds1'].value:.4f} \\\\" in turned
    with pytest.raises(sed.SedscopeError, match="classes='cells' is not valid"):
        result.to_latex(classes="cells")  # type: ignore[arg-type]  # what is not allowed


FORMULA = r"$\mathrm{PSDS}_1$"


def test_latex_keeps_formulas_in_names_of_metrics_alone(
    scores: sed.Scores, truth: sed.GroundTruth
) -> None:
    metrics = {FORMULA: "psds1", r"$\input{x}$": "psds2"}
    text = sed.evaluate(scores, truth, metrics).to_latex(caption="Ours")
    assert rf"{FORMULA} & \$\textbackslash{{}}input\{{x\}}\$ \\" in text
    assert rf"\item {FORMULA}: PSDS(" in text
    assert rf" {FORMULA}\#" in text  # in the signature
    renamed = truth.relabelled({truth.labels[0]: FORMULA})
    of_class = scores.relabelled({truth.labels[0]: FORMULA})
    assert FORMULA not in sed.evaluate(of_class, renamed, "psds1").to_latex()


def test_latex_puts_intervals_below_or_beside_and_chooses_columns(
    scores: sed.Scores, truth: sed.GroundTruth
) -> None:
    result = sed.evaluate(scores, truth, ["psds1", "map"], resampling=20)
    value = result.intervals[sed.presets.PSDS1]
    number, interval = f"{value.value:.3f}", f"({value.low:.3f}--{value.high:.3f})"
    references = sum(result.references.values())
    beside = result.to_latex(columns=["psds1"]).splitlines()
    assert beside[-3] == rf"overall & {number} {interval} \\"
    legends = {chosen: result.to_latex(columns=[chosen], caption="Ours") for chosen in ("psds1", "map")}
    for chosen, legend in legends.items():  # what left columns mean is left out, too
        defined = [name for name in legends if rf"\item {name}: " in legend]
        assert defined == [chosen]
    below = result.to_latex(columns=["psds1", "references"], intervals="below").splitlines()
    assert below[-4] == rf"overall & {number} & {references} \\"
    assert below[-3] == rf" & {{\footnotesize {interval}}} &  \\"
    column = result.to_latex(columns=["references", "psds1"], intervals="column").splitlines()
    assert r"class & references & psds1 & interval \\" in column
    assert column[-3] == rf"overall & {references} & {number} & {interval} \\"
    with pytest.raises(sed.SedscopeError, match=r"psd1 \(did you mean psds1\?\)\. There are references"):
        result.to_latex(columns=["psd1"])


def test_each_table_of_a_comparison_has_a_label_of_its_own(truth: sed.GroundTruth) -> None:
    systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.5))}
    comparison = sed.compare(systems, truth, {FORMULA: "psds1"}, resampling=20)
    text = comparison.to_latex(caption=r"Two systems. \label{tab:b}")
    captions = [line for line in text.splitlines() if line.startswith(r"\caption")]
    assert captions == [
        r"\caption{Two systems. \label{tab:b}}",
        r"\caption{Two systems. \label{tab:b-2}}",
        rf"\caption{{Two systems. \label{{tab:b-3}} ({FORMULA})}}",
    ]
    assert text.count(rf"\item {FORMULA}: PSDS(") == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(scores: sed.Scores, truth: sed.GroundTruth, tmp_path: Path) -> None:
    names = {FORMULA: "psds1", "50% & more_": "best_collar_f1"}
    result = sed.evaluate(scores, truth, names, resampling=20)
    comparison = sed.compare({"a": scores, "b": scores}, truth, "psds1", resampling=20)
    tables = [
        result.to_latex(caption=rf"{intervals} \label{{{intervals}}}", intervals=intervals)
        for intervals in ("beside", "below", "column")
    ]
    tables += [comparison.to_latex(caption="Compared", label="tab:c"), comparison.to_latex()]
    head = r"\documentclass{article}\usepackage{booktabs,threeparttable}\begin{document}"
    source = "\n".join([head, r"Tables \ref{below} and \ref{tab:c-2}.", *tables, r"\end{document}"])
    (tmp_path / "page.tex").write_text(source)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    for _ in range(2):  # the second time, all references are known
        outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout[-2000:]
    for problem in ("undefined", "multiply"):
        assert problem not in outcome.stdout


def test_latex_of_a_comparison_prints_the_best_in_bold(truth: sed.GroundTruth) -> None:
    systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.5))}
    comparison = sed.compare(systems, truth, ["psds1", "segment_er"], resampling=20)
    text = comparison.to_latex()
    for name, best in (("psds1", max), ("segment_er", min)):
        metric = sed.parse_metric(name)
        value = best(of_system.value for of_system in comparison.values[metric].values())
        assert rf"\textbf{{{value:.3f}" in text
    assert "$-$" in text
    assert " -0." not in text
    assert comparison.class_table("psds1") == comparison.class_table(sed.presets.PSDS1)


def test_the_command_line_takes_and_lists_names(
    scores: sed.Scores, truth: sed.GroundTruth, tmp_path: Any
) -> None:
    sed.write_scores(scores, tmp_path / "scores")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv", lossy=True)
    arguments = ["evaluate", tmp_path / "scores", tmp_path / "truth.tsv", "--json", "-"]
    tables = [option for end in ("md", "tex", "csv") for option in ("-o", tmp_path / f"table.{end}")]
    outcome = run(*arguments, "--metric", "psds1", "--metric", f"strict={STRICT!r}", *tables)
    names = [entry["name"] for entry in json.loads(outcome.out)["metrics"]]
    assert names == ["psds1", "strict"]
    assert "| psds1 | strict |" in (tmp_path / "table.md").read_text()
    assert r"psds1 & strict \\" in (tmp_path / "table.tex").read_text()
    assert "strict,," in (tmp_path / "table.csv").read_text()
    assert "Did you mean psds1" in run(*arguments, "--metric", "pds1").err
    listed = run("metrics").out
    for name, named in NAMED_METRICS.items():
        assert f"{name}: {named.meaning}\n    {named.metric!r}\n" in listed
