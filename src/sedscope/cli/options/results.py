"""What is measured, resampled and shown: metrics, intervals, groups, and the clips of a report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...errors import SedscopeError, SedscopeWarning, listing, short_number, shortened, with_guesses
from .arguments import GROUPS, SEED, read_clip_list
from .groups import OptionGroup, option

if TYPE_CHECKING:
    from ...data.ground_truth import GroundTruth
    from ...evaluation.groups import By
    from ...metrics import Metric
    from ...resampling.resampling import Resampling
    from ...tasks.presets import Preset
    from ...tuning.operating_points import OperatingPoints


@dataclass(frozen=True)
class ResamplingOptions(OptionGroup):
    """How clips are drawn, and which interval is made."""

    panel: ClassVar[str] = "Intervals"

    confidence: float = option(0.95, "Confidence level of the intervals.")
    seed: int = SEED
    interval: Literal["subsampling", "percentile", "bca"] | None = option(
        None,
        "Kind of interval: 'subsampling' corrects for bias and draws halves of the clips; "
        "'percentile' of the resamples; 'bca' for bias-corrected and accelerated intervals. [default: "
        "subsampling]",
    )
    balanced: bool = option(False, "Draw every clip equally often over all resamples.")
    groups: Path | None = GROUPS

    def _resampling(self, number: int | None, blocks: float | None = None) -> Resampling:
        from ...resampling.resampling import Resampling

        return Resampling(
            number,
            confidence=self.confidence,
            seed=self.seed,
            interval=self.interval,
            balanced=self.balanced,
            groups=read_groups(self.groups),
            blocks=blocks,
        )


@dataclass(frozen=True)
class IntervalOptions(ResamplingOptions):
    """Intervals on request."""

    bootstrap: int | None = option(
        None, "Add intervals from this many resamples of the clips, e.g. 1000."
    )
    resample: str = option(
        "clips", "What to draw: 'clips', or for few long recordings blocks of time, e.g. 'blocks=60s'."
    )

    def resampling(self) -> Resampling | None:
        """Return the resampling, if intervals were asked for."""
        if self.bootstrap is not None:
            _check_resamples(self.bootstrap)
            return self._resampling(self.bootstrap, parse_block_length(self.resample))
        unused = [option for option in self.changed_options() if option != "--seed"]
        if unused:
            raise SedscopeError(
                f"Without --bootstrap there are no intervals, so {listing(unused)} cannot be used."
            )
        return None


@dataclass(frozen=True)
class ComparisonOptions(ResamplingOptions):
    """Intervals in every case."""

    bootstrap: int | None = option(None, "Number of resamples of the clips. [default: 1000]")
    test: Literal["bootstrap", "randomisation"] = option(
        "bootstrap",
        "Where p values of 'compare' come from: the resamples, or random swaps of the systems in "
        "single clips.",
    )

    def resampling(self, truth: GroundTruth | None = None) -> Resampling:
        """Return the resampling. Regions of one recording of the truth are drawn together."""
        from ...resampling.resampling import drawing_recordings

        resampling = replace(self._resampling(self.bootstrap), test=self.test)
        return resampling if truth is None else drawing_recordings(resampling, truth)

    def check(self) -> None:
        """Refuse a number of resamples that cannot be drawn, before anything is read."""
        if self.bootstrap is not None:
            _check_resamples(self.bootstrap)


def _check_resamples(number: int) -> None:
    from ...resampling.resampling import MOST_RESAMPLES

    if not 1 <= number <= MOST_RESAMPLES:
        raise SedscopeError(
            f"--bootstrap {short_number(number)} must be from 1 to {MOST_RESAMPLES}. 1000 to 10000 resamples "
            "give stable intervals."
        )


def parse_block_length(text: str) -> float | None:
    """Return the length of blocks in seconds; None to draw clips.

    >>> parse_block_length("blocks=60s"), parse_block_length("blocks=0.5"), parse_block_length("clips")
    (60.0, 0.5, None)
    """
    if text == "clips":
        return None
    kind, _, length = text.partition("=")
    try:
        if kind == "blocks":
            return float(length.removesuffix("s"))
    except ValueError:
        pass
    raise SedscopeError(
        f"--resample {text!r} is not valid. Write clips, or the length of blocks in seconds, e.g. "
        "blocks=60s."
    )


def read_groups(path: Path | None) -> dict[str, str] | None:
    """Read the group of each clip, if there is a file."""
    from ...io.side_tables import read_groups

    return None if path is None else read_groups(path)


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
