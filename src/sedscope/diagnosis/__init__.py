"""Where errors come from: each detection and reference with its error type."""

from .diagnose import (
    ClassDiagnosis,
    ClipDiagnosis,
    Diagnosis,
    JudgedEvent,
    clip_costs,
    diagnose,
    diagnose_clip,
)

__all__ = [
    "ClassDiagnosis",
    "ClipDiagnosis",
    "Diagnosis",
    "JudgedEvent",
    "clip_costs",
    "diagnose",
    "diagnose_clip",
]
