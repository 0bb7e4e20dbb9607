"""Files: score tables, events, tags and durations, as tab-separated text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.clips import clip_id
from ....data.ground_truth import GroundTruth
from ....data.scores import TIME_COLUMNS
from ....errors import SedscopeError, listing
from ....io.atomic_write import locked, replacing, write_text
from ....io.locations import check_input, read_input
from ....io.output_checks import refuse_overwriting
from ....io.parquet_files import require_polars_threads
from ....io.scores.tsv import FLOAT32_START
from ....io.side_tables import read_durations
from ....io.text_tables import read_text_table
from ..inputs import LazyScores, events_by_name, of_clips, require_file, require_same_clips
from .detection import scores_to_event_list
from .ground_truth import onset_offset_times_to_indices
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
    values = ground_truth
    if isinstance(ground_truth, (str, Path)):
        read_tags = read_ground_truth_tags
        values = read_tags(ground_truth)[0] if tagging else read_ground_truth_events(ground_truth)
    if not tagging:
        GroundTruth.from_dict(events_by_name(values))  # refuses invalid events
    return _of_same_clips(dict(values), audio_ids, additional_ids_ok, "ground truth")


def parse_audio_durations(
    audio_durations: Any, *, audio_ids: Collection[str] | None = None, additional_ids_ok: bool = False
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
    table = _read_number_table(path)
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


def _read_number_table(path: Path) -> Any:
    """Read a tab-separated table of numbers with a header, exactly as written.

    The scores of a table that sedscope wrote as float32 are rounded to float32 again.
    """
    import pandas
    import polars

    check_input(path)
    require_polars_threads(path)
    try:
        with path.open("rb") as file:
            is_float32 = file.read(len(FLOAT32_START)) == FLOAT32_START
        quotes = '"' if is_float32 else None
        table = polars.read_csv(path, separator="\t", quote_char=quotes).cast(polars.Float64)
        if is_float32:
            scores = polars.exclude(TIME_COLUMNS).cast(polars.Float32).cast(polars.Float64)
            table = table.with_columns(scores)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise SedscopeError(f"{path} is not a table of numbers: {error}") from None
    return pandas.DataFrame({name: table[name].to_numpy() for name in table.columns})


# Ground truth


def read_ground_truth_events(filepath: Any) -> dict[str, list[list[Any]]]:
    """Read the events ``[onset, offset, label]`` of each clip from a file or a pandas frame.

    A row with only a file name is a clip without events.
    """
    import pandas

    table, where, names = filepath, "ground truth", ["filename", "onset", "offset", "event_label"]
    if not isinstance(filepath, pandas.DataFrame):
        require_file(filepath)
        text, where = read_text_table(filepath), str(filepath)
        table = pandas.DataFrame(text.rows, columns=text.header).replace("", None)
    _require_columns(table.columns, names, where)
    events: dict[str, list[list[Any]]] = {}
    for name, onset, offset, label in zip(*(table[column] for column in names), strict=True):
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
    _require_columns(table.header, ["filename", column], str(filepath))
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


def _require_columns(header: Collection[str], names: list[str], where: str) -> None:
    missing = [name for name in names if name not in header]
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


# Piecewise linear transforms, which spread the scores in reference events evenly. They are for tools that
# evaluate evenly spaced thresholds only; exact metrics do not need them.


def write_score_transform(
    scores: Any,
    ground_truth: Any,
    filepath: str | Path,
    num_breakpoints: int = 10,
    min_score: float = 0.0,
    max_score: float = 1.0,
    classwise_transform: bool = False,
) -> None:
    """Fit a transform and write it: a column ``y``, and for each class the scores that become it.

    ``num_breakpoints``: the number of points between ``min_score`` and ``max_score``, which do not
    change. ``classwise_transform``: fit one transform per class.
    """
    import pandas

    inside = _scores_in_references(parse_scores(scores)[0], events_by_name(ground_truth))
    empty = [label for label, values in inside.items() if not len(values)]
    if empty:
        raise SedscopeError(f"These classes have no reference events: {listing(empty)}.")
    if not classwise_transform:
        inside = dict.fromkeys(inside, np.concatenate(list(inside.values())))
    step = (max_score - min_score) / num_breakpoints
    middles = min_score + step * (np.arange(num_breakpoints) + 0.5)
    columns = {"y": np.round([min_score, *middles, max_score], 12)}
    for label, values in inside.items():
        positive = np.sort(values[values > 0])
        ranks = np.linspace(0, len(positive), num_breakpoints + 1, dtype=int)[:-1]
        columns[label] = np.concatenate([[min_score], positive[ranks], [max_score]])
    with replacing(filepath) as temporary:
        pandas.DataFrame(columns).to_csv(temporary, sep="\t", index=False)


def read_score_transform(filepath: str | Path) -> Callable[[Any], Any]:
    """Read a transform as a function from score table to score table."""
    table = _read_number_table(Path(filepath))
    names = table.columns.tolist()
    if names[:1] != ["y"] or len(names) < 2:
        raise SedscopeError(f"{filepath}: the columns must be y and one per class.")
    classes = names[1:]

    def transform(scores: Any) -> Any:
        validate_score_dataframe(scores, event_classes=classes)
        transformed = scores.copy()
        for label in classes:
            knots, values = table[label].to_numpy(), scores[label].to_numpy()
            if (values < knots[0]).any() or (values > knots[-1]).any():
                raise SedscopeError(f"Scores of {label} are outside {knots[0]:g} to {knots[-1]:g}.")
            transformed[label] = np.interp(values, knots, table["y"].to_numpy())
        return transformed

    return transform


def _scores_in_references(tables: Any, events: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of each class during its reference events."""
    classes: list[str] | None = None
    inside: dict[str, list[NDArray[np.float64]]] = {}
    for name in sorted(tables.keys()):
        table = tables[name]
        edges, classes = validate_score_dataframe(table, event_classes=classes)
        for onset, offset, name_of_class in events[name]:
            label = name_of_class.strip()
            if label not in classes:
                raise SedscopeError(f"Clip {name}: the scores have no class {label}.")
            first, last = onset_offset_times_to_indices(onset, offset, edges)
            inside.setdefault(label, []).append(table[label].to_numpy()[first:last])
    return {
        label: np.concatenate(inside[label]) if label in inside else np.empty(0)
        for label in classes or []
    }


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
