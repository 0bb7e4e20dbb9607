"""``sedscope compare``: several systems on the same clips."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import SedscopeError, counted, listing
from .options.arguments import counting_progress
from .options.engines import EngineOptions
from .options.groups import argument, as_location, option
from .options.inputs import InputOptions
from .options.outputs import (
    TABLES,
    LatexOptions,
    check_tables,
    points_by_system,
    points_paths,
    with_postprocess,
    write_tables,
)
from .options.results import ComparisonOptions, MetricOptions, ReportOptions
from .requirements import JUNIT, conclude, not_worse

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..evaluation.result import Evaluation
    from ..evaluation.verification import StoredResult
    from ..io.locations import Location
    from ..metrics import Metric
    from ..ranking.comparison_result import Comparison
    from ..tuning.operating_points import OperatingPoints


def compare(
    *,
    paths: list[str] = argument(
        "Two or more systems, then the reference events. A system is a folder of score tables or "
        "a file of detections; write NAME=RUN,RUN for several runs of one system, and NAME=0.342 for a "
        "published value of the metric; a file that 'evaluate --json' wrote has such values, too.",
        metavar="SYSTEM SYSTEM... GROUND_TRUTH",
        reads=lambda paths: _all_paths(paths),
    ),
    inputs: InputOptions,
    metric_options: MetricOptions,
    resampling: ComparisonOptions,
    report_options: ReportOptions,
    engine: EngineOptions,
    latex: LatexOptions,
    points: list[str] | None = option(
        None,
        "Operating points of a system, which 'sedscope tune' wrote. Repeat the option for each "
        "system. A file without a name is for all of them.",
        metavar="NAME=FILE",
        reads=points_paths,
    ),
    at_false_alarms: str | None = option(
        None,
        "Compare all systems at the same false alarms of each class: a number per hour, '1/day' for "
        "one per day, 'list' for those of the only event list without scores, or the name of such a "
        "system. Each system is measured at the thresholds with the highest recall within them. "
        "[default metrics: recall and F-score within collars]",
        metavar="RATE|list|SYSTEM",
    ),
    output: list[Path] | None = TABLES,
    report: Path | None = option(
        None, "Also write an HTML report of all systems to this file.", writes="file"
    ),
    fail_if_worse: bool = option(
        False,
        "End with exit status 1 if a system is worse than the first one: the interval of the "
        "difference lies beyond --margin.",
    ),
    margin: float = option(0.0, "How much worse a system may be, for --fail-if-worse.", min=0),
    junit: Path | None = JUNIT,
) -> None:
    """Compare systems on the same clips.

    Resampling the clips tells which differences exceed chance.
    """
    from .. import compare as compare_systems
    from ..ranking.compared_runs import stored_result

    *systems, ground_truth = paths
    if len(systems) < 2:
        raise SedscopeError("Give at least two systems, then the ground truth.")
    check_tables(output, latex)
    unused = [name for name, value in (("--margin", margin), ("--junit", junit)) if value]
    if unused and not fail_if_worse:
        raise SedscopeError(
            f"{listing(unused)} only applies to --fail-if-worse. Give that option as well."
        )
    resampling.check()
    report_options.refuse_without(report)
    shown = report_options.arguments()
    by_name = _systems_by_name(systems)
    paths_by_name: dict[str, list[Location]] = {}
    published: dict[str, float | StoredResult] = {}
    for name, of_system in by_name.items():
        value = of_system if isinstance(of_system, float) else stored_result(of_system[0])
        if value is None and not isinstance(of_system, float):
            paths_by_name[name] = of_system
        elif value is not None:
            published[name] = value
    if not paths_by_name:
        raise SedscopeError("All systems are published values. Give the scores of at least one.")
    points_of = points_by_system(points, [*paths_by_name], inputs.postprocess)
    metrics = _metrics(metric_options, at_false_alarms, [*points_of.values()])
    truth = inputs.read_truth(as_location(ground_truth))
    runs = _read_runs(paths_by_name, inputs, truth, keep_scores=report is not None)
    first_run = next(iter(runs.values()))[0]
    complete_points = {
        name: with_postprocess(points_of.get(name), inputs.postprocess, of_system[0].classes)
        for name, of_system in runs.items()
    }
    with counting_progress(resampling=True) as progress:
        result = compare_systems(
            {name: published.get(name, runs.get(name, [])) for name in by_name},
            truth,
            metrics,
            points={
                name: of_system for name, of_system in complete_points.items() if of_system is not None
            },
            at_false_alarms=_false_alarm_limit(at_false_alarms),
            resampling=resampling.resampling(truth),
            **inputs.selection(first_run.classes),
            run=engine.run(progress),
        )
    if report:
        result.report(report, **shown, run=engine.run())
    write_tables(result, output, latex)
    _show(result)
    if at_false_alarms is not None:
        _show_operating_points(result, "day" if at_false_alarms.endswith("/day") else "hour")
    if fail_if_worse:
        conclude(not_worse(result, margin), junit)


def _metrics(
    options: MetricOptions, at_false_alarms: str | None, points: Sequence[OperatingPoints]
) -> dict[str, Metric[Any]]:
    """Return the metrics that were asked for, or the usual ones."""
    from ..metrics.names import name_metrics

    if at_false_alarms is None or options.changed_options():
        return options.metrics(*points)
    return name_metrics(["collar_recall", "collar_f1"])


def _false_alarm_limit(text: str | None) -> float | str | None:
    """Read a number, or keep the text as the name of a system."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _read_runs(
    systems: Mapping[str, Sequence[Location]],
    inputs: InputOptions,
    truth: GroundTruth,
    *,
    keep_scores: bool,
) -> dict[str, list[Scores]]:
    """Read the runs of each system. ``keep_scores``: keep those of the first run, for a report."""
    from ..data.score_cache import cached

    runs = {
        name: [inputs.read_scores(path, truth, "compare") for path in paths]
        for name, paths in systems.items()
    }
    if keep_scores:
        for of_system in runs.values():
            of_system[0] = cached(of_system[0])
    return runs


def _systems_by_name(systems: Sequence[str]) -> dict[str, list[Location] | float]:
    """Return the paths of the runs of each system, or its published value.

    A system without a name is called after the last part of its path, or after the whole path if two
    would have the same name.
    """
    from ..io.locations import shown_name

    paths_by_name: dict[str, list[Location] | float] = {}
    short_names: list[str] = []
    for text in systems:
        name, equals, runs_text = text.partition("=")
        paths: list[Location] | float
        if not equals or _exists(text):
            name, paths = text.rstrip("/\\") or text, [as_location(text)]
            short_names.append(shown_name(as_location(name).name or name))
        else:
            runs = [runs_text] if _exists(runs_text) else runs_text.split(",")
            if not name or not runs_text or "" in runs:
                raise SedscopeError(f"{text}: write NAME=FOLDER, or NAME=RUN,RUN for several runs.")
            value = _published(runs_text)
            paths = [as_location(run) for run in runs] if value is None else value
            short_names.append(name)
        if name in paths_by_name:
            raise SedscopeError(f"Two systems are called {name}. Name them with NAME=FOLDER.")
        paths_by_name[name] = paths
    if len(set(short_names)) < len(paths_by_name):
        return paths_by_name
    return dict(zip(short_names, paths_by_name.values(), strict=True))


def _published(text: str) -> float | None:
    """Return the published value that a text states; None for the path of a system."""
    try:
        return None if _exists(text) else float(text)
    except ValueError:
        return None


def _exists(text: str) -> bool:
    """Return whether a text is the path of something. A list of runs may be too long to be one."""
    return os.path.exists(text)  # noqa: PTH110 (Path.exists raises for a name that is too long)


def _all_paths(paths: Sequence[str]) -> list[Location]:
    """Return the paths of all runs and of the ground truth."""
    *systems, ground_truth = paths
    runs = [system for system in _systems_by_name(systems).values() if not isinstance(system, float)]
    return [*(path for of_system in runs for path in of_system), as_location(ground_truth)]


def _show(result: Comparison) -> None:
    """Print the tables and the warnings."""
    from ..evaluation.notes import equal_answers_note, one_point_note
    from ..ranking.comparison_result import PAIRS_BESIDE_CLASSES

    typer.echo(f"{counted(result.clips, 'clip')}, {result.hours:.2f} hours\n\n{result.table()}")
    for name in result.names.values():
        typer.echo(f"\n{name}\n{result.class_table(name)}")
    if result.pairs > PAIRS_BESIDE_CLASSES:
        typer.echo(
            "\nThe differences of each class are in CSV files (-o FILE.csv) and reports (--report)."
        )
    for warning in result.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for name, system in result.evaluations.items():
        for note in equal_answers_note(system.results, system.alignment):
            typer.echo(f"warning: {name}: {note}", err=True)
    lists = [name for name, system in result.evaluations.items() if one_point_note(system.results)]
    if 0 < len(lists) < len(result.systems):
        typer.echo(
            f"warning: Some metrics look at many thresholds, but these systems have one operating point, as "
            f"event lists without confidences have: {listing(lists)}. Compare them at the same false alarms "
            "(--at-false-alarms).",
            err=True,
        )


def _show_operating_points(result: Comparison, per: str) -> None:
    """Print the false alarms of each class and the threshold there, for each criterion.

    ``per``: the unit of recording time.
    """
    from ..results.text import Table, text_of

    for criterion, metric in {metric.criterion: metric for metric in reversed(result.metrics)}.items():
        rows = [
            [
                label,
                *(
                    _point_text(of_system, metric, label, per)
                    for of_system in result.evaluations.values()
                ),
            ]
            for label in result.classes
        ]
        title = f"false alarms per {per} (threshold), first run of each system, {criterion!r}"
        table = Table(["class", *result.evaluations], rows, title=title, ruled=False)
        typer.echo(f"\n{text_of([table])}")


def _point_text(evaluation: Evaluation, metric: Metric[Any], label: str, per: str) -> str:
    """Return the operating point of a class as text. An event list has no threshold to name."""
    from ..counting.tally import hours_per

    point = evaluation[metric].per_class[label]
    if point.tally is None:
        return ""
    if point.threshold == math.inf:
        return "never detected"
    rate = f"{hours_per(per) * point.tally.false_alarms_per_hour(evaluation.hours):.4g}"
    only_point = len(evaluation.counts[metric.criterion][label].scores) == 1
    return rate if only_point else f"{rate} ({point.threshold:.4g})"
