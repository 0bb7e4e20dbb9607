"""What validation finds: errors, warnings, and what would be evaluated."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import SedscopeError, counted, listing
from ..io.atomic_write import write_text

Severity: TypeAlias = Literal["error", "warning"]
_SHOWN = 1000


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (``error``) or odd (``warning``), and where."""

    severity: Severity
    kind: str
    """A short name, for machines."""
    what: str
    where: tuple[str, ...] = ()
    """Clips, classes, or rows of files."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.what}" + (f": {listing(self.where)}" if self.where else "")


@dataclass(frozen=True)
class Validation:
    """What was found, errors first, and what would be evaluated."""

    findings: tuple[Finding, ...]
    summary: Mapping[str, Any]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What keeps the data from being evaluated."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is odd, though it can be evaluated."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    def __str__(self) -> str:
        lines = [*map(str, self.findings), ""] if self.findings else []
        return "\n".join([*lines, *(f"{name}: {value}" for name, value in self._summary_lines())])

    def _summary_lines(self) -> list[tuple[str, str]]:
        found = f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        return [("found", found), *((name, _shown(value)) for name, value in self.summary.items())]

    def to_dict(self) -> dict[str, Any]:
        """The findings and the summary as plain values."""
        findings = [
            {
                "severity": finding.severity,
                "kind": finding.kind,
                "what": finding.what,
                "where": list(finding.where[:_SHOWN]),
                "count": len(finding.where),
            }
            for finding in self.findings
        ]
        counts = {"errors": len(self.errors), "warnings": len(self.warnings)}
        return {**counts, "summary": dict(self.summary), "findings": findings}

    def to_json(self, path: str | Path | None = None) -> str:
        """The same as JSON; written to a file if one is named."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        if path is not None:
            write_text(path, text)
        return text


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else f"{value}"


@dataclass
class Findings:
    """What is found on the way."""

    found: list[Finding] = field(default_factory=list)

    def add(self, severity: Severity, kind: str, what: str, where: Collection[str] = ()) -> None:
        """Take note of something."""
        self.found.append(Finding(severity, kind, what, tuple(where)))

    def failed(self, kind: str, error: SedscopeError) -> None:
        """Take note of what could not be read."""
        self.add("error", kind, str(error))

    def ordered(self) -> tuple[Finding, ...]:
        """Errors first."""
        return tuple(sorted(self.found, key=lambda finding: finding.severity != "error"))
