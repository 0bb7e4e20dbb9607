"""What is measured."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..errors import SedscopeError, SedscopeWarning, listing, with_guesses
from .option_groups import OptionGroup

if TYPE_CHECKING:
    from ..metrics import Metric
    from ..tasks.presets import Preset
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
        from ..tasks.presets import PSDS1, PSDS2

        presets = _presets(self.preset) if self.preset else []
        of_presets = [(None, metric) for preset in presets for metric in preset]
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


def _presets(names: Sequence[str]) -> list[Preset]:
    """Find presets by name, and caution against those that are not the whole task."""
    from ..tasks.presets import PRESETS

    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise SedscopeError(
            f"Unknown preset: {listing(with_guesses(unknown, PRESETS))}. 'sedscope presets' lists all."
        )
    presets = [PRESETS[name] for name in names]
    for preset in presets:
        if preset.caution:
            warnings.warn(preset.caution, SedscopeWarning, stacklevel=3)
    return presets
