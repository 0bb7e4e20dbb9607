"""The options of the engine: all commands that pass through clips take them, and no output changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.files import write_durations

METRIC = ("--metric", "BestFScore(Collar(onset=0.5))")
PSDS = ("--metric", "PSDS(Intersection(0.7, 0.7))")
SWEEP = ("--sweep", "MedianFilter(0|0.3)")

COMMANDS: dict[str, tuple[str, ...]] = {
    "evaluate": ("evaluate", "good", "truth.tsv", *METRIC, *PSDS, "--json", "out/result.json"),
    "evaluate with intervals": ("evaluate", "good", "truth.tsv", *PSDS, "--bootstrap", "20"),
    "evaluate with a report": ("evaluate", "good", "truth.tsv", *METRIC, "--report", "out/page.html"),
    "report": ("report", "good", "truth.tsv", *PSDS, "-o", "out/page.html"),
    "compare": ("compare", "good", "bad", "truth.tsv", *PSDS, "--bootstrap", "20", "-o", "out/x.csv"),
    "compare runs": ("compare", "a=good,again", "bad", "truth.tsv", *METRIC, "--bootstrap", "20"),
    "compare with a report": (
        *("compare", "good", "bad", "truth.tsv", *METRIC, "--bootstrap", "20"),
        *("--report", "out/page.html"),
    ),
    "deltas": ("deltas", "good", "truth.tsv", *METRIC, *PSDS, "-o", "out/good.deltas"),
    "tune by objective": ("tune", "good", "truth.tsv", "--min-recall", "0.3", "-o", "out/points.toml"),
    "tune a sweep": ("tune", "good", "truth.tsv", *PSDS, *SWEEP, "-o", "out/points.toml"),
    "tune with folds": ("tune", "good", "truth.tsv", *SWEEP, "--folds", "3", "-o", "out/points.toml"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems, one of them with a second run, on the same clips."""
    folder = tmp_path_factory.mktemp("engines")
    truth = sed.simulate.ground_truth(20, seed=8)
    for name, quality, seed in (("good", 0.8, 0), ("again", 0.8, 5), ("bad", 0.4, 0)):
        sed.write_scores(
            sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed), folder / name
        )
    sed.write_ground_truth(truth, folder / "truth.tsv")
    write_durations(truth, folder / "durations.tsv")
    (folder / "out").mkdir()
    return folder


@pytest.fixture(scope="module")
def scheduler(folder: Path) -> Iterator[str]:
    """The address of a cluster whose worker runs in the folder: the commands name files from there."""
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=":0", silence_logs="CRITICAL"
        )
    with cluster:
        yield cluster.scheduler_address


def outputs(folder: Path, command: tuple[str, ...], *options: object) -> dict[str, object]:
    """Run a command, and return what it prints and the files that it writes."""
    outcome = run(*command, "--durations", "durations.tsv", *options)
    assert outcome.code == 0, outcome.err
    written = {path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())}
    for path in (folder / "out").iterdir():
        path.unlink()
    return {"stdout": outcome.out, "stderr": outcome.err, **written}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_checkpoint_changes_no_output(
    command: tuple[str, ...], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    expected = outputs(folder, command)
    for _ in range(2):  # the second time from what is kept
        assert outputs(folder, command, "--checkpoint", tmp_path / "kept") == expected
    assert list((tmp_path / "kept").rglob("*.deltas"))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_cluster_changes_no_output(
    command: tuple[str, ...], scheduler: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    engine = ("--engine", "dask", "--scheduler", scheduler)
    assert outputs(folder, command, *engine) == outputs(folder, command)


@pytest.mark.parametrize("name", ["evaluate", "report", "compare", "deltas", "tune"])
def test_the_engine_has_its_part_of_the_help(name: str) -> None:
    text = run(name, "--help").out
    _, _, engine = text.partition("\nEngine:\n")
    for option in ("--threads", "--engine", "--scheduler", "--checkpoint"):
        assert option in engine
    assert ("--memory" in text) == (name == "evaluate")


@pytest.mark.parametrize("name", ["report", "compare", "deltas", "tune a sweep", "tune by objective"])
def test_engines_that_do_not_fit(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command = (*COMMANDS[name], "--durations", "durations.tsv")
    lonely = run(*command, "--scheduler", "tcp://127.0.0.1:1")
    assert (lonely.code, lonely.out) == (2, "")
    assert "A scheduler only applies to --engine dask" in lonely.err
    assert not list((folder / "out").iterdir())
