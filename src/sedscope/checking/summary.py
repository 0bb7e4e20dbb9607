"""What would be evaluated, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.choices import ClipChoice, Missing
from ..data.ground_truth import GroundTruth
from ..data.scored_events import ScoredEvents
from ..data.scores import Scores
from .checks import chosen_clips, truth_durations
from .findings import SummaryValue
from .survey import Survey


def summarize(
    scores: Scores | None,
    survey: Survey | None,
    truth: GroundTruth | None,
    classes: Sequence[str] | None,
    clips: ClipChoice,
    missing: Missing,
) -> dict[str, SummaryValue]:
    """Say what would be evaluated."""
    summary: dict[str, SummaryValue] = {}
    if truth is not None:
        summary |= {
            "listed clips": len(truth.clips),
            "reference events": int(np.count_nonzero(~truth.ignored)),
        }
        if truth.ignored.any():
            summary["ignored references"] = int(np.count_nonzero(truth.ignored))
    if scores is None or survey is None:
        return summary
    evaluated_classes = list(classes or scores.classes)
    scored = len(scores) - len(scores.assumed_clips)
    summary["scored clips"] = scored
    if isinstance(scores, ScoredEvents):
        summary |= {"scored events": survey.events, "classes": evaluated_classes}
    else:
        summary |= {"frames": sum(survey.frames.values()), "classes": evaluated_classes}
        summary["types"] = sorted(survey.types)
    if truth is None:
        return summary
    durations, listed = truth_durations(truth), set(truth.clips)
    chosen = {clip for clip in chosen_clips(scores, clips) if clip in listed or missing == "empty"}
    evaluated = [clip for clip in scores if clip in chosen]
    has_scores = np.array([clip in chosen and clip in scores for clip in truth.clips], bool)[
        truth.event_clips
    ]
    names = (*truth.labels, *truth.ignored_labels)
    has_class = np.array([label in evaluated_classes for label in names], bool)[truth.event_labels]
    ticks = sum(durations.get(clip, survey.ends.get(clip, 0)) for clip in evaluated)
    summary |= {
        "evaluated clips": len(evaluated),
        "evaluated hours": round(ticks / 3.6e9, 4),
        "evaluated events": int((has_scores & has_class & ~truth.ignored).sum()),
    }
    return summary
