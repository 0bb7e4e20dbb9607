"""The signature of a result: what a number is computed by, and from what, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..data.arrays import sha256
from ..data.clips import clip_list_digest
from ..data.score_cache import merged_or_unknown
from ..errors import SedscopeError, listing
from ..escaping import one_line

if TYPE_CHECKING:
    from ..alignment.alignment import Alignment
    from .result import Evaluation

_SHORT = 4  # digits of a hash in the line
_SIDES = {
    "clips": "other clips",
    "classes": "other classes",
    "truth": "other reference events or durations",
    "scores": "other scores",
}


@dataclass(frozen=True)
class Signature:
    """What a result was computed by, and from what. As text, it is one line.

    Hashes depend on content: not on file formats, on the order of rows, clips and classes, or on the
    platform. What is not known is left out: sets of detections have no hash of scores.

    Attributes
    ----------
    version : str
        The version of sedscope.
    metrics : mapping of str to str
        The definition of each metric, by name.
    processing : tuple of str
        How the scores were post-processed, and at which thresholds they were evaluated if there are
        operating points.
    numbers : mapping of str to int
        How many ``clips`` and ``classes`` there are.
    hashes : mapping of str to str
        The hashes of the ``clips`` (their names), ``classes``, ``truth`` (reference events and durations)
        and ``scores``, with 32 hexadecimal digits.
    """

    version: str
    metrics: Mapping[str, str]
    processing: tuple[str, ...]
    numbers: Mapping[str, int]
    hashes: Mapping[str, str]

    def __str__(self) -> str:
        """Return the line. The short hashes are the first digits of long ones.

        >>> str(Signature("0.1.0", {"psds1": "PSDS(…)"}, (), {"clips": 2}, {"scores": "04de"}))
        'sedscope 0.1.0 psds1#0d0e clips=2 scores#04de'
        """
        return " ".join(self._words())

    def _words(self) -> Iterator[str]:
        yield f"sedscope {self.version}"
        for name, definition in self.metrics.items():
            yield f"{one_line(name)}#{text_hash(definition)[:_SHORT]}"
        if self.processing:
            yield f"processing#{text_hash(*self.processing)[:_SHORT]}"
        for name in _SIDES:
            number = f"={self.numbers[name]}" if name in self.numbers else ""
            digits = self.short_hash(name)
            if number or digits:
                yield f"{name}{number}{digits}"

    def short_hash(self, side: str) -> str:
        """Return ``#`` and the first digits of a hash; nothing if it is not known."""
        return f"#{self.hashes[side][:_SHORT]}" if side in self.hashes else ""

    def of_scores(self, digest: int | None) -> Signature:
        """Return the signature of other scores. ``digest``: of them, if it is known."""
        hashes = {name: text for name, text in self.hashes.items() if name != "scores"}
        return replace(self, hashes=hashes if digest is None else {**hashes, "scores": f"{digest:032x}"})

    @classmethod
    def merged(cls, runs: Sequence[Signature]) -> Signature:
        """Return the signature of several runs together."""
        first, *others = runs
        texts = [run.hashes.get("scores") for run in runs]
        digests = [None if text is None else int(text, 16) for text in texts]
        return first.of_scores(merged_or_unknown(digests)) if others else first

    def as_json(self) -> dict[str, Any]:
        """Return the signature in terms of JSON. Definitions have their hashes."""
        return {
            "text": str(self),
            "version": self.version,
            "metrics": {
                name: {"definition": text, "hash": text_hash(text)}
                for name, text in self.metrics.items()
            },
            "processing": self.processing,
            "numbers": self.numbers,
            "hashes": self.hashes,
        }

    @classmethod
    def from_json(cls, content: Any) -> Signature:
        """Read what :meth:`as_json` returned."""
        try:
            metrics = {str(name): str(of["definition"]) for name, of in content["metrics"].items()}
            numbers = {str(name): int(number) for name, number in content["numbers"].items()}
            hashes = {str(name): str(text) for name, text in content["hashes"].items()}
            steps = tuple(map(str, content["processing"]))
            return cls(str(content["version"]), metrics, steps, numbers, hashes)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise SedscopeError("The signature is not one that sedscope wrote.") from None

    def differences(self, other: Signature, *, of_scores: bool = True) -> list[str]:
        """Say in what the other result differs; nothing if both are of the same.

        ``of_scores``: whether it matters if the scores and their post-processing differ, too.
        """
        reasons = [
            f"another definition of {name}: {other.metrics[name]} instead of {definition}"
            for name, definition in self.metrics.items()
            if other.metrics.get(name, definition) != definition
        ]
        if of_scores and self.processing != other.processing:
            before, after = (listing(steps) or "none" for steps in (self.processing, other.processing))
            reasons.append(f"another post-processing: {after} instead of {before}")
        for name, reason in _SIDES.items():
            ours, theirs = self.hashes.get(name), other.hashes.get(name)
            if (name == "scores" and not of_scores) or None in (ours, theirs) or ours == theirs:
                continue
            numbers = self.numbers.get(name), other.numbers.get(name)
            differ = None not in numbers and numbers[0] != numbers[1]
            reasons.append(f"{reason} ({numbers[1]} instead of {numbers[0]})" if differ else reason)
        if self.hashes.get("clips") != other.hashes.get("clips"):  # they explain the rest
            reasons = [reason for reason in reasons if not reason.startswith(_SIDES["truth"])]
        return reasons


def text_hash(*texts: str) -> str:
    """Return 32 hexadecimal digits of the SHA-256 hash of some texts."""
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def signature_of(evaluation: Evaluation, digest: int | None = None) -> Signature:
    """Return the signature of an evaluation. ``digest``: of its scores, if it is known.

    Otherwise the scores are read once more.
    """
    alignment, points = evaluation.alignment, evaluation.points
    definitions = {name: repr(metric) for metric, name in evaluation.names.items()}
    if alignment is None:
        from .. import __version__

        numbers = {"clips": evaluation.clips, "classes": len(evaluation.classes)}
        hashes = {"classes": clip_list_digest(evaluation.classes)[:32]}
        return Signature(__version__, definitions, (), numbers, hashes)
    if digest is None:
        from ..counting.clip_reader import read_digest, thread_count

        digest = read_digest(alignment.scores, alignment.clips, alignment.classes, thread_count(None))
    signature = signature_of_alignment(alignment, definitions).of_scores(digest)
    if points is None or not points.thresholds:
        return signature
    thresholds = f"thresholds {dict(sorted(points.thresholds.items()))}"
    return replace(signature, processing=(*signature.processing, thresholds))


def signature_of_alignment(alignment: Alignment, definitions: Mapping[str, str]) -> Signature:
    """Return the signature of what is to be evaluated, without a hash of the scores.

    ``definitions``: of the metrics, by name.
    """
    from .. import __version__

    return Signature(
        __version__,
        definitions,
        alignment.scores.processing,
        {"clips": len(alignment.clips), "classes": len(alignment.classes)},
        {
            "clips": clip_list_digest(alignment.clips)[:32],
            "classes": clip_list_digest(alignment.classes)[:32],
            "truth": alignment.truth_digest()[:32],
        },
    )
