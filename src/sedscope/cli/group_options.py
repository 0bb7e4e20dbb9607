"""Which groups are evaluated beside all clips and classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

import typer

from ..errors import SedscopeError, shortened
from .option_groups import OptionGroup
from .options import path_option

if TYPE_CHECKING:
    from ..evaluation.groups import Groups


class GroupArguments(TypedDict):
    """How the library evaluates groups."""

    by: Groups | None
    by_class: Groups | None
    by_length: list[float] | None


@dataclass(frozen=True)
class GroupOptions(OptionGroup):
    """Groups of clips, of classes and of reference lengths."""

    panel: ClassVar[str] = "Groups"

    by: Annotated[
        Path | None,
        path_option(
            help="Also evaluate groups of clips, e.g. recording sites: a table with the columns filename "
            "and group."
        ),
    ] = None
    by_class: Annotated[
        Path | None,
        path_option(
            help="Also evaluate groups of classes, e.g. common and rare ones: a table with the columns "
            "label and group."
        ),
    ] = None
    by_length: Annotated[
        str | None,
        typer.Option(
            help="Also evaluate reference events by their length in seconds: '1,5' makes the bins up to "
            "1 s, 1 to 5 s and above 5 s."
        ),
    ] = None
    group_average: Annotated[
        Literal["mean", "harmonic"] | None,
        typer.Option(help="Average the values of --by and --by-class over their groups."),
    ] = None

    def arguments(self) -> GroupArguments:
        """Read the files, and return the options as arguments of the library."""
        from .. import Groups
        from ..io.group_tables import read_class_groups, read_clip_groups

        if self.group_average is not None and self.by is None and self.by_class is None:
            raise SedscopeError("--group-average needs groups. Add --by FILE or --by-class FILE.")
        by = None if self.by is None else read_clip_groups(self.by)
        by_class = None if self.by_class is None else read_class_groups(self.by_class)
        return {
            "by": None if by is None else Groups(by, self.group_average),
            "by_class": None if by_class is None else Groups(by_class, self.group_average),
            "by_length": None if self.by_length is None else _lengths(self.by_length),
        }


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
