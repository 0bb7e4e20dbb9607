"""The code code_blocks of documentation pages."""

from __future__ import annotations

import re
from pathlib import Path


def code_blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language, in the order of the page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
