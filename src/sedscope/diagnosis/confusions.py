"""Confusions: which class is detected where which class is present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import Alignment
from ..criteria import Criterion
from ..data.arrays import IntArray
from ..errors import counted
from ..results.text import Form, Part, Records, Table
from ..tabular import TabularResult
from .judging import ClassThresholds, covered_clips

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Confusions(TabularResult):
    """A confusion matrix of events: the class of each detection, and what is present where it lies.

    Each detection that is true counts on the diagonal, and one with wrong boundaries as ``inexact``. A
    cross-trigger counts once for each other class in whose references it lies, so rows may add up to more
    than the detections. All other detections lie in the background.

    Tables have a row per detected class and a column per class that is present. Data frames have a row per
    pair of classes, ``type`` and number of ``events``.

    Attributes
    ----------
    classes : tuple of str
        The classes, in the order of the rows and columns.
    matrix : array of int, shape (classes, classes)
        The detections of each class (rows) on each class that is present (columns).
    inexact : array of int
        The detections of each class that overlap a reference of the class, but are false.
    background : array of int
        The detections of each class that lie in no reference.
    missed : array of int
        The references of each class that no detection of the class overlaps.
    """

    classes: tuple[str, ...]
    matrix: IntArray
    inexact: IntArray
    background: IntArray
    missed: IntArray

    def __repr__(self) -> str:
        return f"<Confusions of {counted(len(self.classes), 'class')}>"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the matrix with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure that is large enough for the names of all classes.
        **options
            Options of matplotlib's ``imshow``.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=3)
        >>> axes = sed.diagnose(sed.simulate.scores(truth), truth).confusions().plot()
        >>> axes.get_ylabel()
        'class detected'
        """
        from ..plots.cross_trigger_matrix import plot_cross_trigger_matrix

        title = "Confusions", "(diagonal: true positives)"
        return plot_cross_trigger_matrix(self.matrix, self.classes, ax, options, *title)

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        numbers = np.column_stack([self.matrix, self.inexact, self.background])
        rows = [
            [label, *map(str, row)] for label, row in zip(self.classes, numbers.tolist(), strict=True)
        ]
        header = ["detected", *self.classes, "inexact", "background"]
        last = ["missed", *map(str, self.missed.tolist()), "", ""]
        return [Table(header, rows, last), "Each column is a class that is present."]

    def _records(self) -> Records:
        rows: list[tuple[str | float | None, ...]] = []
        for c, detected in enumerate(self.classes):
            for m, present in enumerate(self.classes):
                of_pair = "true" if m == c else "cross_trigger"
                rows.append((detected, present, of_pair, int(self.matrix[c, m])))
            rows.append((detected, detected, "inexact", int(self.inexact[c])))
            rows.append((detected, None, "background", int(self.background[c])))
        rows += [
            (None, label, "missed", int(n)) for label, n in zip(self.classes, self.missed, strict=True)
        ]
        return {"detected": str, "present": str, "type": str, "events": int}, rows


def cross_triggers(
    alignment: Alignment,
    criterion: Criterion,
    points: ClassThresholds,
    threads: int,
    triggering: Sequence[bool],
) -> IntArray:
    """Count the cross-triggers of each class (rows) on each other class (columns).

    ``triggering``: which classes have any; only their events are judged.
    """
    matrix = np.zeros((len(triggering), len(triggering)), np.int64)
    if not any(triggering):
        return matrix
    for checked in covered_clips(alignment, [criterion], threads, None):
        arguments = points.arguments(criterion.seen(checked.batch), threads)
        errors = points.criterion.count_clip_errors(*arguments)
        for clip, c in np.argwhere(errors.fp * np.asarray(triggering)).tolist():
            judged = points.criterion.judge_events(*arguments, clip=clip, class_number=c)
            np.add.at(matrix[c], judged.cross_triggers[:, 1], 1)
    return matrix
