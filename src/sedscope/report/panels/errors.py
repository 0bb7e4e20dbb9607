"""Where the errors come from: every reference and every detection with its error type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...diagnosis.diagnose import ClassDiagnosis, Diagnosis, diagnose_aligned
from ...diagnosis.judging import CAUSES, DETECTION_TYPES, REFERENCE_TYPES
from ..packing import pack_rows
from ..schema import Packed, PanelData
from ..source import Panel, PanelContent, ReportSource
from ..systems import System


@dataclass(frozen=True)
class ErrorCounts:
    """How many events of a class have each error type, at each position of its slider."""

    references: Sequence[Packed]
    detections: Sequence[Packed]


@dataclass(frozen=True)
class ErrorsData(PanelData):
    """The error types of all events."""

    causes: Mapping[str, tuple[str | None, str | None]]
    """Causes of errors: the error type of references and that of detections which each one fills."""
    reference_types: Sequence[str]
    detection_types: Sequence[str]
    counts: Sequence[Sequence[Sequence[ErrorCounts] | None]]
    """By system, criterion and detailed class; None for a criterion that does not judge events."""


def build(source: ReportSource) -> PanelContent | None:
    """Count the error types; nothing without scores, or if no criterion judges events."""
    if source.systems[0].alignment is None or not source.judging_criteria:
        return None
    systems = [_diagnoses(system, source) for system in source.systems]
    ignored = any(
        of_class.detections["ignored"].any()
        for diagnoses in systems
        for diagnosis in diagnoses
        for of_class in diagnosis.values()
    )
    types = [name for name in DETECTION_TYPES if ignored or name != "ignored"]
    counts = [_error_counts(diagnoses, types, source) for diagnoses in systems]
    return PanelContent(ErrorsData(CAUSES, REFERENCE_TYPES, types, counts))


def _diagnoses(system: System, source: ReportSource) -> list[Diagnosis]:
    """Diagnose a system by the criteria that judge events."""
    assert system.alignment is not None
    return diagnose_aligned(
        system.alignment, source.judging_criteria, source.thresholds, threads=source.threads
    )


def _error_counts(
    diagnoses: Sequence[Diagnosis], types: Sequence[str], source: ReportSource
) -> list[list[ErrorCounts] | None]:
    """Return the counts by criterion and class. ``types``: those of detections."""
    by_criterion = {
        diagnosis.criterion: [_class_counts(diagnosis[label], types) for label in source.detailed]
        for diagnosis in diagnoses
    }
    return [by_criterion.get(criterion) for criterion in source.criteria]


def _class_counts(diagnosis: ClassDiagnosis, types: Sequence[str]) -> ErrorCounts:
    references = [diagnosis.references[name] for name in REFERENCE_TYPES]
    detections = [diagnosis.detections[name] for name in types]
    return ErrorCounts(
        pack_rows(np.diff(references, prepend=0)), pack_rows(np.diff(detections, prepend=0))
    )


PANEL = Panel("errors", "Where the errors come from", build)
