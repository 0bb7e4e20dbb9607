"""The steps of the page about BirdNET, in its order, and what they claim, against plain counts."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import Outcome, run
from ..support.project import ROOT

PAGE = ROOT / "docs" / "birdnet_walkthrough.md"


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Outcome]]:
    """A folder in which all steps were done, and what each command printed."""
    folder = tmp_path_factory.mktemp("birds")
    outcomes: dict[str, Outcome] = {}
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        steps = re.findall(r"```(console|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        for language, block in steps:
            if language == "python":
                exec(compile(block, PAGE.name, "exec"), names)
                continue
            for line in block.splitlines():
                program, *arguments = shlex.split(line.removeprefix("$ "))
                assert program == "sedscope"
                outcomes[" ".join(arguments[:3])] = outcome = run(*arguments)
                assert outcome.code == 0, (line, outcome.err)
    return folder, outcomes


def windows_and_calls(folder: Path) -> tuple[list[tuple[str, str, float, bool]], int, dict[str, int]]:
    """Clip, species, confidence and whether it is right of each window; all windows; those with a call."""
    calls = sed.read_events(folder / "birds/calls.tsv")
    detected = []
    for clip, events in sed.read_events(folder / "birds/birdnet.csv").items():
        for onset, offset, species, confidence in events:
            right = any(
                name == species and min(offset, end) - max(onset, begin) >= min(0.5, end - begin)
                for begin, end, name in calls[clip]
            )
            detected.append((clip, species, confidence, right))
    with_call = dict.fromkeys({species for _, species, _, _ in detected}, 0)
    for of_clip in calls.values():
        for species in with_call:
            times = [event[:2] for event in of_clip if event[2] == species]
            with_call[species] += sum(
                any(
                    min(3.0 * k + 3, end) - max(3.0 * k, begin) >= min(0.5, end - begin)
                    for begin, end in times
                )
                for k in range(200)
            )
    return detected, 200 * len(calls), with_call


def test_both_formats_of_birdnet_are_alike(birds: tuple[Path, dict[str, Outcome]]) -> None:
    folder, _ = birds
    table, raven = (
        sed.read_events(folder / "birds" / name)
        for name in ("birdnet.csv", "birdnet.selection.table.txt")
    )
    assert {clip.removesuffix(".wav"): events for clip, events in raven.items()} == dict(table)
    assert len(table) == 40
    with (folder / "birds/sites.csv").open(encoding="utf-8") as file:
        assert len({row["group"] for row in csv.DictReader(file)}) == 5


def test_the_review_says_what_all_calls_say(birds: tuple[Path, dict[str, Outcome]]) -> None:
    folder, outcomes = birds
    assert outcomes["review plan birds/birdnet.csv"].out.startswith("460 rows")
    detected, windows, with_call = windows_and_calls(folder)
    assert f"{len(detected)} windows" in PAGE.read_text(encoding="utf-8")
    points = sed.OperatingPoints.load(folder / "confidence.toml")
    system = sed.ScoredEvents.from_events(sed.read_events(folder / "birds/birdnet.csv"))
    review = sed.review.read_review(folder / "answered.csv")
    durations = dict.fromkeys(system, 600.0)
    estimates = sed.review.estimate(system, review, durations=durations)
    misses = 0
    for species, estimate in estimates.per_class.items():
        kept = [r for _, s, c, r in detected if s == species and c > points.thresholds[species]]
        assert sum(kept) / len(kept) >= 0.8
        right = [r for _, s, _, r in detected if s == species]
        assert estimate.density is not None
        assert estimate.recall is not None
        intervals = (
            (sum(right) / len(right), [part[-1] for part in estimate.precision]),
            (with_call[species] / windows, list(estimate.density)),
            (sum(right) / with_call[species], [part[-1] for part in estimate.recall]),
        )
        misses += sum(not low <= true <= high for true, (_, low, high) in intervals)
    assert misses <= 1  # of twelve 95 % intervals


def test_the_page_shows_what_the_command_prints(birds: tuple[Path, dict[str, Outcome]]) -> None:
    printed = birds[1]["review estimate birds/birdnet.csv"].out
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown.strip() == "\n".join(line.rstrip() for line in printed.strip().splitlines())


def test_corrections_add_overlooked_calls(birds: tuple[Path, dict[str, Outcome]]) -> None:
    folder, _ = birds
    before, after = (sed.read_events(folder / name) for name in ("birds/raven", "corrected"))
    with (folder / "changes.csv").open(encoding="utf-8") as file:
        changes = list(csv.DictReader(file))
    assert changes
    added = sum(map(len, after.values())) - sum(map(len, before.values()))
    assert added == len(changes)
