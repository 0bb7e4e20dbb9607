"""How clips are resampled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from ...errors import SedscopeError, listing, short_number
from .arguments import GROUPS, SEED
from .groups import OptionGroup, option

if TYPE_CHECKING:
    from ...data.ground_truth import GroundTruth
    from ...resampling.resampling import Resampling


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
