"""``sedscope validate`` and ``verify``: problems of scores and reference events, and results anew."""

from __future__ import annotations

from pathlib import Path

import typer

from ..engines.run import Run
from ..errors import SedscopeError, counted
from .options.arguments import JSON, counting_progress
from .options.engines import ThreadOptions
from .options.groups import argument
from .options.inputs import CLIPS, FileOptions, InputOptions, clip_choice
from .options.outputs import POINTS, read_points, with_postprocess
from .tasks import DATA, TASK, refuse_with_task, submission_and_truth


def validate(
    *,
    paths: list[Path] = argument(
        "Scores or detections in any format that 'sedscope formats' lists, then the reference "
        "events; or only the reference events.",
        metavar="[SCORES] GROUND_TRUTH",
    ),
    files: FileOptions,
    engine: ThreadOptions,
    clips: str | None = CLIPS,
    json: str | None = JSON,
) -> None:
    """Check scores and reference events, or reference events alone.

    It lists errors, then warnings, then what would be evaluated. What 'sedscope evaluate' refuses is
    an error here, too. The exit status is 1 if there are errors.
    """
    from .. import validate as validate_files
    from ..io.systems import holds_detection_sets

    if len(paths) > 2:
        raise SedscopeError(
            f"Give SCORES and GROUND_TRUTH, or GROUND_TRUTH alone, not {counted(len(paths), 'path')}."
        )
    scores, ground_truth = (None, *paths) if len(paths) == 1 else paths
    if (
        scores is not None
        and scores.is_dir()
        and files.scores_format is None
        and files.scores_columns is None
        and holds_detection_sets(scores)
    ):
        raise SedscopeError(
            f"{scores} holds several files of detections, one per threshold. Validate one of them."
        )
    names = [name.strip() for text in files.classes or [] for name in text.split(",")]
    validation = validate_files(
        scores,
        ground_truth,
        system_reading=files.system_reading(),
        truth_reading=files.truth_reading(),
        classes=names or None,
        clips=clip_choice(clips),
        missing=files.missing,
        coverage=files.coverage,
        run=Run(engine.threads),
    )
    typer.echo(validation.to_json() if json == "-" else f"{validation}\n", nl=False)
    if json and json != "-":
        validation.to_json(json)
    if validation.errors:
        raise typer.Exit(1)


def verify(
    *,
    paths: list[Path] = argument(
        "A file that 'sedscope evaluate --json' wrote, then what it was computed from: the "
        "system and the reference events; or a submission, with --task and --data.",
        metavar="RESULT SYSTEM GROUND_TRUTH",
    ),
    inputs: InputOptions,
    engine: ThreadOptions,
    task: str | None = TASK,
    data: Path | None = DATA,
    points: Path | None = POINTS,
) -> None:
    """Compute a result again, and say bit for bit what agrees.

    Metrics and classes are those of the result. Where values differ, it says which side has changed: the
    clips, the reference events, the scores, their post-processing, or a definition. The exit status is 1
    if anything differs.
    """
    from .. import verify as verify_result
    from ..errors import collected_warnings
    from ..evaluation.verification import StoredResult, compare_stored, compare_task_values, read_json

    result, *others = paths
    if inputs.classes:
        raise SedscopeError("The result says which classes were evaluated. Leave out --classes.")
    if task is not None:
        from ..tasks import evaluate_task

        refuse_with_task(inputs, points=points)
        submission, truth_path = submission_and_truth(others, data)
        stored = read_json(result)
        with collected_warnings(), counting_progress() as progress:
            again = evaluate_task(
                task,
                submission,
                data,
                truth=truth_path,
                durations=inputs.durations,
                run=Run(engine.threads, progress=progress),
            )
        details = stored.get("details") if isinstance(stored, dict) else None
        if not isinstance(details, dict) or details.keys() != again.datasets.keys():
            raise SedscopeError(
                f"{result} is not the JSON of a submission to the task {again.task.name}."
            )
        outcomes = {
            name: compare_stored(StoredResult.of(details[name], f"{result}: {name}"), evaluation)
            for name, evaluation in again.datasets.items()
        }
        outcomes["score"] = compare_task_values(stored, again._values())
    else:
        if data is not None or len(others) != 2:
            raise SedscopeError(
                "Give RESULT, SYSTEM and GROUND_TRUTH; or a submission, --task and --data."
            )
        with collected_warnings():
            truth = inputs.read_truth(others[1])
            system = inputs.read_system(others[0], truth)
        operating_points = None if points is None else read_points(points, inputs.postprocess)
        if not isinstance(system, dict):
            operating_points = with_postprocess(operating_points, inputs.postprocess, system.classes)
        with counting_progress() as progress:
            outcome = verify_result(
                result,
                system,
                truth,
                points=operating_points,
                clips=clip_choice(inputs.clips),
                missing=inputs.missing,
                coverage=inputs.coverage,
                run=Run(engine.threads, progress=progress),
            )
        outcomes = {"": outcome}
    for name, outcome in outcomes.items():
        typer.echo(f"{name}\n{outcome}" if name else str(outcome))
    if not all(outcome.verified for outcome in outcomes.values()):
        raise typer.Exit(1)
