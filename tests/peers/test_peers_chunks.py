"""sed_scores_eval as the judge of joined chunks, as DCASE 2024 Task 4 evaluates MAESTRO.

The chunks are joined here by the rule, one frame after the other. The judge gets the joined scores and
events; sedscope gets the chunks.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import ClasswiseMetric

from ..support.peers.judge_process import judge

CLASSES = ("birds", "cars", "wind", "brakes")
EVALUATED = CLASSES[:3]
FRAME = 0.064
METRICS: tuple[ClasswiseMetric[Any], ...] = (
    sed.BestFScore(sed.Segment(1.0)),
    sed.AUROC(sed.Segment(1.0)),
    sed.AUROC(sed.Segment(1.0), max_fpr=0.1),
)
Event = tuple[float, float, str]


@dataclass(frozen=True)
class Chunked:
    """Chunks with scores and soft labels ``(chunk, onset, offset, label, confidence)``."""

    scores: dict[str, np.ndarray[Any, Any]]
    rows: list[tuple[str, float, float, str, float]]
    durations: dict[str, float]


def chunked(seed: int, *, whole_seconds: bool) -> Chunked:
    """Recordings of odd lengths in overlapping chunks, some of them short or at odd times."""
    rng = np.random.default_rng(seed)
    durations = {f"street-{i}": float(rng.integers(20, 60)) for i in range(5)}
    if not whole_seconds:
        durations = {
            name: end + round(float(rng.uniform(0.1, 0.9)), 2) for name, end in durations.items()
        }
    scores, rows = {}, []
    for recording, duration in durations.items():
        hop = int(rng.choice([1, 3, 5]))
        for start in range(0, int(duration) - 5, hop):
            length = min(int(rng.choice([10, 10, 7])), int(duration) - start)
            late = int(rng.choice([0, 0, 50]))  # hundredths of a second, which are ignored
            chunk = f"{recording}-{100 * start + late}-{100 * (start + length) + late}"
            active = rng.random((length, len(CLASSES))) < (0.02 if start < 12 else 0.25)
            frames = ceil(length / FRAME) - int(rng.integers(2))
            second = np.minimum((np.arange(frames) * FRAME).astype(int), length - 1)
            scores[chunk] = 0.4 * active[second] + 0.6 * rng.random((frames, len(CLASSES)))
            for i, k in np.argwhere(active).tolist():
                rows.append(
                    (chunk, float(i), float(i + 1), CLASSES[k], float(rng.choice([0.3, 0.5, 0.8])))
                )
            rows.append((chunk, 0.0, float(length), "brakes", 0.9 if rng.random() < 0.2 else 0.1))
    return Chunked(scores, rows, durations)


def joined_by_hand(chunked: Chunked) -> tuple[dict[str, Any], dict[str, list[Event]]]:
    """The scores of each second and the events of each recording, by the rule."""
    references: dict[str, list[Event]] = defaultdict(list)
    for chunk, onset, offset, label, confidence in chunked.rows:
        if confidence > 0.5 and label in EVALUATED:
            references[chunk].append((onset, offset, label))
    sums: dict[str, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    events: dict[str, list[Event]] = defaultdict(list)
    for chunk, of_chunk in references.items():
        recording, first, last = chunk.rsplit("-", 2)
        start = int(first) // 100
        events[recording] += [(start + on, start + off, label) for on, off, label in of_chunk]
        for second in range(ceil((int(last) - int(first)) / 100)):
            begin = np.arange(len(chunked.scores[chunk])) * FRAME
            shares = np.minimum(begin + FRAME, second + 1) - np.maximum(begin, second)
            mean = np.average(chunked.scores[chunk], axis=0, weights=np.maximum(shares, 0))
            sums[recording][start + second].append(mean)
    scores = {}
    for recording, seconds in sums.items():
        number = ceil(chunked.durations[recording])
        scores[recording] = np.array(
            [
                np.mean(seconds[i], axis=0) if i in seconds else np.zeros(len(CLASSES))
                for i in range(number)
            ]
        )
    return scores, {recording: merged(of_recording) for recording, of_recording in events.items()}


def merged(events: list[Event]) -> list[Event]:
    """Events of one class that overlap or touch are one."""
    result: list[Event] = []
    for label in sorted({event[2] for event in events}):
        seconds = {i for on, off, of in events if of == label for i in range(int(on), int(off))}
        for i in sorted(seconds):
            if result and result[-1][1:] == (i, label):
                result[-1] = (result[-1][0], i + 1, label)
            else:
                result.append((float(i), i + 1, label))
    return result


@dataclass(frozen=True)
class Case:
    """What the judge hears: the recordings, joined by hand."""

    scores: sed.Scores
    truth: sed.GroundTruth

    def question(self) -> dict[str, Any]:
        return {
            "judge": "criterion",
            "criterion": "segment_based",
            "options": {"segment_length": 1.0},
            "beta": 1.0,
            "threshold": 0.5,
            "max_fpr": 0.1,
            "max_insertion_rate": 0.1,
        }


def as_case(chunked: Chunked) -> Case:
    scores, events = joined_by_hand(chunked)
    durations = {recording: chunked.durations[recording] for recording in scores}
    edges = {
        recording: np.minimum(np.arange(ceil(end) + 1), end) for recording, end in durations.items()
    }
    columns = [CLASSES.index(label) for label in EVALUATED]
    arrays = {recording: values[:, columns] for recording, values in scores.items()}
    return Case(
        sed.Scores.from_arrays(arrays, classes=EVALUATED, edges=edges),
        sed.GroundTruth.from_dict(events, durations=durations),
    )


def as_chunks(chunked: Chunked) -> tuple[sed.Scores, sed.GroundTruth]:
    names = ["filename", "onset", "offset", "event_label", "confidence"]
    columns = dict(zip(names, map(list, zip(*chunked.rows, strict=True)), strict=True))
    return (
        sed.Scores.from_arrays(chunked.scores, classes=CLASSES, frame=FRAME),
        sed.GroundTruth.from_table(columns, confidence="> 0.5", overlaps="merge"),
    )


SETS = {
    f"{seed}-{kind}": chunked(seed, whole_seconds=kind == "whole")
    for seed in range(3)
    for kind in ("whole", "odd")
}


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_maestro_as_the_judge_evaluates_it(peers_python: Path, tmp_path: Path) -> None:
    cases = {name: as_case(chunks) for name, chunks in SETS.items()}
    verdicts = judge(peers_python, tmp_path, cases)
    for name, chunks in SETS.items():
        scores, truth = as_chunks(chunks)
        joined, joined_truth = sed.join_chunks(
            scores,
            truth,
            unit="centiseconds",
            durations=chunks.durations,
            uncovered=0.0,
            unreferenced="drop",
            classes=EVALUATED,
        )
        by_hand = cases[name]
        assert sorted(joined) == sorted(by_hand.scores)
        for recording in joined:
            np.testing.assert_allclose(
                joined[recording].values[:, :3], by_hand.scores[recording].values, atol=1e-12
            )
            np.testing.assert_array_equal(joined[recording].ticks, by_hand.scores[recording].ticks)
            evaluated = [event for event in joined_truth.events(recording) if event[2] in EVALUATED]
            assert sorted(evaluated) == sorted(by_hand.truth.events(recording))
        result = sed.evaluate(joined, joined_truth, METRICS, classes=EVALUATED)
        verdict = verdicts[name]
        means = ("best_f/macro_average/value", "auroc/mean", "pauroc/mean")
        per_class = ("best_f/{}/value", "auroc/{}", "pauroc/{}")
        for metric, mean, of_class in zip(METRICS, means, per_class, strict=True):
            assert result[metric].value == pytest.approx(float(verdict[mean]), abs=1e-12)
            for label in EVALUATED:
                expected = float(verdict[of_class.format(label)])
                assert result[metric].per_class[label].value == pytest.approx(expected, abs=1e-12)


def test_the_sets_hold_what_they_are_for() -> None:
    """Chunks and recordings without references, and seconds that no chunk covers."""
    left_out, uncovered = 0, 0
    for chunks in SETS.values():
        scores, _ = joined_by_hand(chunks)
        referenced = {row[0] for row in chunks.rows if row[4] > 0.5 and row[3] in EVALUATED}
        left_out += len(chunks.scores) - len(referenced)
        uncovered += sum(int((values == 0).all(axis=1).sum()) for values in scores.values())
    assert left_out > 50
    assert uncovered > 10
