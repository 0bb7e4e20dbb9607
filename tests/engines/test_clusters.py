"""Ray and Spark for real: the bits of threads, with workers that are killed, and within their memory."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric

from ..support.systems import posix_only

METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar()),
    sed.FScore(sed.Segment(1.0), average="micro"),
]


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    package = pytest.importorskip("ray", reason="needs Ray: pip install 'sedscope[ray]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        package.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000
        )
        yield package
        package.shutdown()


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="needs Spark: pip install 'sedscope[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: install default-jre-headless")
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "1g")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(params=["ray", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    request.getfixturevalue(request.param)
    return str(request.param)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sed.GroundTruth]:
    folder = tmp_path_factory.mktemp("set") / "scores"
    truth = sed.simulate.ground_truth(40, seed=4)
    sed.write_scores(sed.simulate.scores(truth, frame=0.1, seed=4), folder)
    return folder, truth


def assert_same(result: sed.Evaluation, expected: sed.Evaluation) -> None:
    assert result.scalars() == expected.scalars()
    for metric in METRICS:
        assert result[metric].thresholds == expected[metric].thresholds
    for psds in METRICS[:2]:
        for label, curve in expected[psds].curve.per_class.items():
            for name in ("efpr", "tpr", "scores"):
                found = getattr(result[psds].curve.per_class[label], name)
                np.testing.assert_array_equal(found, getattr(curve, name))


@pytest.mark.parametrize("in_blocks", [False, True])
def test_clusters_give_the_bits_of_threads(
    engine: Any, in_blocks: bool, stored: tuple[Path, sed.GroundTruth], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, truth = stored
    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: in_blocks)
    steps: list[tuple[int, int]] = []
    run = sed.Run(engine=engine, progress=lambda done, total: steps.append((done, total)))
    result = sed.evaluate(sed.read_scores(folder), truth, METRICS, run=run)
    assert_same(result, sed.evaluate(sed.read_scores(folder), truth, METRICS))
    assert (result.blocks > 1) == in_blocks
    assert (steps[0], steps[-1]) == ((0, 40), (40, 40))
    assert sorted(steps) == steps


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_intervals(engine: Any, stored: tuple[Path, sed.GroundTruth]) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    there, here = (
        sed.evaluate(scores, truth, "psds1", resampling=100, run=sed.Run(engine=name))
        for name in (engine, "threads")
    )
    [metric] = here.intervals
    np.testing.assert_array_equal(there.intervals[metric].values, here.intervals[metric].values)


@posix_only
def test_a_killed_worker_costs_time_not_results(
    engine: Any, stored: tuple[Path, sed.GroundTruth], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, truth = stored
    read, slain = sed.read_scores(folder), tmp_path / "slain"

    def deadly(clip: str) -> Any:
        """The first worker that comes to this clip dies."""
        if clip == "clip_23" and not slain.exists():
            slain.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return read[clip]

    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: True)
    scores = sed.Scores.from_function(truth.clips, deadly, classes=read.classes)
    result = sed.evaluate(scores, truth, METRICS, run=sed.Run(engine=engine))
    assert slain.exists()
    assert_same(result, sed.evaluate(read, truth, METRICS))


def test_clips_that_cannot_be_read_are_all_named(
    engine: Any,
    stored: tuple[Path, sed.GroundTruth],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder, truth = stored
    monkeypatch.setattr("sedscope.progress._LOG_SECONDS", 0)
    read = sed.read_scores(folder)

    def load(clip: str) -> Any:
        if clip in ("clip_03", "clip_35"):
            raise sed.SedscopeError(f"The file of {clip} is broken.")
        return read[clip]

    scores = sed.Scores.from_function(truth.clips, load, classes=read.classes)
    with pytest.raises(sed.SedscopeError, match=r"clip_03 is broken[\s\S]*clip_35 is broken"):
        sed.evaluate(scores, truth, METRICS, run=sed.Run(engine=engine))
    logged = [record.getMessage() for record in caplog.records if record.name == "sedscope"]
    assert sorted(logged) == [
        f"problem: The file of {clip} is broken." for clip in ("clip_03", "clip_35")
    ]


def test_other_errors_of_workers_say_what_happened(
    engine: Any, stored: tuple[Path, sed.GroundTruth]
) -> None:
    folder, truth = stored
    read = sed.read_scores(folder)

    def load(clip: str) -> Any:
        raise MemoryError("no room for this clip")

    scores = sed.Scores.from_function(truth.clips, load, classes=read.classes)
    with pytest.raises(sed.SedscopeError, match=r"no room for this clip"):
        sed.evaluate(scores, truth, METRICS, run=sed.Run(engine=engine))


@pytest.mark.parametrize("remote", [False, True])
def test_finished_parts_are_not_read_again(
    engine: Any,
    remote: bool,
    stored: tuple[Path, sed.GroundTruth],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, truth = stored
    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: True)
    monkeypatch.setattr("sedscope.engines.floor_search._SAMPLE", 8)  # without the broken clip
    kept = tmp_path / "kept"
    kept.mkdir()
    # an address that workers in other processes can open
    checkpoint = f"dir://kept::file://{tmp_path}" if remote else kept
    copied = tmp_path / "scores"
    shutil.copytree(folder, copied)
    broken, whole = copied / "clip_35.tsv", (copied / "clip_35.tsv").read_bytes()
    times = broken.stat().st_mtime_ns
    broken.write_text("onset\toffset\tDog\n0\tx\t1\n")
    run = sed.Run(engine=engine, checkpoint=checkpoint)
    with pytest.raises(sed.SedscopeError, match="clip_35"):
        sed.evaluate(sed.read_scores(copied), truth, METRICS, run=run)
    before = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert before
    broken.write_bytes(whole)
    os.utime(broken, ns=(times, times))
    expected = sed.evaluate(sed.read_scores(folder), truth, METRICS)
    assert_same(sed.evaluate(sed.read_scores(copied), truth, METRICS, run=run), expected)
    after = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(after) == len(before) + 1  # the part that could not be read
    assert before.items() <= after.items()
    damaged = min(after)
    damaged.write_bytes(damaged.read_bytes()[:-3])
    assert_same(sed.evaluate(sed.read_scores(copied), truth, METRICS, run=run), expected)
