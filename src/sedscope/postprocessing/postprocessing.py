"""The base class of post-processings, and the checks that several of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from ..data.clip_events import FRAMES_ADVICE, ClipEvents
from ..data.scores import CUT_TO_REGIONS, ClipScores, Scores, refuse_nans
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import Defined, require_number
from ..errors import SedscopeError, counted, listing, shortened
from .clip_group import ClipGroup, ProcessedGroup, ReadLimit


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
        if scores.holds_events:
            if not self.changes_scores:
                return scores
            raise SedscopeError(
                f"Scored events that are kept as they are cannot be post-processed by "
                f"{shortened(str(self), 80)}: that needs scores of frames. {FRAMES_ADVICE}"
            )
        if scores.recut is not None:  # what a system detects does not depend on which regions are scored
            return scores.recut(self).only(scores)
        if CUT_TO_REGIONS in scores.processing:
            raise SedscopeError(
                "These scores were cut to regions, so they cannot be post-processed any more. Post-process "
                "the whole recordings first."
            )

        def load(clip: str) -> ClipScores | ClipEvents:
            clip_scores = scores[clip]
            refuse_nans(clip, clip_scores, scores.classes)
            if not len(clip_scores.values):
                return ClipEvents.none(clip_scores.ticks) if self.makes_events else clip_scores
            try:
                return self.process(clip_scores, scores.classes)
            except SedscopeError as error:
                raise SedscopeError(f"Clip {clip}: {error}") from None

        def identify(clip: str) -> str | None:
            definition, identity = self.identity(), scores.identity(clip)
            return None if definition is None or identity is None else f"{definition} of {identity}"

        facts = {
            **scores.facts(),
            "in_memory": False,
            "identify": identify,
            "processing": (*scores.processing, self.identity() or repr(self)),
            "locate": None,  # frames may be others
        }
        if not self.makes_events:
            return Scores(list(scores), load, **facts)
        from ..data.scored_events import ScoredEvents

        return ScoredEvents(list(scores), load, **facts)

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
