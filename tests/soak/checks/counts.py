"""The counts of every clip at every threshold, against the brute force."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import sedscope as sed
from sedscope.criteria import Criterion, parse_criterion
from sedscope.criteria.delta_tables import DeltaRows
from sedscope.data.times import to_ticks

from ...support import oracle
from ...support.passes import find_deltas
from .. import brute_force
from ..case import Case
from ..drawing import Drawer
from .check import Check, kind_of, require_equal

CRITERIA_PER_SET = 2


def draw(rng: Random, seed: str) -> Case:
    """Many small clips, and two criteria."""
    drawer = Drawer(rng)
    criteria = [drawer.criterion() for _ in range(CRITERIA_PER_SET)]
    clips = drawer.clips(rng.choice([100, 200, 300]))
    return Case("counts", seed, drawer.dtype, clips, [repr(criterion) for criterion in criteria])


def draw_ignored(rng: Random, seed: str) -> Case:
    """Many small clips with ignored references, and two criteria about events."""
    drawer = Drawer(rng)
    criteria: list[Criterion] = []
    while len(criteria) < CRITERIA_PER_SET:
        criterion = drawer.criterion()
        if isinstance(criterion, sed.IoU) and criterion.threshold < 1:
            criterion = replace(criterion, strict=rng.random() < 0.5)
        criteria += [] if criterion.counts_negatives else [criterion]
    clips = [drawer.clip_with_ignored() for _ in range(rng.choice([100, 200]))]
    definitions = [repr(criterion) for criterion in criteria]
    return Case("ignored", seed, drawer.dtype, clips, definitions)


def draw_alarms(rng: Random, seed: str) -> Case:
    """Many small clips, some with ignored references, and two criteria of alarms, time and onsets."""
    drawer = Drawer(rng)
    criteria = [drawer.alarm_criterion() for _ in range(CRITERIA_PER_SET)]
    make = drawer.clip_with_ignored if rng.random() < 0.3 else drawer.clip
    clips = [make() for _ in range(rng.choice([50, 100]))]
    return Case("alarms", seed, drawer.dtype, clips, [repr(criterion) for criterion in criteria])


def judge(case: Case) -> Mapping[str, int]:
    """The set is counted at once; then the changes of each clip are compared, and their sums."""
    criteria = {parse_criterion(text): text for text in case.definitions}
    wanted = {
        criterion: {"any_label": criterion.defines_substitutions and i == 0 and case.check == "counts"}
        for i, criterion in enumerate(criteria)
    }
    clips, classes = len(case.clips), len(case.classes)
    points = 0
    for criterion, deltas in find_deltas(case.scores, case.truth, wanted, threads=1).items():
        require_equal(criterion, parse_criterion(repr(criterion)), "repr of a criterion")
        tables, kind = deltas.tables, kind_of(criterion)
        rows = _rows(tables.detections)
        cross = _rows(tables.cross_triggers)
        any_label = None if tables.any_label is None else _rows(tables.any_label)
        totals: list[dict[float, list[int]]] = [{} for _ in range(classes)]
        references, times, trials = ([0] * classes for _ in range(3))
        for i, clip in enumerate(case.clips):
            expected = brute_force.count(clip, criterion)
            for c in range(classes):
                changes = brute_force.changes(expected.points[c])
                points += len(expected.points[c])
                require_equal(_summed(rows[c][i]), changes, f"changes of {kind}", (criterion, i, c))
                for score, (tp, fp) in changes.items():
                    total = totals[c].setdefault(score, [0, 0])
                    total[0] += tp
                    total[1] += fp
                references[c] += expected.references[c]
                times[c] += expected.reference_times[c]
                trials[c] += 0 if expected.trials is None else expected.trials[c]
                crossed = brute_force.cross_changes(expected.points[c])
                require_equal(
                    _summed_by_label(cross[c][i]),
                    crossed,
                    f"cross-triggers of {kind}",
                    (criterion, i, c),
                )
            if any_label is not None:
                pairs = [
                    brute_force.Point(score, number, 0, ())
                    for score, number in brute_force.pairs_of_any_label(clip, criterion)
                ]
                got = {score: (change, 0) for score, change in _sum(any_label[0][i]).items() if change}
                require_equal(
                    got, brute_force.changes(pairs), f"pairs of any label of {kind}", (criterion, i)
                )
        counts = deltas.counts(threads=1)
        for c, label in enumerate(case.classes):
            of_class = counts[label]
            require_equal(
                [of_class.references, round(of_class.reference_time * 1e6), of_class.trials or 0],
                [references[c], times[c], trials[c]],
                f"references of {kind}",
                (criterion, label),
            )
            got_rows = [of_class.scores.tolist(), of_class.tp.tolist(), of_class.fp.tolist()]
            got_points = {score: (tp, fp) for score, tp, fp in zip(*got_rows, strict=True)}
            summed = _points(totals[c])
            for score, at in summed.items():
                # rows at which only a cross-trigger changes are in the table, too
                require_equal(got_points.get(score), at, f"counts of {kind}", (criterion, label, score))
            require_equal(
                got_rows[0], sorted(got_rows[0], reverse=True), "order of scores", (criterion, label)
            )
    return {"clips": clips, "clips × criteria": clips * len(criteria), "operating points": points}


def draw_errors(rng: Random, seed: str) -> Case:
    """A few clips, and a collar that sums errors."""
    drawer = Drawer(rng)
    drawer.most_frames = min(drawer.most_frames, 12)
    criterion = drawer.criterion(errors=True)
    while not isinstance(criterion, sed.Collar):
        criterion = drawer.criterion(errors=True)
    clips = drawer.clips(20)
    return Case("boundary_errors", seed, drawer.dtype, clips, [repr(criterion)])


def judge_errors(case: Case) -> Mapping[str, int]:
    """Sums of the errors of onsets and offsets, against all matchings."""
    (criterion,) = map(parse_criterion, case.definitions)
    assert isinstance(criterion, sed.Collar)
    deltas = sed.deltas(case.scores, case.truth, criterion, run=sed.Run(threads=1))
    assert deltas.tables.errors is not None
    rows = _rows(deltas.tables.errors)
    for i, clip in enumerate(case.clips):
        targets = brute_force.references_by_class(clip)
        for c, scores in enumerate(clip.scores):
            points = [
                brute_force.Point(score, *_least_errors(found, targets[c], criterion), ())
                for score in brute_force.levels(scores)
                for found in [brute_force.detections(scores, clip.edges, score)]
            ]
            got = {score: pair for score, pair in _summed(rows[c][i]).items() if pair != (0, 0)}
            require_equal(got, brute_force.changes(points), "boundary errors", (i, c))
    return {"clips": len(case.clips), "clips × criteria": len(case.clips)}


def draw_latencies(rng: Random, seed: str) -> Case:
    """Some small clips, and one criterion of alarms."""
    drawer = Drawer(rng)
    criterion = drawer.alarm_criterion()
    while not isinstance(criterion, sed.Alarm):
        criterion = drawer.alarm_criterion()
    make = drawer.clip_with_ignored if rng.random() < 0.3 else drawer.clip
    clips = [make() for _ in range(rng.choice([10, 20]))]
    return Case("latencies", seed, drawer.dtype, clips, [repr(criterion)])


def judge_latencies(case: Case) -> Mapping[str, int]:
    """The latencies of all references at every threshold of any clip."""
    (alarm,) = map(parse_criterion, case.definitions)
    assert isinstance(alarm, sed.Alarm)
    cooldown, before, after = map(brute_force.in_ticks, (alarm.cooldown, alarm.before, alarm.after))
    within = None if alarm.within is None else brute_force.in_ticks(alarm.within)
    levels = brute_force.levels([score for clip in case.clips for row in clip.scores for score in row])
    for level in levels:
        found = sed.alarm_latencies(
            case.scores, case.truth, alarm, math.nextafter(level, -math.inf), run=sed.Run(threads=1)
        )
        for c, label in enumerate(case.classes):
            expected: list[int] = []
            for clip in case.clips:
                detected = brute_force.detections(clip.scores[c], clip.edges, level)
                expected += oracle.latencies(
                    [onset for onset, _ in detected],
                    brute_force.references_by_class(clip)[c],
                    cooldown=cooldown,
                    before=before,
                    after=after,
                    within=within,
                )
            got = to_ticks(found[label].latencies).tolist()
            require_equal(got, sorted(expected), "latencies", (level, label))
    return {"clips": len(case.clips), "clips × thresholds": len(case.clips) * len(levels)}


def _least_errors(
    detected: list[oracle.Event], targets: list[oracle.Event], criterion: sed.Collar
) -> tuple[int, int]:
    judges = {"judges_onset": criterion.onset is not None, "judges_offset": criterion.offset is not None}
    ranked = [
        (-len(pairs), oracle.pairs.error_rank(pairs, **judges))
        for pairs in oracle.matchings(detected, targets, brute_force.pairable(criterion))
    ]
    return min(ranked)[1][2:]


Rows = list[tuple[float, ...]]


def _rows(table: DeltaRows) -> list[list[Rows]]:
    """The rows (score, columns…) of each class and clip."""
    rows = list(zip(table.scores.tolist(), *(column.tolist() for column in table.columns), strict=True))
    return [
        [rows[first:last] for first, last in itertools.pairwise(starts)]
        for starts in table.starts.tolist()
    ]


def _sum(rows: Rows) -> dict[float, int]:
    found: defaultdict[float, int] = defaultdict(int)
    for score, change in rows:
        found[score] += int(change)
    return found


def _summed(rows: Rows) -> dict[float, tuple[int, int]]:
    """Score -> both changes there, without those that change nothing."""
    found: dict[float, tuple[int, int]] = {}
    for score, first, second in rows:
        before = found.get(score, (0, 0))
        found[score] = (before[0] + int(first), before[1] + int(second))
    return {score: pair for score, pair in found.items() if pair != (0, 0)}


def _summed_by_label(rows: Rows) -> dict[tuple[float, int], int]:
    """Score and other class -> change there."""
    found: defaultdict[tuple[float, int], int] = defaultdict(int)
    for score, label, change in rows:
        found[score, int(label)] += int(change)
    return {key: change for key, change in found.items() if change}


def _points(changes: Mapping[float, list[int]]) -> dict[float, tuple[int, int]]:
    """Score -> counts there, where they change."""
    found = {}
    tp = fp = 0
    for score in sorted(changes, reverse=True):
        more_tp, more_fp = changes[score]
        tp, fp = tp + more_tp, fp + more_fp
        if (more_tp, more_fp) != (0, 0):
            found[score] = (tp, fp)
    return found


CHECKS = (
    Check("counts", 150, draw, judge),
    Check("ignored", 50, draw_ignored, judge),
    Check("alarms", 50, draw_alarms, judge),
    Check("latencies", 20, draw_latencies, judge_latencies),
    Check("boundary_errors", 3, draw_errors, judge_errors),
)
