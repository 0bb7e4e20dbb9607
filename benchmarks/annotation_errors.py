"""How many planted annotation errors the lists of errors begin with, on the DESED validation clips.

``python -m benchmarks.annotation_errors [SETS]`` plants errors into 5 % of the references: a third each is
deleted, gets another label at random, or is moved by half to all of its length (and at least by 0.25 s). It
prints the share of the first 100 rows of each list that name a planted error, each error once. The data are
those of the tests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedscope as sed
from sedscope.diagnosis import ListedError, list_errors, suspected_annotations
from tests.support.real_data import desed_scores, desed_truth

SHARE, FIRST = 0.05, 100
Event = tuple[float, float, str]


class Planted(NamedTuple):
    """A reference as it was, and as the ground truth has it now."""

    clip: str
    kind: str
    before: Event
    after: Event | None


def plant(truth: sed.GroundTruth, seed: int) -> tuple[sed.GroundTruth, list[Planted]]:
    """Plant errors into some of the references."""
    rng = np.random.default_rng(seed)
    events = {clip: truth.events(clip) for clip in truth.clips}
    assert truth.durations is not None
    ends = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    references = [(clip, event) for clip, of_clip in events.items() for event in of_clip]
    chosen = rng.permutation(len(references))[: round(SHARE * len(references))]
    planted = []
    for number, row in enumerate(chosen.tolist()):
        clip, before = references[row]
        onset, offset, label = before
        kind = ("deleted", "relabelled", "moved")[number % 3]
        step = rng.uniform(0.5, 1) * max(offset - onset, 0.5) * rng.choice([-1, 1])
        fits = [way for way in (step, -step) if onset + way >= 0 and offset + way <= ends[clip]]
        if kind == "moved" and not fits:  # it lasts as long as its clip
            kind = str(rng.choice(["deleted", "relabelled"]))
        after: Event | None = None
        if kind == "relabelled":
            others = [other for other in truth.labels if other != label]
            after = (onset, offset, str(rng.choice(others)))
        elif kind == "moved":
            after = (onset + fits[0], offset + fits[0], label)
        events[clip].remove(before)
        if after is not None:
            events[clip].append(after)
        planted.append(Planted(clip, kind, before, after))
    return sed.GroundTruth.from_dict(events, durations=ends, overlaps="merge"), planted


def _names(row: ListedError, error: Planted) -> bool:
    """Return whether a row has the event as it was, or names the reference as it is now."""

    def shares_time(event: Event, other: Event) -> bool:
        return event[2] == other[2] and min(event[1], other[1]) > max(event[0], other[0])

    if row.clip != error.clip:
        return False
    if shares_time((row.onset, row.offset, row.label), error.before):
        return True
    return None not in (row.reference, error.after) and shares_time(row.reference, error.after)  # type: ignore[arg-type]


def precision(rows: Iterable[ListedError], planted: Sequence[Planted]) -> float:
    """Return the share of rows that name an error that no row before names."""
    left = [*planted]
    hits = []
    for row in rows:
        named = next((error for error in left if _names(row, error)), None)
        hits.append(named is not None)
        if named is not None:
            left.remove(named)
    return float(np.mean(hits))


def study(scores: sed.Scores, truth: sed.GroundTruth, sets: int) -> dict[str, list[float]]:
    """Return the precision of each list on some sets of planted errors."""
    values: dict[str, list[float]] = {}
    for seed in range(sets):
        changed, planted = plant(truth, seed)
        lists = {"suspected": suspected_annotations(scores, changed).errors}
        rng = np.random.default_rng(seed)
        for name, criterion in (
            ("highest false alarm, Intersection(0.5, 0.5)", sed.Intersection(0.5, 0.5)),
            ("highest false alarm, IoU(0.1)", sed.IoU(0.1)),
            ("highest false alarm, Collar()", sed.Collar()),
        ):
            errors = list_errors(scores, changed, criterion)
            false = [error for error in errors if error.side == "detection"]
            ties = rng.random(len(false))  # equal scores in random order
            order = sorted(range(len(false)), key=lambda i: (-(false[i].score or 0), ties[i]))
            lists[name] = tuple(false[i] for i in order)
        for name, rows in lists.items():
            values.setdefault(name, []).append(precision(rows[:FIRST], planted))
    return values


if __name__ == "__main__":
    data = Path(os.environ.get("SEDSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for name, shares in study(desed_scores(data), desed_truth(data), number).items():
        print(f"{name}: {np.mean(shares):.3f} (from {min(shares):.2f} to {max(shares):.2f})")
