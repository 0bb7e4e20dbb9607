"""sedscope: exact evaluation of sound event detection, at every decision threshold at once.

The public names are loaded when they are first used: ``__init__.pyi`` has them for type checkers.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_MODULES = {
    "curves": "metrics.curves",
    "postprocessing": "postprocessing",
    "presets": "tasks.presets",
    "simulate": "data.simulate",
}
_NAMES = {
    "checking.validate": (
        "Finding",
        "Validation",
        "validate",
    ),
    "counting.counts": (
        "ClassCounts",
        "Counts",
    ),
    "counting.delta_files": (
        "load_deltas",
        "save_deltas",
    ),
    "counting.deltas": ("Deltas",),
    "criteria.criterion": (
        "Collar",
        "Intersection",
        "IoU",
    ),
    "criteria.custom": ("CustomCriterion",),
    "criteria.segments": (
        "Clip",
        "Segment",
    ),
    "data.detections": (
        "approximate",
        "at_thresholds",
        "detect",
    ),
    "data.ground_truth": ("GroundTruth",),
    "data.recordings": ("ClipPieces",),
    "data.scores": (
        "ClipScores",
        "Scores",
    ),
    "diagnosis.diagnose": (
        "Diagnosis",
        "diagnose",
    ),
    "engines.floor_search": ("deltas",),
    "errors": (
        "SedscopeError",
        "SedscopeWarning",
    ),
    "evaluation.comparison": ("compare",),
    "evaluation.comparison_result": ("Comparison",),
    "evaluation.evaluate": (
        "Evaluation",
        "evaluate",
        "evaluate_deltas",
        "evaluate_sets",
    ),
    "io": (
        "read_events",
        "read_ground_truth",
        "read_scores",
        "write_events",
        "write_ground_truth",
        "write_scores",
    ),
    "io.conversion": ("convert",),
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
    "resampling.intervals": (
        "Bootstrap",
        "Interval",
        "Resampling",
        "bootstrap",
    ),
    "tuning.operating_points": (
        "OperatingPoints",
        "choose",
    ),
    "tuning.tune": (
        "Tuning",
        "tune",
    ),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_MODULES, *_HOME])


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_module(f".{_MODULES[name]}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
