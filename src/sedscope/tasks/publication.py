"""What an organiser publishes of a task, and the data of a task without its reference events.

Participants check submissions with it. They get the same problems as with the reference events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..data.clips import clip_id
from ..data.ground_truth import GroundTruth
from ..errors import SedscopeError, listing
from ..io.atomic_write import filling, write_text
from ..io.locations import Location, input_location, local_path, read_input
from ..io.side_tables import read_durations, write_durations
from ..io.text_tables import quoted
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
    if truth.durations is not None and (truth.durations > 0).all():
        write_durations(truth, path)
    else:
        write_text(path, "\n".join(["filename", *map(quoted, truth.clips)]) + "\n")


def read_published_data(task: Path | str | Location, data: str | Location | None = None) -> TaskData:
    """Read the data of a task without its reference events.

    ``data``: where the folders of the data sets are; by default beside the TOML file of the task.
    """
    path = input_location(task)
    if data is None and not path.is_file():
        raise SedscopeError(
            f"{path} is not a file. To check a submission without the reference events, give the TOML file "
            "that the organisers published (`task=`). Otherwise, give them (`data=`)."
        )
    opened = read_task(task)
    _refuse_hidden_needs(opened, opened.datasets)
    folder = folder_of(path) if data is None else input_location(data)
    parts = {name: part_of(folder, name, len(opened.datasets) == 1) for name in opened.datasets}
    missing = [name for name, part in parts.items() if part is None]
    if missing:
        raise SedscopeError(f"{folder} has no folder for the data sets {listing(missing)}.")
    return TaskData(
        opened,
        {
            name: _read_set(name, dataset, part)
            for (name, dataset), part in zip(opened.datasets.items(), parts.values(), strict=True)
            if part is not None
        },
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
    truth = GroundTruth.from_dict(dict.fromkeys(clips or seconds or (), ()), durations=seconds)
    truth.labels = tuple(sorted(dataset.classes or ()))
    label_map = system_labels(dataset, folder)
    return DatasetTruth(name, replace(dataset, clips=None), folder, truth, label_map, recordings)


def _refuse_hidden_needs(task: Task, datasets: Mapping[str, Dataset]) -> None:
    """Refuse data sets whose submissions cannot be checked without the reference events."""
    problems = []
    for name, dataset in datasets.items():
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
        problems += [f"{name}: {reason}" for reason, applies in reasons.items() if applies]
    if problems:
        raise SedscopeError(
            f"Submissions to the task {task.name} cannot be checked without the reference events: "
            f"{listing(problems, limit=10)}."
        )
