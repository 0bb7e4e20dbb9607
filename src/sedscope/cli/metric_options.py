"""What is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..errors import SedscopeError, listing, with_guesses
from .option_groups import OptionGroup

if TYPE_CHECKING:
    from ..metrics import Metric


@dataclass(frozen=True)
class MetricOptions(OptionGroup):
    """Metrics by their definition or by the name of a preset."""

    panel: ClassVar[str] = "Metrics"

    metric: Annotated[
        list[str] | None,
        typer.Option(
            help='Metric to measure, e.g. "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)". Repeat the '
            "option for several. \\[default: PSDS 1 and 2 of DCASE 2021–2023]"
        ),
    ] = None
    preset: Annotated[
        list[str] | None,
        typer.Option(help="Name of a preset; 'sedscope presets' lists them. Repeat for several."),
    ] = None

    def metrics(self) -> list[Metric[Any]]:
        """Return the metrics of the presets, then those of the definitions."""
        from ..metrics import parse_metric
        from ..tasks.presets import PRESETS, PSDS1, PSDS2

        presets = self.preset or []
        unknown = [name for name in presets if name not in PRESETS]
        if unknown:
            raise SedscopeError(
                f"Unknown preset: {listing(with_guesses(unknown, PRESETS))}. The presets are "
                f"{listing(PRESETS, limit=30)}."
            )
        of_presets = [metric for name in presets for metric in PRESETS[name]]
        return [*of_presets, *(parse_metric(text) for text in self.metric or ())] or [PSDS1, PSDS2]
