"""``sedscope metrics``, ``presets``, ``formats`` and ``tasks``: what there is; and ``check``, for a task."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import typer

from ..engines.run import Run
from ..errors import SedscopeError, counted, listing
from .options.arguments import print_data
from .options.engines import ThreadOptions
from .options.groups import OptionGroup, argument, option, options_given, output_option


def metrics() -> None:
    """List the short names of metrics, and what they mean."""
    from ..metrics import NAMED_METRICS

    for named in NAMED_METRICS.values():
        typer.echo(f"{named.name}: {named.meaning}\n    {named.metric!r}")


def presets() -> None:
    """List the presets: metrics with established parameters, by name."""
    from ..metrics.names import name_metrics
    from ..tasks.presets import PRESETS

    for preset in PRESETS.values():
        typer.echo(f"{preset.name}: {preset.about} ({preset.source})")
        for name, metric in name_metrics(preset).items():
            typer.echo(f"    {name}: {metric!r}")
        if preset.caution:
            typer.echo(f"    {preset.caution}")


def formats() -> None:
    """List the formats of scores and events."""
    from ..io.events.files import EVENT_FORMATS
    from ..io.scores.files import SCORE_FORMATS

    for kind, registry in (("scores", SCORE_FORMATS), ("events", EVENT_FORMATS)):
        typer.echo(f"{kind}:")
        for format in registry.values():
            typer.echo(f"  {format.name:21}{format.about}")


TASK = option(
    None,
    "A whole task: its name ('sedscope tasks' lists all), or its TOML file.",
    reads=lambda text: [text],
)
DATA = option(
    None, "Folder with a folder for each data set of the task (ground_truth.tsv, durations.tsv)."
)


def tasks(
    *,
    words: list[str] | None = argument(
        "'show' prints the TOML file of a task, to copy and change. 'publish' writes what "
        "participants need to check submissions: the task, clips and durations, without the reference "
        "events. 'codabench' writes a bundle for Codabench, with the reference events. "
        "[default: list all]",
        default=None,
        metavar="[show NAME | publish TASK | codabench TASK]",
    ),
    data: Path | None = DATA,
    output: Path | None = output_option(
        None, "New folder for what 'publish' or 'codabench' writes.", "folder"
    ),
) -> None:
    """List the tasks: whole evaluations, with a ranking score."""
    from ..tasks.task_files import built_in_tasks, read_task, task_text

    if words and words[0] in ("publish", "codabench"):
        if len(words) != 2 or data is None or output is None:
            raise SedscopeError(f"Write 'tasks {words[0]} TASK --data FOLDER -o NEW_FOLDER'.")
        from ..tasks import publish_task, write_codabench_bundle

        if words[0] == "publish":
            publish_task(words[1], data, output)
            typer.echo(f"published: {output / 'task.toml'}")
        else:
            write_codabench_bundle(words[1], data, output)
            typer.echo(f"bundle: {output / 'competition.yaml'}")
        return
    if data is not None or output is not None:
        raise SedscopeError(
            "--data and --output are for 'tasks publish TASK' and 'tasks codabench TASK'."
        )
    if words:
        if words[0] != "show" or len(words) != 2:
            raise SedscopeError(
                f"'sedscope tasks {' '.join(words)}' is not valid. Write 'tasks show NAME', 'tasks publish "
                "TASK' or 'tasks codabench TASK'."
            )
        print_data(task_text(words[1]))
        return
    for name in built_in_tasks():
        task = read_task(name)
        better = " (lower is better)" if task.lower_is_better else ""
        typer.echo(f"{name}: {task.source}")
        for line in wrap(task.about, 76):
            typer.echo(f"    {line}")
        typer.echo(f"    data sets: {', '.join(task.datasets)}; score: {task.score}{better}")


def check(
    *,
    paths: list[Path] = argument(
        "The submission: a folder with the scores or detections for each data set; then, for a "
        "task with one data set and without --data, the reference events. With neither, the task is the "
        "file that its organisers published.",
        metavar="SUBMISSION [GROUND_TRUTH]",
    ),
    engine: ThreadOptions,
    task: str | None = TASK,
    data: Path | None = DATA,
    durations: Path | None = option(None, "Clip durations (filename duration), beside GROUND_TRUTH."),
) -> None:
    """Check a submission to a task.

    Every problem is a line 'file:line: message'. The exit status is 1 if there are problems.
    """
    from ..tasks import check_submission

    if task is None:
        raise SedscopeError("Give the task (--task). 'sedscope tasks' lists all.")
    submission, truth = (paths[0], None) if len(paths) == 1 else submission_and_truth(paths, data)
    checked = check_submission(
        task, submission, data, truth=truth, durations=durations, run=Run(engine.threads)
    )
    for line in checked.problems:
        typer.echo(line)
    typer.echo(counted(len(checked.problems), "problem") if checked.problems else "no problems")
    for warning in checked.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if checked.problems:
        raise typer.Exit(1)


def refuse_with_task(*groups: OptionGroup, **others: object) -> None:
    """Refuse the options that a task fixes. ``others``: options of no group, with their values."""
    options = [option for option in options_given(*groups, **others) if option != "--durations"]
    if options:
        raise SedscopeError(
            f"{listing(sorted(options), limit=10)} cannot be combined with --task: the task says how it is "
            "evaluated. To change that, copy it ('sedscope tasks show NAME') and give the file."
        )


def submission_and_truth(paths: list[Path], data: Path | None) -> tuple[Path, Path | None]:
    """Return the submission, and the reference events if there is no folder of data sets."""
    if len(paths) == 1 and data is not None:
        return paths[0], None
    if len(paths) == 2 and data is None:
        return paths[0], paths[1]
    raise SedscopeError(
        "With --task, give SUBMISSION and the folder of the data sets (--data), or for a task with one data "
        f"set SYSTEM and GROUND_TRUTH. You gave {counted(len(paths), 'path')}"
        f"{'' if data is None else ' and --data'}: {listing([str(path) for path in paths])}."
    )
