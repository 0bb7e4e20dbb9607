"""The contract of a post-processing, the registry, and clips that are processed together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.arrays import FloatArray, ScoreArray
from ..data.clip_events import FRAMES_ADVICE, ClipEvents
from ..data.scores import CUT_TO_REGIONS, ClipScores, Scores, refuse_nans
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import Defined, Registry, require_number
from ..errors import SedscopeError, counted, listing, located, shortened

_MOST_FRAMES = 2**16  # in a clip: the core answers Ctrl-C between clips
_MOST_SCORES = 2**27  # in all clips: ranks take 6 bytes per float32 score


@dataclass(frozen=True, eq=False)
class ReadLimit:
    """Down to which score processed scores are read. Any lower score may take the place of a score that is
    not read."""

    lowest: FloatArray
    """Per column, the lowest score that is read."""
    rank: int
    """Nor is anything read below the largest processed scores of this many of the clips ``among``."""
    among: NDArray[np.bool_]
    """(clips × columns)"""

    def native(self, dtype: np.dtype[Any]) -> _native.ReadLimit:
        """The limit as the core reads it, for scores of a type."""
        with np.errstate(over="ignore"):
            return _native.ReadLimit(self.lowest.astype(dtype), self.rank, self.among)


@dataclass(frozen=True, eq=False)
class ProcessedGroup:
    """The clips of a group after a post-processing."""

    clips: list[ClipScores]
    maxima: ScoreArray
    """(clips × columns) the largest scores."""


class ClipGroup:
    """Some clips, with what several post-processings of them share."""

    def __init__(self, clips: Sequence[ClipScores], threads: int) -> None:
        self.clips = clips
        self.threads = threads

    @cached_property
    def ranked(self) -> _native.RankedClips | None:
        """The clips with the ranks of their scores; None if the core cannot take them all at once.

        That is if the scores are of several types, if some are NaN, if a clip is very long, or if there are
        so many scores that their ranks would take much memory.
        """
        values = [clip.values for clip in self.clips]
        if len({array.dtype for array in values}) != 1 or max(map(len, values)) > _MOST_FRAMES:
            return None
        if sum(array.size for array in values) > _MOST_SCORES:
            return None
        columns = np.arange(values[0].shape[1])
        clips = _native.Clips(values, [clip.ticks for clip in self.clips], columns)
        if np.isnan(clips.maxima(self.threads)).any():
            return None
        return _native.RankedClips(clips, self.threads)


class PostProcessing(Defined, ABC):
    """A post-processing makes scores from scores, before any threshold is applied.

    It is a hashable value whose ``repr`` is its full definition. Call it with scores to get the
    processed scores. To write your own, derive a frozen dataclass and define :meth:`process`.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.1], [0.9], [0.2]]}, classes=["Dog"], frame=1.0)
    >>> filtered = sed.postprocessing.MedianFilter(3)(scores)
    >>> filtered["a"].values.tolist()
    [[0.1], [0.2], [0.2]]
    """

    @property
    def changes_scores(self) -> bool:
        """Whether it does anything at all: a chain without steps does not."""
        return True

    @property
    def makes_events(self) -> bool:
        """Whether it turns scores into scored events that are kept as they are, as :class:`Peaks` does."""
        return False

    @property
    def maps_single_scores(self) -> bool:
        """Whether each score depends on nothing but itself, so that scored events have new confidences."""
        return False

    @property
    def window_seconds(self) -> float:
        """The longest window that a score depends on, in seconds; 0 if it has none."""
        return 0.0

    def __call__(self, scores: Scores) -> Scores:
        """Post-process scores. Each clip is processed when it is read.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        Scores
            The processed scores, of the same clips and classes. The first and the last boundary of a
            clip do not change. They are :class:`ScoredEvents` if the post-processing makes events.

        Raises
        ------
        SedscopeError
            If the post-processing does not fit the classes of the scores. A clip whose scores it
            cannot process raises when it is read.
        """
        self.require_fit(scores.classes)
        if scores.holds_events and not self.maps_single_scores:
            if not self.changes_scores:
                return scores
            raise SedscopeError(
                f"Scored events that are kept as they are cannot be post-processed by "
                f"{shortened(str(self), 80)}: that needs scores of frames. {FRAMES_ADVICE}"
            )
        if (
            scores._source.recut is not None
        ):  # what is detected does not depend on which regions are scored
            return scores._source.recut(self).only(scores)
        if CUT_TO_REGIONS in scores.processing:
            raise SedscopeError(
                "These scores were cut to regions, so they cannot be post-processed any more. Post-process "
                "the whole recordings first."
            )

        def load(clip: str) -> ClipScores | ClipEvents:
            if scores.holds_events:
                events = scores.open(clip)
                assert isinstance(events, ClipEvents)
                return self._of_confidences(events, scores.classes)
            clip_scores = scores[clip]
            refuse_nans(clip, clip_scores, scores.classes)
            if not len(clip_scores.values):
                return ClipEvents.none(clip_scores.ticks) if self.makes_events else clip_scores
            with located(f"Clip {clip}"):
                return self.process(clip_scores, scores.classes)

        source = scores._derived(
            load,
            in_memory=False,
            identify=scores._identified_by(self.identity()),
            processing=(*scores.processing, self.identity() or repr(self)),
            locate=None,  # frames may be others
        )
        if not (self.makes_events or scores.holds_events):
            return Scores._of(scores, source)
        from ..data.scored_events import ScoredEvents

        return ScoredEvents._of(scores, source)

    def _of_confidences(self, events: ClipEvents, classes: Sequence[str]) -> ClipEvents:
        """Return events with the confidences that single scores become."""
        number = np.arange(len(events.columns))
        values = np.full((len(number), len(classes)), -np.inf)
        values[number, events.columns] = events.confidences
        processed = self.process(ClipScores.unchecked(values, np.arange(len(number) + 1)), classes)
        assert isinstance(processed, ClipScores)
        return replace(events, confidences=processed.values[number, events.columns].astype(np.float64))

    @abstractmethod
    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores | ClipEvents:
        """Process the scores of one clip.

        Parameters
        ----------
        clip : ClipScores
            The scores. They have at least one frame and no NaN.
        classes : sequence of str
            The classes of the columns.

        Returns
        -------
        ClipScores or ClipEvents
            The processed scores, with the same columns and the same first and last boundary. Events only
            if the post-processing says that it makes them.
        """

    def _process_group(self, group: ClipGroup, limit: ReadLimit | None) -> ProcessedGroup | None:
        """Process many clips at once, if that is faster than one clip after the other.

        The result is what :meth:`process` returns for each clip, down to the limit; None if there is no
        faster way.
        """
        return None

    def _for_class(self, label: str) -> PostProcessing | None:
        """Return what the post-processing does to the scores of one class; None if nothing."""
        return self

    def identity(self) -> str | None:
        """Return a text on which the processed scores depend, and nothing else.

        Returns
        -------
        str or None
            The definition. None for a post-processing of your own: its code may change while its
            definition does not, so a checkpoint looks at the processed scores instead.

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.postprocessing.MedianFilter(3).identity()
        'MedianFilter(seconds=3)'
        """
        return repr(self) if type(self).__module__.startswith(f"{__package__}.") else None

    def problems(self, classes: Sequence[str]) -> list[str]:
        """Say why the post-processing cannot be used for some classes.

        Parameters
        ----------
        classes : sequence of str
            The classes of the scores.

        Returns
        -------
        list of str
            One sentence per problem; empty if there is none.
        """
        return []

    def require_fit(self, classes: Sequence[str]) -> None:
        """Raise an error if the post-processing cannot be used for some classes.

        Parameters
        ----------
        classes : sequence of str
            The classes of the scores.
        """
        problems = self.problems(classes)
        if problems:
            raise SedscopeError(f"{self!r:.200} does not fit these scores. {' '.join(problems)}")


def require_duration(owner: PostProcessing, name: str, *, at_least: float = 0) -> None:
    """Refuse a field that is not a length of time in seconds."""
    require_number(owner, name, at_least=at_least, at_most=LONGEST_SECONDS)


def duration_ticks(seconds: float) -> int:
    """Convert a length of time to microseconds, rounded to the nearest."""
    return int(to_ticks(seconds))


def require_postprocessings(owner: str, values: Iterable[object]) -> None:
    """Refuse values that are not post-processings."""
    wrong = [repr(value) for value in values if not isinstance(value, PostProcessing)]
    if wrong:
        raise SedscopeError(f"{owner} takes post-processings, not {listing(wrong)}.")


def require_no_negative_scores(owner: str, clip: ClipScores, classes: Sequence[str]) -> None:
    """Refuse scores below 0, for which ratios make no sense. ``-inf`` is fine: it is never detected."""
    negative = (clip.values < 0) & (clip.values > -np.inf)
    if negative.any():
        locations = [f"class {classes[c]}, frame {frame}" for frame, c in np.argwhere(negative)]
        count = counted(len(locations), "negative score")
        raise SedscopeError(f"{owner} needs scores of at least 0. Found {count}: {listing(locations)}.")


POSTPROCESSINGS: Registry[PostProcessing] = Registry(
    "post-processing", PostProcessing, package=__package__
)
"""All post-processings by name. Each registers itself in the module that defines it."""


def parse_postprocessing(text: str) -> PostProcessing:
    """Read a post-processing from its definition.

    Parameters
    ----------
    text : str
        The definition, as ``repr`` writes it. Parameters that are left out take their defaults.

    Returns
    -------
    PostProcessing
        The post-processing.

    Raises
    ------
    SedscopeError
        If the text is not the definition of a post-processing.

    Examples
    --------
    >>> parse_postprocessing("PerClass({'Dog': MedianFilter(0.3)})")
    PerClass({'Dog': MedianFilter(seconds=0.3)})
    """
    return POSTPROCESSINGS.parse(text)


def known_steps(processing: Iterable[str]) -> list[PostProcessing]:
    """Return the post-processings of this package among the steps that made scores.

    Other steps, such as stitching and post-processings of your own, are left out.

    >>> known_steps(["stitch()", "MedianFilter(seconds=0.3)"])
    [MedianFilter(seconds=0.3)]
    """
    steps = []
    for text in processing:
        with suppress(SedscopeError):
            steps.append(parse_postprocessing(text))
    return steps
