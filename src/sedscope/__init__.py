"""sedscope: exact evaluation of sound event detection, at every decision threshold at once.

The public names are loaded when they are first used: ``__init__.pyi`` has them for type checkers.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_MODULES = ("curves", "postprocessing", "presets", "simulate")
_NAMES = {
    "compared": ("Comparison",),
    "comparison": ("compare",),
    "collect": ("deltas",),
    "conversion": ("convert",),
    "counts": ("ClassCounts", "Counts"),
    "criteria": ("Collar", "Intersection", "IoU"),
    "custom": ("CustomCriterion",),
    "clip_deltas": ("Deltas",),
    "diagnosis": ("Diagnosis", "diagnose"),
    "clip_pieces": ("ClipPieces",),
    "errors": ("SedscopeError", "SedscopeWarning"),
    "delta_files": ("load_deltas", "save_deltas"),
    "evaluation": ("Evaluation", "evaluate", "evaluate_deltas", "evaluate_sets"),
    "events": ("approximate", "at_thresholds", "detect"),
    "ground_truth": ("GroundTruth",),
    "io": (
        "read_events",
        "read_ground_truth",
        "read_scores",
        "write_events",
        "write_ground_truth",
        "write_scores",
    ),
    "metrics": (
        "AUROC",
        "AveragePrecision",
        "BalancedAccuracy",
        "BestErrorRate",
        "BestFScore",
        "DPrime",
        "ErrorRate",
        "FScore",
        "PSDS",
        "PiPSDS",
        "Precision",
        "PrecisionAtRecall",
        "Recall",
        "RecallAtFalseAlarms",
        "RecallAtPrecision",
        "Specificity",
        "parse_metric",
    ),
    "operating_points": ("OperatingPoints", "choose"),
    "scores": ("ClipScores", "Scores"),
    "segments": ("Clip", "Segment"),
    "tuning": ("Tuning", "tune"),
    "uncertainty": ("Bootstrap", "Interval", "Resampling", "bootstrap"),
    "validation": ("Finding", "Validation", "validate"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_MODULES, *_HOME])


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
