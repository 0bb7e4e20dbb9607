"""What is measured."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..errors import SedscopeError, SedscopeWarning, listing, with_guesses
from .option_groups import OptionGroup

if TYPE_CHECKING:
    from ..metrics import Metric
    from ..tuning.operating_points import OperatingPoints


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

    def metrics(self, *points: OperatingPoints) -> dict[str, Metric[Any]]:
        """Return the metrics of the presets, then the others, by name.

        ``points``: the operating points of the systems that have some. If they have thresholds, the
        default is to measure there.
        """
        from ..metrics.names import name_pairs, parse_named_metric
        from ..tasks.presets import PRESETS, PSDS1, PSDS2

        presets = self.preset or []
        unknown = [name for name in presets if name not in PRESETS]
        if unknown:
            raise SedscopeError(
                f"Unknown preset: {listing(with_guesses(unknown, PRESETS))}. 'sedscope presets' lists all."
            )
        for name in presets:
            if PRESETS[name].caution:
                warnings.warn(PRESETS[name].caution, SedscopeWarning, stacklevel=2)
        of_presets = [(None, metric) for name in presets for metric in PRESETS[name]]
        chosen = [*of_presets, *(parse_named_metric(text) for text in self.metric or ())]
        with_thresholds = [of_system for of_system in points if of_system.thresholds]
        if chosen or not with_thresholds:
            return name_pairs(chosen or [(None, PSDS1), (None, PSDS2)])
        at_points, *others = [of_system.metrics() for of_system in with_thresholds]
        if any(metrics != at_points for metrics in others):
            raise SedscopeError(
                "The operating points of the systems were chosen by different criteria. Choose the metrics "
                "to compare them by (--metric)."
            )
        return at_points
