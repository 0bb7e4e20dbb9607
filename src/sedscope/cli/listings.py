"""``sedscope metrics``, ``presets`` and ``formats``: what there is to choose from."""

from __future__ import annotations

import typer


def metrics() -> None:
    """List the short names of metrics, and what they mean."""
    from ..metrics import NAMED_METRICS

    for named in NAMED_METRICS.values():
        typer.echo(f"{named.name}: {named.meaning}\n    {named.metric!r}")


def presets() -> None:
    """List the presets: metrics with established parameters, by name."""
    from ..metrics.names import name_metrics
    from ..tasks.presets import PRESETS

    for preset in PRESETS.values():
        typer.echo(f"{preset.name}: {preset.about} ({preset.source})")
        for name, metric in name_metrics(preset).items():
            typer.echo(f"    {name}: {metric!r}")
        if preset.caution:
            typer.echo(f"    {preset.caution}")


def formats() -> None:
    """List the formats of scores and events."""
    from ..io.events.files import EVENT_FORMATS
    from ..io.scores.files import SCORE_FORMATS

    for kind, registry in (("scores", SCORE_FORMATS), ("events", EVENT_FORMATS)):
        typer.echo(f"{kind}:")
        for format in registry.values():
            typer.echo(f"  {format.name:21}{format.about}")
