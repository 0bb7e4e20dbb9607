"""What is evaluated, and how its files are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..data.alignment import ClipChoice, Missing
from ..data.ground_truth import Invalid, Overlaps
from ..errors import SedscopeError, listing
from ..io.locations import Location
from .options import (
    ColumnsOption,
    LabelOption,
    PostprocessOption,
    ScoresFormatOption,
    StitchOption,
    column_map,
    listed_clips,
    path_option,
    processed,
)

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores


@dataclass(frozen=True)
class Files:
    """How scores and reference events are read."""

    panel: ClassVar[str] = "Files"

    durations: Annotated[
        Path | None,
        path_option(help="Clip durations: filename duration \\[default: from the scores]"),
    ] = None
    classes: Annotated[
        list[str] | None,
        typer.Option(help="Only these classes: a name, or several with commas"),
    ] = None
    missing: Annotated[
        Missing, typer.Option(help="Clips not in the ground truth: 'error', or 'empty': without events")
    ] = "error"
    invalid: Annotated[
        Invalid,
        typer.Option(
            help="Events without length, or that begin after their clip's end: 'error' or 'drop'"
        ),
    ] = "error"
    overlaps: Annotated[
        Overlaps, typer.Option(help="Overlapping events of one class: 'error' or 'merge'")
    ] = "error"
    truth_format: Annotated[
        str | None,
        typer.Option("--format", help="Format of the reference events, where content leaves doubt"),
    ] = None
    columns: ColumnsOption = None
    label: LabelOption = None
    scores_format: ScoresFormatOption = None
    stitch: StitchOption = None
    threads: Annotated[int | None, typer.Option(help="Number of threads \\[default: one per core]")] = (
        None
    )

    def read_truth(self, path: Location) -> GroundTruth:
        """The reference events."""
        from .. import read_ground_truth

        return read_ground_truth(
            path,
            durations=self.durations,
            invalid=self.invalid,
            overlaps=self.overlaps,
            format=self.truth_format,
            columns=column_map(self.columns),
            label=self.label,
        )


@dataclass(frozen=True)
class Inputs(Files):
    """How they are read, and what of them is evaluated."""

    clips: Annotated[
        str | None,
        typer.Option(help="Only these clips: 'scored', or a file with a clip a line"),
    ] = None
    postprocess: PostprocessOption = None

    def read_system(self, path: Location, truth: GroundTruth) -> Scores | dict[float, Any]:
        """Scores, post-processed if that was asked for, or detections by threshold."""
        from .systems import read_system, require_scores

        format, stitch = self.scores_format, self.stitch
        system = read_system(path, truth, self.overlaps, format=format, stitch=stitch)
        if not self.postprocess:
            return system
        return processed(require_scores(system, path, "--postprocess"), self.postprocess)

    def read_scores(self, path: Location, truth: GroundTruth, command: str) -> Scores:
        """The same, where the command needs scores."""
        from .systems import require_scores

        return require_scores(self.read_system(path, truth), path, command)

    def refuse(self, why: str) -> None:
        """Refuse all that says how scores are read, or which."""
        given = {field.name for field in fields(self) if getattr(self, field.name) != field.default}
        options = [f"--{name.replace('_', '-')}" for name in sorted(given - {"threads"})]
        if options:
            raise SedscopeError(f"{listing(options)}: {why}")

    def choice(self, labels: Sequence[str]) -> dict[str, Any]:
        """Which of the classes with these labels and which clips are evaluated, as arguments of the
        library."""
        return {
            "classes": _class_names(self.classes, labels),
            "clips": _clip_choice(self.clips),
            "missing": self.missing,
            "threads": self.threads,
        }


def _class_names(given: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Names as given; commas separate names unless they are part of one."""
    if not given:
        return None
    return [name.strip() for text in given for name in ([text] if text in known else text.split(","))]


def _clip_choice(given: str | None) -> ClipChoice:
    """Which clips to take."""
    if given is None:
        return None
    return "scored" if given == "scored" else listed_clips(given, "--clips", "'scored'")
