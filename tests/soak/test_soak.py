"""The short form of the soak, its saved cases, and what it relies on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest

import sedscope as sed
from sedscope.criteria import Criterion, parse_criterion

from ..support import oracle
from ..support.project import ROOT
from . import brute_force
from .case import FOLDER, Case
from .checks import CHECKS
from .checks import counts as counts_check
from .drawing import Drawer
from .minimise import minimise
from .worker import available_checks, failure_kind

SAVED = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_saved_cases_pass(path: Path) -> None:
    case = Case.from_json(path.read_text(encoding="utf-8"))
    failure = failure_kind(case)
    assert failure is None, failure


def test_a_short_soak(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.soak", "--minutes", "0.25", "--seed", "short"]
    run = subprocess.run(
        [*command, "--cases", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(run.stdout.split("clips judged: ")[1]) > 100
    for check in available_checks():
        assert f"  {check.name}: " in run.stdout


def oracle_counts(
    clips: list[oracle.Clip], label: str, criterion: Criterion
) -> dict[float, oracle.Count]:
    """The same by the oracle."""
    if isinstance(criterion, sed.Intersection):
        return oracle.intersection_counts(
            clips, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
        )
    if isinstance(criterion, sed.IoU):
        crossed = criterion.cross_triggers
        return oracle.iou_counts(clips, label, iou=criterion.threshold, cross_triggers=crossed)
    if isinstance(criterion, sed.Collar):
        onset, offset = (
            None if limit is None else round(1e6 * limit)
            for limit in (criterion.onset, criterion.offset)
        )
        rate, crossed = criterion.offset_rate, criterion.cross_triggers
        return oracle.collar_counts(
            clips, label, onset=onset, offset=offset, offset_rate=rate, cross_triggers=crossed
        )
    if isinstance(criterion, sed.AnyOverlap):
        limits: dict[str, Any] = {
            name: None if (limit := getattr(criterion, name)) is None else round(1e6 * limit)
            for name in ("before", "after", "merge_gap", "split")
        }
        return oracle.any_overlap.any_overlap_counts(clips, label, **limits)
    if isinstance(criterion, sed.Alarm):
        times: dict[str, Any] = {
            name: None if (time := getattr(criterion, name)) is None else round(1e6 * time)
            for name in ("cooldown", "before", "after", "within")
        }
        return oracle.alarm_counts(clips, label, **times)
    if isinstance(criterion, sed.Time):
        return oracle.active_time.time_counts(clips, label, collar=round(1e6 * criterion.collar))
    if isinstance(criterion, sed.Onset):
        tolerance, crossed = round(1e6 * criterion.tolerance), criterion.cross_triggers
        return oracle.collar_counts(
            clips, label, onset=tolerance, offset=None, offset_rate=0, cross_triggers=crossed
        )
    assert isinstance(criterion, (sed.Segment, sed.Clip))
    length = round(1e6 * criterion.length) if isinstance(criterion, sed.Segment) else None
    mean, crossed = criterion.aggregation == "mean", criterion.cross_triggers
    return oracle.segment_counts(clips, label, length=length, mean=mean, cross_triggers=crossed)


@pytest.mark.parametrize("seed", range(60))
def test_the_brute_force_says_what_the_oracle_says(seed: int) -> None:
    drawer = Drawer(Random(seed))
    criterion = drawer.criterion() if seed < 40 else drawer.alarm_criterion()
    case = Case("counts", "", drawer.dtype, drawer.clips(12), [repr(criterion)])
    for clip, of_oracle in zip(case.clips, case.for_oracle(), strict=True):
        found = brute_force.count(clip, criterion)
        for c, label in enumerate(case.classes):
            expected = oracle_counts([of_oracle], label, criterion)
            points = found.points[c]
            got = [(p.tp, p.fp, [n for other, n in enumerate(p.ct) if other != c]) for p in points]
            wanted = [
                (count.tp, count.fp, [count.ct.get(m, 0) for m in case.classes if m != label])
                for count in expected.values()
            ]
            assert got == wanted
            # means may be rounded in other ways
            assert [p.score for p in points] == pytest.approx(list(expected), rel=1e-15)


def test_definitions_are_read_back() -> None:
    for check in CHECKS.values():
        for number in range(5):
            seed = f"{check.name}/{number}"
            case = check.draw(Random(seed), seed)
            assert Case.from_json(case.to_json()).to_json() == case.to_json()
    assert parse_criterion(repr(sed.Collar(1e-6, None))) == sed.Collar(1e-6, None)


def test_failures_are_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    right = brute_force.requirement

    def wrong(share: float, length: int) -> int:
        return right(share, length) + 1

    monkeypatch.setattr(brute_force, "requirement", wrong)
    drawer = Drawer(Random(2), scale="grid", classes=3)
    definitions = [repr(sed.Intersection(0.5, 0.5)), repr(sed.Clip())]
    case = Case("counts", "", drawer.dtype, drawer.clips(50), definitions)
    failure = failure_kind(case)
    assert failure is not None
    small = minimise(case, lambda smaller: failure_kind(smaller) is not None)
    assert len(small.clips) == 1
    assert len(small.classes) == 1
    assert small.definitions == definitions[:1]
    assert len(small.clips[0].edges) <= 4
    monkeypatch.setattr(brute_force, "requirement", right)
    assert counts_check.judge(small)["clips"] == 1


def test_a_run_outlives_its_workers_and_prints_totals_when_it_is_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.soak", "--minutes", "5", "--workers", "1", "--seed", "x"]
    log = tmp_path / "log"
    with log.open("w") as file:
        run = subprocess.Popen(
            [*command, "--cases", str(tmp_path)], cwd=ROOT, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(lambda: _workers(run.pid))
        _workers(run.pid)[0].kill()
        _wait_for(lambda: "the process ends with -9" in log.read_text())
        _wait_for(lambda: _workers(run.pid))
        run.send_signal(signal.SIGTERM)
        assert run.wait(60) == 1
    finally:
        run.kill()
    assert "Interrupted." in log.read_text()
    assert "clips judged:" in log.read_text()


def _workers(parent: int) -> list[Any]:
    """The worker processes, not the process that tracks shared memory."""
    children = psutil.Process(parent).children()
    return [child for child in children if any("spawn_main" in word for word in child.cmdline())]


def _wait_for(condition: Any) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
