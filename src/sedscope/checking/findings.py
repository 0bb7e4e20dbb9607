"""The result of a validation: errors, warnings, and a summary of what would be evaluated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..alignment.alignment import Problems
from ..errors import (
    SedscopeError,
    by_kind,
    collected_warnings,
    counted,
    listing,
    problem_advice,
    problem_lines,
    readable,
    shortened,
    subject,
)
from ..escaping import json_text, one_line
from ..results.text import picked, written

Severity: TypeAlias = Literal["error", "warning"]
SummaryValue: TypeAlias = "int | float | list[str]"

_LOCATION_LIMIT = 1000  # locations of one finding in JSON
_LINE_LIMIT = 100  # lines of one finding that are printed
_LINE_LENGTH = 1000  # characters


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or unusual.

    Attributes
    ----------
    severity : {"error", "warning"}
        An error keeps the data from being evaluated. A warning does not.
    kind : str
        A short name for programs, such as ``"overlaps"``.
    what : str
        What was found, as a sentence without the full stop.
    where : tuple of str
        The clips, classes or rows of files.
    lines : bool
        Whether each item of `where` is a message of its own, such as ``truth.tsv:3: no label``. These are
        printed on lines of their own, of many that are alike only the first.
    advice : str
        What to do, in sentences; empty if that is part of `what`.

    Examples
    --------
    >>> print(Finding("warning", "no-frames", "2 clips have no frames", ("a", "b")))
    warning: 2 clips have no frames: a, b.
    """

    severity: Severity
    kind: str
    what: str
    where: tuple[str, ...] = ()
    lines: bool = False
    advice: str = ""

    def __str__(self) -> str:
        if self.lines and self.where:
            kinds = by_kind(self.where)
            shown = [shortened(line, _LINE_LENGTH) for line in kinds[:_LINE_LIMIT]]
            hidden = len(kinds) - _LINE_LIMIT
            more = [f"and {counted(hidden, 'more kind')} of problems"] if hidden > 0 else []
            return "\n".join([f"{self.severity}: {self.what}:", *shown, *more])
        where = f": {listing(self.where)}" if self.where else ""
        end = "" if f"{self.what}{where}".endswith("?") else "."
        return f"{self.severity}: {self.what}{where}{end} {self.advice}".rstrip()


@dataclass(frozen=True, repr=False)
class Validation:
    """The result of :func:`sedscope.validate`. Print it to read it.

    Attributes
    ----------
    findings : tuple of Finding
        Everything that was found, errors first.
    summary : mapping
        What would be evaluated: the numbers of clips, frames, events and hours, and the classes.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> scores = sed.Scores.from_arrays({"a": [[0.1], [0.2]]}, classes=["Dog"], frame=1.0)
    >>> validation = sed.validate(scores, truth)
    >>> validation.errors
    ()
    >>> validation.summary["evaluated clips"]
    1
    """

    findings: tuple[Finding, ...]
    summary: Mapping[str, SummaryValue]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the data from being evaluated."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are unusual but do not prevent an evaluation."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    def __repr__(self) -> str:
        return f"<Validation: {self._totals()}>"

    def _totals(self) -> str:
        return f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"

    def __str__(self) -> str:
        lines = [*map(str, self.findings), ""] if self.findings else []
        summary = [f"{name}: {_value_text(value)}" for name, value in self.summary.items()]
        return "\n".join([*lines, f"found: {self._totals()}", *summary])

    def to_dict(self) -> dict[str, Any]:
        """Return the findings and the summary as plain values.

        Returns
        -------
        dict
            The keys are ``errors`` and ``warnings`` (how many there are), ``summary`` and ``findings``.
            A finding lists at most 1000 locations; its ``count`` is the number of all.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> sed.validate(scores, truth).to_dict()["errors"]
        0
        """
        return {
            "errors": len(self.errors),
            "warnings": len(self.warnings),
            "summary": dict(self.summary),
            "findings": [
                {
                    **picked(finding, "severity", "kind", "what", "advice"),
                    "where": list(finding.where[:_LOCATION_LIMIT]),
                    "count": len(finding.where),
                }
                for finding in self.findings
            ],
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the findings and the summary as JSON.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the JSON to.

        Returns
        -------
        str
            The JSON.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> '"errors": 0' in sed.validate(scores, truth).to_json()
        True
        """
        return written(f"{json_text(self.to_dict(), indent=2)}\n", path)


def _value_text(value: SummaryValue) -> str:
    return ", ".join(map(one_line, value)) if isinstance(value, list) else f"{value}"


@dataclass
class Findings(Problems):
    """Collects findings while the data is checked."""

    _findings: list[Finding] = field(default_factory=list)

    def add(
        self,
        severity: Severity,
        kind: str,
        what: str,
        where: Collection[str] = (),
        *,
        lines: bool = False,
        advice: str = "",
    ) -> None:
        """Add a finding. A full stop at the end of ``what`` is removed."""
        text, places = readable(what.removesuffix(".")), tuple(map(readable, where))
        self._findings.append(Finding(severity, kind, text, places, lines, readable(advice)))

    def error(self, kind: str, what: str, where: Collection[str] = (), advice: str = "") -> None:
        """Add an error as :class:`~sedscope.alignment.alignment.Problems` raises it."""
        self.add("error", kind, what, where, advice=advice)

    def warning(self, kind: str, what: str, where: Collection[str] = (), *, listed: bool = True) -> None:
        """Add a warning."""
        self.add("warning", kind, what, where)

    def add_things(
        self, severity: Severity, kind: str, things: Collection[str], noun: str, phrase: str
    ) -> None:
        """Add a finding about things, if there are any. ``phrase``: what is wrong with each of them."""
        if things:
            self.add(severity, kind, subject(len(things), noun, phrase), things)

    def add_notes(self, kind: str, notes: Iterable[str], where: str = "") -> None:
        """Add notes as warnings. ``where``: what they are about, as their beginning."""
        for note in notes:
            self.add("warning", kind, f"{where}: {note}" if where else note)

    @property
    def has_errors(self) -> bool:
        """Whether one of the findings is an error."""
        return any(finding.severity == "error" for finding in self._findings)

    def has_errors_of(self, *kinds: str) -> bool:
        """Return whether there is an error of one of these kinds."""
        return any(finding.severity == "error" and finding.kind in kinds for finding in self._findings)

    def add_failure(self, kind: str, error: SedscopeError) -> None:
        """Add the error that kept some of the data from being read."""
        if error.lines:
            self.add_failures(kind, f"{counted(len(error.lines), 'row')} cannot be used", [error])
        else:
            self.add("error", kind, str(error))

    def add_failures(self, kind: str, what: str, errors: Sequence[SedscopeError]) -> None:
        """Add errors as one finding, which ``what`` sums up, with a line for each row of a file."""
        advice = problem_advice(errors)
        what = f"{what}. {advice}" if advice else what
        self.add("error", kind, what, problem_lines(errors), lines=True)

    @contextmanager
    def adding_warnings(self) -> Iterator[None]:
        """Add the warnings of the library that are raised meanwhile."""
        with collected_warnings() as texts:
            yield
        self.add_notes("reading", texts)

    def errors_first(self) -> tuple[Finding, ...]:
        """Return all findings, errors first."""
        return tuple(sorted(self._findings, key=lambda finding: finding.severity != "error"))
