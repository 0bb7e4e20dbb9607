"""Results in files: reading their values and signatures, and computing them again to verify them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..data.choices import ClipChoice, Coverage, Missing
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings, counted, listing
from ..io.locations import Location, input_location
from ..io.text_tables import read_bytes
from ..results.text import plain
from .evaluate import evaluate
from .inputs import Reading, SystemLike, TruthLike
from .result import Evaluation
from .signature import Signature

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..tuning.operating_points import OperatingPoints

_VERIFIED = {
    "value": "the value",
    "per_class": "classes",
    "thresholds": "thresholds",
    "false_alarms_per_hour": "false alarms per hour",
}
_NOT_VERIFIED = {"interval": "the intervals", "on_new_clips": "the values to expect on new clips"}
_OF_SET = {
    "clips": "the number of clips",
    "hours": "the hours",
    "references": "the references per class",
}
_OF_TASK = {
    "task": "the task",
    "formula": "the formula of the score",
    "lower_is_better": "which scores are better",
    "datasets": "the values of the data sets",
    "score": "the score",
}


@dataclass(frozen=True)
class StoredResult:
    """What a file or a dict says of an evaluation: its signature, its classes, and the values."""

    signature: Signature
    classes: tuple[str, ...]
    metrics: Mapping[str, Mapping[str, Any]]
    """By definition: the ``name``, the ``value``, ``per_class`` and ``thresholds``."""
    content: Mapping[str, Any]
    """All that it says."""

    @classmethod
    def of(cls, content: Any, where: str) -> StoredResult:
        """Read what :meth:`Evaluation.to_dict` returned. ``where``: for messages."""
        try:
            signature = Signature.from_json(content["signature"])
            metrics = {str(metric["metric"]): dict(metric) for metric in content["metrics"]}
            classes = tuple(map(str, content["classes"]))
            names = {metric["name"] for metric in metrics.values()}
            if not len(names) == len(metrics) == len(content["metrics"]):
                raise ValueError("two metrics have one name or definition")
        except (KeyError, TypeError, ValueError, SedscopeError):
            raise SedscopeError(
                f"{where} is not the JSON of one evaluation with a signature. Write one with "
                "`Evaluation.to_json()`."
            ) from None
        return cls(signature, classes, metrics, plain(content))


def read_json(path: str | Location) -> Any:
    """Read a file of JSON."""
    location = input_location(path)
    try:
        return json.loads(read_bytes(location))
    except (ValueError, RecursionError):
        raise SedscopeError(f"{location} is not JSON.") from None


@dataclass(frozen=True)
class Verification:
    """What agrees between a result and the same evaluation, computed again.

    Attributes
    ----------
    agreements : tuple of str
        What agrees bit for bit, a line each.
    differences : tuple of str
        What does not. Nothing if the result is verified.
    notes : tuple of str
        What to know beside that: another version of sedscope, or intervals, which are not verified.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(30)
    >>> scores = sed.simulate.scores(truth)
    >>> verification = sed.verify(sed.evaluate(scores, truth, "psds1").to_dict(), scores, truth)
    >>> verification.verified, verification.agreements[0]
    (True, 'psds1: the value, 10 classes')
    """

    agreements: tuple[str, ...]
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def verified(self) -> bool:
        """Whether everything agrees."""
        return not self.differences

    def __str__(self) -> str:
        lines = [
            *(f"agrees: {text}" for text in self.agreements),
            *(f"differs: {text}" for text in self.differences),
            *(f"note: {text}" for text in self.notes),
        ]
        return "\n".join([*lines, "verified" if self.verified else "not verified"])


def verify(
    result: str | Location | Mapping[str, Any] | Evaluation,
    scores: SystemLike,
    truth: TruthLike,
    *,
    points: OperatingPoints | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Verification:
    """Compute a result again, and say bit for bit what agrees.

    The metrics and classes are those of the result. Where something differs, the signatures say which side
    has changed: the clips, the reference events, the scores, their post-processing, or a definition.
    Intervals are not verified.

    Parameters
    ----------
    result : path, mapping or Evaluation
        The result: a file that ``sedscope evaluate --json`` or :meth:`Evaluation.to_json` wrote, what
        :meth:`Evaluation.to_dict` returned, or an evaluation.
    scores, truth, points, clips, missing, coverage, run, **reading
        The system and the reference events; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Verification
        What agrees, and what does not.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(30)
    >>> result = sed.evaluate(sed.simulate.scores(truth), truth, "psds1")
    >>> sed.verify(result, sed.simulate.scores(truth, quality=0.5), truth).differences[0]
    'other scores'
    """
    content = result.to_dict() if isinstance(result, Evaluation) else result
    if isinstance(content, Mapping):
        stored = StoredResult.of(content, "The result")
    else:
        stored = StoredResult.of(read_json(content), str(content))
    metrics = {str(of["name"]): definition for definition, of in stored.metrics.items()}
    with collected_warnings():  # they are those of the result
        again = evaluate(
            scores,
            truth,
            metrics,
            points=points,
            classes=stored.classes,
            clips=clips,
            missing=missing,
            coverage=coverage,
            run=run,
            **reading,
        )
    return compare_stored(stored, again)


def compare_stored(stored: StoredResult, again: Evaluation) -> Verification:
    """Compare a result with the same evaluation, computed again."""
    computed = StoredResult.of(plain(again._values()), "The evaluation")
    before, now = stored.signature, computed.signature
    differences = [*_signature_differences(stored, now)]
    agreements: list[str] = []
    for definition, metric in stored.metrics.items():
        name, other = metric["name"], computed.metrics.get(definition, {})
        same = [
            text for key, text in _VERIFIED.items() if key in metric and metric[key] == other.get(key)
        ]
        if "classes" in same:
            same[same.index("classes")] = counted(len(metric["per_class"]), "class")
        agreements += [f"{name}: {', '.join(same)}"] if same else []
        differences += [f"{name}: {text}" for text in _value_differences(metric, other)]
    differences += _plain_differences(stored.content, computed.content, _OF_SET)
    agreements += [
        f"the hash of the {side}"
        for side in ("clips", "classes", "truth", "scores")
        if side in before.hashes and before.hashes[side] == now.hashes.get(side)
    ]
    notes = []
    if before.version != now.version:
        notes.append(f"the result was computed by sedscope {before.version}, and now by {now.version}")
    unknown = [side for side in now.hashes if side not in before.hashes]
    if unknown:
        notes.append(f"the result has no hash of the {listing(unknown)}")
    groups = stored.content.get("groups")
    if groups is not None:
        if "groups" not in computed.content:
            notes.append("the values of groups are not verified")
        elif _without_intervals(groups) == _without_intervals(computed.content["groups"]):
            agreements.append("the values of groups")
        else:
            differences.append("the values of groups")
    notes += [
        f"{text} are not verified"
        for key, text in _NOT_VERIFIED.items()
        if any(key in metric for metric in stored.metrics.values())
    ]
    return Verification((*agreements,), tuple(differences), tuple(notes))


def compare_task_values(stored: Mapping[str, Any], computed: Mapping[str, Any]) -> Verification:
    """Compare the score of a submission to a task, and the values that it comes from."""
    before, now = (plain(values) for values in (stored, computed))
    differences = _plain_differences(before, now, _OF_TASK)
    agreements = [text for key, text in _OF_TASK.items() if before.get(key) == now.get(key)]
    notes = ("the interval of the score is not verified",) if "interval" in before else ()
    return Verification((*agreements,), (*differences,), notes)


def _signature_differences(stored: StoredResult, now: Signature) -> Iterator[str]:
    """Say in what the signature differs, and whether its line and its hashes agree with each other."""
    before = stored.signature
    reasons = before.differences(now)
    yield from reasons
    if plain(before.as_json()) != stored.content["signature"]:
        yield f"the parts of the signature do not agree with each other: they say {before}"
    lost = [side for side in before.hashes if side not in now.hashes]
    if lost:
        yield f"the hash of the {listing(lost)} cannot be computed from this input"
    elif not reasons and replace(now, version=before.version, hashes=before.hashes) != before:
        yield f"the signature: {now} instead of {before}"


def _value_differences(metric: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Say which numbers of a metric differ."""
    if metric.get("value") != other.get("value"):
        yield f"{other.get('value')} instead of {metric.get('value')}"
    for key in ("per_class", "thresholds"):
        before, after = (dict(of.get(key) or {}) for of in (metric, other))
        changed = [label for label in before | after if before.get(label) != after.get(label)]
        if changed:
            what = "the values" if key == "per_class" else "the thresholds"
            yield f"{what} of {counted(len(changed), 'class')}: {listing(changed)}"
    if metric.get("false_alarms_per_hour") != other.get("false_alarms_per_hour"):
        yield "the false alarms per hour"


def _plain_differences(
    before: Mapping[str, Any], now: Mapping[str, Any], subjects: Mapping[str, str]
) -> list[str]:
    """Say what of some plain values differs. ``subjects``: what each key is called."""
    return [
        text
        if isinstance(now.get(key), Mapping)
        else f"{text}: {now.get(key)} instead of {before.get(key)}"
        for key, text in subjects.items()
        if before.get(key) != now.get(key)
    ]


def _without_intervals(values: Any) -> Any:
    """Return plain values without what resampling added."""
    if isinstance(values, list):
        return [*map(_without_intervals, values)]
    if not isinstance(values, Mapping):
        return values
    return {key: _without_intervals(of) for key, of in values.items() if key not in _NOT_VERIFIED}
