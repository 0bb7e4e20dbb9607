"""The result of an evaluation: values, counts, intervals, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..engines.run import Run
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric, MetricResult
from ..metrics.names import metric_called
from ..tabular import TabularResult

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from ..resampling.intervals import Bootstrap
    from ..results.text import Form, Part, Records
    from ..tuning.operating_points import OperatingPoints
    from .group_results import GroupResults
    from .result_tables import FalseAlarms
    from .signature import Signature

AnyResult = TypeVar("AnyResult", bound=MetricResult)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[Metric[Any], MetricResult], TabularResult):
    """The results of an evaluation, by metric. The name or the definition of a metric is a key, too.

    Tables have a row per class and a column per metric. Beside the missing values of classes without
    reference events are their false alarms per hour. A table of each kind of groups follows.

    CSV and data frames have a row per metric and class, with the columns ``metric``, ``class``,
    ``references``, ``value``, the ends of its interval ``low`` and ``high``, the ``threshold`` that the value
    belongs to, and the ``definition`` of the metric. The first row of a metric has no class: it is the value
    over all classes. With groups, the columns ``grouping`` and ``group`` come first, and the rows of the
    groups last; the average over groups has no group.

    Attributes
    ----------
    results : mapping of Metric to its result
        The value of each metric, with its curves.
    names : mapping of Metric to str
        The name of each metric, as it heads the column of a table.
    counts : mapping of Criterion to Counts
        The counts of each criterion; for metrics with a limit on false positives, up to that limit. With
        several blocks of classes, only the rows that the metrics read (``ClassCounts.complete``). At
        operating points, one row for each class.
    classes : tuple of str
        The classes that were evaluated.
    references : mapping of str to int
        The number of reference events of each class; of positive segments or clips, where deltas or
        detections at thresholds were evaluated by ``Segment`` and ``Clip`` only.
    clips : int
        The number of clips.
    hours : float
        The duration of all clips.
    warnings : tuple of str
        What to know about the values.
    intervals : mapping of Metric to Bootstrap
        The interval of each metric, if intervals were asked for.
    on_new_clips : mapping of Metric to Bootstrap
        With intervals, for metrics that choose thresholds on the clips that they judge: the value to expect
        on new clips at such thresholds, and its interval. Each of at most ten folds of the clips is judged
        at the thresholds that are best on the others.
    alignment : Alignment or None
        What was evaluated; None for sets of detections.
    deltas : mapping of Criterion to Deltas
        What the counts were added up from; empty for sets of detections. With several blocks of classes,
        they are not kept, and any access is refused.
    blocks : int
        How many blocks of classes were counted one after the other, to stay within the memory limit.
    points : OperatingPoints or None
        The operating points of the system, if it was evaluated there.
    groups : mapping of str to GroupResults
        The evaluations of groups, where they were asked for: of ``"clips"``, of ``"classes"`` and of
        ``"lengths"``.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> best = sed.BestFScore(sed.Collar())
    >>> result = sed.evaluate(scores, truth, best)
    >>> result[best].value, round(result[best].thresholds["Dog"], 2)
    (1.0, 0.65)
    """

    results: Mapping[Metric[Any], MetricResult]
    names: Mapping[Metric[Any], str]
    counts: Mapping[Criterion, Counts]
    classes: tuple[str, ...]
    references: Mapping[str, int]
    clips: int
    hours: float
    warnings: tuple[str, ...]
    intervals: Mapping[Metric[Any], Bootstrap] = field(default_factory=dict)
    on_new_clips: Mapping[Metric[Any], Bootstrap] = field(default_factory=dict)
    alignment: Alignment | None = None
    deltas: Mapping[Criterion, Deltas] = field(default_factory=dict)
    blocks: int = 1
    points: OperatingPoints | None = None
    groups: Mapping[str, GroupResults] = field(default_factory=dict)
    _scores_digest: int | None = None

    @overload
    def __getitem__(self, metric: Metric[AnyResult]) -> AnyResult: ...
    @overload
    def __getitem__(self, metric: str) -> MetricResult: ...

    def __getitem__(self, metric: Metric[Any] | str) -> MetricResult:
        return self.results[metric_called(metric, self.names)]

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        values = [
            f"{self.names[metric]} = {result.value:.4f}" for metric, result in self.results.items()
        ]
        return (
            f"<Evaluation: {counted(self.clips, 'clip')}, "
            f"{counted(len(self.classes), 'class')}; {listing(values, limit=3)}>"
        )

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        from .result_tables import evaluation_parts

        return evaluation_parts(self, form, digits)

    def _records(self) -> Records:
        from .result_tables import evaluation_records

        return evaluation_records(self)

    def _values(self) -> dict[str, Any]:
        from .result_tables import evaluation_values

        return evaluation_values(self)

    def scalars(self) -> dict[str, float]:
        """Return all values in one flat dict, for loggers: ``{name: value, "name/class": value}``.

        Returns
        -------
        dict of str to float

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> result.scalars()
        {'best_collar_f1': 1.0, 'best_collar_f1/Dog': 1.0}
        """
        values: dict[str, float] = {}
        for metric, result in self.results.items():
            name = self.names[metric]
            of_metric = {name: result.value}
            of_metric |= {f"{name}/{label}": value.value for label, value in result.per_class.items()}
            twice = values.keys() & of_metric
            if twice:
                raise SedscopeError(
                    f"Two values would have the same name: {listing(sorted(twice))}. A metric is named like "
                    "a class of another metric. Choose another name for it."
                )
            values |= of_metric
        return values

    @cached_property
    def false_alarms_per_hour(self) -> dict[Metric[Any], FalseAlarms]:
        """The false alarms per hour of the classes without reference events, whose values are missing.

        For ``Segment`` and ``Clip``, they are segments and clips.
        """
        from .result_tables import false_alarms

        rates = {metric: false_alarms(metric, self.counts[metric.criterion]) for metric in self.results}
        return {metric: of_metric for metric, of_metric in rates.items() if of_metric.per_class}

    @cached_property
    def signature(self) -> Signature:
        """What the values were computed by, and from what; ``str()`` makes it one line.

        Scores in memory are hashed when the signature is used first; those of files, while they are read.
        """
        from .signature import signature_of

        return signature_of(self, self._scores_digest)

    def plot(
        self, metric: Metric[Any] | str | None = None, *, per_class: bool = True, ax: Axes | None = None
    ) -> Axes:
        """Draw a metric with matplotlib: its curves, or a dot for each class if it has none.

        Parameters
        ----------
        metric : Metric or str, optional
            What to draw: a metric that was evaluated, its name or its definition. By default, the first.
        per_class : bool, default True
            Whether to draw the classes as well.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(20, classes=2)
        >>> result = sed.evaluate(sed.simulate.scores(truth), truth, ["psds1", "collar_f1"])
        >>> result.plot().get_ylabel(), result.plot("collar_f1").get_xlabel()
        ('true positive ratio', 'collar_f1')
        """
        from ..plots.values import plot_evaluation

        return plot_evaluation(self, metric, per_class, ax)

    def show(self, *, height: int = 800, **options: Any) -> None:
        """Show the report: below the cell of a notebook, or else in the browser.

        Parameters
        ----------
        height : int, default 800
            The height of the report in a notebook, in pixels.
        **options
            Those of :meth:`report`.
        """
        from ..report import show_report

        show_report(self.report, height, options)

    def report(
        self,
        path: str | Path,
        *,
        name: str = "system",
        others: Mapping[str, Evaluation] | None = None,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        run: Run | None = None,
    ) -> None:
        """Write an HTML page with curves, threshold sliders, an error analysis and a clip browser.

        The page needs nothing but a browser.

        Parameters
        ----------
        path : path or address
            The HTML file to write.
        name : str, default "system"
            The name of this system.
        others : mapping of str to Evaluation, optional
            Evaluations of other systems, with the same metrics on the same clips.
        clips_shown : int or iterable of str, default 60
            How many clips can be browsed, or which. One in six of them are clips without errors, the
            others those with the most errors.
        audio : path, optional
            A folder with the audio files of the clips. Those of the clips shown go into the page, as far
            as there is room.
        run : Run, optional
            How a further pass over the clips runs, if the page needs one; see
            :func:`~sedscope.evaluate`.
        """
        from ..report import write_report

        write_report({name: self, **(others or {})}, path, clips_shown=clips_shown, audio=audio, run=run)
