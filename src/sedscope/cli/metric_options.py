"""What is measured, how sure it is, and what of it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from ..errors import SedscopeError, listing
from .options import GroupsOption, SeedOption, listed_clips, path_option

if TYPE_CHECKING:
    from ..metrics import Metric


@dataclass(frozen=True)
class MetricChoice:
    """Metrics by definition and by the name of a preset."""

    panel: ClassVar[str] = "Metrics"

    metric: Annotated[
        list[str] | None,
        typer.Option(
            help='A metric, e.g. "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"; may be given '
            "several times \\[default: PSDS 1 and 2 of DCASE 2021–2023]"
        ),
    ] = None
    preset: Annotated[list[str] | None, typer.Option(help="Metrics by name, see 'sedscope presets'")] = (
        None
    )

    def metrics(self) -> list[Metric[Any]]:
        """Those that were chosen, or those of DCASE."""
        from ..metrics import parse_metric
        from ..tasks.presets import PRESETS, PSDS1, PSDS2

        presets = self.preset or []
        unknown = [name for name in presets if name not in PRESETS]
        if unknown:
            known = listing([*PRESETS], limit=30)
            raise SedscopeError(f"no preset {listing(unknown)}; there are {known}")
        chosen = [metric for name in presets for metric in PRESETS[name]]
        return [*chosen, *(parse_metric(text) for text in self.metric or ())] or [PSDS1, PSDS2]


@dataclass(frozen=True)
class Sampling:
    """How clips are resampled."""

    panel: ClassVar[str] = "Intervals"

    confidence: Annotated[float, typer.Option(help="Confidence of the intervals")] = 0.95
    seed: SeedOption = 0
    interval: Annotated[
        Literal["percentile", "bca"],
        typer.Option(
            help="Kind of the intervals: 'percentile' or 'bca', bias-corrected and accelerated"
        ),
    ] = "percentile"
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Draw every clip equally often over all resamples")
    ] = False
    groups: GroupsOption = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the library."""
        return {**vars(self), "groups": read_groups(self.groups)}

    def refuse(self) -> None:
        """Refuse what has no meaning where nothing is resampled."""
        used = {
            "--confidence": self.confidence != 0.95,
            "--interval": self.interval != "percentile",
            "--balanced": self.balanced,
            "--groups": self.groups is not None,
        }
        without = [option for option, is_used in used.items() if is_used]
        if without:
            raise SedscopeError(f"{listing(without)}: there are no intervals without --bootstrap")


@dataclass(frozen=True)
class Shown:
    """What a report shows of the clips."""

    panel: ClassVar[str] = "Report"

    clips_shown: Annotated[
        str,
        typer.Option(help="Clips to browse in the report: how many, or a file with a clip a line"),
    ] = "60"
    audio: Annotated[
        Path | None, path_option(help="Folder with the clips' audio files, for the report")
    ] = None

    def arguments(self, report: Path | None) -> dict[str, Any]:
        """The same as arguments of the library, for a report if there is one."""
        if self.audio is not None and report is None:
            raise SedscopeError("--audio is for the report: give --report FILE, too")
        return {"clips_shown": _clips_to_show(self.clips_shown), "audio": self.audio}


def read_groups(path: Path | None) -> dict[str, str] | None:
    """The group of each clip, from a tab-separated file."""
    from ..io.text_tables import read_text_table

    if path is None:
        return None
    table = read_text_table(path)
    if len(table.header) < 2:
        raise SedscopeError(f"{path}: two columns are needed, e.g. filename and group")
    groups: dict[str, str] = {}
    wrong = []
    for row, cells in enumerate(table.rows):
        clip, group = (cell.strip() for cell in cells[:2])
        if not clip or not group or groups.setdefault(clip, group) != group:
            wrong.append(table.row_location(row))
    if wrong:
        raise SedscopeError(f"{path}: no clip, no group, or a second group for a clip: {listing(wrong)}")
    return groups


def _clips_to_show(given: str) -> int | list[str]:
    """How many clips a report shows, or which ones."""
    return int(given) if given.isdecimal() else listed_clips(given, "--clips-shown", "a number")
