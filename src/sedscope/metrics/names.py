"""Short names of metrics: ``psds1`` for the PSDS of scenario 1, with all its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias

from ..errors import SedscopeError, UnknownName, listing, near_names, refuse_nul, shortened
from .metric import METRICS, Metric

DEFAULT_METRICS = ("psds1", "psds2")

SHORT_NAMES = {
    "psds1": (
        "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1.0)",
        "PSDS of DCASE scenario 1: react fast and localise well",
    ),
    "psds2": (
        "PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1.0)",
        "PSDS of DCASE scenario 2: do not confuse classes",
    ),
    "psds1_mean": (
        "PSDS(Intersection(dtc=0.7, gtc=0.7))",
        "psds1 without cost for differences between classes (AudioSet-Strong)",
    ),
    "psds_2020": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3))",
        "PSDS of DCASE 2020: no further costs",
    ),
    "psds_2020_ct": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3), alpha_ct=1.0)",
        "the same with a cost for cross-triggers",
    ),
    "psds_2020_st": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3), alpha_st=1.0)",
        "the same with a cost for differences between classes",
    ),
    "collar_f1": (
        "FScore(Collar())",
        "event F-score at 0.5, onset and offset within 0.2 s or 20 % of the length",
    ),
    "best_collar_f1": ("BestFScore(Collar())", "the same at the best threshold of each class"),
    "collar_precision": ("Precision(Collar())", "event precision at 0.5, with the same collars"),
    "collar_recall": ("Recall(Collar())", "event recall at 0.5, with the same collars"),
    "collar_er": ("ErrorRate(Collar())", "event error rate at 0.5, with the same collars"),
    "collar_false_alarms": (
        "FalseAlarmRate(Collar())",
        "event false alarms per hour at 0.5, with the same collars",
    ),
    "alarm_miss_rate": (
        "MissRate(Alarm())",
        "share of references without an alarm at 0.5, cooldown of a minute",
    ),
    "alarm_miss_rate_at_1_per_day": (
        "MissRateAtFalseAlarms(Alarm(), false_alarms=1, per='day')",
        "the same at the best threshold with at most one false alarm a day and class",
    ),
    "onset_f1": ("FScore(Collar(offset=None))", "event F-score at 0.5, onset within 0.2 s, any offset"),
    "best_onset_f1": ("BestFScore(Collar(offset=None))", "the same at the best threshold of each class"),
    "intersection_f1": (
        "FScore(Intersection(dtc=0.5, gtc=0.5))",
        "event F-score at 0.5, events overlap by at least a half",
    ),
    "best_intersection_f1": (
        "BestFScore(Intersection(dtc=0.5, gtc=0.5))",
        "the same at the best threshold of each class",
    ),
    "iou_f1": ("FScore(IoU(0.5))", "event F-score at 0.5, one-to-one pairs with an IoU of 0.5"),
    "best_iou_f1": ("BestFScore(IoU(0.5))", "the same at the best threshold of each class"),
    "iou_map": ("AveragePrecision(IoU(0.5))", "mean average precision of events, IoU 0.5"),
    "segment_f1": ("FScore(Segment(1.0))", "F-score of 1 s segments at 0.5, mean over classes"),
    "best_segment_f1": ("BestFScore(Segment(1.0))", "the same at the best threshold of each class"),
    "segment_f1_micro": (
        "FScore(Segment(1.0), average='micro')",
        "F-score of 1 s segments at 0.5, all classes together",
    ),
    "segment_er": (
        "ErrorRate(Segment(1.0), average='micro')",
        "error rate of 1 s segments at 0.5, all classes together",
    ),
    "segment_map": ("AveragePrecision(Segment(1.0))", "mean average precision of 1 s segments"),
    "mpauc": (
        "AUROC(Segment(1.0, aggregation='mean'), max_fpr=0.1)",
        "partial AUROC of 1 s segments up to a false positive rate of 0.1 (DCASE 2024)",
    ),
    "time_f1": ("FScore(Time())", "F-score of active time at 0.5"),
    "best_time_f1": ("BestFScore(Time())", "the same at the best threshold of each class"),
    "detection_error_rate": (
        "ErrorRate(Time())",
        "time of false alarms and misses per time of references, at 0.5 (voice activity detection)",
    ),
    "detection_cost": (
        "DetectionCost(Time())",
        "0.75 · miss rate + 0.25 · false positive rate of time, at 0.5 (speech activity detection)",
    ),
    "map": ("AveragePrecision(Clip())", "mean average precision of clips (audio tagging)"),
    "auroc": ("AUROC(Clip())", "area under the ROC of clips (audio tagging)"),
    "dprime": ("DPrime(Clip())", "d-prime of clips (audio tagging)"),
    "tagging_f1": ("FScore(Clip())", "F-score of clips at 0.5 (audio tagging)"),
    "detection_map": (
        "MeanAveragePrecision()",
        "mean average precision of scored events, IoU 0.5 to 0.95 (ActivityNet)",
    ),
    "moment_map": (
        "MeanAveragePrecision(over='clip', top=10)",
        "mean average precision of queries, IoU 0.5 to 0.95 (moment retrieval)",
    ),
    "moment_map_50": ("MeanAveragePrecision(0.5, over='clip', top=10)", "the same, IoU 0.5"),
    "moment_map_75": ("MeanAveragePrecision(0.75, over='clip', top=10)", "the same, IoU 0.75"),
    "r1_50": ("RecallAt(1, 0.5)", "share of queries whose first answer has an IoU of 0.5"),
    "r1_70": ("RecallAt(1, 0.7)", "share of queries whose first answer has an IoU of 0.7"),
    "mean_iou": ("MeanIoU()", "mean IoU of the first answers"),
    "false_answers": ("FalseAnswerRate()", "share of queries without references that are answered"),
}
"""The definition of each metric that has a short name, and what it says, in one line."""


MetricLike: TypeAlias = Metric[Any] | str
"""A metric, its short name, or its definition."""

MetricsLike: TypeAlias = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike]
"""One or several metrics. The keys of a mapping are names that the user chose."""


_NAME_AND_METRIC = re.compile(r"([^(=]+)=(.+)", re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w-]*")


def parse_metric(text: str) -> Metric[Any]:
    """Read a metric from its short name or its definition.

    Parameters that a definition leaves out take their defaults.

    Parameters
    ----------
    text : str
        The name, as ``sedscope metrics`` lists it, or the definition, as ``repr`` spells it.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.parse_metric("collar_f1")
    FScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.5, beta=1, average='macro')
    >>> sed.parse_metric("PSDS(Intersection(dtc=0.5, gtc=0.5), max_efpr=1, unit='minute')")
    PSDS(Intersection(dtc=0.5, gtc=0.5), alpha_ct=0, alpha_st=0, max_efpr=1, unit='minute')
    """
    word = text.strip()
    if word in SHORT_NAMES:
        return _named_metric(word)
    if _WORD.fullmatch(word) and word not in METRICS:
        raise SedscopeError(f"There is no metric {shortened(word)!r}.{_guess(word)}")
    return METRICS.parse(text)


def parse_named_metric(text: str) -> tuple[str | None, Metric[Any]]:
    """Read a metric, and the name before it if there is one: ``name=DEFINITION``.

    >>> parse_named_metric("strict=FScore(Collar(onset=0.1))")[0]
    'strict'
    """
    named = _NAME_AND_METRIC.fullmatch(text.strip())
    if named is None:
        return None, parse_metric(text)
    return named[1].strip(), parse_metric(named[2])


class HasMetrics(Protocol):
    """Operating points, as far as they say what is measured there."""

    @property
    def thresholds(self) -> Mapping[str, float]: ...
    def metrics(self) -> dict[str, Metric[Any]]: ...


def name_metrics(
    metrics: MetricsLike | None, points: Iterable[HasMetrics] = ()
) -> dict[str, Metric[Any]]:
    """Return the metrics by name, in order; a metric that comes again is left out.

    A metric that the user did not name has its short name, or else the name of its class. The default is
    PSDS 1 and 2; or what the ``points`` of the systems measure, if some of them have thresholds.

    >>> from sedscope import Collar, FScore
    >>> [*name_metrics(["psds1", FScore(Collar(onset=0.1)), FScore(Collar(onset=0.3))])]
    ['psds1', 'FScore', 'FScore_2']
    """
    if metrics is None:
        at_points = [of_system.metrics() for of_system in points if of_system.thresholds]
        if any(of_system != at_points[0] for of_system in at_points):
            raise SedscopeError(
                "The operating points of the systems were chosen by different criteria. Choose the metrics "
                "to compare them by (`metrics=`)."
            )
        return at_points[0] if at_points else name_metrics(DEFAULT_METRICS)
    if isinstance(metrics, Mapping):
        return name_pairs([(name, as_metric(metric)) for name, metric in metrics.items()])
    if isinstance(metrics, (Metric, str)) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    return name_pairs([(None, as_metric(metric)) for metric in metrics])


def name_pairs(pairs: Iterable[tuple[str | None, Metric[Any]]]) -> dict[str, Metric[Any]]:
    """Return metrics by name, from pairs of the name that the user chose, or None, and the metric."""
    chosen_names: dict[Metric[Any], str | None] = {}
    for name, metric in pairs:
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise SedscopeError(f"The name of a metric must be a word, not {name!r}.")
        earlier = chosen_names.setdefault(metric, name)
        if name is not None and earlier != name:
            raise SedscopeError(
                f"{earlier or metric_name(metric)} and {name} are the same metric: {metric!r}."
            )
    if not chosen_names:
        raise SedscopeError("There is no metric. Give at least one.")
    chosen = [name for name in chosen_names.values() if name is not None]
    refuse_nul(chosen, "metric")
    twice = sorted({name for name in chosen if chosen.count(name) > 1})
    if twice:
        raise SedscopeError(f"Two metrics have the same name: {listing(twice)}.")
    named: dict[str, Metric[Any]] = {}
    taken = {*chosen}
    for metric, chosen_name in chosen_names.items():
        name = chosen_name or _unused(metric_name(metric), taken)
        taken.add(name)
        named[name] = metric
    return named


def metric_called(metric: Metric[Any] | str, names: Mapping[Metric[Any], str]) -> Metric[Any]:
    """Find a metric among others: by its name here, or else by its usual name or any definition of it.

    A metric at a threshold is found if the one at operating points is there.
    """
    text, wanted = (metric, None) if isinstance(metric, str) else (repr(metric), metric)
    if wanted is None:
        known = {**{repr(one): one for one in names}, **{name: one for one, name in names.items()}}
        if text in known:
            return known[text]
        with suppress(SedscopeError):
            wanted = parse_metric(text)
    if isinstance(wanted, Metric):
        for candidate in (wanted, wanted.at_points()):
            if candidate is not None and candidate in names:
                return candidate
    near = near_names(text, names.values())
    guess = f"Did you mean {' or '.join(near)}?" if near else f"There is {listing([*names.values()])}."
    raise UnknownName(f"There is no metric {shortened(text)!r} here. {guess}")


def as_metric(metric: MetricLike) -> Metric[Any]:
    """Return a metric that may be given by its name or definition, and refuse anything else."""
    if isinstance(metric, str):
        return parse_metric(metric)
    if not isinstance(metric, Metric):
        raise SedscopeError(
            f"Not a metric: {shortened(repr(metric))}. Give a short name such as 'psds1' ('sedscope metrics' "
            "lists all), or a metric such as sed.PSDS(sed.Intersection(0.7, 0.7)); for one of your own, "
            "subclass sed.Metric."
        )
    return metric


def metric_name(metric: Metric[Any]) -> str:
    """Return the short name of a metric, or else the name of its class."""
    return short_name(metric) or type(metric).__name__


def short_name(metric: Metric[Any]) -> str | None:
    """Return the short name of a metric; None if it has none."""
    return _short_names_of(type(metric)).get(metric)


@cache
def _named_metric(name: str) -> Metric[Any]:
    return METRICS.parse(SHORT_NAMES[name][0])


@cache
def _short_names_of(kind: type) -> dict[Metric[Any], str]:
    """Return the short names of the metrics of a class. Those of other classes are not even loaded."""
    start = f"{kind.__name__}("
    names = [name for name, (definition, _) in SHORT_NAMES.items() if definition.startswith(start)]
    return {_named_metric(name): name for name in names}


def _unused(name: str, taken: set[str]) -> str:
    number = 2
    unused = name
    while unused in taken:
        unused = f"{name}_{number}"
        number += 1
    return unused


def _guess(word: str) -> str:
    shown = near_names(word, SHORT_NAMES) or [f"{name}(…)" for name in near_names(word, METRICS)]
    guess = f" Did you mean {' or '.join(shown)}?" if shown else ""
    return f"{guess} 'sedscope metrics' lists all names."


@dataclass(frozen=True)
class NamedMetric:
    """A metric that has a short name.

    Attributes
    ----------
    name : str
        The name.
    meaning : str
        What the metric says, in one line.
    """

    name: str
    meaning: str

    @property
    def metric(self) -> Metric[Any]:
        """The metric itself. Its ``repr`` is the full definition."""
        return parse_metric(self.name)


NAMED_METRICS: Mapping[str, NamedMetric] = {
    name: NamedMetric(name, meaning) for name, (_, meaning) in SHORT_NAMES.items()
}
"""All metrics that have a short name; ``sedscope metrics`` lists them."""
