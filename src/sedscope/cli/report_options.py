"""What a report shows of the clips."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypedDict

import typer

from ..errors import SedscopeError
from .option_groups import OptionGroup
from .options import Reads, path_option, read_clip_list


class ReportArguments(TypedDict):
    """What the library shows in a report."""

    clips_shown: int | list[str]
    audio: Path | None


@dataclass(frozen=True)
class ReportOptions(OptionGroup):
    """Which clips a report shows, and where their audio is."""

    panel: ClassVar[str] = "Report"

    clips_shown: Annotated[
        str,
        typer.Option(help="Clips to browse in the report: how many, or a file with one clip per line."),
        Reads(lambda text: [] if text.isdecimal() else [text]),
    ] = "60"
    audio: Annotated[
        Path | None,
        path_option(help="Folder with the audio files of the clips, for the report."),
    ] = None

    def arguments(self) -> ReportArguments:
        """Return the options as arguments of the library."""
        shown = self.clips_shown
        clips = int(shown) if shown.isdecimal() else read_clip_list(shown, "--clips-shown", "a number")
        return {"clips_shown": clips, "audio": self.audio}

    def refuse_without(self, report: Path | None) -> None:
        """Refuse audio if there is no report."""
        if self.audio is not None and report is None:
            raise SedscopeError("--audio only applies to a report. Add --report FILE.")
