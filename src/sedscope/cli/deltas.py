"""``sedscope deltas``: the deltas of some clips, in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import SedscopeError, counted
from .options.arguments import GROUND_TRUTH, SCORES, counting_progress, postprocess
from .options.engines import EngineOptions
from .options.groups import option, output_option
from .options.inputs import InputOptions
from .options.results import MetricOptions

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from ..metrics import Metric


def deltas(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    output: Path = output_option(..., "File for the deltas."),
    inputs: InputOptions,
    metric_options: MetricOptions,
    engine: EngineOptions,
    append: bool = option(False, "Keep the deltas of other clips that the file holds."),
    for_metrics: list[str] | None = option(
        None,
        "Keep only what these metrics read, e.g. psds1,psds2: the file is much smaller if they "
        "have a limit on false alarms. Like --metric, for all clips or a large random part of them.",
        "--for",
        metavar="METRICS",
    ),
    system_name: str | None = option(
        None, "Name of the system. Deltas of systems with different names cannot be merged.", "--system"
    ),
) -> None:
    """Write deltas to a file, for 'sedscope evaluate --deltas'."""
    from ..alignment.alignment import align
    from ..counting.delta_files import save_deltas
    from ..evaluation.evaluate import deltas_and_notes
    from ..metrics.metric import delta_requests

    metrics = _metrics(for_metrics, metric_options)
    truth = inputs.read_truth(ground_truth)
    system = postprocess(inputs.read_scores(scores, truth, "deltas"), inputs.postprocess)
    requests = {
        # the clips may be part of a larger set, whose floors are not known here
        criterion: request.at_every_threshold() if for_metrics is None else request.further_down()
        for criterion, request in delta_requests(metrics).items()
    }
    with counting_progress() as progress:
        alignment = replace(align(system, truth, **inputs.selection(system.classes)), hashed=True)
        parts, notes = deltas_and_notes(alignment, requests, engine.run(progress))
    new = [part.of_system(system_name) for part in parts.values()]
    stored = save_deltas(new, output, append=append)
    rows = sum(part.tables.rows() for part in stored)
    clips, added = len(stored[0].clips), len(alignment.clips)
    of_them = f" ({added} new)" if append else ""
    typer.echo(f"{output}: {counted(clips, 'clip')}{of_them}, {counted(rows, 'change')} of counts")
    for warning in notes:
        typer.echo(f"warning: {warning}", err=True)


def _metrics(for_metrics: list[str] | None, options: MetricOptions) -> Collection[Metric[Any]]:
    """Return the metrics that the deltas are for."""
    if for_metrics is None:
        return options.metrics().values()
    if options.metric or options.preset:
        raise SedscopeError(
            "--for cannot be combined with --metric or --preset. Name all metrics in --for."
        )
    from ..metrics.names import SHORT_NAMES, name_metrics

    texts = []
    for text in for_metrics:
        words = [word.strip() for word in text.split(",")]
        texts += words if all(word in SHORT_NAMES for word in words) else [text]
    return name_metrics(texts).values()
