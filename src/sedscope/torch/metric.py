"""The training metrics, whose state is deltas instead of scores, and the thresholds that they choose."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import torch
    import torchmetrics
except ImportError as error:
    raise ImportError(
        f"sedscope.torch needs {error.name}. Install it with: pip install 'sedscope[torch]'"
    ) from None

from ..counting.counts import ClassCounts
from ..data.choices import Coverage, Missing
from ..data.clips import clip_list_digest
from ..data.ground_truth import GroundTruth
from ..data.thresholds import outside_of_probabilities, score_range
from ..errors import SedscopeError, SedscopeWarning, issue_warnings, listing
from ..escaping import one_line
from ..evaluation.counted_clips import measure
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.names import MetricLike, MetricsLike, as_metric, metric_called, name_metrics
from ..postprocessing import PostProcessing
from ..results.text import shortest_between
from ..tuning.operating_points import OperatingPoints
from .batch import Batch, BatchScores, dense_tensor
from .collector import BatchCollector, Repeats
from .epoch_clips import ClipDeltas, EpochClips

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HELD_BYTES = 5 * 2**29
"""The most scores that a metric holds before it finds their deltas: 2.5 GiB."""

_SAID: dict[bytes, set[str]] = {}
"""What was said of some data. New metrics and later epochs on the same data do not repeat it."""

__all__ = ["SEDMetric", "SEDMetrics"]


class _PackedDeltas(list[torch.Tensor]):
    """The deltas so far as bytes, with what is known of their clips. Metrics share both or neither."""

    epoch: EpochClips | None = None

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self.epoch = None

    def __reduce__(self) -> Any:
        return (_PackedDeltas, ([*self],))


class SEDMetrics(torchmetrics.Metric):
    """Several metrics as one torchmetric, which reads each batch of scores once.

    A clip that comes again with the same scores counts once.

    Parameters
    ----------
    metrics : Metric, str, iterable of these, or mapping of str to these
        The metrics, or their short names. The keys of a mapping are names that you choose.
    classes : iterable of str
        The classes, in the order of the columns of the scores.
    frame : float
        The length of a frame in seconds.
    truth : GroundTruth, optional
        The reference events. Without it, pass targets to :meth:`update`.
    missing : {"error", "empty"}
        What to do with clips that the ground truth does not list: raise an error, or assume that they
        have no events.
    coverage : {"trim", "error", "any"}
        What to do with scores that go on after their clips, whose durations the ground truth knows.
        ``"trim"`` leaves out frames that begin after the end, such as padding, and says so once.
        ``"error"`` refuses them if most clips have such scores. Both refuse scores that cover less than
        90 % of most clips, when the metric is computed. ``"any"`` evaluates them as they are.
    repeats : {"error", "first"}
        What to do with a clip that comes again with other scores: raise an error, or keep the first.
    postprocessing : PostProcessing, optional
        A post-processing to apply to the scores before they are evaluated.
    threads : int, optional
        The number of threads. By default, one per core.
    **options
        The options of ``torchmetrics.Metric``.

    Examples
    --------
    >>> import sedscope as sed
    >>> metrics = {"psds1": "psds1", "f1": sed.FScore(sed.Collar())}
    >>> both = SEDMetrics(metrics, ["Dog"], frame=1.0)
    >>> both.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a.wav"], targets=[[(1, 2, "Dog")]])
    >>> both.compute()
    {'psds1': tensor(1.), 'f1': tensor(1.)}
    """

    # The state: the deltas so far as bytes, and a digest of what they depend on, so that only metrics
    # that need the same deltas share or merge them.
    definition: torch.Tensor
    _parts: _PackedDeltas | torch.Tensor

    _evaluation: Evaluation | None = None
    is_differentiable = False
    full_state_update = True  # forward calls update first, so that a refused batch changes nothing

    def __init__(
        self,
        metrics: MetricsLike,
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None = None,
        missing: Missing = "error",
        coverage: Coverage = "trim",
        repeats: Repeats = "error",
        postprocessing: PostProcessing | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.metrics = name_metrics(metrics)
        self.collector = BatchCollector(
            tuple(self.metrics.values()),
            classes,
            frame=frame,
            truth=truth,
            missing=missing,
            coverage=coverage,
            repeats=repeats,
            postprocessing=postprocessing,
            threads=threads,
        )
        definition = torch.from_numpy(self.collector.definition)
        self.add_state("definition", default=definition, dist_reduce_fx=_require_same)
        self.add_state("parts", default=[], dist_reduce_fx="cat")

    def update(
        self,
        scores: torch.Tensor,
        clip_ids: Sequence[str],
        targets: torch.Tensor | Sequence[Sequence[tuple[float, float, str]]] | None = None,
        lengths: torch.Tensor | Sequence[int] | None = None,
    ) -> None:
        """Add a batch of clips. A batch that is refused changes nothing.

        Parameters
        ----------
        scores : torch.Tensor
            (clips × frames × classes) the scores, on any device.
        clip_ids : sequence of str
            The names of the clips.
        targets : torch.Tensor or sequence, optional
            The reference events, if the metric has no ground truth: a tensor with the shape of the
            scores that is 1 where a class is active and 0 elsewhere, or a list of events (onset, offset,
            label) for each clip.
        lengths : torch.Tensor or sequence of int, optional
            How many frames each clip has, if the clips are padded.

        Raises
        ------
        SedscopeError
            If the batch does not fit the metric, or a clip came before with other scores.

        Examples
        --------
        >>> import torch
        >>> import sedscope as sed
        >>> from sedscope.torch import SEDMetrics
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> metrics = SEDMetrics({"f1": sed.FScore(sed.Collar())}, ["Dog"], frame=1.0, truth=truth)
        >>> metrics.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a"])
        """
        if not isinstance(scores, torch.Tensor):
            raise SedscopeError(f"scores must be a tensor, not {type(scores).__name__}.")
        if isinstance(clip_ids, str) or not isinstance(clip_ids, Sequence):
            actual = repr(clip_ids) if isinstance(clip_ids, str) else type(clip_ids).__name__
            raise SedscopeError(f"clip_ids must be a list of names, not {actual}.")
        batch = Batch.from_arrays(
            BatchScores.from_tensor(scores),
            clip_ids,
            _to_numpy(lengths, "lengths") if isinstance(lengths, torch.Tensor) else lengths,
            _to_numpy(targets, "targets") if isinstance(targets, torch.Tensor) else targets,
            self.collector.classes,
        )
        batch, note = self.collector.trimmed(batch)
        if note:
            self._say(note, about="trimmed")
        epoch = self._epoch_clips()
        clips = self.collector.select_new(batch, epoch)
        if clips is None:
            return
        if not epoch.holds:
            alignment = self.collector.align(clips.batch)
            for note in self.collector.target_notes(alignment, epoch):
                self._say(note)
            deltas = self.collector.find_deltas(alignment, clips.digests, epoch)
            epoch.add(deltas)
            epoch.pending_deltas.append(deltas)
            return
        if not epoch.held.fits(clips):
            self._find_held_deltas()
        self.collector.hold(clips, epoch)
        if epoch.held.score_bytes > HELD_BYTES:
            self._find_held_deltas()

    def forward(self, *arguments: Any, **options: Any) -> Any:
        """Add a batch as :meth:`update` does, and return the value of this batch alone.

        Parameters
        ----------
        *arguments, **options
            As for :meth:`update`.

        Returns
        -------
        dict of str to torch.Tensor, or torch.Tensor
            As :meth:`compute` returns it.
        """
        if self._is_synced or self.dist_sync_on_step:
            return super().forward(*arguments, **options)
        self.update(*arguments, **options)
        parts, self._parts = self._parts, _PackedDeltas()
        try:
            SEDMetrics.update(self, *arguments, **options)
            self._forward_cache = self._values(self._evaluate())
        finally:
            self._parts = parts
        return self._forward_cache

    def compute(self) -> Any:
        """Compute the metrics over all batches, of all ranks together if there are several.

        Returns
        -------
        dict of str to torch.Tensor
            The value of each metric. For :class:`SEDMetric`, a single tensor.

        Examples
        --------
        >>> import torch
        >>> import sedscope as sed
        >>> from sedscope.torch import SEDMetrics
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> metrics = SEDMetrics({"f1": sed.FScore(sed.Collar())}, ["Dog"], frame=1.0, truth=truth)
        >>> metrics.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a"])
        >>> metrics.compute()
        {'f1': tensor(1.)}
        """
        self._evaluation = self._evaluate(whole_epoch=True)
        for note in self._evaluation.warnings:
            self._say(note)
        return self._values(self._evaluation)

    def result(self) -> Evaluation:
        """Compute the metrics, and return the result objects behind the values.

        Returns
        -------
        Evaluation
            Curves, values per class, tables and exact numbers, as :func:`sedscope.evaluate` returns
            them.

        Examples
        --------
        >>> import torch
        >>> import sedscope as sed
        >>> from sedscope.torch import SEDMetrics
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> metrics = SEDMetrics({"f1": sed.FScore(sed.Collar())}, ["Dog"], frame=1.0, truth=truth)
        >>> metrics.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a"])
        >>> metrics.result().references
        {'Dog': 1}
        """
        self.compute()
        assert self._evaluation is not None
        return self._evaluation

    def scalars(self) -> dict[str, float]:
        """Return all values in a flat dictionary, for loggers.

        Returns
        -------
        dict of str to float
            ``{name: value, "name/class": value}``.

        Examples
        --------
        >>> import torch
        >>> import sedscope as sed
        >>> from sedscope.torch import SEDMetrics
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> metrics = SEDMetrics({"f1": sed.FScore(sed.Collar())}, ["Dog"], frame=1.0, truth=truth)
        >>> metrics.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a"])
        >>> metrics.scalars()
        {'f1': 1.0, 'f1/Dog': 1.0}
        """
        return self.result().scalars()

    def points(self, name: str | None = None, *, logits: bool = False) -> OperatingPoints:
        """Return the best thresholds of a metric, to save and use: ``metric.points().save("points.toml")``.

        Each threshold has as few digits as give the same counts.

        Parameters
        ----------
        name : str, optional
            The name of the metric, if several have thresholds.
        logits : bool, default False
            Whether the scores are logits. The thresholds then become probabilities.

        Returns
        -------
        OperatingPoints
            The thresholds, with the post-processing of the metric.

        Examples
        --------
        >>> import torch
        >>> import sedscope as sed
        >>> from sedscope.torch import SEDMetric
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> metric = SEDMetric("best_collar_f1", ["Dog"], frame=1.0, truth=truth)
        >>> metric.update(torch.tensor([[[-1.5], [2.2], [0.4]]]), ["a"])
        >>> metric.points(logits=True).thresholds
        {'Dog': 0.8}
        """

        return points_of(self.result(), name, self.collector.postprocessing, logits=logits)

    @property
    def parts(self) -> list[torch.Tensor] | torch.Tensor:
        """The deltas so far, as bytes. Those gathered from all ranks are a single tensor."""
        self._find_held_deltas()
        self._pack_deltas()
        return self._parts

    @parts.setter
    def parts(self, parts: list[torch.Tensor] | torch.Tensor) -> None:
        is_state = isinstance(parts, (_PackedDeltas, torch.Tensor))
        self._parts = parts if is_state else _PackedDeltas(parts)

    def reset(self) -> None:
        """Forget all batches, for example before the next epoch."""
        if isinstance(self._parts, _PackedDeltas):
            self._parts.clear()
        super().reset()
        self._evaluation = None

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather the deltas of all ranks. A rank without batches contributes no bytes.

        Parameters
        ----------
        *arguments, **options
            As for ``torchmetrics.Metric.sync``.
        """
        parts = self._parts
        if isinstance(parts, _PackedDeltas) and not parts and not (parts.epoch and parts.epoch.digests):
            parts.append(torch.empty(0, dtype=torch.uint8, device=self.device))
        super().sync(*arguments, **options)

    def merge_state(self, incoming_state: dict[str, Any] | torchmetrics.Metric) -> None:
        """Add the state of another metric with the same definition.

        Parameters
        ----------
        incoming_state : dict or Metric
            The other metric, or its state.
        """
        state = incoming_state if isinstance(incoming_state, dict) else incoming_state.metric_state
        self.definition = _require_same(torch.stack([self.definition, state["definition"]]))
        self.parts = [*self.parts, *state["parts"]]
        self._computed = None

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the values.

        Parameters
        ----------
        val : optional
            Values that were computed before, such as those of all epochs. By default, the current ones.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure.

        Returns
        -------
        tuple
            The figure and its axes.
        """
        return self._plot(val, ax)

    def _say(self, note: str, *, about: str | None = None) -> None:
        """Warn once of the same thing. ``about``: what the note is about, if it has numbers of a batch."""
        said = _SAID.setdefault(self.collector.data_digest, set())
        if (about or note) not in said:
            said.add(about or note)
            warnings.warn(note, SedscopeWarning, stacklevel=3)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(one_line, self.metrics))})"

    def _evaluate(self, *, whole_epoch: bool = False) -> Evaluation:
        """Evaluate all deltas. If that fails, those gathered from other ranks are removed again.

        ``whole_epoch``: check that the scores cover their clips, for which a batch is too little.
        """
        try:
            deltas = self.collector.merge(self._unpack())
            if whole_epoch:
                self.collector.require_coverage(deltas)
        except SedscopeError:
            if self._is_synced:
                self.unsync()
            raise
        counts = {
            criterion: criterion_deltas.counts(threads=self.collector.threads)
            for criterion, criterion_deltas in deltas.items()
        }
        notes = self.collector.notes(deltas)
        return measure(self.metrics, counts, notes, {}, deltas=deltas)

    def _values(self, result: Evaluation) -> Any:
        """Return what :meth:`compute` returns for a result."""
        return {name: self._scalar(result[metric].value) for name, metric in self.metrics.items()}

    def _scalar(self, value: float) -> torch.Tensor:
        """Convert a value to a tensor of at least single precision."""
        dtype = torch.promote_types(self.dtype, torch.float32)
        return torch.tensor(value, dtype=dtype, device=self.device)

    def _unpack(self) -> list[ClipDeltas]:
        expected = torch.from_numpy(self.collector.definition)
        _require_same(torch.stack([expected, self.definition.to("cpu", torch.uint8)]))
        self._find_held_deltas()
        parts = self._parts
        unpacked = [
            deltas
            for tensor in (parts if isinstance(parts, list) else [parts])
            for deltas in self.collector.unpack(_to_numpy(tensor.to(torch.uint8), "deltas"))
        ]
        epoch = parts.epoch if isinstance(parts, _PackedDeltas) else None
        return unpacked if epoch is None else unpacked + epoch.pending_deltas

    def _epoch_clips(self) -> EpochClips:
        """Return what is known of the clips so far. After loading a state, read it from the deltas."""
        parts = self._parts
        if not isinstance(parts, _PackedDeltas):
            raise SedscopeError("The metric is synced with other ranks. Call unsync before update.")
        if parts.epoch is None:
            epoch = self.collector.begin_epoch()
            for deltas in self._unpack():
                epoch.add(deltas)
            parts.epoch = epoch
        return parts.epoch

    def _find_held_deltas(self) -> None:
        """Find the deltas of all held clips."""
        epoch = self._parts.epoch if isinstance(self._parts, _PackedDeltas) else None
        if epoch is not None and epoch.held.names:
            epoch.pending_deltas.append(self.collector.find_held_deltas(epoch))
            epoch.held.clear()

    def _pack_deltas(self) -> None:
        """Append the deltas that were found since the state was read to the state."""
        epoch = self._parts.epoch if isinstance(self._parts, _PackedDeltas) else None
        if epoch is not None:
            device = "cpu" if self.compute_on_cpu else self.device
            self._parts += [
                torch.from_numpy(deltas.pack()).to(device) for deltas in epoch.pending_deltas
            ]
            epoch.pending_deltas.clear()

    def _move_list_states_to_cpu(self) -> None:
        """Do nothing: :meth:`_pack_deltas` already puts the deltas on the right device."""

    def __getstate__(self) -> dict[str, Any]:
        _ = self.parts  # everything that was found becomes part of the state
        return {**super().__getstate__(), "_evaluation": None, "_computed": None}


def _require_same(definitions: torch.Tensor) -> torch.Tensor:
    """Return the definition that all metrics have, or refuse metrics whose definitions differ."""
    if not (definitions == definitions[0]).all():
        raise SedscopeError(
            "The state belongs to a metric with another definition, ground truth, classes or frame. "
            "Only metrics that agree in all of these can be merged, loaded or gathered from ranks."
        )
    return definitions[0]


def _to_numpy(tensor: torch.Tensor, name: str) -> Any:
    """Convert a tensor to an array. ``name``: what it holds, for messages."""
    return dense_tensor(tensor, name).to("cpu").numpy()


class SEDMetric(SEDMetrics):
    """One metric as a torchmetric whose value is a scalar.

    Parameters
    ----------
    metric : Metric or str
        The metric, its short name, or its definition.
    classes : iterable of str
        The classes, in the order of the columns of the scores.
    frame : float
        The length of a frame in seconds.
    truth : GroundTruth, optional
        The reference events. Without it, pass targets to :meth:`update`.
    **options
        The other options of :class:`SEDMetrics` and of ``torchmetrics.Metric``.

    Examples
    --------
    >>> import torch
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> metric = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=1.0, truth=truth)
    >>> metric.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a.wav"])
    >>> metric.compute()
    tensor(1.)
    """

    def __init__(
        self,
        metric: MetricLike,
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(metric, (Metric, str)):
            raise SedscopeError(f"{metric!r} is not a metric. For several metrics, use SEDMetrics.")
        self.metric = as_metric(metric)
        super().__init__(self.metric, classes, frame=frame, truth=truth, **options)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better."""
        return self.metric.higher_is_better

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the curves that the value comes from.

        Parameters
        ----------
        val : optional
            Values to draw instead of the curves, such as those of all epochs.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure.

        Returns
        -------
        tuple
            The figure and its axes.
        """
        if val is not None:
            return super().plot(val, ax)
        axes: Axes = self.result()[self.metric].plot(ax)
        return axes.figure, axes

    def _values(self, result: Evaluation) -> Any:
        return self._scalar(result[self.metric].value)


def points_of(
    result: Evaluation, name: str | None, postprocessing: PostProcessing | None, *, logits: bool
) -> OperatingPoints:
    """Return the thresholds of one of the metrics. ``logits``: return probabilities."""
    from .. import __version__

    with_thresholds = [result.names[metric] for metric in result if result[metric].thresholds]
    if name is None:
        if len(with_thresholds) != 1:
            raise SedscopeError(
                f"Several metrics have thresholds: {listing(with_thresholds)}. Name one: "
                f"points({with_thresholds[0]!r})."
                if with_thresholds
                else f"{listing([*result.names.values()])} has no thresholds: it looks at all of them. Add a "
                "metric that chooses them, such as 'best_collar_f1'."
            )
        (name,) = with_thresholds
    metric = metric_called(name, result.names)
    thresholds = result[metric].thresholds
    if not thresholds:
        raise SedscopeError(f"{name} has no thresholds: it looks at all of them.")
    if logits and postprocessing is not None:
        raise SedscopeError(
            "With a post-processing, thresholds of logits cannot become those of probabilities. Pass "
            "probabilities to the metric: torch.sigmoid(logits)."
        )
    counts = result.counts[metric.criterion]
    low, high = score_range([counts[label].scores for label in thresholds])
    if not logits and outside_of_probabilities(low, high):
        issue_warnings(
            [
                f"The scores lie between {low:.4g} and {high:.4g}, so these thresholds are not "
                "probabilities. If the scores are logits, points(logits=True) returns probabilities."
            ],
            3,
        )
    deltas = result.deltas[metric.criterion]
    return OperatingPoints(
        thresholds={
            label: _shortened(threshold, counts[label], logits)
            for label, threshold in thresholds.items()
        },
        postprocessing={} if postprocessing is None else dict.fromkeys(result.classes, postprocessing),
        provenance={
            "sedscope": __version__,
            "metric": repr(metric),
            "clips": str(len(deltas.clips)),
            "clips_sha256": clip_list_digest(deltas.clips),
            "hours": f"{result.hours:.4f}",
        },
    )


def _shortened(threshold: float, counts: ClassCounts, logits: bool) -> float:
    """Return a threshold with as few digits as give the same counts.

    A best threshold lies midway between two scores, so the lower one is as far away as the upper one.
    """
    if not math.isfinite(threshold):
        return threshold
    high = float(np.min(counts.scores, where=counts.scores > threshold, initial=math.inf))
    low = float(np.max(counts.scores, where=counts.scores <= threshold, initial=counts.floor))
    low = max(low, 2 * threshold - high if math.isfinite(high) else threshold)
    if logits:
        low, threshold, high = map(_probability, (low, threshold, high))
    return shortest_between(low, high, threshold)


def _probability(logit: float) -> float:
    return 0.5 * (1 + math.tanh(logit / 2))
