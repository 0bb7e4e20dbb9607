"""PSDS, counts and best F-scores of a DESED-sized set in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.criteria import Criterion
from sedscope.metrics import Metric

from .peers import FSCORES, PEER, peer_times, psds_options, require_same
from .sets import COLLAR_F1, PSDS1, PSDS2, simulated
from .timing import Row, seconds

PASS = "one maximum over the frames of each clip, numpy"
ORDER = "one argsort of the frames of each class, numpy"
SORT = "one sort of the frames of each class, numpy"


def in_memory(clips: int) -> list[Row]:
    """PSDS and full counts of a DESED-sized set against one pass over its scores, and the peer."""
    scores, truth = simulated(clips)
    arrays = [clip.values for clip in scores.values()]
    columns = np.ascontiguousarray(np.concatenate(arrays).T)

    def evaluate(*metrics: Metric[Any]) -> Callable[[], object]:
        return lambda: sed.evaluate(scores, truth, metrics)

    def full_counts(criterion: Criterion) -> Callable[[], object]:
        return lambda: sed.deltas(scores, truth, criterion).counts()

    one_pass, psds1, psds2, both, full, full_ct, collar, order, sort, timed, alarm, alarms = seconds(
        lambda: [array.max(axis=0) for array in arrays],
        evaluate(PSDS1),
        evaluate(PSDS2),
        evaluate(PSDS1, PSDS2),
        full_counts(PSDS1.criterion),
        full_counts(PSDS2.criterion),
        evaluate(COLLAR_F1),
        lambda: [np.argsort(column) for column in columns],
        lambda: [np.sort(column) for column in columns],
        full_counts(sed.Time()),
        full_counts(sed.Alarm()),
        full_counts(sed.Alarm(cooldown=1)),
        repeat=15,
    )
    size = f"{clips} × 500 × 10 float32"
    rows = [
        Row(f"PSDS 1, {size}", psds1, PASS, psds1 / one_pass, "≤ 1.0"),
        Row(f"PSDS 2, {size}", psds2, PASS, psds2 / one_pass, "≤ 1.3"),
        Row("PSDS 1 and PSDS 2 together", both, PASS, both / one_pass, "≤ 1.6"),
        Row("counts at every threshold, 0.7/0.7", full, PASS, full / one_pass, "≤ 3"),
        Row("counts at every threshold, 0.1/0.1/0.3", full_ct, PASS, full_ct / one_pass, "≤ 5"),
        Row(f"best collar F1, {size}", collar, PASS, collar / one_pass, "≤ 4"),
        Row(f"alarms at every threshold, {size}", alarm, PASS, alarm / one_pass, "≤ 8"),
        Row("alarms with a cooldown of 1 s", alarms, PASS, alarms / one_pass),
        Row(f"time at every threshold, {size}", timed, ORDER, timed / order),
        Row(f"time at every threshold, {size}", timed, SORT, timed / sort, "≤ 1.0"),
    ]
    peer = peer_times(scores, truth)
    compared: list[tuple[str, Metric[Any], float, str | None]] = [
        (f"PSDS 1, {size}", PSDS1, psds1, "≥ 150"),
        (f"PSDS 2, {size}", PSDS2, psds2, "≥ 300"),
        (f"best collar F1, {size}", COLLAR_F1, collar, "≥ 80"),
    ]
    for work, metric, ours, bar in compared:
        theirs = peer[repr(metric)]
        require_same(repr(metric), sed.evaluate(scores, truth, metric)[metric].value, theirs["value"])
        rows.append(Row(work, ours, PEER, theirs["seconds"] / ours, bar))
    return [*rows, drop_in(scores, truth, peer)]


def drop_in(scores: sed.Scores, truth: sed.GroundTruth, peer: dict[str, dict[str, float]]) -> Row:
    """The evaluation of a DCASE baseline through the drop-in, from pandas frames to results."""
    from sedscope.compat.sed_scores_eval import collar_based, intersection_based
    from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

    classes = list(scores.classes)
    frames = {
        clip: create_score_dataframe(of_clip.values, of_clip.edges, classes)
        for clip, of_clip in scores.items()
    }
    events = {clip: truth.events(clip) for clip in truth.clips}
    assert truth.durations is not None
    durations = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    packages = {"collar": collar_based, "intersection": intersection_based}

    def evaluate() -> dict[str, float]:
        values = {
            repr(metric): intersection_based.psds(frames, events, durations, **psds_options(metric))[0]
            for metric in (PSDS1, PSDS2)
        }
        for name, (package, options) in FSCORES.items():
            fscores, *_ = packages[package].fscore(frames, events, 0.5, **options)
            values[name] = fscores["macro_average"]
        return values

    for name, value in evaluate().items():
        require_same(name, value, peer[name]["value"])
    (ours,) = seconds(evaluate, repeat=3)
    theirs = sum(peer[name]["seconds"] for name in evaluate())
    work = f"PSDS 1 and 2, collar and intersection F1 at 0.5 of {len(scores)} pandas frames, drop-in"
    return Row(work, ours, PEER, theirs / ours, "≥ 20")
