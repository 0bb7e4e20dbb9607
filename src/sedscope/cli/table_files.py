"""Files of tables: Markdown, LaTeX or CSV, by the end of their name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from ..errors import SedscopeError, listing
from .options import Writes, path_option

if TYPE_CHECKING:
    from ..evaluation.comparison_result import Comparison
    from ..evaluation.result import Evaluation
    from ..tasks.task_evaluation import TaskEvaluation

_WRITERS = {".md": "to_markdown", ".tex": "to_latex", ".csv": "to_csv"}

TablesOption: TypeAlias = Annotated[
    list[Path] | None,
    path_option(
        "--output",
        "-o",
        help="File for all tables: .md, .tex or .csv. Repeat the option for several formats.",
    ),
    Writes(),
]


def check_tables(paths: Sequence[Path] | None) -> None:
    """Refuse files whose names do not say what to write."""
    unknown = [str(path) for path in paths or () if path.suffix not in _WRITERS]
    if unknown:
        raise SedscopeError(f"--output {listing(unknown)}: the name must end with .md, .tex or .csv.")


def write_tables(result: Evaluation | Comparison | TaskEvaluation, paths: Sequence[Path] | None) -> None:
    """Write the tables of a result to files."""
    for path in paths or ():
        getattr(result, _WRITERS[path.suffix])(path)
