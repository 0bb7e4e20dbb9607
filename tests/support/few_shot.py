"""Few-shot sets on disk, and their counts by brute force, written from the description of DCASE Task 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from .oracle.pairs import matchings, overlap_over_union

Mark = tuple[int, int, str]
"""Start and end in seconds, and POS, UNK or NEG."""
Recording = tuple[Sequence[Mark], Sequence[tuple[int, int]]]
"""The annotations of a recording, and what a system predicts in it."""
Subsets = Mapping[str, Mapping[str, Recording]]
"""By subset and name of the recording."""
SHOTS = 5
FLOOR = Fraction(1, 100_000)


class Tally(NamedTuple):
    tp: int
    fp: int
    fn: int


def write_subsets(folder: Path, subsets: Subsets) -> tuple[Path, Path]:
    """Write a table for each recording, and one with all predictions; return where they are."""
    rows = ["Audiofilename,Starttime,Endtime"]
    for subset, recordings in subsets.items():
        (folder / "reference" / subset).mkdir(parents=True)
        for name, (marks, predictions) in recordings.items():
            lines = [f"{name}.wav,{start},{end},{mark}" for start, end, mark in marks]
            table = "\n".join(["Audiofilename,Starttime,Endtime,Q", *lines, ""])
            (folder / "reference" / subset / f"{name}.csv").write_text(table)
            rows += [f"{name}.wav,{start},{end}" for start, end in predictions]
    (folder / "predictions.csv").write_text("\n".join([*rows, ""]))
    return folder / "predictions.csv", folder / "reference"


def count(recording: Recording) -> Tally:
    """Of all pairings, one with the most POS pairs, and of these one with the most UNK pairs."""
    marks, predictions = recording
    targets = [mark for mark in marks if mark[2] != "NEG"]
    if not predictions:
        return Tally(0, 0, sum(mark == "POS" for *_, mark in targets))
    last_shot = sorted((mark for mark in targets if mark[2] == "POS"), key=lambda mark: mark[0])[
        SHOTS - 1
    ]
    targets = [mark for mark in targets if mark[1] > last_shot[1]]
    above = overlap_over_union(0.3, strict=True)

    def numbers(pairs: Sequence[tuple[object, Mark]]) -> tuple[int, int]:
        return sum(mark[2] == "POS" for _, mark in pairs), sum(mark[2] == "UNK" for _, mark in pairs)

    pairings = matchings(predictions, targets, lambda event, mark: above(event, mark[:2]))
    tp, unknown = max(map(numbers, pairings))
    return Tally(tp, len(predictions) - tp - unknown, sum(mark[2] == "POS" for mark in targets) - tp)


def count_subsets(subsets: Subsets) -> dict[str, Tally]:
    """The counts of each subset."""
    return {
        subset: Tally(*map(sum, zip(*map(count, recordings.values()), strict=True)))
        for subset, recordings in subsets.items()
    }


def overall(tallies: Mapping[str, Tally]) -> dict[str, float]:
    """The harmonic mean of F, precision and recall over subsets; without TP each of them is the floor."""
    denominators: dict[str, Callable[[Tally], Fraction]] = {
        "f1": lambda tally: tally.tp + Fraction(tally.fp + tally.fn, 2),
        "precision": lambda tally: Fraction(tally.tp + tally.fp),
        "recall": lambda tally: Fraction(tally.tp + tally.fn),
    }
    values = {}
    for name, denominator in denominators.items():
        of_subsets = [tally.tp / denominator(tally) if tally.tp else FLOOR for tally in tallies.values()]
        values[name] = float(len(of_subsets) / sum(1 / value for value in of_subsets))
    return values
