"""Several post-processings, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..data.clip_events import ClipEvents
from ..data.scores import ClipScores
from ..errors import SedscopeError
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
