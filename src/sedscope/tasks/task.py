"""Tasks: data sets, how each is evaluated, and the score that systems are ranked by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from pathlib import PureWindowsPath
from typing import Any, TypeAlias, get_args

from ..alignment.joined_chunks import Unreferenced
from ..data.choices import ClipEnds, Coverage, Crossing, Gaps, Invalid, Missing, Overlaps
from ..data.chunks import Unit
from ..data.event_table import confidence_condition
from ..data.label_maps import Combine, LabelMap
from ..definitions import optional_number, require_choice, require_flag, require_number
from ..errors import SedscopeError, counted, listing, shortened
from ..evaluation.groups import GroupAverageName, Groups
from ..io.event_files import TruthReading
from ..metrics import Metric
from ..metrics.names import name_metrics
from ..ranking.formula import Formula

LabelNames: TypeAlias = "Mapping[str, str] | str"
"""New names of labels (an empty one drops the label), or the file that has them."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "missing": get_args(Missing),
    "coverage": get_args(Coverage),
    "invalid": get_args(Invalid),
    "overlaps": get_args(Overlaps),
    "gaps": get_args(Gaps),
    "crossing": get_args(Crossing),
    "clip_ends": get_args(ClipEnds),
}
"""The choices that a data set makes as :func:`~sedscope.evaluate` and the readers have them."""
TRUTH_KEYS = (
    *("format", "columns", "label", "confidence", "ignored", "ignored_labels", "invalid", "overlaps"),
)
"""The keys of a data set that say how its reference events are read."""
LABEL_KEYS = {"labels": "both", "system_labels": "system", "truth_labels": "truth", "combine": "combine"}
"""The keys of a data set about names of labels, with the attributes of a label rule."""
AVERAGES: tuple[str, ...] = get_args(GroupAverageName)
UNITS: tuple[str, ...] = get_args(Unit)
COMBINATIONS: tuple[str, ...] = get_args(Combine)
UNREFERENCED: tuple[str, ...] = get_args(Unreferenced)


@dataclass(frozen=True)
class ChunkRule:
    """How the chunks of long recordings are joined; see :func:`~sedscope.join_chunks`.

    Attributes
    ----------
    unit : {"seconds", "centiseconds", "milliseconds"}
        The unit of START and END in the names of the chunks, ``RECORDING-START-END``.
    segment : float
        The length of the segments that scores are averaged over, in seconds.
    uncovered : float or None
        The score of segments that no chunk covers. None refuses them.
    unreferenced : {"keep", "drop"}
        Whether chunks without reference events are evaluated.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.tasks.ChunkRule("centiseconds", unreferenced="drop").segment
    1.0
    """

    unit: Unit = "seconds"
    segment: float = 1.0
    uncovered: float | None = None
    unreferenced: Unreferenced = "keep"

    def __post_init__(self) -> None:
        require_choice(self, "unit", UNITS)
        require_number(self, "segment", above=0)
        optional_number(self, "uncovered")
        require_choice(self, "unreferenced", UNREFERENCED)


@dataclass(frozen=True)
class GroupRule:
    """The groups that metrics are measured in.

    Attributes
    ----------
    clips : str or None
        The file with the group of each clip (``filename group``).
    classes : str or None
        The file with the group of each class.
    lengths : tuple of float
        The bounds between groups of reference lengths, in seconds.
    folders : bool
        Whether the group of a clip is the folder of its reference events.
    pattern : str or None
        What names of clips look like: ``{group}`` stands for the group of the clip, and ``{}`` for any
        other text. The group is as long as the pattern allows.
    average : {"mean", "harmonic"} or None
        How the values of groups of clips or classes are averaged. The average is then the value of a
        metric in the score; without it, the value of all clips and classes is.
    floor : float
        For the harmonic mean: values below it are raised to it.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.tasks.GroupRule(clips="sites.tsv", average="harmonic").average
    'harmonic'
    >>> sed.tasks.GroupRule(pattern="{group}_{}").group_of("north_bay_0015")
    'north_bay'
    """

    clips: str | None = None
    classes: str | None = None
    lengths: tuple[float, ...] = ()
    folders: bool = False
    pattern: str | None = None
    average: GroupAverageName | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", tuple(self.lengths))
        require_flag(self, "folders")
        kinds = (self.clips, self.folders, self.pattern, self.classes, self.lengths)
        if sum(map(bool, kinds)) != 1:
            raise SedscopeError(
                "Groups are of clips (clips, folders or pattern), of classes or of lengths: choose one of "
                "these."
            )
        for key in ("clips", "classes"):
            _check_file(key, getattr(self, key))
        if self.pattern is not None:
            _check_pattern(self.pattern)
        if self.lengths and self.average is not None:
            raise SedscopeError("Groups of lengths have no average. Leave it out.")
        Groups({}, self.average, self.floor)  # refuses what is not valid

    def group_of(self, clip: str) -> str | None:
        """Return the group that the pattern finds in the name of a clip, or None if it does not match.

        Parameters
        ----------
        clip : str
            The name of the clip, without folder and audio suffix.

        Returns
        -------
        str or None

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.tasks.GroupRule(pattern="{group}_{}").group_of("north") is None
        True
        """
        if self.pattern is None:
            return None
        before, after = (text.split("{}") for text in self.pattern.split("{group}"))
        start = _length_taken(clip, before)
        end = len(clip) - _length_taken(clip[::-1], [text[::-1] for text in reversed(after)])
        return clip[start:end] if start < end else None


@dataclass(frozen=True)
class LabelRule:
    """New names of labels. An empty name drops the label.

    Attributes
    ----------
    both, system, truth : mapping of str to str, or str, or None
        New names for the labels of both sides, of the system, or of the reference events; or a file that
        has them.
    combine : {"max", "mean"}
        How the scores of labels that become one are combined.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.tasks.LabelRule(system={"dog bark": "Dog"}).combine
    'max'
    """

    both: LabelNames | None = None
    system: LabelNames | None = None
    truth: LabelNames | None = None
    combine: Combine = "max"

    def __post_init__(self) -> None:
        require_choice(self, "combine", COMBINATIONS)
        for names in (self.both, self.system, self.truth):
            if names is not None and not isinstance(names, str):
                LabelMap(names, self.combine)  # refuses what is not valid


@dataclass(frozen=True)
class Dataset:
    """A data set of a task, and how systems are evaluated on it.

    Names of files are relative to the folder of the data set, or to the submission, and cannot lead out of
    it: absolute paths, ``..`` and addresses are refused.

    Parameters
    ----------
    metrics : Metric, str, iterable of these, or mapping of str to these
        What to measure, by name; see :func:`~sedscope.evaluate`.
    ground_truth : str or tuple of str, default "ground_truth.tsv"
        The file or folder with the reference events. Of several names, the first that exists is read.
    durations : str or tuple of str, default "durations.tsv"
        The file with the durations of the clips, which is read if it exists; or one for each name of
        ``ground_truth``.
    submission : str, optional
        The name of the file or folder in a submission; the name of the data set unless given.
    truth : TruthReading, optional
        How the reference events are read. Its ``overlaps`` hold for detections as well. It has no
        ``durations`` and no ``label_map``.
    labels : LabelRule, optional
        New names of labels.
    classes : iterable of str, optional
        The classes to evaluate; all classes of the scores unless given.
    chunks : ChunkRule, optional
        How the chunks of recordings are joined.
    regions : str, optional
        The file with the regions to evaluate (``filename onset offset``).
    shots : int, optional
        For few-shot tasks: how many events of each file a system is shown. Each file of the ground truth
        is named after its clip, and its events are of one class. References up to the end of the last shot
        are not evaluated; but if the system detects nothing in a file, it misses all its events.
    groups : GroupRule, optional
        The groups that metrics are measured in.
    clips : iterable of str or str, optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores, or the file that lists all
        clips of the data set with their durations (``filename duration``).
    missing, coverage, gaps, crossing : str
        What to do with input that does not fit; see :func:`~sedscope.evaluate`,
        :func:`~sedscope.read_scores` and :func:`~sedscope.cut_to_regions`.
    clip_ends : {"stated", "events"}, default "stated"
        Where clips end: as the durations or the scores say, or, for data without durations, with their
        last reference or detection.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.tasks.Dataset(["psds1", "collar_f1"], classes=["Cat", "Dog"]).classes
    ('Cat', 'Dog')
    """

    metrics: Mapping[str, Metric[Any]]
    ground_truth: tuple[str, ...] = ("ground_truth.tsv",)
    durations: tuple[str, ...] = ("durations.tsv",)
    submission: str | None = None
    truth: TruthReading = field(default_factory=TruthReading)
    labels: LabelRule = LabelRule()
    classes: tuple[str, ...] | None = None
    chunks: ChunkRule | None = None
    regions: str | None = None
    shots: int | None = None
    groups: GroupRule | None = None
    clips: tuple[str, ...] | str | None = None
    missing: Missing = "error"
    coverage: Coverage = "error"
    gaps: Gaps = "error"
    crossing: Crossing = "cut"
    clip_ends: ClipEnds = "stated"

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", name_metrics(self.metrics))
        for name in self.metrics:
            check_name(name, "metric")
        if self.truth.durations is not None or self.truth.label_map is not None:
            raise SedscopeError(
                "truth says how the reference events of a data set are read. Give durations and labels= "
                "to the data set itself."
            )
        labels, ignored = _texts("ignored_labels", self.truth.ignored_labels), self.truth.ignored
        reading = replace(
            self.truth, ignored_labels=labels, ignored=None if ignored is None else str(ignored)
        )
        object.__setattr__(self, "truth", reading)
        for key in ("ground_truth", "durations", "classes", "clips"):
            value = getattr(self, key)
            if value is not None and not (key == "clips" and isinstance(value, str)):
                object.__setattr__(self, key, _texts(key, value))
        both = sorted({*(self.classes or ())}.intersection(labels or ()))
        if both:
            raise SedscopeError(
                f"These labels are both in classes and in ignored_labels: {listing(both)}."
            )
        if not self.ground_truth:
            raise SedscopeError("A data set needs the name of its ground_truth.")
        if len(self.durations) not in (1, len(self.ground_truth)):
            raise SedscopeError(
                f"durations has {counted(len(self.durations), 'name')}, but ground_truth has "
                f"{len(self.ground_truth)}. Give one for all, or one for each."
            )
        for key, choices in CHOICES.items():
            require_choice(self.truth if key in TRUTH_KEYS else self, key, choices)
        for key, name in named_files(self):
            _check_file(key, name)
        _check_file("submission", self.submission)
        if self.truth.confidence is not None:
            confidence_condition(self.truth.confidence)
        if self.shots is not None and (type(self.shots) is not int or self.shots < 1):
            raise SedscopeError(f"shots={self.shots!r} must be a whole number of at least 1.")

    def _selection(self) -> dict[str, Any]:
        """Return what to evaluate, as :func:`~sedscope.evaluate` and others take it."""
        return {key: getattr(self, key) for key in ("classes", "clips", "missing", "coverage")}


@dataclass(frozen=True)
class Task:
    """A whole evaluation: data sets, the metrics of each, and the score that systems are ranked by.

    Parameters
    ----------
    name : str
        The name of the task.
    datasets : mapping of str to Dataset
        The data sets, by name.
    score : str
        The ranking score: a formula over values that are named ``dataset.metric``. It may have numbers,
        ``+ - * /``, brackets, ``mean``, ``harmonic_mean``, ``min`` and ``max``.
    about, source : str, optional
        What the task is, and where it comes from.
    lower_is_better : bool, default False
        Whether a lower score is better, as it is for error rates.

    See Also
    --------
    read_task : A task that is built in, or that a file defines.

    Examples
    --------
    >>> import sedscope as sed
    >>> desed, maestro = sed.tasks.Dataset("psds1"), sed.tasks.Dataset("mpauc")
    >>> task = sed.tasks.Task("mine", {"desed": desed, "maestro": maestro}, "desed.psds1 + maestro.mpauc")
    >>> task.formula.names
    (('desed', 'psds1'), ('maestro', 'mpauc'))
    """

    name: str
    datasets: Mapping[str, Dataset]
    score: str
    about: str = ""
    source: str = ""
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        for key in ("name", "about", "source"):
            if not isinstance(getattr(self, key), str):
                raise SedscopeError(f"{key}={getattr(self, key)!r} must be a text.")
        if not self.name.strip():
            raise SedscopeError("A task needs a name.")
        if not isinstance(self.datasets, Mapping) or not self.datasets:
            raise SedscopeError(f"The task {self.name} has no data sets. Give at least one.")
        for name, dataset in self.datasets.items():
            check_name(name, "data set")
            if not isinstance(dataset, Dataset):
                raise SedscopeError(f"{name} is not a Dataset: {shortened(repr(dataset))}.")
        object.__setattr__(self, "datasets", dict(self.datasets))
        require_flag(self, "lower_is_better")
        self.formula.check({name: dataset.metrics for name, dataset in self.datasets.items()})

    @property
    def formula(self) -> Formula:
        """The score as a formula."""
        return Formula(self.score)


def check_name(name: object, what: str) -> None:
    """Refuse a name that a formula cannot contain."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise SedscopeError(
            f"The name of a {what} must be a word of letters, digits and _, because the formula of the "
            f"score may contain it. {shortened(repr(name))} is not."
        )


def value_of_key(dataset: Dataset, key: str) -> Any:
    """Return what a data set has for a key of task files, which are flat."""
    if key in TRUTH_KEYS:
        return getattr(dataset.truth, key)
    return getattr(dataset.labels, LABEL_KEYS[key]) if key in LABEL_KEYS else getattr(dataset, key)


def named_files(dataset: Dataset) -> list[tuple[str, str]]:
    """Return the keys that name files in the folder of a data set, each with a name."""
    named = [(key, name) for key in ("ground_truth", "durations") for name in getattr(dataset, key)]
    keys = ("regions", "ignored", "labels", "system_labels", "truth_labels")
    others = [(key, value_of_key(dataset, key)) for key in keys]
    others += [("clips", None if dataset.clips == "scored" else dataset.clips)]
    others += [(key, getattr(dataset.groups, key, None)) for key in ("clips", "classes")]
    return named + [(key, name) for key, name in others if isinstance(name, str)]


def _check_file(key: str, name: str | None) -> None:
    """Refuse a name that may lead out of its folder, on any system, without looking for the file."""
    if name is None:
        return
    path = PureWindowsPath(name)  # which has the separators and roots of other systems as well
    climbs = ".." in map(str.strip, path.parts)
    if path.anchor or climbs or "::" in name or "://" in name:
        raise SedscopeError(
            f"{key}={shortened(repr(name))} may lead out of its folder. Files of a task are inside the "
            "folder of the data set or of the submission: give a relative path without '..'."
        )


def _check_pattern(pattern: str) -> None:
    """Refuse a pattern that does not find one group in a name."""
    if not isinstance(pattern, str) or pattern.count("{group}") != 1:
        raise SedscopeError(f"pattern={pattern!r} must have {{group}} once, where names have the group.")
    if {*"{}"} & {*pattern.replace("{group}", "").replace("{}", "")}:
        raise SedscopeError(f"pattern={pattern!r} has other brackets than those of {{group}} and {{}}.")


def _length_taken(text: str, pieces: Sequence[str]) -> int:
    """Return how much of a text the pieces take, each after at least one other character but the first.

    All of it, if they are not there. Each piece is sought once, so this takes linear time.
    """
    first, *others = pieces
    taken = len(first) if text.startswith(first) else len(text)
    for piece in others:
        found = text.find(piece, taken + 1)
        taken = len(text) if found < 0 else found + len(piece)
    return taken


def _texts(key: str, value: str | Iterable[str]) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)
    wrong = [repr(text) for text in texts if not isinstance(text, str) or not text.strip()]
    if wrong:
        raise SedscopeError(f"{key} must be names, not {listing(wrong)}.")
    return texts
