"""The runs of systems that are compared: the same clips and classes, in the same order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..alignment.alignment import Alignment, align, choose_classes
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.ground_truth import GroundTruth
from ..data.labels import refuse_disjoint
from ..data.scores import Scores
from ..data.tables import is_frame, is_table
from ..errors import SedscopeError, counted, listing, located, refuse_nul
from ..evaluation.inputs import Reading, SystemLike, as_system, require_scores
from ..evaluation.operating_point import scores_at_points
from ..io.locations import Address

if TYPE_CHECKING:
    from ..evaluation.result import Evaluation
    from ..evaluation.verification import StoredResult
    from ..metrics import Metric
    from ..tuning.operating_points import OperatingPoints


Runs: TypeAlias = "SystemLike | Sequence[SystemLike] | float | Evaluation | StoredResult"
"""One run of a system, or several; or a published value or result."""


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One run of a system, with the clips and classes that all systems share."""

    system: str
    number: int
    """Among the runs of the system, from 1."""
    alignment: Alignment
    """At the operating points of the system, if it has some."""
    scores: Scores
    """After post-processing, at every threshold."""
    points: OperatingPoints | None


def named_systems(systems: Mapping[str, Runs] | Sequence[Runs]) -> Mapping[str, Runs]:
    """Return the systems by name. Those without names are numbered."""
    if isinstance(systems, Scores) or not isinstance(systems, (Mapping, Sequence)):
        raise SedscopeError("Give several systems: a mapping from names to scores, or a list of scores.")
    if not isinstance(systems, Mapping):
        systems = {f"system {i}": runs for i, runs in enumerate(systems, 1)}
    return systems


def published_values(
    systems: Mapping[str, Runs], metrics: Mapping[str, Metric[Any]]
) -> dict[str, float | StoredResult]:
    """Return the published values and the stored results among the systems.

    A value belongs to one metric. ``metrics``: those that are measured, by name.
    """
    published: dict[str, float | StoredResult] = {}
    for name, value in systems.items():
        stored = stored_result(value)
        if stored is not None:
            published[name] = stored
        elif isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            published[name] = float(value)
    numbers = {name: value for name, value in published.items() if isinstance(value, float)}
    if numbers and len(metrics) > 1:
        raise SedscopeError(
            f"{listing([*numbers])}: a published value belongs to one metric, but several are measured: "
            f"{listing([*metrics])}. Choose one with `metrics=`."
        )
    infinite = [name for name, value in numbers.items() if not math.isfinite(value)]
    if infinite:
        raise SedscopeError(f"A published value must be a finite number: {listing(infinite)}.")
    metric, of_metric = next(iter(metrics.items()))
    low, high = of_metric.bounds or (-math.inf, math.inf)
    beyond = [f"{name} ({value:g})" for name, value in numbers.items() if not low <= value <= high]
    if beyond:
        raise SedscopeError(
            f"{metric} lies between {low:g} and {high:g}, but a published value does not: {listing(beyond)}. "
            "If it is a percentage, divide it by 100."
        )
    if len(published) == len(systems):
        raise SedscopeError("All systems are published values. Give the scores of at least one.")
    return published


def stored_result(system: object) -> StoredResult | None:
    """Return the result that a system is given as: an evaluation, or its JSON file; None for others."""
    from ..evaluation.result import Evaluation
    from ..evaluation.verification import StoredResult, read_json

    if isinstance(system, StoredResult):
        return system
    if isinstance(system, Evaluation):
        return StoredResult.of(system.to_dict(), "The evaluation")
    if not isinstance(system, (str, Path, Address)) or not str(system).endswith(".json"):
        return None
    content = read_json(system)
    is_result = isinstance(content, dict) and "signature" in content
    return StoredResult.of(content, str(system)) if is_result else None


def values_of_published(
    published: Mapping[str, float | StoredResult],
    metrics: Mapping[str, Metric[Any]],
    alignment: Alignment,
) -> dict[str, dict[str, float]]:
    """Return the published values of each metric, by name of the metric and of the system.

    Refuse results that are not of the same clips, classes and reference events.
    """
    from ..evaluation.signature import signature_of_alignment

    definitions = {name: repr(metric) for name, metric in metrics.items()}
    signature = signature_of_alignment(alignment, definitions)
    values: dict[str, dict[str, float]] = {name: {} for name in metrics}
    for system, result in published.items():
        if isinstance(result, float):
            values[next(iter(metrics))][system] = result
            continue
        reasons = [
            f"no value of {definition}"
            for definition in definitions.values()
            if result.metrics.get(definition, {}).get("value") is None
        ]
        unknown = [side for side in signature.hashes if side not in result.signature.hashes]
        if unknown:
            reasons.append(f"no hash of the {listing(unknown)}")
        of_result = replace(result.signature, metrics={})
        reasons += signature.differences(of_result, of_scores=False)
        if reasons:
            raise SedscopeError(
                f"The result {system} cannot be compared with the other systems. It has "
                f"{listing(reasons, limit=10)}."
            )
        for name, definition in definitions.items():
            values[name][system] = float(result.metrics[definition]["value"])
    return values


def as_systems(
    systems: Mapping[str, Runs],
    truth: GroundTruth,
    reading: Reading,
    classes: Iterable[str] | None,
    coverage: Coverage,
) -> dict[str, list[Scores]]:
    """Return the runs of each system, by name; read them, or make their scores."""
    return {
        name: [as_run(name, run, truth, reading, classes, coverage) for run in of_system]
        for name, of_system in runs_by_name(systems).items()
    }


def as_run(
    name: str,
    run: SystemLike,
    truth: GroundTruth,
    reading: Reading,
    classes: Iterable[str] | None,
    coverage: Coverage,
) -> Scores:
    """Return the scores of a run; read them, or make them."""
    with located(name):
        return require_scores(as_system(run, truth, reading, classes, coverage), run, "a comparison")


def runs_by_name(systems: Mapping[str, Runs]) -> dict[str, list[SystemLike]]:
    """Return the runs of each system of a mapping, as they were given."""
    if not isinstance(systems, Mapping):
        raise SedscopeError("Give a mapping from the names of systems to their scores.")
    nameless = [repr(name) for name in systems if not (isinstance(name, str) and name)]
    if nameless:
        raise SedscopeError(f"The name of a system must be a string, not {listing(nameless)}.")
    refuse_nul(systems, "system")
    by_name: dict[str, list[SystemLike]] = {}
    runs: Any
    for name, runs in systems.items():
        whole = isinstance(runs, (Mapping, str)) or is_frame(runs) or is_table(runs)
        several = isinstance(runs, Iterable) and not whole
        by_name[name] = [*runs] if several else [runs]
    without = [name for name, runs in by_name.items() if not runs]
    if without:
        raise SedscopeError(f"{listing(without)} must have at least one run.")
    return by_name


def align_runs(
    systems: Mapping[str, Sequence[Scores]],
    points: Mapping[str, OperatingPoints],
    truth: GroundTruth,
    classes: Iterable[str] | None,
    clips: ClipChoice,
    missing: Missing,
    coverage: Coverage,
) -> list[ComparedRun]:
    """Align all runs to the same clips and classes, in the same order, at the operating points.

    Systems without operating points have their scores at every threshold.
    """
    unknown = [name for name in points if name not in systems]
    if unknown:
        raise SedscopeError(
            f"There are operating points for systems that are not compared: {listing(unknown)}. The systems "
            f"are {listing([*systems])}."
        )
    processed = {
        name: [points[name].process(scores) if name in points else scores for scores in runs]
        for name, runs in systems.items()
    }
    systems = {
        name: [scores_at_points(scores, points.get(name)) for scores in runs]
        for name, runs in processed.items()
    }
    every_run = [scores for of_system in systems.values() for scores in of_system]
    first = every_run[0]

    def aligned(scores: Scores, labels: Iterable[str] | None, names: ClipChoice) -> Alignment:
        return align(scores, truth, classes=labels, clips=names, missing=missing, coverage=coverage)

    if isinstance(classes, str) or (isinstance(clips, str) and clips != "scored"):
        aligned(first, classes, clips)  # raises the error
    if classes is None:
        _refuse_disjoint_labels(systems, truth)
    chosen_classes = _common_classes(every_run) if classes is None else tuple(classes)
    if classes is None:
        choose_classes(first, truth)  # refuses labels without scores, which chosen classes leave out
    chosen_clips: ClipChoice
    common: Sequence[str] = ()
    if clips is None or clips == "scored":
        common = _common_clips(every_run, only_common=clips == "scored")
        chosen_clips = None if clips is None else common
    else:
        chosen_clips = [*clips]
    left_out = _left_out_note(truth, common) if clips == "scored" else ()
    order: tuple[str, ...] | None = None
    runs: list[ComparedRun] = []
    for name, of_system in systems.items():
        with located(name):
            for number, scores in enumerate(of_system, 1):
                alignment = aligned(scores, chosen_classes, chosen_clips)
                order = order or alignment.clips
                if alignment.clips != order:
                    alignment = aligned(scores, chosen_classes, order)
                alignment = replace(alignment, warnings=(*left_out, *alignment.warnings))
                of_run = processed[name][number - 1]
                runs.append(ComparedRun(name, number, alignment, of_run, points.get(name)))
    return runs


def _left_out_note(truth: GroundTruth, common: Sequence[str]) -> tuple[str, ...]:
    """Note clips of the ground truth that not all systems have scores for."""
    number = len({*truth.clips}.difference(common))
    if not number:
        return ()
    was, them = ("was", "it") if number == 1 else ("were", "them")
    return (
        f"{number} of the {counted(len(truth.clips), 'clip')} in the ground truth {was} left out, because "
        f"not all systems have scores for {them}.",
    )


def _refuse_disjoint_labels(systems: Mapping[str, Sequence[Scores]], truth: GroundTruth) -> None:
    """Refuse a system none of whose labels is one of the reference events, whatever the others have."""
    for name, of_system in systems.items():
        for scores in of_system:
            with located(name):
                refuse_disjoint(scores.named_classes, truth.labels)


def _common_classes(runs: Sequence[Scores]) -> tuple[str, ...]:
    """Return the classes of the first run, and refuse runs that have others."""
    labels = [set(scores.classes) for scores in runs]
    differing = sorted(set[str]().union(*labels) - labels[0].intersection(*labels))
    if differing:
        raise SedscopeError(
            f"Not all systems score the same classes: {listing(differing)}. Choose the classes to compare "
            "with `classes=`."
        )
    return runs[0].classes


def _common_clips(runs: Sequence[Scores], *, only_common: bool) -> list[str]:
    """Return the clips that all runs have scores for. Unless ``only_common``, refuse any others."""
    common = [clip for clip in runs[0] if all(clip in scores for scores in runs)]
    lacking = sorted({clip for scores in runs for clip in scores}.difference(common))
    if lacking and not only_common:
        raise SedscopeError(
            f"Not all systems have scores for {counted(len(lacking), 'clip')}: {listing(lacking)}. Compare "
            "the others with `clips='scored'`."
        )
    if not common:
        raise SedscopeError("There is no clip that all systems have scores for.")
    return common
