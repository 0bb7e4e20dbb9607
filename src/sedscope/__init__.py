"""sedscope: exact evaluation of sound event detection, at every decision threshold at once.

Public names are loaded when they are first used: ``__init__.pyi`` lists them for type checkers.
"""

import os as _os
import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

__version__ = "0.1.0"

_MODULES = {
    "curves": "metrics.curves",
    "plots": "plots",
    "postprocessing": "postprocessing",
    "presets": "tasks.presets",
    "simulate": "data.simulate",
}
_NAMES = {
    "checking.findings": ("Finding", "Validation"),
    "checking.validate": ("validate",),
    "counting.class_counts": ("ClassCounts",),
    "counting.counts": ("Counts",),
    "counting.delta_files": ("load_deltas", "save_deltas"),
    "counting.deltas": ("Deltas",),
    "criteria": ("CustomCriterion",),
    "data.events": ("Events",),
    "data.ground_truth": ("GroundTruth",),
    "data.joined_chunks": ("join_chunks",),
    "data.label_maps": ("LabelMap", "propose_label_map"),
    "data.recordings": ("ClipPieces",),
    "data.region_cuts": ("RegionTruth", "cut_to_regions"),
    "data.regions": ("Regions",),
    "data.score_arrays": ("ClipScores",),
    "data.scores": ("Scores",),
    "data.scored_events": ("ScoredEvents",),
    "data.thresholds": ("approximate", "at_thresholds", "detect"),
    "diagnosis": ("BoundaryErrors", "Diagnosis", "boundary_errors", "diagnose"),
    "errors": ("SedscopeError", "SedscopeWarning"),
    "ranking.comparison": ("compare",),
    "ranking.comparison_result": ("Comparison",),
    "evaluation.deltas": ("deltas",),
    "evaluation.evaluate": ("evaluate", "evaluate_deltas", "evaluate_sets"),
    "evaluation.group_results": ("GroupResults",),
    "evaluation.groups": ("Groups",),
    "ranking.rank": ("rank",),
    "ranking.ranking_result": ("Ranking",),
    "evaluation.result": ("Evaluation",),
    "io.conversion": ("convert",),
    "io.event_files": ("read_events", "read_ground_truth", "write_events", "write_ground_truth"),
    "io.label_maps": ("read_label_map",),
    "io.side_tables": ("read_regions",),
    "io.scores.files": ("read_scores", "write_scores"),
    "metrics": ("parse_metric",),
    "plots.plot": ("plot",),
    "resampling.bootstrap": ("bootstrap",),
    "resampling.resampling": ("Resampling",),
    "resampling.intervals": ("Bootstrap", "Interval"),
    "tasks.check_submission": ("SubmissionCheck", "check_submission"),
    "tasks.evaluate_task": ("evaluate_task",),
    "tasks.rank_task": ("rank_task",),
    "tasks.task": ("ChunkRule", "Dataset", "GroupRule", "Task"),
    "tasks.task_evaluation": ("TaskEvaluation",),
    "tasks.task_files": ("read_task", "write_task"),
    "tuning.choose": ("choose",),
    "tuning.operating_points": ("OperatingPoints",),
    "tuning.tune": ("Tuning", "tune"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
_OPEN_PACKAGES = {"criteria": "CRITERIA", "metrics": "METRICS"}
"""Packages whose registered classes are public, with the name of the registry."""


def _import_path() -> list[str]:
    """Return ``sys.path`` without the current folder, where data of others may lie beside a ``json.py``.

    The current folder stays if this package or Python itself lies there.
    """
    folder_of, files = _os.path.dirname, (*__path__, _os.path.abspath(_os.__file__))  # noqa: PTH100
    try:
        here = _os.getcwd()  # noqa: PTH109 (pathlib might be one of the current folder)
    except OSError:  # it was deleted
        here = ""
    trusted = here in map(folder_of, files)
    return [entry for entry in _sys.path if trusted or entry not in ("", here)]


def _registered() -> list[str]:
    """Return the names of all criteria and metrics."""
    registries = (
        getattr(_import_module(f".{package}.registry", __name__), registry)
        for package, registry in _OPEN_PACKAGES.items()
        if _import_module(f".{package}", __name__)  # loads all its classes
    )
    return [name for registry in registries for name in registry]


def _public_names() -> list[str]:
    return sorted([*_MODULES, *_HOME, *_registered()])


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _public_names()
    if name in _MODULES:
        return _import_module(f".{_MODULES[name]}", __name__)
    modules = [_HOME[name]] if name in _HOME else [] if name.startswith("_") else _OPEN_PACKAGES
    for module in modules:
        value = getattr(_import_module(f".{module}", __name__), name, None)
        if value is not None and not isinstance(value, _ModuleType):
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_public_names(), "__version__"]
