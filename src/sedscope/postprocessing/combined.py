"""Several post-processings: one after the other, or one for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.arrays import ScoreArray
from ..data.clip_events import ClipEvents
from ..data.scores import ClipScores
from ..data.times import Ticks
from ..errors import SedscopeError, listing
from .postprocessing import POSTPROCESSINGS, PostProcessing, require_postprocessings


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False, init=False)
class Chain(PostProcessing):
    """Apply post-processings one after the other.

    Parameters
    ----------
    *steps : PostProcessing
        The post-processings, the first one first. A chain among them is replaced by its steps.
        Without any steps, the scores do not change. One that makes events, such as :class:`Peaks`, must be
        the last.

    Examples
    --------
    >>> from sedscope.postprocessing import MedianFilter, MinimumDuration
    >>> Chain(MedianFilter(0.48), MinimumDuration(0.2))
    Chain(MedianFilter(seconds=0.48), MinimumDuration(seconds=0.2))
    """

    steps: tuple[PostProcessing, ...]

    def __init__(self, *steps: PostProcessing) -> None:
        require_postprocessings("Chain", steps)
        flat = [inner for step in steps for inner in (step.steps if isinstance(step, Chain) else [step])]
        for step in flat[:-1]:
            if step.makes_events:
                raise SedscopeError(
                    f"{step} turns scores of frames into events, so it must be the last step of a chain."
                )
        object.__setattr__(self, "steps", tuple(flat))

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.steps))})"

    @property
    def changes_scores(self) -> bool:
        return bool(self.steps)

    @property
    def makes_events(self) -> bool:
        return bool(self.steps) and self.steps[-1].makes_events

    @property
    def maps_single_scores(self) -> bool:
        return bool(self.steps) and all(step.maps_single_scores for step in self.steps)

    @property
    def window_seconds(self) -> float:
        return max((step.window_seconds for step in self.steps), default=0.0)

    def _for_class(self, label: str) -> PostProcessing | None:
        """Return the steps that do something to the class.

        >>> from sedscope.postprocessing import MedianFilter, PerClass
        >>> Chain(PerClass({"Dog": MedianFilter(1)}), MedianFilter(2))._for_class("Cat")
        MedianFilter(seconds=2)
        """
        steps = [of_class for step in self.steps if (of_class := step._for_class(label)) is not None]
        return None if not steps else steps[0] if len(steps) == 1 else Chain(*steps)

    def identity(self) -> str | None:
        identities = [step.identity() for step in self.steps]
        return None if None in identities else f"Chain({', '.join(map(str, identities))})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        return [problem for step in self.steps for problem in step.problems(classes)]

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores | ClipEvents:
        processed: ClipScores | ClipEvents = clip
        for step in self.steps:
            assert isinstance(processed, ClipScores)  # only the last step makes events
            processed = step.process(processed, classes)
        return processed


def union_of_grids(grids: Sequence[Ticks]) -> Ticks:
    """Return all boundaries, each as often as in the grid that has it most often."""
    times = np.unique(np.concatenate(grids))
    repeats = np.ones(len(times), np.int64)
    for grid in grids:
        np.maximum.at(repeats, np.searchsorted(times, grid), _repeats_before(grid) + 1)
    return np.repeat(times, repeats)


def on_grid(clip: ClipScores, grid: Ticks) -> ScoreArray:
    """Return the scores of a clip in the frames of a grid that has all of its boundaries."""
    # the n-th of some equal boundaries is the n-th of them in the grid
    begins = np.zeros(len(grid), np.intp)
    begins[np.searchsorted(grid, clip.ticks) + _repeats_before(clip.ticks)] = 1
    frames = np.minimum(begins.cumsum()[:-1] - 1, len(clip.values) - 1)
    return clip.values[frames]


def _repeats_before(grid: Ticks) -> Ticks:
    """Count the equal boundaries that come before each boundary."""
    return np.arange(len(grid)) - np.searchsorted(grid, grid)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False, init=False)
class PerClass(PostProcessing):
    """Apply a different post-processing to each class.

    Parameters
    ----------
    by_class : mapping of str to PostProcessing
        The post-processing of each class. The scores of other classes do not change. If one of them makes
        events, as :class:`Peaks` does, every class needs one that does.

    Attributes
    ----------
    by_class : tuple of (str, PostProcessing)
        The same as pairs, sorted by class.

    Examples
    --------
    >>> from sedscope.postprocessing import MedianFilter
    >>> PerClass({"Dog": MedianFilter(0.3), "Blender": MedianFilter(2)})
    PerClass({'Blender': MedianFilter(seconds=2), 'Dog': MedianFilter(seconds=0.3)})
    """

    by_class: tuple[tuple[str, PostProcessing], ...]

    def __init__(self, by_class: Mapping[str, PostProcessing]) -> None:
        if not isinstance(by_class, Mapping):
            raise SedscopeError("PerClass needs a mapping from classes to post-processings.")
        wrong = [repr(label) for label in by_class if not (isinstance(label, str) and label)]
        if wrong:
            raise SedscopeError(
                f"The classes of PerClass must be non-empty strings, not {listing(wrong)}."
            )
        require_postprocessings("PerClass", by_class.values())
        object.__setattr__(self, "by_class", tuple(sorted(by_class.items(), key=lambda item: item[0])))

    def __repr__(self) -> str:
        return f"PerClass({dict(self.by_class)!r})"

    @property
    def makes_events(self) -> bool:
        return any(step.makes_events for _, step in self.by_class)

    @property
    def maps_single_scores(self) -> bool:
        return all(step.maps_single_scores for _, step in self.by_class)

    @property
    def window_seconds(self) -> float:
        return max((step.window_seconds for _, step in self.by_class), default=0.0)

    def _for_class(self, label: str) -> PostProcessing | None:
        of_class = dict(self.by_class).get(label)
        return None if of_class is None else of_class._for_class(label)

    def identity(self) -> str | None:
        identities = {label: step.identity() for label, step in self.by_class}
        if None in identities.values():
            return None
        return f"PerClass({{{', '.join(f'{label!r}: {text}' for label, text in identities.items())}}})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        unknown = [label for label, _ in self.by_class if label not in classes]
        problems = [f"The scores have no class {listing(unknown)}."] if unknown else []
        for label, postprocessing in self.by_class:
            problems += postprocessing.problems([label])
        if self.makes_events:
            making = {label for label, step in self.by_class if step.makes_events}
            frames = [label for label in classes if label not in making]
            if frames:
                problems.append(
                    f"Some classes become events, so all must: {listing(frames)} would keep scores of frames."
                )
        return problems

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores | ClipEvents:
        postprocessings = dict(self.by_class)
        groups: dict[PostProcessing | None, list[int]] = {}
        for column, label in enumerate(classes):
            groups.setdefault(postprocessings.get(label), []).append(column)
        of_groups: list[ClipScores | ClipEvents] = []
        for postprocessing, columns in groups.items():
            scores = ClipScores.unchecked(clip.values[:, columns], clip.ticks)
            processed: ClipScores | ClipEvents = scores
            if postprocessing is not None:
                processed = postprocessing.process(scores, [classes[column] for column in columns])
            of_groups.append(processed)
        events = [group for group in of_groups if isinstance(group, ClipEvents)]
        if events:
            return _join_events(events, list(groups.values()))
        frames = [group for group in of_groups if isinstance(group, ClipScores)]
        return _join_columns(frames, list(groups.values()))


def _join_events(groups: Sequence[ClipEvents], columns: Sequence[Sequence[int]]) -> ClipEvents:
    """Put the events of groups of classes together. ``columns``: where the columns of each group go."""
    times = np.concatenate([group.times for group in groups])
    new = [np.array(to, np.int32)[group.columns] for group, to in zip(groups, columns, strict=True)]
    confidences = np.concatenate([group.confidences for group in groups])
    labels = np.concatenate(new)
    order = np.argsort(labels, kind="stable")
    return ClipEvents(times[order], labels[order], confidences[order], groups[0].extent)


def _join_columns(groups: Sequence[ClipScores], columns: Sequence[Sequence[int]]) -> ClipScores:
    """Put groups of classes, each with its own frame boundaries, on one grid.

    ``columns``: where the columns of each group go.
    """
    if len(groups) == 1:
        return ClipScores.unchecked(groups[0].values[:, np.argsort(columns[0])], groups[0].ticks)
    ticks = union_of_grids([group.ticks for group in groups])
    values = np.empty(
        (len(ticks) - 1, sum(map(len, columns))), np.result_type(*(group.values for group in groups))
    )
    for group, group_columns in zip(groups, columns, strict=True):
        values[:, group_columns] = on_grid(group, ticks)
    return ClipScores.unchecked(values, ticks)
