"""Scores under new labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .clip_events import ClipEvents
from .label_maps import AppliedMap, LabelMapLike, as_label_map
from .merged_columns import MergedColumns
from .recordings import ClipPieces
from .score_arrays import ClipScores

if TYPE_CHECKING:
    from .scores import Scores


def relabelled_scores(scores: Scores, label_map: LabelMapLike) -> Scores:
    """Rename, merge and drop the columns of a clip when it is needed."""
    names = as_label_map(label_map)
    events = not scores.whole_clips
    columns = MergedColumns(scores.classes, scores.assumed_classes, names, events=events)

    def load(clip: str) -> ClipScores | ClipPieces | ClipEvents:
        return columns.clip(scores.open(clip))

    def identify(clip: str) -> str | None:
        identity = scores.identity(clip)
        return None if identity is None else f"relabelled {columns.identity} of {identity}"

    merging = (columns.definition,) if columns.definition else ()
    facts = scores.facts()
    facts |= {
        "classes": columns.classes,
        "in_memory": scores.in_memory and columns.same_values,
        "identify": identify,
        "processing": (*scores.processing, *merging),
        "assumed_classes": columns.assumed,
        "label_maps": (*scores.label_maps, AppliedMap(names, scores.classes)),
    }
    if events and merging:
        facts["locate"] = None  # frames may be others
    return type(scores)(scores, load, **facts)
