"""Metrics for training with PyTorch: torchmetrics whose state is deltas, not scores.

Needs torch and torchmetrics (``pip install sedscope[torch]``), which are loaded with this module.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    import torch
    import torchmetrics
except ImportError as error:
    raise ImportError(f"sedscope.torch needs {error.name}: pip install 'sedscope[torch]'") from None

from ..data.alignment import Missing
from ..data.ground_truth import GroundTruth
from ..data.scores import as_scores
from ..errors import SedscopeError, SedscopeWarning
from ..evaluation.evaluate import measure
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.metric import as_metrics
from ..postprocessing import PostProcessing
from .batch import Batch
from .collector import BatchCollector, Part, Repeats, Seen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HELD_BYTES = 64 * 2**20
"""Scores that are held, at most, before their deltas are found."""

__all__ = ["SEDMetric", "SEDMetrics"]


class _Parts(list[torch.Tensor]):
    """What was found, with what is to be known of it: metrics that share the one share the other."""

    seen: Seen | None = None

    def clear(self) -> None:
        """Let go everything."""
        super().clear()
        self.seen = None

    def __reduce__(self) -> Any:
        return (_Parts, ([*self],))


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
    _parts: _Parts | torch.Tensor

    _evaluated: Evaluation | None = None

    is_differentiable = False
    full_state_update = True  # forward begins with update: a batch that is refused changes nothing

    def __init__(
        self,
        metrics: Metric[Any] | Iterable[Metric[Any]] | Mapping[str, Metric[Any]],
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
        self.metrics: dict[str, Metric[Any]] = dict(zip(names, chosen, strict=True))
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
            given = repr(clip_ids) if isinstance(clip_ids, str) else type(clip_ids).__name__
            raise SedscopeError(f"clip ids must be a list of names, not {given}")
        batch = Batch.checked(
            as_scores(_array(scores)),
            clip_ids,
            _array(lengths) if isinstance(lengths, torch.Tensor) else lengths,
            _array(targets) if isinstance(targets, torch.Tensor) else targets,
            self.collector.classes,
        )
        seen = self._seen()
        taken = self.collector.take(batch, seen)
        if taken is None:
            return
        if not seen.holds:
            part = self.collector.find([taken], seen)
            seen.add(part)
            self._append(part)
        else:
            seen.hold(taken)
            if seen.held_bytes > HELD_BYTES:
                self._find_held()

    def forward(self, *arguments: Any, **options: Any) -> Any:
        """:meth:`update`; the value of the batch alone is returned."""
        if self._is_synced or self.dist_sync_on_step:
            return super().forward(*arguments, **options)
        self.update(*arguments, **options)
        parts, self._parts = self._parts, _Parts()
        try:
            SEDMetrics.update(self, *arguments, **options)
            self._forward_cache = self._shown(self._evaluation())
        finally:
            self._parts = parts
        return self._forward_cache

    def compute(self) -> Any:
        """The value of each metric over all batches, on all ranks together where there are several."""
        self._evaluated = self._evaluation()
        for note in self._evaluated.warnings:
            warnings.warn(note, SedscopeWarning, stacklevel=2)
        return self._shown(self._evaluated)

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

    @property
    def parts(self) -> list[torch.Tensor] | torch.Tensor:
        """The deltas found so far, as bytes; those gathered from all ranks are one tensor."""
        self._find_held()
        return self._parts

    @parts.setter
    def parts(self, parts: list[torch.Tensor] | torch.Tensor) -> None:
        same = isinstance(parts, (_Parts, torch.Tensor))
        self._parts = parts if same else _Parts(parts)

    def reset(self) -> None:
        """Begin anew, as for the next epoch."""
        if isinstance(self._parts, _Parts):
            self._parts.clear()
        super().reset()
        self._evaluated = None

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather what all ranks found. A rank without data takes part with no bytes."""
        parts = self.parts
        if isinstance(parts, list) and not parts:
            parts.append(torch.empty(0, dtype=torch.uint8, device=self.device))
        super().sync(*arguments, **options)

    def merge_state(self, incoming_state: dict[str, Any] | torchmetrics.Metric) -> None:
        """Take in what another metric of the same definition found."""
        given = incoming_state
        state = given if isinstance(given, dict) else given.metric_state
        self.definition = _all_the_same(torch.stack([self.definition, state["definition"]]))
        self.parts = [*self.parts, *state["parts"]]
        self._computed = None

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the values, or values that were computed before, e.g. of all epochs; figure and axes are
        returned."""
        drawn: tuple[Any, Axes] = self._plot(val, ax)
        return drawn

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.metrics)})"

    def _evaluation(self) -> Evaluation:
        """Evaluate all parts. If that fails, what was gathered from other ranks is let go again."""
        try:
            deltas = self.collector.merge(self._unpacked())
        except SedscopeError:
            if self._is_synced:
                self.unsync()
            raise
        counts = {
            criterion: found.counts(threads=self.collector.threads)
            for criterion, found in deltas.items()
        }
        notes = self.collector.notes(deltas)
        return measure(self.collector.metrics, counts, notes, {}, deltas=deltas)

    def _shown(self, result: Evaluation) -> Any:
        """What :meth:`compute` returns of a result."""
        return {name: self._scalar(result[metric].value) for name, metric in self.metrics.items()}

    def _scalar(self, value: float) -> torch.Tensor:
        """A value, which has more digits than half precision."""
        dtype = torch.promote_types(self.dtype, torch.float32)
        return torch.tensor(value, dtype=dtype, device=self.device)

    def _unpacked(self) -> list[Part]:
        expected = torch.from_numpy(self.collector.definition)
        _all_the_same(torch.stack([expected, self.definition.to("cpu", torch.uint8)]))
        parts = self.parts
        tensors = parts if isinstance(parts, list) else [parts]
        return [
            part for tensor in tensors for part in self.collector.unpack(_array(tensor.to(torch.uint8)))
        ]

    def _seen(self) -> Seen:
        """What is to be known of the parts so far; read from them if it is not known."""
        parts = self._parts
        if not isinstance(parts, _Parts):
            raise SedscopeError("the metric is synced with other ranks: call unsync before update")
        if parts.seen is None:
            seen = self.collector.nothing_seen()
            for part in self._unpacked():
                seen.add(part)
            parts.seen = seen
        return parts.seen

    def _find_held(self) -> None:
        """Find the deltas of all clips that are held."""
        seen = self._parts.seen if isinstance(self._parts, _Parts) else None
        if seen is not None and seen.held:
            self._append(self.collector.find(seen.held, seen))
            seen.let_go()

    def _append(self, part: Part) -> None:
        assert isinstance(self._parts, _Parts)
        place = "cpu" if self.compute_on_cpu else self.device
        self._parts.append(torch.from_numpy(part.pack()).to(place))

    def _move_list_states_to_cpu(self) -> None:
        """Nothing is to be moved: parts are put where they belong."""

    def __getstate__(self) -> dict[str, Any]:
        self._find_held()
        return {**super().__getstate__(), "_evaluated": None, "_computed": None}


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
        metric: Metric[Any],
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

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the curves that the value is read off, or values that were computed before, e.g. of all
        epochs; figure and axes are returned."""
        if val is not None:
            return super().plot(val, ax)
        axes: Axes = self.result()[self.metric].plot(ax)
        return axes.figure, axes

    def _shown(self, result: Evaluation) -> Any:
        return self._scalar(result[self.metric].value)


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
