"""``sedscope review``: plans of reviews, and estimates from the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import typer

from ..errors import SedscopeError, counted, listing
from .options.arguments import JSON, SCORES_TO_THRESHOLD, SEED
from .options.groups import OptionGroup, argument, option, options_given, output_option
from .options.inputs import SystemOptions
from .options.outputs import (
    BoxOptions,
    LatexOptions,
    check_tables,
    show_result,
    write_event_list,
    write_tables,
)
from .requirements import Outcome, conclude

if TYPE_CHECKING:
    from ..data.scores import Scores
    from ..io.locations import Location
    from ..review.result import ReviewEstimate
    from ..review.sampling import Per
    from ..review.table import Review
    from ..tuning.operating_points import OperatingPoints

_TABLES = (".csv", ".tsv")
_POINTS = (".toml", ".json", ".h")


_ABOVE = option(
    None,
    "Only detections with a higher score. Of scores, a detection is a run of frames above it. "
    "[default: 0.1 for scores of frames, all of a list of detections]",
)
_DURATIONS = option(
    None,
    "Clip durations (filename duration), for the windows without a detection of a list of "
    "detections, and for one table of Raven.",
)


@dataclass(frozen=True)
class AudioOptions(OptionGroup):
    """The audio of the rows."""

    panel: ClassVar[str] = "Audio"

    audio: Path | None = option(
        None, "Folder with the recordings, to cut the rows out of. Needs --cuts."
    )
    cuts: Path | None = option(
        None, "New folder for the audio of the rows, numbered as they are.", writes="folder"
    )
    margin: float = option(1.0, "Seconds of audio before and after each row.", min=0)

    def write(self, review: Review) -> None:
        """Cut the audio of each row, if that is asked for."""
        if self.audio is not None and self.cuts is not None:
            _cut_audio(review, self.audio, self.cuts, self.margin)


@dataclass(frozen=True)
class MoreOptions(OptionGroup):
    """Rows that are added to a review."""

    panel: ClassVar[str] = "More reviews"

    given: Path | None = option(
        None, "A review with answers, to which to add --more rows where they tell most."
    )
    more: int | None = option(None, "How many detections to add to --given.", min=1)
    min_precision: float = option(
        0.9, "The precision that a threshold is sought for: rows go where it is uncertain."
    )

    def extended(self, system: Scores, per: Per, above: float | None, seed: int) -> Review | None:
        """Return the review with more rows, if that is asked for."""
        from ..review.sampling import extend
        from ..review.table import read_review

        if self.given is None or self.more is None:
            return None
        return extend(
            *(system, read_review(self.given), self.more),
            per=per,
            min_precision=self.min_precision,
            above=above,
            seed=seed,
        )


def review_plan(
    *,
    scores: Path = SCORES_TO_THRESHOLD,
    files: SystemOptions,
    above: float | None = _ABOVE,
    durations: Path | None = _DURATIONS,
    audio_options: AudioOptions,
    more_options: MoreOptions,
    box_options: BoxOptions,
    output: list[Path] = output_option(
        ...,
        "File for the table to fill in (.csv or .tsv). Repeat the option to write the same rows for "
        "listening, in the format that the name selects: a table of Raven, a label track of Audacity, or "
        "a folder with one per recording.",
        "either",
    ),
    reviews: int = option(100, "How many detections to draw; all, if there are fewer.", min=1),
    per: Literal["class", "total"] = option(
        "class", "Whether to draw that many of each class, or of all classes together."
    ),
    silent_windows: int = option(
        0,
        "How many windows without a detection to draw for each class, to estimate how many calls "
        "are missed.",
        min=0,
    ),
    window: float | None = option(
        None,
        "Length of these windows in seconds. [default: that of the detections if they have the "
        "same, else 3]",
    ),
    classes: list[str] | None = option(
        None, "Only this class. Repeat the option for several.", "--class"
    ),
    order: Literal["listening", "score"] = option(
        "listening", "Order of the rows: by recording and time, or the highest scores first."
    ),
    seed: int = SEED,
) -> None:
    """Draw detections to review, more of high scores than of low ones.

    Fill in the column 'correct' of the table: 1 or yes, 0 or no, ? where you cannot tell. 'sedscope review
    estimate' reads it.
    """
    from ..io.side_tables import load_durations
    from ..review.sampling import plan

    if (more_options.given is None) != (more_options.more is None):
        raise SedscopeError("Give both --given and --more, or neither.")
    if (audio_options.audio is None) != (audio_options.cuts is None):
        raise SedscopeError("Give both --audio and --cuts, or neither.")
    table = [path for path in output if path.suffix in _TABLES]
    if len(table) != 1:
        raise SedscopeError("Give one file to fill in, whose name ends in .csv or .tsv: -o review.csv.")
    unused = options_given(silent_windows=silent_windows, window=window, classes=classes)
    if more_options.given is not None and unused:
        raise SedscopeError(f"{unused[0]} cannot be changed with --more. It is as in the first plan.")
    system = files.read(scores, "keep")
    seconds = load_durations(durations)
    review = more_options.extended(system, per, above, seed) or plan(
        system,
        reviews=reviews,
        per=per,
        above=above,
        classes=classes,
        silent_windows=silent_windows,
        window=window,
        durations=seconds,
        seed=seed,
    )
    review = review.ordered(order)
    review.write(table[0])
    audio_options.write(review)
    lists = [path for path in output if path not in table]
    notes = [
        note
        for path in lists
        for note in write_event_list(review.events(), path, seconds, box_options.boxes())
    ]
    typer.echo(f"{counted(len(review), 'row')} to review in {table[0]}: {_by_class(review)}")
    for note in notes:
        typer.echo(f"warning: {note}", err=True)


def _by_class(review: Review) -> str:
    labels = [*dict.fromkeys(sorted(review.labels))]
    return listing([f"{label} ({review.labels.count(label)})" for label in labels])


def _cut_audio(review: Review, audio: Location, target: Path, margin: float) -> None:
    """Cut the audio of each row out of the recordings, into a new folder."""
    from ..data.clips import clip_id
    from ..io.atomic_write import filling
    from ..io.audio import open_cutter
    from ..io.locations import folder_content, input_location

    files = {
        clip_id(file.name): file
        for file in folder_content(input_location(audio))
        if clip_id(file.name) != file.name
    }
    missing = [clip for clip in dict.fromkeys(review.clips) if clip_id(clip) not in files]
    if missing:
        raise SedscopeError(
            f"{audio} has no audio file for {counted(len(missing), 'clip')} of the review: "
            f"{listing(missing)}."
        )
    cutters = {clip: open_cutter(files[clip_id(clip)]) for clip in dict.fromkeys(review.clips)}
    digits = len(str(len(review)))
    with filling(target) as new:
        for i, (clip, label) in enumerate(zip(review.clips, review.labels, strict=True)):
            onset, offset = (review.times[i] / 1e6).tolist()
            cutter = cutters[clip]
            name = f"{i + 1:0{digits}d} {label} {clip_id(clip)} {onset:g} s"
            safe = "".join(c if c.isalnum() or c in " ._-" else "_" for c in name)
            suffix = cutter.media_type.rpartition("/")[2]
            content = cutter.cut(max(0.0, onset - margin), offset + margin)
            Path(new, f"{safe}.{suffix}").write_bytes(content)


def review_estimate(
    *,
    scores: Path = SCORES_TO_THRESHOLD,
    review: Path = argument("A plan with answers in the column 'correct'."),
    files: SystemOptions,
    above: float | None = _ABOVE,
    durations: Path | None = _DURATIONS,
    latex: LatexOptions,
    level: float = option(0.95, "Level of the intervals."),
    hold: Literal["pointwise", "simultaneous"] = option(
        "pointwise",
        "Whether an interval holds for one threshold that is fixed beforehand, or those of a class "
        "for all thresholds together.",
    ),
    min_precision: float | None = option(
        None, "Choose the lowest threshold of each class with at least this precision."
    ),
    confidence: float = option(
        0.95, "How certain the thresholds are to keep --min-precision, class by class."
    ),
    output: list[Path] | None = output_option(
        None,
        "File for the thresholds of --min-precision (.toml, .json, .h), which 'sedscope detect' "
        "reads; for the table (.md, .tex), or for the values at every threshold (.csv). Repeat the "
        "option for several.",
    ),
    json: str | None = JSON,
) -> None:
    """Estimate from a review how precise all detections are, at every threshold."""
    from ..io.side_tables import load_durations
    from ..review.estimates import estimate
    from ..review.table import read_review

    points_files = [path for path in output or () if path.suffix in _POINTS]
    tables = [path for path in output or () if path.suffix not in _POINTS]
    if points_files and min_precision is None:
        raise SedscopeError(f"-o {points_files[0]}: thresholds need --min-precision.")
    check_tables(tables, latex)
    system = files.read(scores, "keep")
    result = estimate(
        system,
        read_review(review),
        level=level,
        hold=hold,
        above=above,
        durations=load_durations(durations),
    )
    points = None if min_precision is None else result.choose(min_precision, confidence)
    write_tables(result, tables, latex)
    show_result(result, (), json)
    for path in points_files:
        assert points is not None
        points.save(path)
    if points is None:
        return
    if json != "-":
        typer.echo(f"\n{_points_table(result, points)}")
    conclude(
        [
            Outcome(
                f"precision of {label} >= {min_precision:g}",
                label not in points.unmet,
                "no threshold can be promised",
            )
            for label in points.thresholds
        ],
        None,
    )


def _points_table(result: ReviewEstimate, points: OperatingPoints) -> str:
    """Show the chosen threshold of each class, and how precise the detections above it are."""
    from ..results.text import Table

    rows = []
    for label, threshold in points.thresholds.items():
        of_class = result[label]
        row = int((of_class.thresholds > threshold).sum()) - 1
        value, low, high = (column[row] for column in of_class.precision)
        number = str(of_class.detections[row])
        kept = "no" if label in points.unmet else "yes"
        rows.append([label, f"{threshold:g}", number, f"{value:.4f} ({low:.4f}–{high:.4f})", kept])
    header = ["class", "threshold", "detections", "precision", "promised"]
    return Table(header, rows, ruled=False).text()
