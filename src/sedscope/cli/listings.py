"""``sedscope presets`` and ``sedscope formats``: what there is to choose from."""

from __future__ import annotations

import typer


def presets() -> None:
    """List the presets: metrics with established parameters, by name."""
    from ..tasks.presets import PRESETS

    for preset in PRESETS.values():
        typer.echo(f"{preset.name}: {preset.about} ({preset.source})")
        for metric in preset:
            typer.echo(f"    {metric!r}")


def formats() -> None:
    """List the formats of scores and events."""
    from ..io.events.registry import EVENT_FORMATS
    from ..io.scores.registry import SCORE_FORMATS

    for kind, registry in (("scores", SCORE_FORMATS), ("events", EVENT_FORMATS)):
        typer.echo(f"{kind}:")
        for format in registry.values():
            typer.echo(f"  {format.name:21}{format.about}")
