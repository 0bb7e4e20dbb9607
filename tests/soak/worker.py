"""One worker: draws cases, judges them, makes failures small and saves them, and reports what it did."""

from __future__ import annotations

import importlib.util
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .case import Case, Mismatch
from .checks import CHECKS
from .checks.check import Check
from .minimise import minimise

SAVED_PER_KIND = 2
"""Of failures of one kind, so many are made small and saved; the others are only counted."""


@dataclass(frozen=True)
class Failure:
    """A case that failed."""

    check: str
    seed: str
    kind: str
    message: str
    path: Path | None = None


@dataclass
class Totals:
    """What was done so far."""

    compared: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By check and by kind of thing compared."""
    cases: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By check and kind."""
    core_seconds: float = 0.0
    """What the processor spent, which on a busy machine is less than the time that passed."""

    @property
    def clips(self) -> int:
        """Clips judged against the brute force or the oracle."""
        return sum(number for (_, kind), number in self.compared.items() if kind == "clips")

    def add(self, other: Totals) -> None:
        """Add what another worker did."""
        self.compared.update(other.compared)
        self.cases.update(other.cases)
        for check, seconds in other.seconds.items():
            self.seconds[check] += seconds
        self.failures.update(other.failures)
        self.core_seconds += other.core_seconds


def available_checks() -> list[Check]:
    """The checks whose optional packages are installed."""
    return [
        check
        for check in CHECKS.values()
        if all(importlib.util.find_spec(package) for package in check.needs)
    ]


def draw(seed: str) -> Case:
    """The case of a seed, which begins with the name of its check."""
    return CHECKS[seed.split("/")[0]].draw(Random(seed), seed)


@contextmanager
def strict() -> Iterator[None]:
    """Warnings about data are expected; those about arithmetic are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning, module="sedscope")
        yield


def failure_kind(case: Case) -> tuple[str, str] | None:
    """How a case fails, as a kind without values and a message; None if it does not."""
    with strict():
        try:
            CHECKS[case.check].judge(case)
        except Mismatch as error:
            return error.what, str(error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}: {where.name}"
            return f"{type(error).__name__} in {place}", str(error)
    return None


class Worker:
    """Runs checks in turn, so that each gets its share of the time."""

    def __init__(
        self,
        seed: str,
        folder: Path,
        *,
        announce: Callable[[str], None] = lambda seed: None,
        report: Callable[[Failure], None] = lambda failure: None,
    ) -> None:
        self.seed = seed
        self.folder = folder
        self.announce = announce
        self.report = report
        self.totals = Totals()
        self.checks = available_checks()
        self.number = 0

    def run(self, seconds: float, *, tick: Callable[[Totals], None] = lambda totals: None) -> None:
        """Judge cases until the time is over, at least one of each check."""
        end = time.monotonic() + seconds
        with strict():
            while time.monotonic() < end or len(self.totals.cases) < len(self.checks):
                self.step()
                tick(self.totals)

    def step(self) -> None:
        """Judge one case of the check that is furthest behind its share."""
        spent = self.totals.seconds
        check = min(self.checks, key=lambda check: spent[check.name] / check.share)
        self.number += 1
        seed = f"{check.name}/{self.seed}/{self.number}"
        self.announce(seed)
        begin = time.monotonic()
        case = draw(seed)
        try:
            compared = check.judge(case)
        except Exception:
            self._failed(case)
        else:
            self.totals.compared.update({(check.name, kind): n for kind, n in compared.items()})
        self.totals.cases[check.name] += 1
        self.totals.core_seconds = time.process_time()
        spent[check.name] += time.monotonic() - begin

    def _failed(self, case: Case) -> None:
        found = failure_kind(case)
        if found is None:
            found = ("passes when it is run again", "")
        kind, message = found
        self.totals.failures[case.check, kind] += 1
        if self.totals.failures[case.check, kind] > SAVED_PER_KIND:
            return

        def fails(smaller: Case) -> bool:
            again = failure_kind(smaller)
            return again is not None and again[0] == kind

        small = minimise(case, fails)
        path = small.save(self.folder)
        message = (failure_kind(small) or found)[1]
        self.report(Failure(case.check, case.seed, kind, message, path))
