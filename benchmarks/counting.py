"""PSDS, counts and best F-scores of DESED-sized sets in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.criteria import Criterion
from sedscope.metrics import Metric

from .peers import FSCORES, PEER, peer_times, psds_options, require_same
from .sets import COLLAR_F1, PSDS1, PSDS2, SEEDS, evaluation, real, simulated
from .timing import Row, seconds, worst_of

PASS = "one maximum over the frames of each clip, numpy"
ORDER = "one argsort of the frames of each class, numpy"
SORT = "one sort of the frames of each class, numpy"


BARS = {
    "PSDS 1": "≤ 1.0",
    "PSDS 2": "≤ 1.3",
    "PSDS 1 and PSDS 2 together": "≤ 1.6",
    "counts at every threshold, 0.7/0.7": "≤ 3",
    "counts at every threshold, 0.1/0.1/0.3": "≤ 5",
    "best collar F1": "≤ 4",
    "alarms at every threshold": "≤ 8",
    "alarms with a cooldown of 1 s": "≤ 8",
}
BARS_ON_REAL_SETS = {"PSDS 1": "≤ 1.5", "PSDS 2": "≤ 2", "PSDS 1 and PSDS 2 together": "≤ 3"}


def in_memory(clips: int) -> list[Row]:
    """PSDS and full counts of DESED-sized sets against one pass over their scores, and the peer."""
    size = f"{clips} × 500 × 10 float32"
    of_seeds = [_against_numpy(*simulated(clips, seed=seed), size, BARS) for seed in SEEDS]
    rows, desed = worst_of(of_seeds), real()
    if desed is not None:
        rows += _against_numpy(*desed, "DESED validation, 157 frames a clip", BARS_ON_REAL_SETS)
    worst = max(SEEDS, key=lambda seed: of_seeds[seed][1].ratio)
    return [*rows, *_against_peer(*simulated(clips, seed=worst), size)]


def _against_numpy(
    scores: sed.Scores, truth: sed.GroundTruth, size: str, bars: Mapping[str, str]
) -> list[Row]:
    """Work on one set. ``bars``: of the work that is held to one against the pass."""
    arrays = [clip.values for clip in scores.values()]
    columns = np.ascontiguousarray(np.concatenate(arrays).T)

    def evaluate(*metrics: Metric[Any]) -> Callable[[], object]:
        return lambda: sed.evaluate(scores, truth, metrics)

    def full_counts(criterion: Criterion) -> Callable[[], object]:
        return lambda: sed.deltas(scores, truth, criterion).counts()

    work = {
        "PSDS 1": evaluate(PSDS1),
        "PSDS 2": evaluate(PSDS2),
        "PSDS 1 and PSDS 2 together": evaluate(PSDS1, PSDS2),
        "counts at every threshold, 0.7/0.7": full_counts(PSDS1.criterion),
        "counts at every threshold, 0.1/0.1/0.3": full_counts(PSDS2.criterion),
        "best collar F1": evaluate(COLLAR_F1),
        "alarms at every threshold": full_counts(sed.Alarm()),
        "alarms with a cooldown of 1 s": full_counts(sed.Alarm(cooldown=1)),
    }
    one_pass, order, sort, timed, *times = seconds(
        lambda: [array.max(axis=0) for array in arrays],
        lambda: [np.argsort(column) for column in columns],
        lambda: [np.sort(column) for column in columns],
        full_counts(sed.Time()),
        *work.values(),
        repeat=15,
    )
    in_time = f"time at every threshold, {size}"
    return [
        *(
            Row(f"{name}, {size}", took, PASS, took / one_pass, bars.get(name))
            for name, took in zip(work, times, strict=True)
        ),
        Row(in_time, timed, ORDER, timed / order),
        Row(in_time, timed, SORT, timed / sort, "≤ 1.0"),
    ]


def _against_peer(scores: sed.Scores, truth: sed.GroundTruth, size: str) -> list[Row]:
    """What the peer does as well."""
    peer = peer_times(scores, truth)
    rows = []
    compared: list[tuple[str, Metric[Any], str]] = [
        ("PSDS 1", PSDS1, "≥ 150"),
        ("PSDS 2", PSDS2, "≥ 300"),
        ("best collar F1", COLLAR_F1, "≥ 80"),
    ]
    for work, metric, bar in compared:
        theirs = peer[repr(metric)]
        require_same(repr(metric), sed.evaluate(scores, truth, metric)[metric].value, theirs["value"])
        (ours,) = seconds(evaluation(scores, truth, metric), repeat=15)
        rows.append(Row(f"{work}, {size}", ours, PEER, theirs["seconds"] / ours, bar))
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
