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
    """Metrics by name or definition, or by the name of a preset."""

    panel: ClassVar[str] = "Metrics"

    metric: Annotated[
        list[str] | None,
        typer.Option(
            help='Metric to measure: a short name such as psds1 ("sedscope metrics" lists all), a '
            'definition such as "PSDS(Intersection(dtc=0.7, gtc=0.7))", or NAME=DEFINITION. Repeat the '
            "option for several. [default: psds1 and psds2]"
        ),
    ] = None
    preset: Annotated[
        list[str] | None,
        typer.Option(help="Name of a preset; 'sedscope presets' lists them. Repeat for several."),
    ] = None

    def metrics(self) -> dict[str, Metric[Any]]:
        """Return the metrics of the presets, then the others, by name."""
        from ..metrics.names import PSDS1, PSDS2, name_pairs, parse_named_metric
        from ..tasks.presets import PRESETS

        presets = self.preset or []
        unknown = [name for name in presets if name not in PRESETS]
        if unknown:
            raise SedscopeError(
                f"Unknown preset: {listing(with_guesses(unknown, PRESETS))}. 'sedscope presets' lists all."
            )
        of_presets = [(None, metric) for name in presets for metric in PRESETS[name]]
        chosen = [*of_presets, *(parse_named_metric(text) for text in self.metric or ())]
        return name_pairs(chosen or [(None, PSDS1), (None, PSDS2)])
