"""Metrics for training with PyTorch: torchmetrics whose state is deltas, not scores.

Needs torch and torchmetrics (``pip install sedscope[torch]``), which are loaded with this module.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    import torch
    import torchmetrics
except ImportError as error:
    raise ImportError(f"sedscope.torch needs {error.name}: pip install 'sedscope[torch]'") from None

from .alignment import Missing
from .batch_deltas import BatchCollector, Part, Repeats, Seen
from .errors import SedscopeError, SedscopeWarning
from .evaluation import Evaluation, as_evaluation
from .ground_truth import GroundTruth
from .metrics import Metric
from .postprocessing import PostProcessing
from .scores import as_scores
from .training_batches import Batch
from .wanted import as_metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SEDMetric", "SEDMetrics"]


class SEDMetrics(torchmetrics.Metric):
    """Several metrics of sedscope as one torchmetric, which looks at each batch of scores once.

    ``metrics``: a list, or with names ``{name: metric}``; a metric without a name is called by its
    definition. ``classes``: the names of the columns of the scores; ``frame``: the length of a frame in
    seconds; ``truth``: the ground truth, unless :meth:`update` is given targets.

    ``missing="empty"``: clips that the ground truth does not list have no events. A clip that comes
    again with the same scores counts once; with other scores it is an error, or with
    ``repeats="first"`` left out. ``postprocessing``: of the scores, before they are evaluated.
    ``threads``: one per core unless given. ``options``: those of ``torchmetrics.Metric``.

    >>> import sedscope as sed
    >>> metrics = {"psds1": sed.presets.PSDS1, "f1": sed.FScore(sed.Collar())}
    >>> both = SEDMetrics(metrics, ["Dog"], frame=1.0)
    >>> both.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a.wav"], targets=[[(1, 2, "Dog")]])
    >>> both.compute()
    {'psds1': tensor(1.), 'f1': tensor(1.)}
    """

    # The state: what was found so far, as bytes, and a digest of what is looked for, so that only those
    # metrics that look for the same share or merge what they found.
    definition: torch.Tensor
    parts: list[torch.Tensor]

    # What can be found out again from the state.
    _evaluated: Evaluation | None
    _known: Seen | None
    _read: list[torch.Tensor]

    is_differentiable = False
    full_state_update = True  # forward begins with update: a batch that is refused changes nothing

    def __init__(
        self,
        metrics: Metric | Iterable[Metric] | Mapping[str, Metric],
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None = None,
        missing: Missing = "error",
        repeats: Repeats = "error",
        postprocessing: PostProcessing | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        chosen = as_metrics(metrics.values() if isinstance(metrics, Mapping) else metrics)
        names = metrics if isinstance(metrics, Mapping) else map(repr, chosen)
        self.metrics: dict[str, Metric] = dict(zip(names, chosen, strict=True))
        self.collector = BatchCollector(
            chosen,
            classes,
            frame=frame,
            truth=truth,
            missing=missing,
            repeats=repeats,
            postprocessing=postprocessing,
            threads=threads,
        )
        definition = torch.from_numpy(self.collector.definition)
        self.add_state("definition", default=definition, dist_reduce_fx=_all_the_same)
        self.add_state("parts", default=[], dist_reduce_fx="cat")
        self._forget()

    def update(
        self,
        scores: torch.Tensor,
        clip_ids: Sequence[str],
        targets: torch.Tensor | Sequence[Sequence[tuple[float, float, str]]] | None = None,
        lengths: torch.Tensor | Sequence[int] | None = None,
    ) -> None:
        """Take in a batch: (clips × frames × classes) scores on any device, and the clips' names.

        ``targets``: if the metric has no ground truth, a tensor like the scores that is 1 where a class
        is active and else 0, or per clip a list of events (onset, offset, label). ``lengths``: how many
        frames each clip has, if clips are padded. A batch with anything wrong changes nothing.
        """
        if not isinstance(scores, torch.Tensor):
            raise SedscopeError(f"scores must be a tensor, not {type(scores).__name__}")
        if isinstance(clip_ids, str) or not isinstance(clip_ids, Sequence):
            raise SedscopeError(f"clip ids must be a list of names, not {clip_ids!r}")
        batch = Batch.checked(
            as_scores(_array(scores)),
            clip_ids,
            _array(lengths) if isinstance(lengths, torch.Tensor) else lengths,
            _array(targets) if isinstance(targets, torch.Tensor) else targets,
            self.collector.classes,
        )
        seen = self._seen()
        part = self.collector.find(batch, seen)
        if part is not None:
            seen.add(part)
            self.parts.append(torch.from_numpy(part.pack()).to(self.device))
            self._read.append(self.parts[-1])

    def compute(self) -> Any:
        """The value of each metric over all batches, on all ranks together where there are several."""
        return {name: self._scalar(value) for name, value in self._values().items()}

    def result(self) -> Evaluation:
        """The result objects behind the values: curves, classes, tables, exact numbers."""
        self.compute()
        assert self._evaluated is not None
        return self._evaluated

    def scalars(self) -> dict[str, float]:
        """All values flat: ``{name: value, "name/class": value}``, for loggers."""
        result, values = self.result(), {}
        for name, metric in self.metrics.items():
            values[name] = result[metric].value
            for label, of_class in result[metric].per_class.items():
                values[f"{name}/{label}"] = of_class.value
        return values

    def reset(self) -> None:
        """Begin anew, as for the next epoch."""
        super().reset()
        self._forget()

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather what all ranks found. A rank without data takes part with no bytes."""
        if isinstance(self.parts, list) and not self.parts:
            self.parts.append(torch.empty(0, dtype=torch.uint8, device=self.device))
        super().sync(*arguments, **options)

    def merge_state(self, incoming_state: dict[str, Any] | torchmetrics.Metric) -> None:
        """Take in what another metric of the same definition found."""
        given = incoming_state
        state = given if isinstance(given, dict) else given.metric_state
        self.definition = _all_the_same(torch.stack([self.definition, state["definition"]]))
        self.parts = [*self.parts, *state["parts"]]
        self._computed = None

    def _values(self) -> dict[str, float]:
        """Evaluate all parts. If that fails, what was gathered from other ranks is let go again."""
        try:
            deltas = self.collector.merge(self._parts())
        except SedscopeError:
            if self._is_synced:
                self.unsync()
            raise
        counts = {
            criterion: found.counts(threads=self.collector.threads)
            for criterion, found in deltas.items()
        }
        notes = self.collector.notes(deltas)
        result = as_evaluation(self.collector.metrics, counts, notes, {}, deltas=deltas)
        for note in result.warnings:
            warnings.warn(note, SedscopeWarning, stacklevel=2)
        self._evaluated = result
        return {name: result[metric].value for name, metric in self.metrics.items()}

    def _scalar(self, value: float) -> torch.Tensor:
        return torch.tensor(value, dtype=self.dtype, device=self.device)

    def _parts(self) -> list[Part]:
        expected = torch.from_numpy(self.collector.definition)
        _all_the_same(torch.stack([expected, self.definition.to("cpu", torch.uint8)]))
        tensors = self.parts if isinstance(self.parts, list) else [self.parts]
        return [
            part for tensor in tensors for part in self.collector.unpack(_array(tensor.to(torch.uint8)))
        ]

    def _seen(self) -> Seen:
        """What is to be known of the parts so far; read again from them if they are others now."""
        same = len(self._read) == len(self.parts) and all(map(operator.is_, self._read, self.parts))
        if not same or self._known is None:
            self._known, self._read = self.collector.nothing_seen(), [*self.parts]
            for part in self._parts():
                self._known.add(part)
        return self._known

    def _forget(self) -> None:
        """Let go what can be found out again from the state."""
        self._evaluated, self._known, self._read = None, None, []

    def __getstate__(self) -> dict[str, Any]:
        forgotten: dict[str, Any] = {"_evaluated": None, "_known": None, "_read": [], "_computed": None}
        return {**super().__getstate__(), **forgotten}


class SEDMetric(SEDMetrics):
    """A metric of sedscope as a torchmetric whose value is a scalar; see :class:`SEDMetrics`.

    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> metric = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=1.0, truth=truth)
    >>> metric.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a.wav"])
    >>> metric.compute()
    tensor(1.)
    """

    def __init__(
        self,
        metric: Metric,
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None = None,
        **options: Any,
    ) -> None:
        """``options``: also those of :class:`SEDMetrics`."""
        if not isinstance(metric, Metric):
            raise SedscopeError(f"not a metric: {metric!r}; SEDMetrics takes several")
        super().__init__(metric, classes, frame=frame, truth=truth, **options)
        self.metric = metric

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return self.metric.higher_is_better

    def compute(self) -> Any:
        """The value over all batches, on all ranks together where there are several."""
        (value,) = self._values().values()
        return self._scalar(value)

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the curves that the value is read off, or values that were computed before, e.g. of all
        epochs; figure and axes are returned."""
        if val is not None:
            drawn: tuple[Any, Axes] = self._plot(val, ax)
            return drawn
        axes: Axes = self.result()[self.metric].plot(ax)
        return axes.figure, axes


def _all_the_same(definitions: torch.Tensor) -> torch.Tensor:
    """What metrics look for, if all of them look for the same."""
    if not (definitions == definitions[0]).all():
        raise SedscopeError(
            "the state is that of a metric with another definition, ground truth, classes or frames: "
            "metrics can be merged, loaded and gathered from ranks only if these are the same"
        )
    return definitions[0]


def _array(tensor: torch.Tensor) -> Any:
    """A tensor in main memory; float32 holds every bfloat16, which numpy does not know."""
    here = tensor.detach().to("cpu")
    return (here.float() if here.dtype == torch.bfloat16 else here).numpy()
