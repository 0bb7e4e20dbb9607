"""Requirements that a command checks at its end: status 1 and a line for each that is not met; JUnit XML."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import SedscopeError, listing
from ..escaping import html
from .options.groups import option

if TYPE_CHECKING:
    from ..evaluation.result import Evaluation
    from ..ranking.comparison_result import Comparison

JUNIT = option(
    None, "Write which requirements are met to this file (JUnit XML).", "--junit", writes="file"
)
_REQUIREMENT = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign>>=|<=)\s*(?P<limit>[^<>=]+?)\s*")


@dataclass(frozen=True)
class Outcome:
    """Whether a requirement is met, and what was measured."""

    requirement: str
    met: bool
    measured: str


@dataclass(frozen=True)
class Requirement:
    """The least or the largest value of a metric that is accepted."""

    name: str
    at_least: bool
    limit: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a requirement such as ``psds1 >= 0.4``."""
        match = _REQUIREMENT.fullmatch(text)
        try:
            limit = math.nan if match is None else float(match["limit"])
        except ValueError:
            limit = math.nan
        if match is None or not math.isfinite(limit):
            raise SedscopeError(
                f"--require {text!r} is not a requirement. Write METRIC >= NUMBER or METRIC <= NUMBER, e.g. "
                '--require "psds1 >= 0.4".'
            )
        return cls(match["name"], match["sign"] == ">=", limit)

    def outcome(self, result: Evaluation) -> Outcome:
        """Say whether a result meets it. A value that is not defined does not."""
        of_name = {name: metric for metric, name in result.names.items()}
        if self.name not in of_name:
            raise SedscopeError(
                f"--require: {self.name!r} was not measured. Choose from {listing([*of_name], limit=30)}, "
                "or add --metric."
            )
        value = float(result[of_name[self.name]].value)
        met = value >= self.limit if self.at_least else value <= self.limit
        text = f"{self.name} {'>=' if self.at_least else '<='} {self.limit:g}"
        return Outcome(text, met, f"{self.name} is {value:.6g}")


def not_worse(comparison: Comparison, margin: float) -> list[Outcome]:
    """Say which systems are worse than the first one: the interval of the difference lies beyond a margin."""
    first, *others = comparison.systems
    outcomes = []
    for metric, name in comparison.names.items():
        for other in others:
            difference = comparison.differences[metric].get((other, first))
            if difference is None:  # both are published values
                continue
            worst = difference.high if metric.higher_is_better else -difference.low
            outcomes.append(
                Outcome(
                    f"{other} is not worse than {first} in {name} (margin {margin:g})",
                    bool(worst >= -margin),  # not met if it is not defined
                    f"the difference is {difference.value:+.4f} "
                    f"({difference.low:+.4f} … {difference.high:+.4f})",
                )
            )
    return outcomes


def conclude(outcomes: Sequence[Outcome], junit: Path | None = None) -> None:
    """Print requirements that are not met, write all of them, and end with status 1 if there are any."""
    if junit is not None:
        from ..io.atomic_write import write_text

        write_text(junit, _junit(outcomes))
    unmet: dict[str, list[str]] = {}
    for outcome in outcomes:
        if not outcome.met:
            unmet.setdefault(outcome.measured, []).append(outcome.requirement)
    for measured, requirements in unmet.items():
        typer.echo(f"not met: {listing(requirements)}: {measured}.", err=True)
    if unmet:
        raise typer.Exit(1)


def _junit(outcomes: Iterable[Outcome]) -> str:
    """Return a test suite with a test case for each requirement."""
    cases = [
        f'  <testcase classname="sedscope" name="{html(outcome.requirement)}">'
        + ("" if outcome.met else f'<failure message="{html(outcome.measured)}"/>')
        + "</testcase>\n"
        for outcome in outcomes
    ]
    failures = sum(not outcome.met for outcome in outcomes)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="sedscope" tests="{len(cases)}" failures="{failures}">\n'
        f"{''.join(cases)}</testsuite>\n"
    )
