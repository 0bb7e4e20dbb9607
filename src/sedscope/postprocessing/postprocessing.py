"""What a post-processing is: a value that makes scores from scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..data.scores import ClipScores, Scores, refuse_nans
from ..definitions import Defined
from ..errors import SedscopeError


class PostProcessing(Defined, ABC):
    """A hashable value whose ``repr`` is its full definition.

    Called with scores, it gives the processed scores: a clip is processed when it is loaded. The first
    and the last boundary of a clip stay where they are.
    """

    def __call__(self, scores: Scores) -> Scores:
        """The processed scores."""
        problems = self.problems(scores.classes)
        if problems:
            raise SedscopeError(f"{self!r:.200}: {'; '.join(problems)}")

        def load(clip: str) -> ClipScores:
            of_clip = scores[clip]
            refuse_nans(clip, of_clip, scores.classes)
            try:
                return self.process(of_clip, scores.classes) if len(of_clip.values) else of_clip
            except SedscopeError as error:
                raise SedscopeError(f"clip {clip}: {error}") from None

        return Scores(
            list(scores),
            load,
            classes=scores.classes,
            thread_safe=scores.thread_safe,
            whole_clips=scores.whole_clips,
        )

    @abstractmethod
    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """The processed scores of one clip, which has frames and no NaN; ``classes``: its columns."""

    def problems(self, classes: Sequence[str]) -> list[str]:
        """Why it cannot be used for these classes."""
        return []
