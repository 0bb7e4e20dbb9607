"""``check_submission``: everything that keeps a submission from being evaluated, a line for each problem."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ..alignment.coverage import UNLESS_TRIMMED
from ..checking.findings import Finding, Validation
from ..checking.validate import validate
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap
from ..data.labels import MAP_ADVICE
from ..data.scores import Scores
from ..engines.run import Run
from ..errors import SedscopeError, SedscopeWarning, readable
from ..io.archives import with_archives
from ..io.event_files import TruthReading
from ..io.events.files import read_event_table
from ..io.locations import Location, folder_content, input_location
from ..io.submission_lists import refuse_outward_links
from ..io.systems import holds_detection_sets, holds_events, read_detection_sets, read_system_scores
from .publication import read_published_data, without_references
from .submissions import (
    as_evaluated,
    depends_on_output,
    find_outputs,
    grouping,
    late_rows,
    refuse_changed_sets,
    unlisted_rows,
    unusable_rows,
)
from .task import Task
from .task_data import DatasetTruth, TaskData, read_task_data

_MOST_LATE = 20  # detections beyond the ends of their clips that are listed

_ITEM_MESSAGES: Mapping[str, Callable[[str], str]] = {
    "clips-without-scores": lambda clip: f"the clip {clip} is missing",
    "chosen-clips": lambda clip: f"the clip {clip} is missing",
    "clips-not-listed": lambda clip: f"the clip {clip} is not in the ground truth",
    "classes": lambda label: f"the class {label} has no scores",
    "labels": lambda label: f"the class {label} of the ground truth has no scores",
    "nan": lambda where: f"{where}: the score is not a number (NaN)",
}
"""What is wrong with each item of a finding, by its kind. Other findings are one line."""


@dataclass
class SubmissionCheck:
    """What was found in a submission.

    Attributes
    ----------
    problems : list of str
        What keeps the submission from being evaluated, as ``file:line: message`` where it is in a row of a
        file, otherwise as ``file: message``.
    warnings : list of str
        What is unusual.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.tasks.SubmissionCheck(["ours/home: the clip b is missing"]).problems
    ['ours/home: the clip b is missing']
    """

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_submission(
    task: Task | str | Location,
    submission: str | Location,
    data: str | Location | TaskData | None = None,
    *,
    truth: str | Location | None = None,
    durations: str | Location | None = None,
    run: Run | None = None,
) -> SubmissionCheck:
    """Find everything that keeps a submission from being evaluated.

    Parameters
    ----------
    task : Task, str or Path
        The task, its name, or the path of its TOML file.
    submission : str or Path
        The submission; see :func:`~sedscope.tasks.evaluate_task`.
    data : str or Path, optional
        The folder of the data sets; see :func:`~sedscope.tasks.evaluate_task`. Without it and without
        ``truth``, the task is a file that :func:`~sedscope.tasks.publish_task` wrote, or that lies beside
        the clips and durations of its data sets: no reference events are needed.
    truth, durations : str or Path, optional
        Instead of ``data``, for a task with one data set.
    run : Run, optional
        How it runs: on how many threads.

    Returns
    -------
    SubmissionCheck
        All problems, and warnings.

    Raises
    ------
    SedscopeError
        If the task or its data cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_ground_truth(truth, Path(folder, "ground_truth.tsv"))
    ...     check = sed.tasks.check_submission("dcase2019_task4", Path(folder, "ours"), folder)
    >>> [problem.rpartition("ours: ")[2] for problem in check.problems]
    ['there is no such file or folder']
    """
    if data is None and truth is None and not isinstance(task, Task):
        data = read_published_data(task)
    opened = read_task_data(task, data, truth, durations)
    try:
        refuse_outward_links([input_location(submission)])
    except SedscopeError as error:
        return SubmissionCheck([*map(readable, error.lines)])
    try:
        outputs, missing = find_outputs(opened.task, input_location(submission))
    except SedscopeError as error:  # an archive that is not unpacked
        return SubmissionCheck([readable(str(error))])
    check = SubmissionCheck([*missing])
    known = {
        label
        for of_set in opened.datasets.values()
        for label in of_set.dataset.classes or of_set.truth.labels
    }
    several = len(opened.datasets) > 1
    for name, path in outputs.items():
        of_set = without_references(opened.datasets[name]) or opened.datasets[name]
        findings = _findings(path, of_set, run)
        if of_set.truth.durations is None and not any(of.severity == "error" for of in findings):
            findings += _hidden_errors(path, opened.datasets[name], run)
        for finding in findings:
            if finding.severity == "error":
                check.problems += _lines(finding, path)
            else:
                text = str(finding).removeprefix("warning: ").replace(UNLESS_TRIMMED, "")
                check.warnings.append(f"{name}: {text}" if several else text)
        with suppress(SedscopeError):  # a finding says so
            check.problems += unusable_rows(path, of_set)
        with suppress(SedscopeError):
            late = [line for line in late_rows(path, of_set) if line not in check.problems]
            check.warnings += (
                late if len(late) < _MOST_LATE else [*late[:_MOST_LATE], f"and {len(late)} in all"]
            )
        with suppress(SedscopeError):
            if of_set.dataset.classes is not None:
                check.problems += _unknown_labels(path, known, of_set.system_map)
    check.problems = [*dict.fromkeys(readable(with_archives(line)) for line in check.problems)]
    check.warnings = [with_archives(line) for line in check.warnings]
    return check


def _findings(path: Location, truth: DatasetTruth, run: Run | None) -> list[Finding]:
    """Validate the output of a system for a data set."""
    if path.is_dir() and holds_detection_sets(path):
        try:
            refuse_changed_sets(path, truth.dataset)
            read_detection_sets(path)
        except SedscopeError as error:
            return [Finding("error", "scores", str(error).removesuffix("."))]
        files = folder_content(path, "*.tsv")
        return [
            finding for file in files for finding in _validated(file, truth.truth, truth, run).findings
        ]
    if not depends_on_output(truth.dataset):
        return [*_validated(path, truth.truth, truth, run).findings]
    # first the files alone, with the lines of all problems, then what the task makes of them
    unnamed = replace(truth.system_reading, label_map=None)
    validation = validate(path, system_reading=unnamed, run=run)
    if validation.errors:
        return [*validation.findings]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SedscopeWarning)  # validation has them
        scores = read_system_scores(path, truth.truth, truth.system_reading)
        try:
            changed, references = as_evaluated(scores, truth)
            grouping(truth, references, changed)
        except SedscopeError as error:
            return [*validation.warnings, _failure(error, scores, truth)]
    return [*validation.warnings, *_validated(changed, references, truth, run).findings]


def _hidden_errors(path: Location, truth: DatasetTruth, run: Run | None) -> list[Finding]:
    """Return errors that only the reference events show, without naming these.

    Where the durations of clips are not known, scores may end before the references.
    """
    findings = _findings(path, truth, run)
    return [replace(of, where=(), lines=False) for of in findings if of.severity == "error"]


def _failure(error: SedscopeError, scores: Scores, truth: DatasetTruth) -> Finding:
    """Return why the scores do not become what the task evaluates. Clips that are missing come first."""
    lacking = tuple(clip for clip in truth.truth.clips if clip not in scores)
    if lacking:
        return Finding("error", "clips-without-scores", str(error), lacking)
    return Finding("error", "scores", str(error).removesuffix("."), error.lines, bool(error.lines))


def _validated(
    scores: Scores | Location, references: GroundTruth, truth: DatasetTruth, run: Run | None
) -> Validation:
    """Validate scores that have their new labels, or files that have not."""
    dataset = truth.dataset
    label_map = None if isinstance(scores, Scores) else truth.system_map
    return validate(
        scores,
        references,
        system_reading=replace(truth.system_reading, label_map=label_map),
        truth_reading=TruthReading(invalid=dataset.truth.invalid),
        **dataset._selection(),
        run=run,
    )


def _lines(finding: Finding, path: Location) -> Iterator[str]:
    """Return a line for each problem of a finding. Each begins with a file."""
    message = _ITEM_MESSAGES.get(finding.kind)
    rows = unlisted_rows(path, finding.where) if finding.kind == "clips-not-listed" else []
    if rows:
        lines = rows
    elif finding.lines and finding.where:
        lines = [line.removesuffix(".") for line in finding.where]
    elif message is not None and finding.where:
        lines = [message(item) for item in finding.where]
    else:
        where = f": {', '.join(finding.where)}" if finding.where else ""
        sentences = (f"{finding.what}{where}.", finding.advice)
        text = " ".join(sentences).replace(MAP_ADVICE, "")  # the task has the label map
        lines = [text.rstrip().removesuffix(".")]
    for line in lines:
        text = " ".join(line.split())
        located = text.startswith((f"{path}:", f"{path}/"))
        yield text if located else f"{path}: {text.removeprefix(f'{path} ')}"


def _unknown_labels(path: Location, known: set[str], label_map: LabelMap | None) -> list[str]:
    """Find labels of detections that no data set of the task knows."""
    if not holds_events(path, None):
        return []
    table = read_event_table(path, problems=[])
    return [
        table.row_location(row).finding(f"{label} is not a class of the task")
        for row, label in enumerate(table.label)
        if label and (label if label_map is None else label_map.target(label)) not in (*known, None)
    ]
