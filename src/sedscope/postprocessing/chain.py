"""Several post-processings, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..data.scores import ClipScores
from .postprocessing import PostProcessing, require_postprocessings
from .registry import POSTPROCESSINGS


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False, init=False)
class Chain(PostProcessing):
    """Apply post-processings one after the other.

    Parameters
    ----------
    *steps : PostProcessing
        The post-processings, the first one first. A chain among them is replaced by its steps.
        Without any steps, the scores do not change.

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
        object.__setattr__(self, "steps", tuple(flat))

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.steps))})"

    @property
    def changes_scores(self) -> bool:
        return bool(self.steps)

    def identity(self) -> str | None:
        identities = [step.identity() for step in self.steps]
        return None if None in identities else f"Chain({', '.join(map(str, identities))})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        return [problem for step in self.steps for problem in step.problems(classes)]

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        for step in self.steps:
            clip = step.process(clip, classes)
        return clip
