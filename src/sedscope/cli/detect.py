"""``sedscope detect``: events from scores and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..data.choices import EventOverlaps
from ..errors import SedscopeError, counted, listing
from .options.arguments import (
    DETECTION_OVERLAPS,
    POSTPROCESS,
    SCORES_TO_THRESHOLD,
    print_data,
    read_clip_list,
)
from .options.groups import option, output_option
from .options.inputs import SystemOptions
from .options.outputs import (
    POINTS_FILE,
    THRESHOLD,
    BoxOptions,
    read_points,
    with_postprocess,
    write_event_list,
)

if TYPE_CHECKING:
    from ..data.scores import Scores


def detect(
    *,
    scores: Path = SCORES_TO_THRESHOLD,
    box_options: BoxOptions,
    points: Path | None = POINTS_FILE,
    threshold: float | None = THRESHOLD,
    postprocess: list[str] | None = POSTPROCESS,
    output: Path | None = output_option(
        None,
        "File for the events, in the format that its name selects, as 'sedscope convert' does; or a "
        "folder for tables of Raven, one per recording. [default: standard output]",
        "either",
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
    files: SystemOptions,
    overlaps: EventOverlaps = DETECTION_OVERLAPS,
) -> None:
    """Write the events that a system detects.

    The table has the columns filename, onset, offset, event_label and confidence.
    """
    from .. import detect as detect_events
    from .. import write_events
    from ..data.label_maps import no_effect_note
    from ..data.labels import refuse_disjoint
    from ..evaluation.operating_point import unstated_classes_note
    from ..io.side_tables import load_durations

    if (points is None) == (threshold is None):
        raise SedscopeError("Give either --points or --threshold.")
    operating_points = None if points is None else read_points(points, postprocess)
    chosen = None if clips is None else read_clip_list(clips, "--clips")
    stated = () if operating_points is None else operating_points.thresholds
    system = files.read(scores, overlaps, stated)
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
        notes += write_event_list(events, output, load_durations(durations), box_options.boxes())
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
