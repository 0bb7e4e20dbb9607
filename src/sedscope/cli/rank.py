"""``sedscope rank``: a leaderboard of many systems."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..errors import SedscopeError, counted, of_systems
from .options.arguments import counting_progress, postprocess
from .options.engines import EngineOptions
from .options.groups import argument, as_location, option, output_option
from .options.inputs import InputOptions, clip_choice
from .options.results import ComparisonOptions, MetricOptions, ReportOptions
from .tasks import DATA, TASK, refuse_with_task

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..io.locations import Location
    from ..ranking.rank import Better, ScoreReader
    from ..ranking.ranking import RejectedSystem
    from ..ranking.ranking_result import Ranking, Reports

_PRINTED_REASONS = 10  # of a rejected system
_ABOUT_CLIPS = ("clips-without-scores", "clips-not-listed")  # findings whose advice a ranking refuses
_MOST_LINES = 1000  # of one problem that are kept


def rank(
    *,
    paths: list[str] = argument(
        "Systems, then the reference events; with --task and --data, submissions. A system is a "
        "folder of score tables, a file of detections, or any other format that 'sedscope formats' "
        "lists; write NAME=PATH to name it. Instead of systems, give a pattern such as "
        "'submissions/*', or a table of them (team,name,path; rows with the same team and name are runs "
        "of one system).",
        metavar="SYSTEM... [GROUND_TRUTH]",
        reads=lambda paths: _all_paths(paths),
    ),
    inputs: InputOptions,
    metric_options: MetricOptions,
    resampling: ComparisonOptions,
    report_options: ReportOptions,
    engine: EngineOptions,
    score: str | None = option(
        None,
        "Rank by a formula over the names of the metrics, e.g. 'psds1 + psds2'. [default: the first "
        "metric]",
    ),
    better: Literal["higher", "lower"] | None = option(
        None, "Which values of --score are better. [default: higher ones]"
    ),
    task: str | None = TASK,
    data: Path | None = DATA,
    output: Path | None = output_option(
        None,
        "Folder for the leaderboard: a site (index.html), and the ranking as CSV, Markdown, LaTeX "
        "and JSON. An earlier leaderboard there is replaced.",
        "folder",
    ),
    title: str = option("Leaderboard", "Title of the leaderboard."),
    reports: Literal["all", "best", "none"] = option(
        "none", "Systems with a report page in the leaderboard: all, the best one of each team, or none."
    ),
    private_reasons: Path | None = option(
        None,
        "Folder for why systems were rejected, a text file for each team. The leaderboard then says "
        "only that they were.",
        "--private-reasons",
        writes="folder",
    ),
) -> None:
    """Rank many systems, and write a leaderboard.

    Systems are ranked by the score of the task, by --score, or by the first metric. One that cannot be
    evaluated is rejected with all reasons, and the others go on. The exit status is 1 if no system could be
    ranked.
    """
    from ..report.leaderboard import check_leaderboard_folder, check_reasons_folder

    _check_reports(reports, output, report_options)
    if private_reasons is not None and output is None:
        raise SedscopeError("--private-reasons keeps reasons off the leaderboard. Add -o FOLDER.")
    shown = report_options.arguments()
    resampling.check()
    if output is not None:
        check_leaderboard_folder(output)
        if private_reasons is not None:
            check_reasons_folder(private_reasons, output)
    if task is None:
        if data is not None:
            raise SedscopeError(
                "--data is the folder of the data sets of a task. Give the task (--task)."
            )
        ranking = _rank_systems(paths, inputs, metric_options, score, better, resampling, engine)
    else:
        from ..io.submission_lists import list_systems
        from ..ranking.submissions import SYSTEMS
        from ..tasks.task_data import read_task_data
        from ..tasks.task_ranking import rank_listed

        refuse_with_task(inputs, metric_options, score=score, better=better)
        systems, truth = ([*paths], None) if data is not None else _systems_and_truth(paths)
        location = None if truth is None else as_location(truth)
        opened = read_task_data(task, data, truth=location, durations=inputs.durations)
        listed = list_systems(systems)
        with counting_progress(resampling=True, unit=SYSTEMS) as progress:
            ranking = rank_listed(opened, listed, resampling.resampling(), engine.run(progress))
    _show(ranking, output, private_reasons)
    if output is not None:
        ranking.site(output, title=title, reports=reports, private_reasons=private_reasons, **shown)
        typer.echo(f"\nleaderboard: {output / 'index.html'}")
    if not ranking.systems:
        raise typer.Exit(1)


def _rank_systems(
    paths: Sequence[str],
    inputs: InputOptions,
    metric_options: MetricOptions,
    score: str | None,
    better: Better | None,
    resampling: ComparisonOptions,
    engine: EngineOptions,
) -> Ranking:
    """Rank systems by a metric, or by a formula over metrics."""
    from ..io.submission_lists import list_systems
    from ..ranking.rank import rank_by_metrics
    from ..ranking.submissions import SYSTEMS, Submission

    systems, ground_truth = _systems_and_truth(paths)
    if inputs.missing != "error" or inputs.clips == "scored":
        raise SedscopeError(
            "All systems are ranked on the same clips, so --missing empty and --clips scored cannot be "
            "used. List clips without events in the ground truth or with --durations, or choose clips "
            "with --clips FILE."
        )
    metrics = metric_options.metrics()
    truth = inputs.read_truth(as_location(ground_truth))
    submissions: list[Submission[ScoreReader]] = [
        Submission(
            system.name,
            system.team,
            [partial(_read, path, inputs, truth) for path in system.paths],
            system.paths,
            partial(_problems, system.paths, inputs, truth),
        )
        for system in list_systems(systems)
    ]
    selection = inputs.selection(truth.labels)
    clips = clip_choice(inputs.clips)
    with counting_progress(resampling=True, unit=SYSTEMS) as progress:
        return rank_by_metrics(
            submissions,
            truth,
            metrics,
            resampling.resampling(truth),
            score=score,
            better=better,
            classes=selection["classes"],
            clips=clips,
            coverage=inputs.coverage,
            run=engine.run(progress),
        )


def _systems_and_truth(paths: Sequence[str]) -> tuple[list[str], str]:
    *systems, ground_truth = paths
    if not systems:
        raise SedscopeError(
            "Give at least one system, then the ground truth; or submissions to a task, with --task and "
            "--data."
        )
    return systems, ground_truth


def _check_reports(reports: Reports, output: Path | None, options: ReportOptions) -> None:
    """Refuse reports where there is no leaderboard, and their options where there are no reports."""
    if reports != "none" and output is None:
        raise SedscopeError("--reports are part of the leaderboard. Add -o FOLDER.")
    unused = options.changed_options()
    if reports == "none" and unused:
        verb = "applies" if len(unused) == 1 else "apply"
        raise SedscopeError(
            f"{' and '.join(unused)} only {verb} to reports. Add --reports best or --reports all."
        )


def _all_paths(paths: Sequence[str]) -> list[Location]:
    """Return the paths of all systems, and of the ground truth if that is the last one."""
    from ..io.submission_lists import listed_paths

    return listed_paths(paths)


def _read(path: Location, inputs: InputOptions, truth: GroundTruth) -> Scores:
    from ..io.archives import unpacked
    from ..io.submission_lists import refuse_outward_links

    refuse_outward_links([path])
    return postprocess(inputs.read_scores(unpacked(path), truth, "rank"), inputs.postprocess)


def _problems(
    paths: Sequence[Location], inputs: InputOptions, truth: GroundTruth, error: SedscopeError
) -> list[str]:
    """List everything that is wrong with the runs of a system, of which an error says a part."""
    from ..errors import collected_warnings
    from ..io.archives import unpacked
    from ..io.submission_lists import refuse_outward_links
    from ..ranking.submissions import problems_of

    try:
        refuse_outward_links(paths)
    except SedscopeError as links:
        problems = [*links.lines]
    else:
        problems = []
        with collected_warnings(), suppress(SedscopeError):  # the error says that of an archive
            folders = [*map(unpacked, paths)]
            problems = [problem for path in folders for problem in _findings(path, inputs, truth)]
    return problems or [*problems_of(error)]


def _findings(path: Location, inputs: InputOptions, truth: GroundTruth) -> list[str]:
    """Validate a run, and list its errors."""
    from .. import validate
    from ..alignment.regions import RegionTruth
    from ..io.systems import holds_detection_sets

    if inputs.scores_format is None and path.is_dir() and holds_detection_sets(path):
        return []  # the error says that these are not scores
    if isinstance(truth, RegionTruth):
        return []  # the files hold whole recordings
    validation = validate(
        path,
        truth,
        classes=inputs.selection(truth.labels)["classes"],
        clips=clip_choice(inputs.clips),
        coverage=inputs.coverage,
        system_reading=inputs.system_reading(),
    )
    problems: list[str] = []
    for finding in validation.errors:
        lines = finding.where[:_MOST_LINES] if finding.lines else ()
        if finding.kind in _ABOUT_CLIPS:
            finding = replace(finding, what=finding.what.partition(". ")[0], advice="")
        what = str(finding).splitlines()[0].removeprefix("error: ")
        hidden = len(finding.where) - len(lines) if lines else 0
        problems += [what, *lines, *([f"and {hidden} more"] if hidden else [])]
    return problems


def _show(ranking: Ranking, output: Path | None, private_reasons: Path | None) -> None:
    """Print the ranking, the rejected systems and the warnings."""
    if ranking.systems:
        sets = ranking.datasets.items()
        sizes = [(f"{name}: ", of_set.clips, of_set.hours) for name, of_set in sets]
        for name, clips, hours in sizes or [("", ranking.clips, ranking.hours)]:
            typer.echo(f"{name}{counted(clips, 'clip')}, {hours:.2f} hours")
        typer.echo(f"\n{ranking.table()}")
    if ranking.rejected:
        typer.echo(f"\n{counted(len(ranking.rejected), 'system')} rejected:")
    for system in ranking.rejected:
        typer.echo("\n".join(_rejection_lines(system, output, private_reasons)))
    about_systems = [(system.full_name, text) for system in ranking.systems for text in system.warnings]
    for warning in (*ranking.warnings, *of_systems(about_systems)):
        typer.echo(f"warning: {warning}", err=True)


def _rejection_lines(
    system: RejectedSystem, output: Path | None, private_reasons: Path | None
) -> list[str]:
    shown = system.reasons[:_PRINTED_REASONS]
    hidden = len(system.reasons) - len(shown)
    everything = private_reasons or (None if output is None else output / "ranking.json")
    where = "" if everything is None else f" (all are in {everything})"
    more = [f"  and {hidden} more{where}"] if hidden else []
    return [f"{system.full_name}:", *(f"  {reason}" for reason in shown), *more]
