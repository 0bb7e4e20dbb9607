"""The result of an evaluation: values, counts, intervals, and how they are shown."""

from __future__ import annotations

import json
import math
import warnings as python_warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..engines.options import EngineName, RunOptions
from ..errors import SedscopeWarning
from ..io.atomic_write import write_text
from ..metrics import Metric, MetricResult
from ..notebook.data_frame import Tabular
from ..resampling.intervals import Bootstrap, Interval
from .false_alarms import FalseAlarms, false_alarms
from .result_frames import evaluation_frame, evaluation_html, evaluation_line
from .table_text import format_text

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

AnyResult = TypeVar("AnyResult", bound=MetricResult)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[Metric[Any], MetricResult], Tabular):
    """The results of an evaluation, by metric. The definition of a metric as text works as a key, too.

    Attributes
    ----------
    results : mapping of Metric to its result
        The value of each metric, with its curves.
    counts : mapping of Criterion to Counts
        The counts of each criterion; for metrics with a limit on false positives, up to that limit. With
        several blocks of classes, only the rows that the metrics read (``ClassCounts.complete``).
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
    alignment : Alignment or None
        What was evaluated; None for sets of detections.
    deltas : mapping of Criterion to Deltas
        What the counts were added up from; empty for sets of detections. With several blocks of classes,
        they are not kept, and any access is refused.
    blocks : int
        How many blocks of classes were counted one after the other, to stay within the memory limit.

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
    counts: Mapping[Criterion, Counts]
    classes: tuple[str, ...]
    references: Mapping[str, int]
    clips: int
    hours: float
    warnings: tuple[str, ...]
    intervals: Mapping[Metric[Any], Bootstrap] = field(default_factory=dict)
    alignment: Alignment | None = None
    deltas: Mapping[Criterion, Deltas] = field(default_factory=dict)
    blocks: int = 1

    @overload
    def __getitem__(self, metric: Metric[AnyResult]) -> AnyResult: ...
    @overload
    def __getitem__(self, metric: str) -> MetricResult: ...

    def __getitem__(self, metric: Metric[Any] | str) -> MetricResult:
        if isinstance(metric, str):
            return {repr(key): result for key, result in self.results.items()}[metric]
        return self.results[metric]

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return evaluation_line(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per metric and class.

        The first row of a metric has no class (null): it is the value over all classes.

        Returns
        -------
        polars.DataFrame
            With the columns ``metric``, ``class``, ``references``, ``value``, the ends of its interval
            ``low`` and ``high``, and the ``threshold`` that the value belongs to. Where there is none,
            or a value is not defined, a cell is null.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.FScore(sed.Collar()))
        >>> result.to_polars().select("class", "value", "threshold").rows()
        [(None, 1.0, None), ('Dog', 1.0, 0.5)]
        """
        return evaluation_frame(self)

    def scalars(self) -> dict[str, float]:
        """Return all values in one flat dict, for loggers: ``{metric: value, "metric/class": value}``.

        Returns
        -------
        dict of str to float

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> list(result.scalars().values())
        [1.0, 1.0]
        """
        values: dict[str, float] = {}
        for metric, result in self.results.items():
            values[repr(metric)] = result.value
            for label, class_result in result.per_class.items():
                values[f"{metric!r}/{label}"] = class_result.value
        return values

    @cached_property
    def false_alarms_per_hour(self) -> dict[Metric[Any], FalseAlarms]:
        """The false alarms per hour of the classes without reference events, whose values are missing.

        Only metrics whose criterion counts events have them.
        """
        rates = {metric: false_alarms(metric, self.counts[metric.criterion]) for metric in self.results}
        return {metric: of_metric for metric, of_metric in rates.items() if of_metric.per_class}

    def table(self) -> str:
        """Return a readable table: a row per class, a column per metric.

        Beside the missing values of classes without reference events are their false alarms per hour.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> print(result.table())
        class    references     [1]
        ───────────────────────────
        Dog               1  1.0000
        ───────────────────────────
        overall           1  1.0000
        <BLANKLINE>
        [1] BestFScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), beta=1, average='macro')
        """
        columns = [
            (result, self.intervals.get(metric), self.false_alarms_per_hour.get(metric))
            for metric, result in self.results.items()
        ]
        header = ["class", "references", *(f"[{i}]" for i, _ in enumerate(columns, 1))]
        rows = [
            [
                label,
                str(self.references[label]),
                *(
                    _number(result.per_class[label].value, bootstrap and bootstrap.per_class[label])
                    if rates is None or label not in rates.per_class
                    else f"nan ({rates.per_class[label]:.4g}/h)"
                    for result, bootstrap, rates in columns
                ),
            ]
            for label in self.classes
        ]
        overall = [
            "overall",
            str(sum(self.references.values())),
            *(_number(result.value, bootstrap) for result, bootstrap, _ in columns),
        ]
        lines = format_text([header, *rows, overall])
        rule = "─" * max(map(len, lines))
        legend = [f"[{i}] {metric!r}" for i, metric in enumerate(self.results, 1)]
        if self.intervals:
            legend.append(next(iter(self.intervals.values())).resampling.about())
        thresholds = sorted({rates.threshold for rates in self.false_alarms_per_hour.values()})
        if thresholds:
            at = f"the threshold {thresholds[0]:g}" if len(thresholds) == 1 else "the metric's threshold"
            legend.append(f"(…/h) false alarms per hour of classes without reference events, at {at}")
        return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1], "", *legend])

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`to_json` writes. Values that are not defined are None.

        Returns
        -------
        dict

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> result.to_dict()["metrics"][0]["per_class"]
        {'Dog': 1.0}
        """
        from .. import __version__

        return {
            "sedscope": __version__,
            "clips": self.clips,
            "hours": self.hours,
            "classes": list(self.classes),
            "references": dict(self.references),
            "metrics": [
                _as_dict(
                    metric, result, self.intervals.get(metric), self.false_alarms_per_hour.get(metric)
                )
                for metric, result in self.results.items()
            ],
            "warnings": list(self.warnings),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the results as JSON text, and write them to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> '"clips": 1' in result.to_json()
        True
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_text(path, text)
        return text

    def report(
        self,
        path: str | Path,
        *,
        name: str = "system",
        others: Mapping[str, Evaluation] | None = None,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        engine: EngineName = "threads",
        scheduler: object = None,
        checkpoint: str | Path | None = None,
        threads: int | None = None,
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
        engine, scheduler, checkpoint, threads
            How a further pass over the clips runs, if the page needs one; see
            :func:`~sedscope.evaluate`.
        """
        from ..report import write_report

        write_report(
            {name: self, **(others or {})},
            path,
            clips_shown=clips_shown,
            audio=audio,
            options=RunOptions(threads, engine, scheduler, checkpoint),
        )

    def warn(self, stacklevel: int) -> Evaluation:
        """Issue the warnings as Python warnings, and return the evaluation.

        Parameters
        ----------
        stacklevel : int
            How many callers up the warning should point to, as in :func:`warnings.warn`.

        Returns
        -------
        Evaluation
            The same object.
        """
        for warning in self.warnings:
            python_warnings.warn(warning, SedscopeWarning, stacklevel=stacklevel + 1)
        return self


def _number(value: float, interval: Interval | None = None) -> str:
    if interval is None:
        return f"{value:.4f}"
    return f"{value:.4f} ({interval.low:.4f}–{interval.high:.4f})"


def _as_dict(
    metric: Metric[Any],
    result: MetricResult,
    bootstrap: Bootstrap | None,
    rates: FalseAlarms | None,
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "metric": repr(metric),
        "value": _finite(result.value),
        "per_class": {label: _finite(value.value) for label, value in result.per_class.items()},
    }
    if result.thresholds:
        entry["thresholds"] = {label: _finite(value) for label, value in result.thresholds.items()}
    if rates:
        entry["false_alarms_per_hour"] = {
            "threshold": rates.threshold,
            "per_class": dict(rates.per_class),
        }
    if bootstrap:
        entry["interval"] = {
            **_limits(bootstrap),
            "per_class": {label: _limits(interval) for label, interval in bootstrap.per_class.items()},
            "resampling": bootstrap.resampling.about(),
        }
    return entry


def _limits(interval: Interval) -> dict[str, float | None]:
    return {
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "undefined_resamples": interval.undefined,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
