"""Several post-processings: one after the other, or one for each class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.scores import ClipScores
from ..data.times import Ticks
from ..errors import SedscopeError, listing
from .postprocessing import PostProcessing


@dataclass(frozen=True, repr=False, init=False)
class Chain(PostProcessing):
    """Post-processings one after the other, the first one first. Without any, scores stay as they are.

    >>> from sedscope.postprocessing import MedianFilter, MinimumDuration
    >>> Chain(MedianFilter(0.48), MinimumDuration(0.2))
    Chain(MedianFilter(seconds=0.48), MinimumDuration(seconds=0.2))
    """

    steps: tuple[PostProcessing, ...]

    def __init__(self, *steps: PostProcessing) -> None:
        _require_postprocessings("Chain", steps)
        flat = [part for step in steps for part in (step.steps if isinstance(step, Chain) else [step])]
        object.__setattr__(self, "steps", tuple(flat))

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.steps))})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        """See :class:`PostProcessing`."""
        return [problem for step in self.steps for problem in step.problems(classes)]

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        for step in self.steps:
            clip = step.process(clip, classes)
        return clip


@dataclass(frozen=True, repr=False, init=False)
class PerClass(PostProcessing):
    """A post-processing of its own for each class; classes without one are left as they are.

    >>> from sedscope.postprocessing import MedianFilter
    >>> PerClass({"Dog": MedianFilter(0.3), "Blender": MedianFilter(2)})
    PerClass({'Blender': MedianFilter(seconds=2), 'Dog': MedianFilter(seconds=0.3)})
    """

    by_class: tuple[tuple[str, PostProcessing], ...]
    """In order of the labels."""

    def __init__(self, by_class: Mapping[str, PostProcessing]) -> None:
        if not isinstance(by_class, Mapping):
            raise SedscopeError("PerClass needs a mapping from classes to post-processings")
        wrong = [repr(label) for label in by_class if not (isinstance(label, str) and label)]
        if wrong:
            raise SedscopeError(f"PerClass: classes must be non-empty strings, not {listing(wrong)}")
        _require_postprocessings("PerClass", by_class.values())
        object.__setattr__(self, "by_class", tuple(sorted(by_class.items(), key=lambda item: item[0])))

    def __repr__(self) -> str:
        return f"PerClass({dict(self.by_class)!r})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        """See :class:`PostProcessing`."""
        unknown = [label for label, _ in self.by_class if label not in classes]
        found = [f"classes without scores: {listing(unknown)}"] if unknown else []
        return found + [text for label, chosen in self.by_class for text in chosen.problems([label])]

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        chosen = dict(self.by_class)
        columns: dict[PostProcessing | None, list[int]] = {}
        for column, label in enumerate(classes):
            columns.setdefault(chosen.get(label), []).append(column)
        parts: list[ClipScores] = []
        for postprocessing, of_part in columns.items():
            part = ClipScores.unchecked(clip.values[:, of_part], clip.ticks)
            if postprocessing is not None:
                part = postprocessing.process(part, [classes[column] for column in of_part])
            parts.append(part)
        return _side_by_side(parts, list(columns.values()))


def _require_postprocessings(owner: str, values: Iterable[object]) -> None:
    wrong = [repr(value) for value in values if not isinstance(value, PostProcessing)]
    if wrong:
        raise SedscopeError(f"{owner} takes post-processings, not {listing(wrong)}")


def _side_by_side(parts: Sequence[ClipScores], columns: Sequence[Sequence[int]]) -> ClipScores:
    """Classes with boundaries of their own on one grid; ``columns``: where those of each part go.

    A time that occurs twice in a part, at a frame of no length, occurs twice in the grid. There the
    other parts have the score of the frame that follows, so that nothing is split.
    """
    if len(parts) == 1:
        return ClipScores.unchecked(parts[0].values[:, np.argsort(columns[0])], parts[0].ticks)
    ticks = _union([part.ticks for part in parts])
    values = np.empty(
        (len(ticks) - 1, sum(map(len, columns))), np.result_type(*(part.values for part in parts))
    )
    for part, of_part in zip(parts, columns, strict=True):
        # the n-th of some equal boundaries is the n-th of them in the grid
        begins = np.zeros(len(ticks), np.intp)
        begins[np.searchsorted(ticks, part.ticks) + _occurrences(part.ticks)] = 1
        frames = np.minimum(begins.cumsum()[:-1] - 1, len(part.values) - 1)
        values[:, of_part] = part.values[frames]
    return ClipScores.unchecked(values, ticks)


def _union(grids: Sequence[Ticks]) -> Ticks:
    """All boundaries, each as often as in the grid that has it most often."""
    times = np.unique(np.concatenate(grids))
    most = np.ones(len(times), np.int64)
    for grid in grids:
        np.maximum.at(most, np.searchsorted(times, grid), _occurrences(grid) + 1)
    return np.repeat(times, most)


def _occurrences(grid: Ticks) -> Ticks:
    """How many equal boundaries come before each."""
    return np.arange(len(grid)) - np.searchsorted(grid, grid)
