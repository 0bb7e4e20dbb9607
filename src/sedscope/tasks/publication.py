"""What an organiser publishes of a task, and the data of a task without its reference events.

Participants check submissions with it. They get the same problems as with the reference events.
"""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.clips import clip_id
from ..data.ground_truth import GroundTruth
from ..errors import SedscopeError, listing
from ..io.atomic_write import filling, write_text
from ..io.locations import Location, input_location, local_path, read_input
from ..io.side_tables import clip_seconds, read_durations, write_durations
from ..io.text_tables import quoted
from ..metrics import Metric
from .task import Dataset, Task, named_files
from .task_data import (
    DatasetTruth,
    TaskData,
    folder_of,
    part_of,
    read_clips,
    read_task_data,
    system_labels,
)
from .task_files import read_task, write_task

IMAGE = "python:3.12"
"""The container in which submissions are scored, unless another one is named."""
DIGITS = 4
_LOGO = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsOtjJROZ2gi+hcEKLNXzWg"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQELgtfzBEA+G5J8wAAAABJRU5ErkJg"
    "gg=="
)
"""A square of one colour as PNG: a bundle needs a picture."""

_PROGRAM = '''\
"""Score a submission: check it, evaluate it, and write scores.json. Written by sedscope {version}."""

import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")  # participants see the log, and some are about the reference events
try:
    import sedscope as sed
except ImportError:
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "sedscope=={version}"], check=True)
    import sedscope as sed

COLUMNS = {columns}

source, output = Path(sys.argv[1]), Path(sys.argv[2])
task, data, submission = source / "ref" / "{task_file}", source / "ref" / "data", source / "res"
try:
    checked = sed.tasks.check_submission(str(task), submission, data)
    problems = list(checked.problems)
    result = None if problems else sed.tasks.evaluate_task(str(task), submission, data)
except sed.SedscopeError as error:
    problems, result = [str(error)], None
for problem in problems:
    print(problem, file=sys.stderr)
if result is None:
    sys.exit(1)
scores = {{"score": result.score}}
for key, (dataset, metric) in COLUMNS.items():
    scores[key] = result.values[dataset][metric]
defined = {{key: value for key, value in scores.items() if math.isfinite(value)}}
(output / "scores.json").write_text(json.dumps(defined, indent=2) + "\\n", encoding="utf-8")
(output / "result.txt").write_text(str(result.table()) + "\\n", encoding="utf-8")
'''


@dataclass(frozen=True)
class _Column:
    """A column of the leaderboard."""

    key: str
    dataset: str
    name: str
    metric: Metric[Any]


def write_codabench_bundle(
    task: Task | str | Location, data: str | Location, folder: str | Path, image: str = IMAGE
) -> None:
    """Write a bundle for Codabench: a benchmark that scores submissions to a task.

    The folder has ``competition.yaml``, its pages and a logo, the scoring program, and the reference data:
    the task with its reference events, which participants do not see. Zip its content and upload it.
    Submissions are archives with a file or folder for each data set. A broken one fails, with all its
    problems in the log.

    Parameters
    ----------
    task : Task, str or Path
        The task, its name, or the path of its TOML file.
    data : str or Path
        The folder of the data sets; see :func:`~sedscope.tasks.evaluate_task`.
    folder : str or Path
        A new folder.
    image : str, default "python:3.12"
        The container in which submissions are scored. Where it lacks sedscope, the scoring program installs
        it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset("psds1", classes=["Dog"])}, "home.psds1")
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_ground_truth(truth, Path(folder, "ground_truth.tsv"))
    ...     _ = Path(folder, "durations.tsv").write_text("filename\\tduration\\na\\t2\\n")
    ...     sed.tasks.write_codabench_bundle(task, folder, Path(folder, "bundle"))
    ...     print(sorted(path.name for path in Path(folder, "bundle").iterdir()))
    ['competition.yaml', 'logo.png', 'overview.md', 'reference_data', 'scoring_program', 'terms.md']
    """
    opened = read_task_data(task, data)
    columns = _columns(opened.task)
    with filling(local_path(folder)) as target:
        _write_reference_data(opened, target / "reference_data")
        program = target / "scoring_program"
        program.mkdir()
        by_key = {column.key: (column.dataset, column.name) for column in columns}
        text = _PROGRAM.format(version=__version__, columns=by_key, task_file=TASK_FILE)
        write_text(program / "score.py", text)
        command = "python3 /app/program/score.py /app/input /app/output"
        _write_json(program / "metadata.yaml", {"command": command})
        write_text(target / "overview.md", _overview(opened.task, columns))
        write_text(target / "terms.md", "# Terms\n\nReplace this page by the terms of participation.\n")
        (target / "logo.png").write_bytes(_LOGO)
        _write_json(target / "competition.yaml", _competition(opened.task, columns, image))


def _columns(task: Task) -> list[_Column]:
    """Return the columns behind the score, with keys of letters, digits and underscores."""
    columns = [
        _Column(
            re.sub(r"\W", "_", f"{name}_{metric}", flags=re.ASCII), name, metric, dataset.metrics[metric]
        )
        for name, dataset in task.datasets.items()
        for metric in dataset.metrics
    ]
    keys = [column.key for column in columns]
    if len({"score", *keys}) <= len(keys):
        raise SedscopeError(
            f"Codabench needs a key for each metric, of letters, digits and underscores, but {task.name} has "
            f"names that become the same: {', '.join(keys)}. Rename data sets or metrics."
        )
    return columns


def _write_reference_data(opened: TaskData, folder: Path) -> None:
    """Copy the task and the files that it names."""
    folder.mkdir()
    write_task(opened.task, folder / TASK_FILE)
    for name, of_set in opened.datasets.items():
        part = folder / "data" / name
        part.mkdir(parents=True)
        _copy_files(of_set.dataset, of_set.folder, part)
    read_task_data(str(folder / TASK_FILE), folder / "data")  # refuses what is not complete


def _copy_files(dataset: Dataset, source: Location, part: Path) -> None:
    for _, file in named_files(dataset):
        path = source / file
        if isinstance(path, Path) and path.is_dir():
            shutil.copytree(path, part / file, dirs_exist_ok=True)
        elif path.exists():
            (part / file).parent.mkdir(parents=True, exist_ok=True)
            (part / file).write_bytes(read_input(path))


def _competition(task: Task, columns: list[_Column], image: str) -> dict[str, Any]:
    """Return what competition.yaml says."""
    score = _leaderboard_column(0, "score", task.score, lower=task.lower_is_better)
    others = [
        _leaderboard_column(
            i, column.key, f"{column.dataset}.{column.name}", lower=not column.metric.higher_is_better
        )
        for i, column in enumerate(columns, start=1)
    ]
    return {
        "version": 2,
        "title": task.name,
        "description": task.about or task.name,
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": image,
        "pages": [{"title": "Overview", "file": "overview.md"}],
        "tasks": [
            {
                "index": 0,
                "name": task.name,
                "description": task.about or task.name,
                "scoring_program": "scoring_program/",
                "reference_data": "reference_data/",
            }
        ],
        "phases": [
            {
                "index": 0,
                "name": "Evaluation",
                "description": "Submissions are scored when they are uploaded.",
                "start": f"{date.today().isoformat()} 00:00:00",
                "execution_time_limit": 3600,
                "accepts_only_result_submissions": True,
                "tasks": [0],
            }
        ],
        "leaderboards": [
            {
                "title": "Results",
                "key": "main",
                "submission_rule": "Force_Last",
                "columns": [score, *others],
            }
        ],
    }


def _leaderboard_column(index: int, key: str, title: str, *, lower: bool) -> dict[str, Any]:
    sorting = "asc" if lower else "desc"
    return {"title": title, "key": key, "index": index, "sorting": sorting, "precision": DIGITS}


def _overview(task: Task, columns: list[_Column]) -> str:
    """Return a page for participants: what to submit, and what is measured."""
    files = "\n".join(f"- `{dataset.submission or name}`" for name, dataset in task.datasets.items())
    metrics = "\n".join(f"- `{column.dataset}.{column.name}`: `{column.metric!r}`" for column in columns)
    better = "lower" if task.lower_is_better else "higher"
    return (
        f"# {task.name}\n\n{task.about or task.name}\n\nThe score is `{task.score}`; {better} is better.\n\n"
        f"## What to submit\n\nA zip archive with a file or folder for each data set:\n\n{files}\n\n"
        f"A file or folder may have a suffix. sedscope {__version__} reads and scores it.\n\n"
        f"## What is measured\n\n{metrics}\n"
    )


def _write_json(path: Path, content: object) -> None:
    # not with escapes: those of characters beyond U+FFFF mean something else in YAML
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


TASK_FILE, CLIP_FILE = "task.toml", "clips.tsv"
_HIDDEN = ("ground_truth", "durations", "ignored", "truth_labels")
"""The keys of files that are not copied."""


def publish_task(task: Task | str | Location, data: str | Location, folder: str | Path) -> None:
    """Write what participants need to check their submissions, without the reference events.

    The folder gets the task (``task.toml``), and a folder for each data set with its clips, their durations,
    and the files that say how output of systems is read. ``sedscope check SUBMISSION --task
    FOLDER/task.toml`` then finds the same problems as with the reference events.

    Parameters
    ----------
    task : Task, str or Path
        The task, its name, or the path of its TOML file. Its data sets must list their classes.
    data : str or Path
        The folder of the data sets; see :func:`~sedscope.tasks.evaluate_task`.
    folder : str or Path
        A new folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset("psds1", classes=["Dog"])}, "home.psds1")
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": []}, durations={"a": 2, "b": 3})
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_ground_truth(truth, Path(folder, "ground_truth.tsv"))
    ...     _ = Path(folder, "durations.tsv").write_text("filename\\tduration\\na\\t2\\nb\\t3\\n")
    ...     sed.tasks.publish_task(task, folder, Path(folder, "public"))
    ...     print(Path(folder, "public", "home", "clips.tsv").read_text().split())
    ['filename', 'duration', 'a', '2.000000', 'b', '3.000000']
    """
    opened = read_task_data(task, data)
    _refuse_hidden_needs(opened.task, {name: of_set.dataset for name, of_set in opened.datasets.items()})
    datasets = {
        name: replace(dataset, clips=CLIP_FILE) for name, dataset in opened.task.datasets.items()
    }
    with filling(local_path(folder)) as target:
        for name, of_set in opened.datasets.items():
            part = target / name
            part.mkdir()
            _write_clips(of_set, part / CLIP_FILE)
            if of_set.recordings is not None:
                write_durations(of_set.recordings, part / of_set.dataset.durations[0])
            for key, file in named_files(of_set.dataset):
                if key not in _HIDDEN and file != CLIP_FILE and (of_set.folder / file).exists():
                    (part / file).parent.mkdir(parents=True, exist_ok=True)
                    (part / file).write_bytes(read_input(of_set.folder / file))
        write_task(replace(opened.task, datasets=datasets), target / TASK_FILE)


def _write_clips(of_set: DatasetTruth, path: Path) -> None:
    """Write the clips of a data set, with their durations if they are known."""
    truth = of_set.truth
    if _has_durations(truth):
        write_durations(truth, path)
    else:
        write_text(path, "\n".join(["filename", *map(quoted, truth.clips)]) + "\n")


def _has_durations(truth: GroundTruth) -> bool:
    return truth.durations is not None and bool((truth.durations > 0).all())


def without_references(of_set: DatasetTruth) -> DatasetTruth | None:
    """Return a data set as participants have it; None if its submissions cannot be checked with that."""
    if _hidden_needs(of_set.dataset):
        return None
    truth, dataset = of_set.truth, of_set.dataset
    seconds = clip_seconds(truth) if _has_durations(truth) else None
    empty = _empty_truth(dataset, truth.clips, seconds)
    return replace(of_set, dataset=_without_choices(dataset), truth=empty)


def _without_choices(dataset: Dataset) -> Dataset:
    """Return a data set of which all clips count, because the others need the reference events."""
    rule = dataset.chunks
    return replace(
        dataset, clips=None, chunks=None if rule is None else replace(rule, unreferenced="keep")
    )


def _empty_truth(
    dataset: Dataset, clips: Iterable[str], seconds: Mapping[str, float] | None
) -> GroundTruth:
    truth = GroundTruth.from_dict(dict.fromkeys(clips, ()), durations=seconds)
    truth.labels = tuple(sorted(dataset.classes or ()))
    return truth


def read_published_data(task: Path | str | Location) -> TaskData:
    """Read the data of a task without its reference events, beside the TOML file of the task."""
    path = input_location(task)
    if not path.is_file():
        raise SedscopeError(
            f"{path} is not a file. To check a submission without the reference events, give the TOML file "
            "that the organisers published (`task=`). Otherwise, give them (`data=`)."
        )
    opened = read_task(task)
    _refuse_hidden_needs(opened, opened.datasets)
    folder, alone = folder_of(path), len(opened.datasets) == 1
    parts = {name: part_of(folder, name, alone) for name in opened.datasets}
    missing = [name for name, part in parts.items() if part is None]
    if missing:
        raise SedscopeError(f"{folder} has no folder for the data sets {listing(missing)}.")
    sets = opened.datasets
    return TaskData(
        opened, {name: _read_set(name, sets[name], part) for name, part in parts.items() if part}
    )


def _read_set(name: str, dataset: Dataset, folder: Location) -> DatasetTruth:
    """Return a data set with the clips and classes that its reference events would have."""
    clips, seconds, recordings = None, None, None
    if isinstance(dataset.clips, str):
        clips, seconds = read_clips(folder / dataset.clips)
    stated = next((folder / file for file in dataset.durations if (folder / file).exists()), None)
    if seconds is None and stated is not None:
        of_file = read_durations(stated)
        if clips is not None and {*map(clip_id, clips)}.isdisjoint(map(clip_id, of_file)):
            recordings = of_file
        else:
            seconds = of_file
    if clips is None and seconds is None:
        raise SedscopeError(
            f'Nothing says which clips the data set {name} has. Write clips = "{CLIP_FILE}" into the task, '
            "and give a table 'filename duration' of that name."
        )
    truth = _empty_truth(dataset, clips or seconds or (), seconds)
    label_map = system_labels(dataset, folder)
    return DatasetTruth(name, _without_choices(dataset), folder, truth, label_map, recordings)


def _refuse_hidden_needs(task: Task, datasets: Mapping[str, Dataset]) -> None:
    """Refuse data sets whose submissions cannot be checked without the reference events."""
    problems = [
        f"{name}: {reason}" for name, dataset in datasets.items() for reason in _hidden_needs(dataset)
    ]
    if problems:
        raise SedscopeError(
            f"Submissions to the task {task.name} cannot be checked without the reference events: "
            f"{listing(problems, limit=10)}."
        )


def _hidden_needs(dataset: Dataset) -> list[str]:
    """Return why submissions cannot be checked without the reference events."""
    reasons = {
        "it does not list its classes (write classes = […])": dataset.classes is None,
        "its shots come from the reference events": dataset.shots is not None,
        "its clips end with the reference events": dataset.clip_ends != "stated",
        "its groups are the folders of the reference events": bool(
            dataset.groups and dataset.groups.folders
        ),
        "it chooses some of the clips (leave out clips)": isinstance(dataset.clips, tuple)
        or dataset.clips == "scored",
    }
    return [reason for reason, applies in reasons.items() if applies]
