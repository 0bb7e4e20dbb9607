"""``sedscope evaluate``: from files to a table of metrics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..alignment import ClipChoice, Missing
from ..errors import SedscopeError, SedscopeWarning
from ..ground_truth import Invalid, Overlaps


def evaluate(
    scores: Annotated[
        Path, typer.Argument(help="Folder of score tables, one a clip: onset offset class…")
    ],
    ground_truth: Annotated[
        Path, typer.Argument(help="Reference events: filename onset offset event_label")
    ],
    durations: Annotated[
        Path | None,
        typer.Option(help="Clip durations: filename duration \\[default: from the scores]"),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help='A metric, e.g. "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"; may be given '
            "several times \\[default: PSDS 1 and 2 of DCASE 2021–2023]"
        ),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(help="Evaluate only these classes: a name, or several with commas"),
    ] = None,
    clips: Annotated[
        str | None,
        typer.Option(help="Evaluate only these clips: 'scored', or a file with a clip a line"),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(help="Clips not in the ground truth: 'error', or 'empty': without events"),
    ] = "error",
    invalid: Annotated[
        Invalid,
        typer.Option(help="Events without length or after their clip's end: 'error' or 'drop'"),
    ] = "error",
    overlaps: Annotated[
        Overlaps, typer.Option(help="Overlapping events of one class: 'error' or 'merge'")
    ] = "error",
    threads: Annotated[
        int | None, typer.Option(help="Number of threads \\[default: one per core]")
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write the results to this file; '-': only JSON, to stdout")
    ] = None,
) -> None:
    """Evaluate a system's scores against reference events."""
    from .. import evaluate as evaluate_scores
    from .. import presets, read_ground_truth, read_scores
    from ..metrics import parse_metric
    from .progress import progress_bar

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    metrics = [parse_metric(text) for text in metric or []] or [presets.PSDS1, presets.PSDS2]
    system = read_scores(scores)
    truth = read_ground_truth(
        ground_truth,
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
    )
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)  # the result names them
        result = evaluate_scores(
            system,
            truth,
            metrics,
            classes=_class_names(classes, system.classes),
            clips=_clip_choice(clips),
            missing=missing,
            threads=threads,
            progress=progress,
        )
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    typer.echo(f"{result.clips} clips, {result.hours:.2f} hours\n\n{result.table()}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)


def _class_names(given: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Names as given; commas separate names unless they are part of one."""
    if not given:
        return None
    return [name.strip() for text in given for name in ([text] if text in known else text.split(","))]


def _clip_choice(given: str | None) -> ClipChoice:
    if given is None:
        return None
    if given == "scored":
        return "scored"
    try:
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SedscopeError(
            f"--clips {given}: neither 'scored' nor a file with a clip a line ({error})"
        ) from None
    names = [line.split("\t")[0].strip() for line in lines]
    chosen = [name for name in names if name and name != "filename"]
    if not chosen:
        raise SedscopeError(f"--clips {given}: the file names no clip")
    return chosen
