"""``sedscope detect``: events from scores and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..data.choices import EventOverlaps, Gaps
from ..errors import SedscopeError, counted, listing
from .options.arguments import (
    DETECTION_OVERLAPS,
    GAPS,
    LABELS,
    POSTPROCESS,
    SCORES_COLUMNS,
    SCORES_FORMAT,
    SCORES_TO_THRESHOLD,
    STITCH,
    column_map,
    print_data,
    read_clip_list,
    stitch_arguments,
)
from .options.groups import option
from .options.outputs import BoxOptions, read_points, with_postprocess, write_event_list

if TYPE_CHECKING:
    from ..data.scores import Scores


def detect(
    *,
    scores: Path = SCORES_TO_THRESHOLD,
    box_options: BoxOptions,
    points: Path | None = option(
        None, "File of operating points, which 'sedscope tune' or a report wrote."
    ),
    threshold: float | None = option(None, "One threshold for all classes."),
    postprocess: list[str] | None = POSTPROCESS,
    output: Path | None = option(
        None,
        "File for the events, in the format that its name selects, as 'sedscope convert' does; or a "
        "folder for tables of Raven, one per recording. [default: standard output]",
        "--output",
        "-o",
        writes="either",
    ),
    confidences: bool = option(
        True, "Whether to write the confidence of each event: its highest score."
    ),
    clips: str | None = option(
        None, "Detect in these clips only: a file with one clip per line.", reads=lambda text: [text]
    ),
    durations: Path | None = option(
        None, "Clip durations (filename duration), for one table of Raven and for JAMS."
    ),
    labels: Path | None = LABELS,
    scores_format: str | None = SCORES_FORMAT,
    scores_columns: str | None = SCORES_COLUMNS,
    gaps: Gaps = GAPS,
    overlaps: EventOverlaps = DETECTION_OVERLAPS,
    stitch: str | None = STITCH,
) -> None:
    """Write the events that a system detects.

    The table has the columns filename, onset, offset, event_label and confidence.
    """
    from .. import detect as detect_events
    from .. import read_label_map, write_events
    from ..data.label_maps import no_effect_note
    from ..data.labels import refuse_disjoint
    from ..evaluation.operating_point import unstated_classes_note
    from ..io.side_tables import load_durations
    from ..io.systems import SystemReading, read_scores_or_detections

    if (points is None) == (threshold is None):
        raise SedscopeError("Give either --points or --threshold.")
    operating_points = None if points is None else read_points(points, postprocess)
    chosen = None if clips is None else read_clip_list(clips, "--clips")
    system = read_scores_or_detections(
        scores,
        SystemReading(
            format=scores_format,
            columns=column_map(scores_columns, "--scores-columns"),
            gaps=gaps,
            overlaps=overlaps,
            label_map=None if labels is None else read_label_map(labels, side="system"),
            **stitch_arguments(stitch),
        ),
        () if operating_points is None else operating_points.thresholds,
    )
    if operating_points is not None:
        refuse_disjoint(
            system.named_classes, operating_points.thresholds, other="file of operating points"
        )
    if chosen is not None:
        system = _chosen_clips(system, chosen)
    operating_points = with_postprocess(operating_points, postprocess, system.classes)
    notes = no_effect_note(system.label_maps)
    if points is not None and operating_points is not None:
        events = operating_points.detect(system, confidences=confidences)
        notes += unstated_classes_note(operating_points, system.classes)
    elif threshold is not None:
        processed = system if operating_points is None else operating_points.process(system)
        events = detect_events(processed, threshold, confidences=confidences)
    if output is None:
        print_data(write_events(events, None))
    else:
        stated = load_durations(durations)
        notes += write_event_list(events, output, stated, box_options.boxes())
    for note in notes:
        typer.echo(f"warning: {note}", err=True)


def _chosen_clips(scores: Scores, clips: Sequence[str]) -> Scores:
    """Return the scores of some clips."""
    lacking = [clip for clip in clips if clip not in scores]
    if lacking:
        raise SedscopeError(
            f"--clips lists {counted(len(lacking), 'clip')} without scores: {listing(lacking)}."
        )
    return scores.only(clips)
