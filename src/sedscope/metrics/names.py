"""Short names of metrics: ``psds1`` for the PSDS of scenario 1, with all its parameters.

Wherever a metric is expected, its name, its definition or the metric itself will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..criteria import Clip, Collar, Intersection, IoU, Segment
from ..errors import SedscopeError, listing, near_names, shortened
from .curve_areas import AUROC, AveragePrecision, DPrime
from .metric import Metric
from .psds import PSDS
from .registry import METRICS
from .thresholded import BestFScore, ErrorRate, FScore, Precision, Recall

MetricLike: TypeAlias = Metric[Any] | str
"""A metric, its short name, or its definition."""

MetricsLike: TypeAlias = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike]
"""One or several metrics, perhaps with names of one's own."""


@dataclass(frozen=True)
class NamedMetric:
    """A metric that has a short name.

    Attributes
    ----------
    name : str
        The name.
    meaning : str
        What the metric says, in one line.
    metric : Metric
        The metric itself. Its ``repr`` is the full definition.
    """

    name: str
    meaning: str
    metric: Metric[Any]


PSDS1 = PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1.0)
"""PSDS scenario 1 of DCASE Task 4, 2021 to 2023: the system must localise well in time."""

PSDS2 = PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1.0)
"""PSDS scenario 2 of DCASE Task 4, 2021 to 2023: the system must not confuse classes."""

_HALF = Intersection(dtc=0.5, gtc=0.5)
_ONSET = Collar(onset=0.2, offset=None)
_SECOND = Segment(1.0)

_NAMED = (
    NamedMetric("psds1", "PSDS of DCASE scenario 1: react fast and localise well", PSDS1),
    NamedMetric("psds2", "PSDS of DCASE scenario 2: do not confuse classes", PSDS2),
    NamedMetric(
        "collar_f1",
        "event F-score at 0.5, onset and offset within 0.2 s or 20 % of the length",
        FScore(Collar()),
    ),
    NamedMetric("best_collar_f1", "the same at the best threshold of each class", BestFScore(Collar())),
    NamedMetric(
        "collar_precision", "event precision at 0.5, with the same collars", Precision(Collar())
    ),
    NamedMetric("collar_recall", "event recall at 0.5, with the same collars", Recall(Collar())),
    NamedMetric("collar_er", "event error rate at 0.5, with the same collars", ErrorRate(Collar())),
    NamedMetric("onset_f1", "event F-score at 0.5, onset within 0.2 s, any offset", FScore(_ONSET)),
    NamedMetric("best_onset_f1", "the same at the best threshold of each class", BestFScore(_ONSET)),
    NamedMetric(
        "intersection_f1", "event F-score at 0.5, events overlap by at least a half", FScore(_HALF)
    ),
    NamedMetric(
        "best_intersection_f1", "the same at the best threshold of each class", BestFScore(_HALF)
    ),
    NamedMetric("iou_f1", "event F-score at 0.5, one-to-one pairs with an IoU of 0.5", FScore(IoU(0.5))),
    NamedMetric("best_iou_f1", "the same at the best threshold of each class", BestFScore(IoU(0.5))),
    NamedMetric("iou_map", "mean average precision of events, IoU 0.5", AveragePrecision(IoU(0.5))),
    NamedMetric("segment_f1", "F-score of 1 s segments at 0.5, mean over classes", FScore(_SECOND)),
    NamedMetric("best_segment_f1", "the same at the best threshold of each class", BestFScore(_SECOND)),
    NamedMetric(
        "segment_f1_micro",
        "F-score of 1 s segments at 0.5, all classes together",
        FScore(_SECOND, average="micro"),
    ),
    NamedMetric(
        "segment_er",
        "error rate of 1 s segments at 0.5, all classes together",
        ErrorRate(_SECOND, average="micro"),
    ),
    NamedMetric("segment_map", "mean average precision of 1 s segments", AveragePrecision(_SECOND)),
    NamedMetric(
        "mpauc",
        "partial AUROC of 1 s segments up to a false positive rate of 0.1 (DCASE 2024)",
        AUROC(Segment(1.0, aggregation="mean"), max_fpr=0.1),
    ),
    NamedMetric("map", "mean average precision of clips (audio tagging)", AveragePrecision(Clip())),
    NamedMetric("auroc", "area under the ROC of clips (audio tagging)", AUROC(Clip())),
    NamedMetric("dprime", "d-prime of clips (audio tagging)", DPrime(Clip())),
    NamedMetric("tagging_f1", "F-score of clips at 0.5 (audio tagging)", FScore(Clip())),
)

NAMED_METRICS: Mapping[str, NamedMetric] = {named.name: named for named in _NAMED}
"""All metrics that have a short name; ``sedscope metrics`` lists them."""

_NAME_OF = {named.metric: named.name for named in _NAMED}
_OWN_NAME = re.compile(r"([^(=]+)=(.+)", re.DOTALL)
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
    if word in NAMED_METRICS:
        return NAMED_METRICS[word].metric
    if _WORD.fullmatch(word) and word not in METRICS:
        raise SedscopeError(f"There is no metric {shortened(word)!r}.{_guess(word)}")
    return METRICS.parse(text)


def parse_named_metric(text: str) -> tuple[str | None, Metric[Any]]:
    """Read a metric that may have a name of its own in front: ``name=DEFINITION``.

    >>> parse_named_metric("strict=FScore(Collar(onset=0.1))")[0]
    'strict'
    """
    own_name = _OWN_NAME.fullmatch(text.strip())
    if own_name is None:
        return None, parse_metric(text)
    return own_name[1].strip(), parse_metric(own_name[2])


def name_metrics(metrics: MetricsLike) -> dict[str, Metric[Any]]:
    """Return the metrics by name, in order; a metric that comes again is left out.

    A metric without a name of its own has its short name, or else the name of its class.

    >>> from sedscope import Collar, FScore
    >>> [*name_metrics(["psds1", FScore(Collar(onset=0.1)), FScore(Collar(onset=0.3))])]
    ['psds1', 'FScore', 'FScore_2']
    """
    if isinstance(metrics, Mapping):
        return name_pairs([(name, as_metric(metric)) for name, metric in metrics.items()])
    if isinstance(metrics, (Metric, str)) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    return name_pairs([(None, as_metric(metric)) for metric in metrics])


def name_pairs(pairs: Iterable[tuple[str | None, Metric[Any]]]) -> dict[str, Metric[Any]]:
    """Return metrics by name, from pairs of a name of one's own, or None, and a metric."""
    own_names: dict[Metric[Any], str | None] = {}
    for name, metric in pairs:
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise SedscopeError(f"The name of a metric must be a word, not {name!r}.")
        earlier = own_names.setdefault(metric, name)
        if name is not None and earlier != name:
            raise SedscopeError(
                f"{earlier or metric_name(metric)} and {name} are the same metric: {metric!r}."
            )
    if not own_names:
        raise SedscopeError("There is no metric. Give at least one.")
    chosen = [name for name in own_names.values() if name is not None]
    twice = sorted({name for name in chosen if chosen.count(name) > 1})
    if twice:
        raise SedscopeError(f"Two metrics have the same name: {listing(twice)}.")
    named: dict[str, Metric[Any]] = {}
    taken = {*chosen}
    for metric, own_name in own_names.items():
        name = own_name or _unused(metric_name(metric), taken)
        taken.add(name)
        named[name] = metric
    return named


def metric_called(text: str, names: Mapping[Metric[Any], str]) -> Metric[Any]:
    """Find a metric among others by its name here, or else by its short name or definition."""
    for metric, name in names.items():
        if text == name:
            return metric
    for metric in names:
        if text in (_NAME_OF.get(metric), repr(metric)):
            return metric
    near = near_names(text, names.values())
    guess = f"Did you mean {' or '.join(near)}?" if near else f"There is {listing([*names.values()])}."
    raise UnknownMetric(f"There is no metric {shortened(text)!r} here. {guess}")


class UnknownMetric(SedscopeError, KeyError):
    """A result was asked for that there is not."""

    __str__ = SedscopeError.__str__


def as_metric(metric: MetricLike) -> Metric[Any]:
    """Return a metric that may be given by its name or definition, and refuse anything else."""
    if isinstance(metric, str):
        return parse_metric(metric)
    if not isinstance(metric, Metric):
        raise SedscopeError(f"Not a metric: {shortened(repr(metric))}.")
    return metric


def metric_name(metric: Metric[Any]) -> str:
    """Return the short name of a metric, or else the name of its class."""
    return _NAME_OF.get(metric, type(metric).__name__)


def _unused(name: str, taken: set[str]) -> str:
    number = 2
    unused = name
    while unused in taken:
        unused = f"{name}_{number}"
        number += 1
    return unused


def _guess(word: str) -> str:
    shown = near_names(word, NAMED_METRICS) or [f"{name}(…)" for name in near_names(word, METRICS)]
    guess = f" Did you mean {' or '.join(shown)}?" if shown else ""
    return f"{guess} 'sedscope metrics' lists all names."
