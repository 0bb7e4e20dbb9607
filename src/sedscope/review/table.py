"""The table of a review: what was drawn, for how many it stands, and what the reviewer answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray
from ..data.times import Ticks, to_seconds, to_ticks
from ..errors import SedscopeError, counted, listing, subject
from ..io.atomic_write import write_text
from ..io.locations import Location, location
from ..io.text_tables import TextTable, numbers, quoted, read_text_table
from ..tabular import Tabular

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .population import ClassDetections

Row: TypeAlias = tuple[str, str, int, int, float, str, float, int]
"""Clip, label, onset and offset in microseconds, score, stratum, weight and answer."""
Order: TypeAlias = Literal["listening", "score"]
"""By clip and time, as one listens to recordings; or the highest score first, class by class."""

SILENT = "silent"
"""The stratum of windows without a detection."""
RIGHT, WRONG, UNSURE, OPEN = 1, 0, -1, -2
"""Answers: the last one is none yet."""
_COLUMNS = ("filename", "onset", "offset", "event_label", "score", "stratum", "weight", "correct")
_WORDS = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "right"), RIGHT),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "wrong"), WRONG),
    **{"?": UNSURE, "": OPEN},
}
_CELLS = {RIGHT: "1", WRONG: "0", UNSURE: "?", OPEN: ""}


@dataclass(frozen=True, eq=False, repr=False)
class Review(Tabular):
    """Detections that were drawn for a review, and windows without a detection.

    Each column has a value per row. ``review plan`` makes it, a reviewer fills in the answers, and
    :func:`~sedscope.review.estimate` reads them.

    Attributes
    ----------
    clips, labels : list of str
        Where it is, and the class that it is about.
    times : array of int
        (rows × 2) onsets and offsets in microseconds.
    scores : array of float
        The score of the detection; NaN for a window without one.
    strata : list of str
        The stratum that it was drawn from: ``"1"`` has the highest scores of the class. ``"silent"`` are
        windows without a detection of the class.
    weights : array of float
        For how many of the stratum it stands: the inverse of the probability to be drawn.
    answers : array of int
        1: the detection is right, or the window has a call of the class; 0: it is not; −1: the reviewer
        cannot tell; −2: there is no answer yet.
    """

    clips: list[str]
    labels: list[str]
    times: Ticks
    scores: FloatArray
    strata: list[str]
    weights: FloatArray
    answers: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.clips)

    def __repr__(self) -> str:
        answered = int(np.count_nonzero(self.answers != OPEN))
        return f"<Review: {counted(len(self), 'row')}, {answered} answered>"

    @classmethod
    def of_rows(cls, rows: Sequence[Row]) -> Review:
        """Make it of rows."""
        clips, labels, onsets, offsets, scores, strata, weights, answers = (
            [*column] for column in (zip(*rows, strict=True) if rows else [()] * 8)
        )
        times = np.array([onsets, offsets], np.int64).T.reshape(-1, 2)
        arrays = np.array(scores, np.float64), np.array(weights, np.float64)
        return cls(clips, labels, times, arrays[0], strata, arrays[1], np.array(answers, np.int8))

    def rows(self) -> list[Row]:
        """Return the rows that :meth:`of_rows` takes."""
        columns = (self.scores.tolist(), self.strata, self.weights.tolist(), self.answers.tolist())
        return [*zip(self.clips, self.labels, *self.times.T.tolist(), *columns, strict=True)]

    def ordered(self, order: Order) -> Review:
        """Return the rows in the order in which they are to be reviewed.

        Parameters
        ----------
        order : {"listening", "score"}
            By clip and onset; or by class, the highest score first.

        Returns
        -------
        Review
        """
        if order == "listening":
            return Review.of_rows(sorted(self.rows(), key=lambda row: (row[0], row[2], row[3], row[1])))
        return Review.of_rows(
            sorted(self.rows(), key=lambda row: (row[1], np.isnan(row[4]), -row[4], row[0], row[2]))
        )

    def answered(self, answers: Mapping[tuple[str, str, int, int], bool] | Sequence[bool]) -> Review:
        """Return the same rows with other answers: one per row, or by clip, label, onset and offset.

        Parameters
        ----------
        answers : sequence of bool, or mapping
            Times of a mapping are in microseconds.

        Returns
        -------
        Review

        Examples
        --------
        >>> import sedscope as sed
        >>> system = sed.ScoredEvents.from_events({"a": [(0, 3, "Dog", 0.9), (3, 6, "Dog", 0.4)]})
        >>> sed.review.plan(system).answered([True, False])
        <Review: 2 rows, 2 answered>
        """
        if isinstance(answers, Mapping):
            keys = zip(self.clips, self.labels, *self.times.T.tolist(), strict=True)
            answers = [answers[key] for key in keys]
        if len(answers) != len(self):
            raise SedscopeError(f"{len(answers)} answers do not fit {counted(len(self), 'row')}.")
        return replace(self, answers=np.array([int(answer) for answer in answers], np.int8))

    def events(self) -> dict[str, list[tuple[float, float, str, float]]]:
        """Return the rows as events, by clip, with their scores; windows without a detection have 0.

        Returns
        -------
        dict of str to list of tuple
            ``(onset, offset, label, score)``, times in seconds.
        """
        events: dict[str, list[tuple[float, float, str, float]]] = {}
        seconds = to_seconds(self.times).tolist()
        scores = np.nan_to_num(self.scores).tolist()
        for clip, (onset, offset), label, score in zip(
            self.clips, seconds, self.labels, scores, strict=True
        ):
            events.setdefault(clip, []).append((onset, offset, label, score))
        return events

    def to_polars(self) -> PolarsFrame:
        """Return a data frame with the columns of the file, in which no answer is null.

        Returns
        -------
        polars.DataFrame
        """
        from ..results.frames import polars_frame

        seconds = to_seconds(self.times)
        columns = (self.clips, seconds[:, 0], seconds[:, 1], self.labels, self.scores, self.strata)
        answers = [_CELLS[answer] or None for answer in self.answers.tolist()]
        return polars_frame(dict(zip(_COLUMNS, (*columns, self.weights, answers), strict=True)))

    def write(self, path: str | Path) -> None:
        """Write the table to a file, which :func:`read_review` reads back.

        Parameters
        ----------
        path : str or Path
            CSV, or a table with tabs if the name ends in ``.tsv`` or ``.txt``.
        """
        mark = "\t" if location(path).suffix in (".tsv", ".txt") else ","
        lines = [mark.join(_COLUMNS)]
        for clip, label, onset, offset, score, stratum, weight, answer in self.rows():
            times = (f"{tick / 1e6:.6f}".rstrip("0").rstrip(".") for tick in (onset, offset))
            shown = "" if np.isnan(score) else f"{score:.6g}"
            cells = [quoted(clip, mark), *times, quoted(label, mark), shown, stratum, repr(weight)]
            lines.append(mark.join([*cells, _CELLS[answer]]))
        write_text(path, "\n".join(lines) + "\n")


def read_review(path: str | Location) -> Review:
    """Read a table that ``Review.write`` wrote, with answers.

    The column ``correct`` holds 1 or ``yes``, 0 or ``no``, ``?`` where the reviewer cannot tell, or nothing.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Review

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> system = sed.ScoredEvents.from_events({"a": [(0, 3, "Dog", 0.9), (3, 6, "Dog", 0.4)]})
    >>> with TemporaryDirectory() as folder:
    ...     sed.review.plan(system).answered([True, False]).write(f"{folder}/review.csv")
    ...     sed.review.read_review(f"{folder}/review.csv")
    <Review: 2 rows, 2 answered>
    """
    table = read_text_table(path, delimiter=None)
    cells = dict(zip(_COLUMNS, table.columns(_COLUMNS), strict=True))
    onsets, offsets, weights = numbers(table, [*map(table.place, ("onset", "offset", "weight"))])
    for row, cell in zip(table.rows, cells["score"], strict=True):
        row[table.place("score")] = cell or "nan"
    (scores,) = numbers(table, [table.place("score")])
    times = to_ticks(np.array([onsets, offsets]).T.reshape(-1, 2))
    _refuse_twice(table, [*zip(cells["filename"], cells["event_label"], *times.T.tolist(), strict=True)])
    return Review(
        *(cells["filename"], cells["event_label"], times, np.array(scores), cells["stratum"]),
        np.array(weights),
        _answers(table, cells["correct"]),
    )


def _refuse_twice(table: TextTable, keys: Sequence[tuple[str, str, int, int]]) -> None:
    """Refuse rows about the same detection, or the same window, of a class."""
    first: dict[tuple[str, str, int, int], int] = {}
    twice = [
        f"lines {table.lines[first[key]]} and {table.lines[row]}"
        for row, key in enumerate(keys)
        if first.setdefault(key, row) != row
    ]
    if twice:
        raise SedscopeError(
            f"{table.path}: {subject(len(twice), 'row', 'occurs')} twice: {listing(twice)}. Keep one of each."
        )


def _answers(table: TextTable, cells: Sequence[str]) -> NDArray[np.int8]:
    """Return the answers in the column ``correct``. Refuse other words, by line."""
    words = [cell.lower() for cell in cells]
    wrong = [
        f"line {table.lines[i]}: {cells[i]!r}" for i, word in enumerate(words) if word not in _WORDS
    ]
    if wrong:
        raise SedscopeError(
            f"{table.path}: the column 'correct' must hold 1 or yes, 0 or no, or ? where you cannot tell: "
            f"{listing(wrong)}."
        )
    return np.array([_WORDS[word] for word in words], np.int8)


@dataclass(frozen=True, eq=False)
class ClassReview:
    """What was drawn of the detections of one class, with its strata."""

    sizes: NDArray[np.int64]
    """How many detections each stratum has, that with the highest scores first."""
    ranks: NDArray[np.int64]
    """Which detections were drawn: 0 has the highest score."""
    answers: NDArray[np.int8]

    @property
    def unsure(self) -> int:
        """For how many the reviewer cannot tell."""
        return int(np.count_nonzero(self.answers == UNSURE))

    @property
    def strata(self) -> NDArray[np.int64]:
        """The stratum of each detection that was drawn, from 0."""
        return np.searchsorted(np.cumsum(self.sizes), self.ranks, side="right")


def class_review(review: Review, label: str, detections: ClassDetections) -> ClassReview:
    """Find the drawn detections of a class among all. Refuse a review of other detections."""
    rows = [i for i, name in enumerate(review.labels) if name == label and review.strata[i] != SILENT]
    rank_of = {
        key: rank
        for rank, key in enumerate(zip(detections.clips, *detections.times.T.tolist(), strict=True))
    }
    keys = [(review.clips[i], *review.times[i].tolist()) for i in rows]
    refuse_others(label, "detection", [key for key in keys if key not in rank_of])
    names = sorted({review.strata[i] for i in rows}, key=_stratum_number)
    totals = [sum(review.weights[i] for i in rows if review.strata[i] == name) for name in names]
    sizes = np.round(np.array(totals)).astype(np.int64)
    drawn = ClassReview(sizes, np.array([rank_of[key] for key in keys], np.int64), review.answers[rows])
    if sizes.sum() != len(detections) or [names[k] for k in drawn.strata.tolist()] != [
        review.strata[i] for i in rows
    ]:
        raise SedscopeError(
            f"{label}: the strata of the review do not fit the {counted(len(detections), 'detection')} of "
            f"the system. Rows may have been removed from it (answer them with ? instead). {_SAME_SYSTEM}"
        )
    return drawn


def refuse_others(label: str, what: str, others: Sequence[tuple[str, int, int]]) -> None:
    """Refuse rows, each with clip, onset and offset, that are not what a plan draws."""
    if others:
        rows = [f"{clip} {onset / 1e6:g}–{offset / 1e6:g} s" for clip, onset, offset in others]
        raise SedscopeError(
            f"{label}: the system has no {what} for {counted(len(rows), 'row')} of the review: "
            f"{listing(rows)}. {_SAME_SYSTEM}"
        )


_SAME_SYSTEM = "Give the same system, with the same options (`above=`), as for the plan."


def _stratum_number(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise SedscopeError(f"The review has a stratum {name!r}, which no plan makes.") from None
