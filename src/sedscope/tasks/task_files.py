"""Tasks as TOML files: reading with every key checked, writing, and the files that are built in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from ..errors import SedscopeError, listing, near_names, shortened, with_guesses
from ..io.atomic_write import write_text
from ..io.event_files import TruthReading
from ..io.locations import Location, input_location
from ..io.toml_files import TomlTable, read_toml, toml_key, toml_value
from ..metrics import Metric
from ..metrics.names import as_metric, name_metrics
from ..ranking.formula import Formula
from .presets import PRESETS
from .task import (
    AVERAGES,
    CHOICES,
    COMBINATIONS,
    LABEL_KEYS,
    TRUTH_KEYS,
    UNITS,
    UNREFERENCED,
    ChunkRule,
    Dataset,
    GroupRule,
    LabelRule,
    Task,
    value_of_key,
)

_Made = TypeVar("_Made")
_Reader: TypeAlias = Callable[[TomlTable, str], Any]
"""Reads the value of a key; None if the table does not have it."""

_FOLDER = Path(__file__).parent / "built_in"
_TASK_KEYS = ("name", "about", "source", "score", "lower_is_better", "datasets")


def built_in_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that are built in."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def task_text(name: str) -> str:
    """Return the TOML file of a task that is built in."""
    return _built_in_file(name).read_text(encoding="utf-8")


def read_task(task: str | Location) -> Task:
    """Read a task that is built in, or that a TOML file defines.

    Parameters
    ----------
    task : str or Path
        The name of a task, as ``sedscope tasks`` lists it, or the path of a TOML file.

    Returns
    -------
    Task

    See Also
    --------
    write_task : Write a task to a TOML file.

    Examples
    --------
    >>> import sedscope as sed
    >>> task = sed.tasks.read_task("dcase2021_task4")
    >>> task.score
    'desed.psds1 + desed.psds2'
    >>> [*task.datasets["desed"].metrics]
    ['psds1', 'psds2', 'intersection_f1', 'collar_f1']
    """
    if task in built_in_tasks():
        return _read_file(_FOLDER / f"{task}.toml", str(task))
    path = input_location(task)
    if not path.exists() and path.suffix != ".toml":
        _built_in_file(str(task))
    return _read_file(path, str(path))


def write_task(task: Task, path: str | Path) -> None:
    """Write a task to a TOML file, which :func:`~sedscope.tasks.read_task` reads.

    Parameters
    ----------
    task : Task
        The task.
    path : str or Path
        The file to write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> task = sed.tasks.Task("mine", {"set": sed.tasks.Dataset("psds1")}, "set.psds1")
    >>> with TemporaryDirectory() as folder:
    ...     sed.tasks.write_task(task, f"{folder}/mine.toml")
    ...     sed.tasks.read_task(f"{folder}/mine.toml") == task
    True
    """
    write_text(path, task_toml(task))


def task_toml(task: Task) -> str:
    """Return the text that :func:`write_task` writes."""
    texts = {key: getattr(task, key) for key in ("name", "about", "source", "score")}
    lines = [f"{key} = {toml_value(text)}" for key, text in texts.items() if text]
    if task.lower_is_better:
        lines.append("lower_is_better = true")
    for name, dataset in task.datasets.items():
        lines += ["", f"[datasets.{toml_key(name)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in _plain_values(dataset).items()]
        lines += ["", f"[datasets.{toml_key(name)}.metrics]"]
        lines += [
            f"{toml_key(key)} = {toml_value(repr(metric))}" for key, metric in dataset.metrics.items()
        ]
    return "\n".join(lines) + "\n"


def _built_in_file(name: str) -> Path:
    """Return the file of a built-in task. Refuse a name that none has."""
    names = built_in_tasks()
    if name not in names:
        near = near_names(name, names)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise SedscopeError(
            f"There is no task {shortened(name)!r}.{guess} 'sedscope tasks' lists all names. A task of your "
            "own is a TOML file."
        )
    return _FOLDER / f"{name}.toml"


def _plain_values(dataset: Dataset) -> dict[str, Any]:
    """Return what differs from the defaults, as TOML can hold it; without the metrics."""
    plain = {}
    default = Dataset(dataset.metrics)
    for key in _DATASET_KEYS:
        value = value_of_key(dataset, key)
        if value == value_of_key(default, key):
            continue
        if isinstance(value, (ChunkRule, GroupRule)):
            parts = {part.name: getattr(value, part.name) for part in fields(value)}
            value = {
                name: part
                for name, part in parts.items()
                if part not in (None, ()) and part is not False
            }
        plain[key] = value
    return plain


def _read_file(path: Location, where: str) -> Task:
    root = TomlTable(read_toml(path, "a task"), where)
    root.refuse_unknown(_TASK_KEYS)
    tables = root.table("datasets")
    datasets = {name: _read_dataset(tables.table(name)) for name in tables.content}
    required = {key: root.text(key) for key in ("name", "score")}
    lacking = [key for key, value in required.items() if value is None]
    if not datasets:
        lacking.append("datasets")
    if lacking:
        raise SedscopeError(f"{where}: a task needs {' and '.join(lacking)}.")
    score = str(required["score"])
    try:
        Formula(score).check({name: dataset.metrics for name, dataset in datasets.items()})
    except SedscopeError as error:
        raise root.error(str(error), "score") from None
    about, source = root.text("about") or "", root.text("source") or ""
    lower_is_better = bool(root.flag("lower_is_better"))
    name = str(required["name"])
    return _in_table(root, lambda: Task(name, datasets, score, about, source, lower_is_better))


def _read_dataset(table: TomlTable) -> Dataset:
    table.refuse_unknown(("metrics", *_DATASET_KEYS, "preset"))
    metrics, stated = _metrics(table), _stated(table, _DATASET_KEYS)
    reading = {key: stated.pop(key) for key in TRUTH_KEYS if key in stated}
    labels = {LABEL_KEYS[key]: stated.pop(key) for key in LABEL_KEYS if key in stated}
    return _in_table(
        table,
        lambda: Dataset(metrics, truth=TruthReading(**reading), labels=LabelRule(**labels), **stated),
    )


def _metrics(table: TomlTable) -> dict[str, Metric[Any]]:
    """Read the metrics of the preset, then the others."""
    metrics: dict[str, Metric[Any]] = {}
    preset = table.text("preset")
    if preset is not None:
        if preset not in PRESETS:
            guess = listing(with_guesses([preset], PRESETS))
            raise table.error(f"there is no preset {guess}. 'sedscope presets' lists all.", "preset")
        metrics |= name_metrics(PRESETS[preset])
    named = table.table("metrics")
    for name in named.content:
        if name in metrics:
            raise named.error(f"the preset {preset} has a metric of that name. Choose another.", name)
        definition = named.text(name)
        try:
            metrics[name] = as_metric(str(definition))
        except SedscopeError as error:
            raise named.error(str(error), name) from None
    if not metrics:
        raise table.error("a data set needs metrics, or the name of a preset.")
    return metrics


def _label_names(table: TomlTable, key: str) -> Mapping[str, str] | str | None:
    """Read new names of labels: a table, or the name of a file."""
    value = table.content.get(key)
    if value is None or isinstance(value, str):
        return table.text(key)
    names = table.table(key)
    wrong = [label for label, name in names.content.items() if not isinstance(name, str)]
    if wrong:
        raise names.error('must be the new name of the label, or "" to drop it.', wrong[0])
    return dict(names.content)


def _texts_by_key(table: TomlTable, key: str) -> dict[str, str] | None:
    texts = table.table(key)
    return {name: str(texts.text(name)) for name in texts.content} or None


def _clips(table: TomlTable, key: str) -> tuple[str, ...] | str | None:
    return table.text(key) if isinstance(table.content.get(key), str) else table.texts(key)


def _choice(choices: Sequence[str]) -> _Reader:
    return lambda table, key: table.choice(key, choices)


def _rule(rule: Callable[..., Any], readers: Mapping[str, _Reader]) -> _Reader:
    """Return what reads a rule, which is a table. ``readers``: of its keys."""

    def read(table: TomlTable, key: str) -> Any:
        if key not in table.content:
            return None
        part = table.table(key)
        part.refuse_unknown(readers)
        stated = _stated(part, readers)
        return _in_table(part, lambda: rule(**stated))

    return read


def _stated(table: TomlTable, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    """Return the values of keys that a table has."""
    values = {key: read(table, key) for key, read in readers.items()}
    return {key: value for key, value in values.items() if value is not None}


def _in_table(table: TomlTable, make: Callable[[], _Made]) -> _Made:
    """Make a value. Errors name the table."""
    try:
        return make()
    except SedscopeError as error:
        raise table.error(str(error)) from None


_CHUNK_KEYS: Mapping[str, _Reader] = {
    "unit": _choice(UNITS),
    "segment": TomlTable.number,
    "uncovered": TomlTable.number,
    "unreferenced": _choice(UNREFERENCED),
}
_GROUP_KEYS: Mapping[str, _Reader] = {
    "clips": TomlTable.text,
    "classes": TomlTable.text,
    "lengths": TomlTable.numbers,
    "folders": TomlTable.flag,
    "pattern": TomlTable.text,
    "average": _choice(AVERAGES),
    "floor": TomlTable.number,
}
_DATASET_KEYS: Mapping[str, _Reader] = {
    **dict.fromkeys(("ground_truth", "durations"), TomlTable.texts),
    **dict.fromkeys(("submission", "format"), TomlTable.text),
    "columns": _texts_by_key,
    "label": TomlTable.text,
    "classes": TomlTable.texts,
    **dict.fromkeys(("labels", "system_labels", "truth_labels"), _label_names),
    "combine": _choice(COMBINATIONS),
    "confidence": TomlTable.text,
    "chunks": _rule(ChunkRule, _CHUNK_KEYS),
    **dict.fromkeys(("regions", "ignored"), TomlTable.text),
    "ignored_labels": TomlTable.texts,
    "shots": TomlTable.number,
    "groups": _rule(GroupRule, _GROUP_KEYS),
    "clips": _clips,
    **{key: _choice(choices) for key, choices in CHOICES.items()},
}
"""What reads each key of a data set, in the order in which they are written."""
