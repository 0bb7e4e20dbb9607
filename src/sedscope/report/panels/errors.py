"""Where the errors come from: every reference and every detection with its error type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...diagnosis.diagnose import ClassDiagnosis, diagnose_aligned
from ...diagnosis.judging import CAUSES, DETECTION_TYPES, REFERENCE_TYPES
from ..packing import pack_rows
from ..source import Data, Panel, PanelContent, ReportSource


def build(source: ReportSource) -> PanelContent | None:
    """Count the error types; nothing without scores, or if no criterion judges events."""
    if source.systems[0].alignment is None or not source.judging_criteria:
        return None
    systems = [
        diagnose_aligned(
            system.alignment, source.judging_criteria, source.thresholds, threads=source.threads
        )
        for system in source.systems
        if system.alignment is not None
    ]
    ignored = any(
        of_class.detections["ignored"].any()
        for diagnoses in systems
        for diagnosis in diagnoses
        for of_class in diagnosis.values()
    )
    types = [name for name in DETECTION_TYPES if ignored or name != "ignored"]
    counts = []
    for diagnoses in systems:
        by_criterion = {
            diagnosis.criterion: [_class_counts(diagnosis[label], types) for label in source.detailed]
            for diagnosis in diagnoses
        }
        counts.append([by_criterion.get(criterion) for criterion in source.criteria])
    return {
        "causes": CAUSES,  # the error type of references and that of detections which each one fills
        "reference_types": REFERENCE_TYPES,
        "detection_types": types,
        "counts": counts,  # by system, criterion (none if it does not judge events) and detailed class
    }, ()


def _class_counts(diagnosis: ClassDiagnosis, types: Sequence[str]) -> Data:
    """Return how many events of a class have each error type, at each position of its slider."""
    references = [diagnosis.references[name] for name in REFERENCE_TYPES]
    detections = [diagnosis.detections[name] for name in types]
    return {
        "references": pack_rows(np.diff(references, prepend=0)),
        "detections": pack_rows(np.diff(detections, prepend=0)),
    }


PANEL = Panel("errors", "Where the errors come from", build)
