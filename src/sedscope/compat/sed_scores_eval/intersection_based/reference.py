"""The values of psds_eval, over a set of thresholds. ``psds`` evaluates all thresholds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....counting.counts import Counts, as_thresholds
from ....counting.request import DeltaRequest
from ....errors import SedscopeError, counted, listing
from ....evaluation.detection_sets import counts_of_sets
from ..base_modules.io import read_ground_truth_events, transformed_scores
from ..base_modules.rates import single_fscore_from_intermediate_statistics
from ..counting import warn
from ..criteria import by_intersection
from ..inputs import durations_by_name, events_by_name, truth_of_events
from ..statistic_functions import statistic_function, with_options
from .psds import PSDSOptions

_THRESHOLDS = np.linspace(0.01, 0.99, 50)
_fscore = statistic_function("fscore", by_intersection, single_fscore_from_intermediate_statistics)


@with_options(options=PSDSOptions)
def approximate_psds(
    scores: Any,
    ground_truth: Any,
    audio_durations: Any,
    thresholds: Any = _THRESHOLDS,
    *,
    score_transform: Callable[[Any], Any] | str | Path | None = None,
    options: PSDSOptions,
) -> tuple[Any, ...]:
    """Return the PSDS, that of each class, the PSD-ROC, and that of each class, over some thresholds.

    ``score_transform``: a function that is applied to each score table first, or a file with one.
    """
    transformed = transformed_scores(scores, score_transform)
    named = options.counting(ground_truth, audio_durations, pruned=False)(transformed)
    return _over_points(named.counts().at(thresholds), options)


@with_options(options=PSDSOptions)
def approximate_psds_from_detections_dir(
    dir_path: str | Path,
    ground_truth: Any,
    audio_durations: Any,
    thresholds: Any = _THRESHOLDS,
    *,
    threshold_decimals: int = 3,
    options: PSDSOptions,
) -> tuple[Any, ...]:
    """Do the same with a folder that ``io.write_detections_for_multiple_thresholds`` wrote."""
    points = as_thresholds(thresholds).tolist()
    files = {point: Path(dir_path) / f"{point:.{threshold_decimals}f}.tsv" for point in points}
    missing = [file.name for file in files.values() if not file.exists()]
    if missing:
        raise SedscopeError(
            f"{dir_path} has no file for {counted(len(missing), 'threshold')}: {listing(missing)}."
        )
    sets: Any = {point: read_ground_truth_events(file) for point, file in files.items()}
    truth = truth_of_events(events_by_name(ground_truth), durations_by_name(audio_durations))
    counts, notes = counts_of_sets(sets, truth, {options.criterion: DeltaRequest()})
    warn(notes)
    return _over_points(counts[options.criterion], options)


def fscore(
    scores: Any,
    ground_truth: Any,
    threshold: Any,
    *,
    dtc_threshold: float,
    gtc_threshold: float,
    beta: float = 1.0,
) -> dict[str, float]:
    """Return the F-score of each class at a threshold, and their mean."""
    values, *_ = _fscore(
        scores,
        ground_truth,
        threshold,
        dtc_threshold=dtc_threshold,
        gtc_threshold=gtc_threshold,
        beta=beta,
    )
    return {label: value for label, value in values.items() if label != "micro_average"}


def _over_points(counts: Counts, options: PSDSOptions) -> tuple[Any, ...]:
    value, of_classes, roc, class_rocs = options.with_areas(options.class_curves(counts))
    return value, of_classes, roc, {label: (tpr, efpr) for label, (tpr, efpr, _) in class_rocs.items()}
