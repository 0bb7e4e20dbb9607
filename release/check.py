"""Whether this version can be released: ``make release-check TAG=v0.1.0``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def problems(root: Path, tag: str | None = None) -> list[str]:
    """Return what stands against a release, each with what to do."""
    version = _find(r'^__version__ = "(.+)"', root / "src/sedscope/__init__.py")
    heading = _find(r"^## (.+)", root / "CHANGELOG.md")
    cited = _find(r"^version: (.+)", root / "CITATION.cff")
    packed = _find(r'^  version: "(.+)"', root / "conda/recipe.yaml")
    named, _, date = heading.partition(" ")
    date = date.strip("()")
    is_date = re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    cited_date = _find(r"^date-released: (.+)", root / "CITATION.cff").strip("\"'")
    checks = {
        f"The tag is {tag}, but src/sedscope/__init__.py has version {version}.": tag
        in (None, f"v{version}"),
        f"CHANGELOG.md begins with '{heading}'. Name the section {version} (YYYY-MM-DD).": named
        == version
        and is_date,
        f"CITATION.cff has version {cited} instead of {version}.": cited == version,
        f"CITATION.cff needs 'date-released: {date if is_date else 'YYYY-MM-DD'}', as CHANGELOG.md.": is_date
        and cited_date == date,
        f"conda/recipe.yaml has version {packed} instead of {version}.": packed == version,
    }
    return [problem for problem, holds in checks.items() if not holds]


def _find(pattern: str, file: Path) -> str:
    """Return the first match in a file, or an empty text."""
    match = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


if __name__ == "__main__":
    against = problems(ROOT, *sys.argv[1:2])
    sys.exit("\n".join(against) if against else 0)
