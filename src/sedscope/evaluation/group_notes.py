"""Notes about groups: where their values are missing, or not of the same classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import counted, listing, subject
from ..resampling.intervals import FEW

if TYPE_CHECKING:
    from .group_results import GroupResults


def group_notes(groups: Mapping[str, GroupResults]) -> list[str]:
    """Note what a user should know about the values of groups."""
    return [
        note
        for results in groups.values()
        for note in (*_without_value(results), *_without_classes(results), *_few_clips(results))
    ]


def _without_value(results: GroupResults) -> list[str]:
    """Note groups in which a metric is not defined."""
    by_metric: dict[str, list[str]] = {}
    for group, evaluation in results.items():
        for metric, result in evaluation.results.items():
            if np.isnan(result.value):
                by_metric.setdefault(evaluation.names[metric], []).append(group)
    left_out = ""
    if results.averages:
        floor = 0.0 if results.groups is None else results.groups.floor
        left_out = f" They {f'count as {floor:g} in' if floor else 'are left out of'} the average."
    together: dict[tuple[str, ...], list[str]] = {}
    for name, without in by_metric.items():
        together.setdefault(tuple(without), []).append(name)
    return [
        f"{listing(names)} {'is' if len(names) == 1 else 'are'} not defined in some of the "
        f"{results.title()}: {listing(without)}.{left_out}"
        for without, names in together.items()
    ]


def _without_classes(results: GroupResults) -> list[str]:
    """Note groups without reference events of classes that other groups have."""
    if results.kind == "classes":
        return []
    present = {
        label
        for evaluation in results.values()
        for label, number in evaluation.references.items()
        if number
    }
    lacking = []
    for group, evaluation in results.items():
        needing = [metric for metric in evaluation.results if metric.needs_references]
        labels = [label for label in evaluation.classes if not evaluation.references[label]]
        absent = [label for label in labels if label in present]
        if needing and absent and len(absent) < len(present):
            lacking.append(f"{group} ({listing(absent, limit=3)})")
    if not lacking:
        return []
    have, their, are = ("has", "its", "is") if len(lacking) == 1 else ("have", "their", "are")
    averages = "average" if len(lacking) == 1 else "averages"
    return [
        f"{len(lacking)} of the {results.title()} {have} no reference events of some classes, so {their} "
        f"{averages} {are} over fewer classes than those of the others: {listing(lacking)}."
    ]


def _few_clips(results: GroupResults) -> list[str]:
    """Note groups of so few clips that their intervals are rough, or that have none."""
    resampled = any(evaluation.intervals for evaluation in results.values())
    if results.kind != "clips" or not resampled:
        return []
    single = [group for group, evaluation in results.items() if not evaluation.intervals]
    few = [
        group for group, evaluation in results.items() if group not in single and evaluation.clips < FEW
    ]
    notes = []
    if single:
        fixed = " The interval of the average takes their values as certain." if results.averages else ""
        notes.append(
            f"{subject(len(single), 'group', 'has')} no interval, because there is a single clip or unit to "
            f"draw: {listing(single)}.{fixed}"
        )
    if few:
        notes.append(
            f"{counted(len(few), 'group')} {'has' if len(few) == 1 else 'have'} fewer than {FEW} clips, so "
            f"the intervals are unreliable and usually too narrow: {listing(few)}."
        )
    return notes
