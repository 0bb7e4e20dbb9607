"""Files: score tables, events, tags and durations, as tab-separated text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....data.clip_ids import clip_id
from ....data.ground_truth import GroundTruth
from ....errors import SedscopeError, listing
from ....io.atomic_write import locked, replacing, write_text
from ....io.locations import read_input
from ....io.output_checks import refuse_overwriting
from ....io.side_tables import read_durations
from ....io.text_tables import read_text_table
from ..inputs import events_by_name, of_clips, require_same_clips
from ..lazy_scores import LazyScores
from ..missing_files import require_file
from .detection import scores_to_event_list
from .number_tables import read_number_table
from .score_transform import read_score_transform, write_score_transform
from .scores import create_score_dataframe, validate_score_dataframe

__all__ = [
    "download_test_data",
    "lazy_sed_scores_loader",
    "parse_audio_durations",
    "parse_ground_truth",
    "parse_inputs",
    "parse_scores",
    "read_audio_durations",
    "read_ground_truth_events",
    "read_ground_truth_tags",
    "read_score_transform",
    "read_sed_scores",
    "write_detection",
    "write_detections",
    "write_detections_for_multiple_thresholds",
    "write_ground_truth_events",
    "write_score_transform",
    "write_sed_scores",
]

_HEADER = "filename\tonset\toffset\tevent_label\n"


# Inputs, which are read if they are files


def parse_inputs(
    scores: Any, ground_truth: Any, *, tagging: bool = False
) -> tuple[Any, dict[str, Any], list[str]]:
    """Return scores, ground truth and clips, which must be the same in both."""
    tables, clips = parse_scores(scores)
    return tables, parse_ground_truth(ground_truth, tagging=tagging, audio_ids=clips), clips


def parse_scores(scores: Any) -> tuple[Any, list[str]]:
    """Return score tables by clip, and the sorted clips."""
    if isinstance(scores, (str, Path)):
        scores = lazy_sed_scores_loader(scores)
    if not isinstance(scores, Mapping):
        raise SedscopeError(
            f"scores must be a mapping from clips to tables, or a folder, not {type(scores).__name__}."
        )
    return scores, sorted(scores.keys())


def parse_ground_truth(
    ground_truth: Any,
    *,
    tagging: bool = False,
    audio_ids: Collection[str] | None = None,
    additional_ids_ok: bool = False,
) -> dict[str, Any]:
    """Return the checked events of each clip, or with ``tagging`` its labels."""
    if tagging:
        tags = ground_truth
        if isinstance(ground_truth, (str, Path)):
            tags, _ = read_ground_truth_tags(ground_truth)
        return _of_same_clips(dict(tags), audio_ids, additional_ids_ok, "ground truth")
    events = ground_truth
    if isinstance(ground_truth, (str, Path)):
        events = read_ground_truth_events(ground_truth)
    GroundTruth.from_dict(events_by_name(events))  # refuses invalid events
    return _of_same_clips(dict(events), audio_ids, additional_ids_ok, "ground truth")


def parse_audio_durations(
    audio_durations: Any,
    *,
    audio_ids: Collection[str] | None = None,
    additional_ids_ok: bool = False,
) -> dict[str, float]:
    """Return the duration of each clip."""
    if isinstance(audio_durations, (str, Path)):
        audio_durations = read_audio_durations(audio_durations)
    if not isinstance(audio_durations, Mapping):
        raise SedscopeError(
            f"Durations must be a mapping or a file, not {type(audio_durations).__name__}."
        )
    return _of_same_clips(dict(audio_durations), audio_ids, additional_ids_ok, "durations")


def _of_same_clips(
    values: dict[str, Any], clips: Collection[str] | None, more_is_fine: bool, where: str
) -> dict[str, Any]:
    if clips is None:
        return values
    if more_is_fine:
        return of_clips(values, clips, where)
    require_same_clips(values, clips, where)
    return values


# Scores


def read_sed_scores(filepath: str | Path) -> Any:
    """Read a score table, or all score tables of a folder by clip."""
    path = Path(filepath)
    if path.is_dir():
        return dict(lazy_sed_scores_loader(path))
    require_file(path)
    table = read_number_table(path)
    try:
        validate_score_dataframe(table)
    except SedscopeError as error:
        raise SedscopeError(f"{path}: {error}") from None
    return table


def lazy_sed_scores_loader(dir_path: str | Path) -> LazyScores:
    """Return the score tables of a folder by clip. A table is read at each access."""
    folder = Path(dir_path)
    if not folder.is_dir():
        raise NotADirectoryError(str(folder))
    other = [file.name for file in sorted(folder.iterdir()) if file.suffix != ".tsv"]
    if other:
        raise SedscopeError(
            f"{folder} contains files that are not score tables (*.tsv): {listing(other)}."
        )
    names = [file.name.removesuffix(".tsv") for file in sorted(folder.iterdir())]
    return LazyScores(names, lambda name: read_sed_scores(folder / f"{name}.tsv"), folder)


def write_sed_scores(
    scores: Any, storage_path: str | Path, *, timestamps: Any = None, event_classes: Any = None
) -> None:
    """Write a score table to a file, or the tables of a mapping to a folder.

    An array needs ``timestamps`` and ``event_classes``. If they are passed with a frame, it must have
    the same.
    """
    path = Path(storage_path)
    if isinstance(scores, Mapping):
        path.mkdir(parents=True, exist_ok=True)
        for name in scores:
            write_sed_scores(
                scores[name], path / f"{name}.tsv", timestamps=timestamps, event_classes=event_classes
            )
        return
    table = scores
    if isinstance(scores, np.ndarray):
        if timestamps is None or event_classes is None:
            raise SedscopeError("An array of scores needs timestamps and event_classes.")
        table = create_score_dataframe(scores, timestamps, event_classes)
    validate_score_dataframe(table, timestamps=timestamps, event_classes=event_classes)
    with replacing(path) as temporary:
        table.to_csv(temporary, sep="\t", index=False)


# Ground truth


def read_ground_truth_events(filepath: Any) -> dict[str, list[list[Any]]]:
    """Read the events ``[onset, offset, label]`` of each clip from a file or a pandas frame.

    A row with only a file name is a clip without events.
    """
    import pandas

    if isinstance(filepath, pandas.DataFrame):
        table = filepath
    else:
        names = ["filename", "onset", "offset", "event_label"]
        require_file(filepath)
        text = read_text_table(filepath)
        table = pandas.DataFrame(text.rows, columns=text.header).replace("", None)
        _require_columns(table, names, str(filepath))
    _require_columns(table, ["filename", "onset", "offset", "event_label"], "ground truth")
    events: dict[str, list[list[Any]]] = {}
    for name, onset, offset, label in zip(
        table["filename"], table["onset"], table["offset"], table["event_label"], strict=True
    ):
        clip_events = events.setdefault(clip_id(name), [])
        if isinstance(label, str) and label:
            clip_events.append([float(onset), float(offset), label])
    return events


def write_ground_truth_events(
    ground_truth: Mapping[str, Iterable[Any]], filepath: str | Path, audio_format: str = "wav"
) -> None:
    """Write the events of each clip. A clip without events gets a row with only its name."""
    rows = []
    for name, events in events_by_name(ground_truth).items():
        cells = [f"{name}.{audio_format}\t{on}\t{off}\t{label}\n" for on, off, label in events]
        rows += cells or [f"{name}.{audio_format}\t\t\t\n"]
    write_text(filepath, _HEADER + "".join(rows))


def read_ground_truth_tags(filepath: str | Path) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Read the labels of each clip, and count the rows of each label.

    A row of the file has one label (column ``event_label``) or several, separated by commas (column
    ``event_labels``).
    """
    require_file(filepath)
    table = read_text_table(filepath)
    several = "event_labels" in table.header
    column = "event_labels" if several else "event_label"
    missing = [name for name in ("filename", column) if name not in table.header]
    if missing:
        raise SedscopeError(f"{filepath}: there is no column {listing(missing)}.")
    name_column, label_column = table.header.index("filename"), table.header.index(column)
    tags: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for row in table.rows:
        cell = row[label_column]
        labels = [label for label in (cell.split(",") if several else [cell]) if label]
        tags.setdefault(clip_id(row[name_column]), []).extend(labels)
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
    return tags, counts


def read_audio_durations(filepath: str | Path) -> dict[str, float]:
    """Read the duration of each clip in seconds from a file with the columns ``filename duration``."""
    require_file(filepath)
    return {clip_id(name): seconds for name, seconds in read_durations(filepath).items()}


def _require_columns(table: Any, names: list[str], where: str) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise SedscopeError(f"{where}: there is no column {listing(missing)}.")


# Detections


def write_detection(
    scores: Any, threshold: Any, filepath: str | Path, audio_format: str = "wav"
) -> None:
    """Append the events where ``score > threshold`` to a file.

    ``threshold``: one for all classes, or one by label.
    """
    if not hasattr(scores, "keys"):
        raise SedscopeError("scores must be a mapping from clips to score tables.")
    path = Path(filepath)
    rows = [
        f"{name}.{audio_format}\t{onset}\t{offset}\t{label}\n"
        for name, events in scores_to_event_list(scores, threshold).items()
        for onset, offset, label in events
    ]
    with locked(path):  # others may append to it, too
        before = read_input(path).decode("utf-8") if path.exists() else ""
        write_text(path, (before or _HEADER) + "".join(rows))


write_detections = write_detection


def write_detections_for_multiple_thresholds(
    scores: Any,
    thresholds: Any,
    dir_path: str | Path,
    audio_format: str = "wav",
    score_transform: Callable[[Any], Any] | str | Path | None = None,
    threshold_decimals: int = 3,
) -> None:
    """Write the events at each threshold to a file named after the threshold.

    ``score_transform``: a function that is applied to each score table first, or a file with one.
    """
    points = np.unique(np.asarray(thresholds, np.float64))
    names = [f"{point:.{threshold_decimals}f}" for point in points]
    if len(points) != np.size(thresholds) or len(set(names)) < len(names):
        raise SedscopeError(
            f"thresholds must differ within {threshold_decimals} decimals. Raise threshold_decimals."
        )
    folder = Path(dir_path)
    inputs = [path for path in (scores, score_transform) if isinstance(path, (str, Path))]
    refuse_overwriting([folder / f"{name}.tsv" for name in names], inputs)
    scores = transformed_scores(scores, score_transform)
    folder.mkdir(parents=True, exist_ok=True)
    for name, point in zip(names, points.tolist(), strict=True):
        write_detection(scores, point, folder / f"{name}.tsv", audio_format)


def transformed_scores(scores: Any, transform: Callable[[Any], Any] | str | Path | None) -> Any:
    """Apply a transform, or the one in a file, to score tables. None changes nothing."""
    if transform is None:
        return scores
    function = read_score_transform(transform) if isinstance(transform, (str, Path)) else transform
    tables, clips = parse_scores(scores)
    return {clip: function(tables[clip]) for clip in clips}


def download_test_data() -> None:
    """Refuse to download: sedscope has no copy of the test data of sed_scores_eval."""
    raise SedscopeError(
        "sedscope does not download the test data of sed_scores_eval. Download it with sed_scores_eval, "
        "and set package_dir to the folder that holds tests/data."
    )
