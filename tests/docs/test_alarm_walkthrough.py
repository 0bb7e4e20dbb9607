"""The commands of the page about an alarm product, on fewer recordings, against a plain count."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed

from ..support.command_line import Outcome, run
from ..support.documentation import code_blocks
from ..support.project import ROOT

PAGE = ROOT / "docs" / "alarm_walkthrough.md"
SMALLER = ["--hours", "600", "--clips", "300"]
COOLDOWN, BEFORE, AFTER = 60.0, 1.0, 2.0  # of the page's Alarm


@dataclass
class PlainCount:
    """What a loop over the clips finds at some thresholds, by class."""

    false_alarms: dict[str, int]
    references: dict[str, int]
    latencies: dict[str, list[float]]
    """Of the references that are found."""
    days: float

    @property
    def miss_rate(self) -> float:
        """The mean over the classes."""
        missed = [1 - len(self.latencies[c]) / n for c, n in self.references.items()]
        return sum(missed) / len(missed)

    @property
    def per_day(self) -> float:
        """The false alarms of all classes together."""
        return sum(self.false_alarms.values()) / self.days


def plain_count(
    folder: Path, clips: Iterable[str], thresholds: dict[str, float], system: str = "new.store"
) -> PlainCount:
    """Count alarms by the words of the page."""
    scores = sed.read_scores(folder / system)
    events: dict[str, list[tuple[float, float, str]]] = {}
    for line in (folder / "ground_truth.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        clip, *times, label = line.split("\t")
        if label:
            events.setdefault(clip, []).append((float(times[0]), float(times[1]), label))
    count = PlainCount(dict.fromkeys(thresholds, 0), dict.fromkeys(thresholds, 0), {}, 0.0)
    count.latencies = {label: [] for label in thresholds}
    for clip in clips:
        count.days += (3600 if clip not in events else 30) / 86400
        for column, label in enumerate(scores.classes):
            active = scores[clip].values[:, column].astype(float) > thresholds[label]
            alarms: list[float] = []
            for frame in np.flatnonzero(active & ~np.append(False, active[:-1])):
                time = float(frame) * 0.5
                if not alarms or time - alarms[-1] >= COOLDOWN:
                    alarms.append(time)
            windows = [
                (a, a - BEFORE, b + AFTER) for a, b, name in events.get(clip, []) if name == label
            ]
            count.references[label] += len(windows)
            count.false_alarms[label] += sum(
                not any(first <= alarm <= last for _, first, last in windows) for alarm in alarms
            )
            for begin, first, last in windows:
                inside = [alarm - begin for alarm in alarms if first <= alarm <= last]
                count.latencies[label] += inside[:1]
    return count


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[list[str], Outcome]]]:
    """A folder in which all commands of the page ran, and what each printed."""
    folder = tmp_path_factory.mktemp("alarms")
    lines = "".join(code_blocks(PAGE, "console")).splitlines()
    done = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in lines:
            program, *arguments = shlex.split(line.removeprefix("$ "))
            assert program == "sedscope"
            if arguments[0] == "demo":
                arguments[2:] = SMALLER
            done.append((arguments, run(*arguments)))
    return folder, done


def clips_of(folder: Path, name: str) -> list[str]:
    return (folder / "product" / name).read_text(encoding="utf-8").splitlines()


def table(outcome: Outcome, first: str) -> list[list[str]]:
    """The rows of the table whose header begins with a word, without rules."""
    lines = iter(outcome.out.splitlines())
    rows = []
    for line in lines:
        if line.startswith(first):
            rows = [re.split(r"\s{2,}", row.strip()) for row in iter(lambda: next(lines, ""), "")]
    return [row for row in rows if not row[0].startswith("─")]


def test_every_command_runs(product: tuple[Path, list[tuple[list[str], Outcome]]]) -> None:
    folder, done = product
    assert len(done) == 10
    at_points = sed.OperatingPoints.load(folder / "points.toml").thresholds
    judged = plain_count(folder / "product", clips_of(folder, "test.txt"), dict(at_points))
    for arguments, outcome in done:
        unmet = "--require" in arguments and (judged.per_day > 1 or judged.miss_rate > 0.6)
        assert outcome.code == int(unmet), (arguments, outcome.err)
    written = {path.name for path in folder.iterdir()}
    assert written >= {"points.toml", "unguarded.toml", "points.h", "latency.png", "comparison.xml"}
    assert written >= {"evaluation.xml", "events.tsv"}


def test_the_python_of_the_page_runs(
    product: tuple[Path, list[tuple[list[str], Outcome]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(product[0])
    names: dict[str, object] = {}
    for block in code_blocks(PAGE, "python"):
        exec(compile(block, PAGE.name, "exec"), names)
    axes = names["axes"]
    assert axes.get_xlabel() == "false alarms per day"  # type: ignore[attr-defined]


@pytest.mark.parametrize("points", ["unguarded.toml", "points.toml"])
def test_tuned_thresholds_have_the_printed_false_alarms(
    product: tuple[Path, list[tuple[list[str], Outcome]]], points: str
) -> None:
    folder, done = product
    (outcome,) = (outcome for arguments, outcome in done if arguments[-1] == points)
    thresholds = dict(sed.OperatingPoints.load(folder / points).thresholds)
    counted = plain_count(folder / "product", clips_of(folder, "tuning.txt"), thresholds)
    *classes, together = table(outcome, "class")
    for label, _, precision, recall, _, per_day, *_ in classes:
        false, found = counted.false_alarms[label], len(counted.latencies[label])
        assert precision == f"{found / (found + false):.4f}"
        assert recall == f"{found / counted.references[label]:.4f}"
        assert per_day == f"{false / counted.days:.4g}"
    assert together[1:3] == [f"{1 - counted.miss_rate:.4f}", f"{counted.per_day:.4g}"]
    assert counted.per_day <= 1


def test_misses_and_latencies_on_the_other_half(
    product: tuple[Path, list[tuple[list[str], Outcome]]],
) -> None:
    folder, done = product
    thresholds = dict(sed.OperatingPoints.load(folder / "points.toml").thresholds)
    clips = clips_of(folder, "test.txt")
    counted = plain_count(folder / "product", clips, thresholds)
    (evaluated,) = (outcome for arguments, outcome in done if "--by" in arguments)
    for label, references, _, miss_rate, per_day in table(evaluated, "class")[:-1]:
        found = len(counted.latencies[label])
        assert int(references) == counted.references[label]
        assert miss_rate.split()[0] == f"{1 - found / counted.references[label]:.4f}"
        assert per_day.split()[0] == f"{counted.false_alarms[label] / counted.days:.4f}"
    overall = table(evaluated, "class")[-1]
    assert overall[2].split()[0] == f"{counted.miss_rate:.4f}"
    assert overall[3].split()[0] == f"{counted.per_day:.4f}"
    environment = dict(
        line.split("\t")
        for line in (folder / "product" / "environments.tsv").read_text(encoding="utf-8").splitlines()
    )
    for group, number, _, _, miss_rate, per_day in table(evaluated, "group"):
        of_group = [clip for clip in clips if environment[clip] == group]
        part = plain_count(folder / "product", of_group, thresholds)
        assert int(number) == len(of_group)
        assert miss_rate.split()[0] == f"{part.miss_rate:.4f}"
        assert per_day.split()[0] == f"{part.per_day:.4f}"
    (latency,) = (outcome for arguments, outcome in done if arguments[0] == "latency")
    for label, _, share, *percentiles in table(latency, "class")[:-1]:
        times = sorted(counted.latencies[label])
        assert share == f"{len(times) / counted.references[label]:.3f}"
        ranks = [math.ceil(len(times) * percentile / 100) for percentile in (50, 90, 95, 99)]
        assert percentiles == [f"{times[rank - 1]:.3f}" for rank in ranks]


def test_releases_are_compared_at_one_false_alarm_a_day(
    product: tuple[Path, list[tuple[list[str], Outcome]]],
) -> None:
    folder, done = product
    (compared,) = (outcome for arguments, outcome in done if arguments[0] == "compare")
    clips = clips_of(folder, "test.txt")
    values = dict(row[:2] for row in table(compared, "system"))
    points = table(compared, "class  ")
    for column, name in enumerate(("old", "new"), 1):
        scores = sed.read_scores(folder / "product" / f"{name}.store").only(clips)
        truth = sed.read_ground_truth(
            folder / "product" / "ground_truth.tsv", durations=folder / "product" / "durations.tsv"
        )
        metric = sed.RecallAtFalseAlarms(sed.Alarm(before=BEFORE), 1, per="day")
        result = sed.evaluate(scores, truth, metric, clips=clips)[metric]
        counted = plain_count(folder / "product", clips, result.thresholds, f"{name}.store")
        assert values[name].split()[0] == f"{1 - counted.miss_rate:.4f}"
        for row in points:
            assert row[column].split()[0] == f"{counted.false_alarms[row[0]] / counted.days:.4g}"
            assert counted.false_alarms[row[0]] <= counted.days
    assert 'failures="0"' in (folder / "comparison.xml").read_text(encoding="utf-8")


def test_the_header_has_the_thresholds_in_single_precision(
    product: tuple[Path, list[tuple[list[str], Outcome]]],
) -> None:
    folder, _ = product
    header = (folder / "points.h").read_text(encoding="utf-8")
    for label, threshold in sed.OperatingPoints.load(folder / "points.toml").thresholds.items():
        (single,) = re.findall(rf"([\d.]+)f, /\* {label} \*/", header)
        next_one = np.nextafter(np.float32(single), np.float32(2))
        assert float(np.float32(single)) <= threshold < float(next_one)
    assert '"Cry",' in header
