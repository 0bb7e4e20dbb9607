"""Moment retrieval as its evaluators define it: answers count one by one, in the order of the list.

The reference is written from the definition, with fractions and loops:

- R1 at t: the first window of the list has an intersection over union of at least t with a moment.
- AP at t: the first ten windows are gone through in their order. Each takes, of the moments that are still
  free and that it shares at least t with, the one that it shares most with; of equal ones the last of the
  list. It is right if there is one, else wrong. After each window there is a precision and a recall. The
  precision at a recall is the largest one at this recall or a higher one, and 0 beyond the last. AP is the
  area below it.
- Values are means over all queries, and over the limits t.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import sedscope as sed
from sedscope.io.systems import read_system

QUERIES = 1500
LIMITS = [Fraction(k, 20) for k in range(10, 20)]
Window = Sequence[float]


def shared(answer: Window, moment: Window) -> Fraction:
    """Intersection over union."""
    onset, offset = Fraction(max(answer[0], moment[0])), Fraction(min(answer[1], moment[1]))
    both = max(Fraction(0), offset - onset)
    return both / (Fraction(answer[1] - answer[0]) + Fraction(moment[1] - moment[0]) - both)


def average_precision(answers: list[Window], moments: list[Window], limit: Fraction) -> Fraction:
    ratios = [[shared(answer, moment) for moment in moments] for answer in answers[:10]]
    free = [*range(len(moments))]
    right, points = 0, []
    for place, of_answer in enumerate(ratios, 1):
        enough = [number for number in free if of_answer[number] >= limit]
        if enough:
            free.remove(max(enough, key=lambda number: (of_answer[number], number)))
            right += 1
        points.append((Fraction(right, len(moments)), Fraction(right, place)))
    steps = [Fraction(number, len(moments)) for number in range(1, len(moments) + 1)]
    best = [max((p for recall, p in points if recall >= step), default=Fraction(0)) for step in steps]
    return sum(best, Fraction(0)) / len(moments)


def random_queries(number: int, seed: int) -> list[tuple[list[Window], list[Window]]]:
    """Answers, listed by falling score, and moments. Many scores and overlaps are equal."""
    random = np.random.default_rng(seed)

    def windows(count: int) -> list[list[int]]:
        onsets = random.integers(0, 24, count)
        offsets = onsets + random.integers(1, 9, count)
        return [[int(onset), int(offset)] for onset, offset in zip(onsets, offsets, strict=True)]

    made: list[tuple[list[Window], list[Window]]] = []
    for _ in range(number):
        moments = sorted(windows(int(random.integers(1, 6))))
        near = [moments[k] for k in random.integers(0, len(moments), random.integers(0, 7))]
        answers = [[a + int(random.integers(0, 2)), b] for a, b in near if b > a + 1]
        answers += windows(int(random.integers(0 if answers else 1, 9)))
        scores = sorted(random.integers(1, 4, len(answers)).tolist(), reverse=True)
        listed = [answers[k] for k in random.permutation(len(answers))]
        made.append(([[*t, s / 4] for t, s in zip(listed, scores, strict=True)], [*moments]))
    return made


def test_values_are_those_of_the_definition(tmp_path: Path) -> None:
    queries = random_queries(QUERIES, 0)
    tied = [len({answer[2] for answer in answers}) < len(answers) for answers, _ in queries]
    assert sum(tied) > QUERIES / 2
    system_file, truth_file = tmp_path / "system.jsonl", tmp_path / "truth.jsonl"
    lines: tuple[list[str], list[str]] = ([], [])
    for qid, (answers, moments) in enumerate(queries):
        line = {"qid": qid, "vid": "v", "duration": 40}
        lines[0].append(json.dumps({**line, "pred_relevant_windows": answers}))
        lines[1].append(json.dumps({**line, "relevant_windows": moments}))
    for file, text in zip((system_file, truth_file), lines, strict=True):
        file.write_text("\n".join(text))
    truth = sed.read_ground_truth(truth_file, overlaps="keep")
    system = read_system(system_file, truth, sed.SystemReading(overlaps="keep"))
    assert isinstance(system, sed.Scores)

    first = [max(shared(answers[0], moment) for moment in moments) for answers, moments in queries]
    precisions = {limit: [average_precision(*query, limit) for query in queries] for limit in LIMITS}
    expected = {
        "r1_50": fmean(value >= Fraction(1, 2) for value in first),
        "r1_70": fmean(value >= Fraction(7, 10) for value in first),
        "mean_iou": float(sum(first) / len(queries)),
        "moment_map_50": float(sum(precisions[Fraction(1, 2)]) / len(queries)),
        "moment_map_75": float(sum(precisions[Fraction(3, 4)]) / len(queries)),
        "moment_map": float(sum(map(sum, precisions.values())) / len(queries) / len(LIMITS)),
    }
    result = sed.evaluate(system, truth, [*expected])
    assert {name: result[name].value for name in expected} == pytest.approx(expected, abs=1e-12)
    for limit, values in precisions.items():  # each query
        rule = sed.BestAnswers(sed.IoU(float(limit), matching="greedy"), 10)
        deltas = sed.deltas(system, truth, sed.QueryPrecision(rule, interpolation="voc"))
        assert deltas.clips == truth.clips
        np.testing.assert_allclose(deltas.tables.detections.scores, [*map(float, values)], atol=1e-12)


def test_an_unsorted_list_is_ranked_by_its_scores(tmp_path: Path) -> None:
    windows = [[0, 5, 0.2], [10, 15, 0.9]]
    file = tmp_path / "system.jsonl"
    file.write_text(json.dumps({"qid": 1, "vid": "v", "pred_relevant_windows": windows}))
    truth = sed.GroundTruth.from_dict({"v_1": [(10, 15, "moment")]}, durations={"v_1": 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        system = read_system(file, truth, sed.SystemReading(overlaps="keep"))
    assert isinstance(system, sed.Scores)
    assert sed.evaluate(system, truth, "r1_70")["r1_70"].value == 1
