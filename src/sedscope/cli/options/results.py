"""What is measured and shown: metrics, groups, and the clips of a report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...errors import SedscopeError, SedscopeWarning, listing, shortened, with_guesses
from .arguments import read_clip_list
from .groups import OptionGroup, option

if TYPE_CHECKING:
    from ...evaluation.groups import By
    from ...metrics import Metric
    from ...tasks.presets import Preset
    from ...tuning.operating_points import OperatingPoints


@dataclass(frozen=True)
class MetricOptions(OptionGroup):
    """Metrics by name or definition, or by the name of a preset."""

    panel: ClassVar[str] = "Metrics"

    metric: list[str] | None = option(
        None,
        'Metric to measure: a short name such as psds1 ("sedscope metrics" lists all), a '
        'definition such as "PSDS(Intersection(dtc=0.7, gtc=0.7))", or NAME=DEFINITION. Repeat the '
        "option for several. [default: psds1 and psds2]",
    )
    preset: list[str] | None = option(
        None, "Name of a preset; 'sedscope presets' lists them. Repeat for several."
    )

    def metrics(self, *points: OperatingPoints) -> dict[str, Metric[Any]]:
        """Return the metrics of the presets, then the others, by name.

        ``points``: the operating points of the systems that have some. If they have thresholds, the
        default is to measure there.
        """
        from ...metrics.names import name_metrics, name_pairs, parse_named_metric

        presets = _presets(self.preset) if self.preset else []
        of_presets = [(None, metric) for preset in presets for metric in preset]
        chosen = [*of_presets, *(parse_named_metric(text) for text in self.metric or ())]
        return name_pairs(chosen) if chosen else name_metrics(None, points)


def _presets(names: Sequence[str]) -> list[Preset]:
    """Find presets by name, and caution against those that are not the whole task."""
    from ...tasks.presets import PRESETS

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


@dataclass(frozen=True)
class GroupOptions(OptionGroup):
    """Groups of clips, of classes and of reference lengths."""

    panel: ClassVar[str] = "Groups"

    by: Path | None = option(
        None,
        "Also evaluate groups of clips, e.g. recording sites: a table with the columns filename "
        "and group.",
    )
    by_class: Path | None = option(
        None,
        "Also evaluate groups of classes, e.g. common and rare ones: a table with the columns "
        "label and group.",
    )
    by_length: str | None = option(
        None,
        "Also evaluate reference events by their length in seconds: '1,5' makes the bins up to "
        "1 s, 1 to 5 s and above 5 s.",
    )
    group_average: Literal["mean", "harmonic"] | None = option(
        None, "Average the values of --by and --by-class over their groups."
    )

    def groups(self) -> By | None:
        """Read the files, and return what is grouped, if anything is."""
        if self.group_average is not None and self.by is None and self.by_class is None:
            raise SedscopeError("--group-average needs groups. Add --by FILE or --by-class FILE.")
        if self.by is None and self.by_class is None and self.by_length is None:
            return None
        from ... import By, Groups
        from ...io.side_tables import read_groups

        return By(
            None if self.by is None else Groups(read_groups(self.by), self.group_average),
            None if self.by_class is None else Groups(read_groups(self.by_class), self.group_average),
            None if self.by_length is None else _lengths(self.by_length),
        )


def _lengths(text: str) -> list[float]:
    """Read lengths in seconds, separated by commas.

    >>> _lengths("1, 5s")
    [1.0, 5.0]
    """
    try:
        return [float(part.strip().removesuffix("s")) for part in text.split(",")]
    except ValueError:
        raise SedscopeError(
            f"--by-length {shortened(text, 60)!r} is not valid. Write lengths in seconds, e.g. 1,5."
        ) from None


@dataclass(frozen=True)
class ReportOptions(OptionGroup):
    """Which clips a report shows, and where their audio is."""

    panel: ClassVar[str] = "Report"

    clips_shown: str = option(
        "60",
        "Clips to browse in the report: how many, or a file with one clip per line.",
        reads=lambda text: [] if text.isdecimal() else [text],
    )
    audio: Path | None = option(None, "Folder with the audio files of the clips, for the report.")

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of the library."""
        shown = self.clips_shown
        clips = int(shown) if shown.isdecimal() else read_clip_list(shown, "--clips-shown", "a number")
        return {"clips_shown": clips, "audio": self.audio}

    def refuse_without(self, report: Path | None) -> None:
        """Refuse audio if there is no report."""
        if self.audio is not None and report is None:
            raise SedscopeError("--audio only applies to a report. Add --report FILE.")
