"""Where deltas come from, as far as it is known: the system, its post-processing, and the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.score_cache import merged_or_unknown
from ..errors import SedscopeError, listing


@dataclass(frozen=True)
class Provenance:
    """What is known of the scores that deltas were found in. None stands for what is not known.

    Attributes
    ----------
    system : str or None
        The name of the system, as its user states it.
    processing : tuple of str or None
        How the scores were post-processed, one definition per step.
    scores : int or None
        A digest of the scores of all clips. Those of parts add up to that of the whole.
    """

    system: str | None = None
    processing: tuple[str, ...] | None = None
    scores: int | None = None

    def merge(self, *others: Provenance) -> Provenance:
        """Return the provenance of the deltas of other clips together. What differs is not known."""
        parts = (self, *others)
        return Provenance(
            self.system if {part.system for part in parts} == {self.system} else None,
            self.processing if {part.processing for part in parts} == {self.processing} else None,
            merged_or_unknown(part.scores for part in parts),
        )

    def processed(self, step: str) -> Provenance:
        """Return the provenance after one more post-processing."""
        processing = None if self.processing is None else (*self.processing, step)
        return Provenance(self.system, processing, self.scores)

    def as_json(self) -> dict[str, Any]:
        """Return the provenance in terms of JSON."""
        scores = None if self.scores is None else f"{self.scores:032x}"
        return {"system": self.system, "processing": self.processing, "scores": scores}

    @classmethod
    def from_json(cls, content: Mapping[str, Any] | None) -> Provenance:
        """Read what :meth:`as_json` wrote. Old files have nothing."""
        if content is None:
            return cls()
        system, steps, scores = content["system"], content["processing"], content["scores"]
        texts = [text for text in (system, *(steps or ()), scores) if text is not None]
        if not isinstance(steps, (list, type(None))) or not all(isinstance(text, str) for text in texts):
            raise ValueError("the provenance is not text")
        return cls(
            system, None if steps is None else tuple(steps), None if scores is None else int(scores, 16)
        )


_ANYWAY = "In Python, Deltas.merge merges them all the same with mixed=True."


def refuse_different(parts: Sequence[Provenance]) -> None:
    """Refuse to merge what comes from different systems or post-processings."""
    systems = dict.fromkeys(part.system for part in parts if part.system is not None)
    if len(systems) > 1:
        raise SedscopeError(
            f"The deltas come from different systems: {listing([repr(name) for name in systems])}. "
            f"{_ANYWAY}"
        )
    processings = dict.fromkeys(part.processing for part in parts if part.processing is not None)
    if len(processings) > 1:
        texts = [" then ".join(steps) or "none" for steps in processings]
        raise SedscopeError(
            f"The deltas come from scores with different post-processings: {listing(texts)}. {_ANYWAY}"
        )


def unchecked_note(parts: Sequence[Provenance]) -> str | None:
    """Say what cannot be checked about parts that are merged; None if everything can."""
    if len(parts) < 2:
        return None
    unknown = []
    if any(part.system is None for part in parts):
        unknown.append("the same system")
    if any(part.processing is None for part in parts):
        unknown.append("the same post-processing")
    if not unknown:
        return None
    note = f"sedscope cannot check that all deltas come from {' with '.join(unknown)}"
    if unknown[0] == "the same system":
        return f"{note}. Name the system when you make them, with `system=`."
    return f"{note}, because some files do not state it."
