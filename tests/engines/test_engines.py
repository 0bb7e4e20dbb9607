"""All engines give the same bits, and survive failures on the way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.counting import deltas as clip_deltas
from sedscope.counting.delta_files import merge_files
from sedscope.counting.request import Floor
from sedscope.engines import floor_search
from sedscope.engines.checkpoint import CheckpointEngine
from sedscope.engines.dask_client import wait_for
from sedscope.engines.engine import clip_ranges, merge_parts, part_deltas, part_of
from sedscope.metrics import Metric
from sedscope.metrics.metric import delta_requests

from ..support.examples import METRICS
from ..support.passes import find_all_deltas
from ..support.systems import posix_only

CRITERIA = {repr(metric.criterion): metric.criterion for metric in METRICS}
PSDS = [sed.presets.PSDS1, sed.presets.PSDS2]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sed.GroundTruth]:
    """A small set in files."""
    folder = tmp_path_factory.mktemp("set") / "scores"
    truth = sed.simulate.ground_truth(60, seed=4)
    sed.write_scores(sed.simulate.scores(truth, frame=0.1, seed=4), folder)
    return folder, truth


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with made, distributed.Client(made) as client:
        yield client


def in_memory(folder: Path) -> sed.Scores:
    scores = sed.read_scores(folder)
    held = dict(scores)
    return sed.Scores(held, held.__getitem__, classes=scores.classes, in_memory=True)


def streamed(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    return sed.evaluate(scores, truth, metrics)


def on_one_thread(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    return sed.evaluate(scores, truth, metrics, run=sed.Run(threads=1))


def in_pieces(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    def pieces(clip: str) -> sed.ClipPieces:
        whole = scores[clip]
        return sed.ClipPieces(lambda: np.array_split(whole.values, 7), edges=whole.edges)

    cut = sed.Scores.from_function(truth.clips, pieces, classes=scores.classes)
    return sed.evaluate(cut, truth, metrics)


def class_by_class(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clip_deltas, "ROWS_TO_KEEP", 0)
        return sed.evaluate(scores, truth, metrics)


def checkpointed(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    first = sed.evaluate(scores, truth, metrics, run=sed.Run(checkpoint=tmp_path))
    again = sed.evaluate(scores, truth, metrics, run=sed.Run(checkpoint=tmp_path))
    assert again.scalars() == first.scalars()
    return again


def merged_by_hand(scores: sed.Scores, truth: sed.GroundTruth, metrics: Any, tmp_path: Path) -> Any:
    paths = []
    for k in range(3):
        found = find_all_deltas(scores, truth, metrics, clips=truth.clips[k * 20 : (k + 1) * 20])
        paths.append(tmp_path / f"{k}.deltas")
        sed.save_deltas(found.values(), paths[-1])
    return sed.evaluate_deltas(merge_files(paths), metrics)


WAYS: dict[str, Callable[..., Any]] = {
    "streamed": streamed,
    "on one thread": on_one_thread,
    "in pieces": in_pieces,
    "class by class": class_by_class,
    "checkpointed": checkpointed,
    "merged by hand": merged_by_hand,
}
CASES = [
    (way, name)
    for way in [*WAYS, "on a cluster", "in blocks on a cluster"]
    for name, criterion in CRITERIA.items()
    if way != "in pieces"
    or (criterion.reads_pieces and not any(m.variants for m in METRICS if m.criterion == criterion))
]


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize(("way", "criterion"), CASES)
def test_every_way_gives_the_same_bits(
    way: str,
    criterion: str,
    stored: tuple[Path, sed.GroundTruth],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    metrics = [metric for metric in METRICS if repr(metric.criterion) == criterion]
    if way.endswith("on a cluster"):
        cluster = request.getfixturevalue("cluster")
        if way.startswith("in blocks"):
            monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: True)
            monkeypatch.setattr("sedscope.evaluation.cluster_blocks._CLASSES_OF_A_BLOCK", 3)
        result = sed.evaluate(scores, truth, metrics, run=sed.Run(engine="dask", scheduler=cluster))
    else:
        result = WAYS[way](scores, truth, metrics, tmp_path)
    expected = sed.evaluate(in_memory(folder), truth, metrics).scalars()
    np.testing.assert_equal(result.scalars(), expected)


@pytest.mark.parametrize("size", [1, 7, 60])
def test_parts_of_any_size(size: int, stored: tuple[Path, sed.GroundTruth]) -> None:
    folder, truth = stored
    alignment = align(sed.read_scores(folder), truth)
    requests = delta_requests(PSDS)
    parts = [part_deltas(part_of(alignment, clips), requests, 1) for clips in clip_ranges(60, size)]
    merged = merge_parts(*parts)
    for psds in PSDS:
        measured = psds.measure(merged[psds.criterion].counts())
        assert measured.value == sed.evaluate(in_memory(folder), truth, psds)[psds].value


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("too_high", [False, True])
def test_guessed_floors_on_a_cluster(
    in_blocks: bool, too_high: bool, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = sed.simulate.ground_truth(120, seed=5)
    scores = sed.simulate.scores(truth, frame=0.1, seed=5)
    monkeypatch.setattr(floor_search, "_SAMPLE", 30)
    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: in_blocks)
    if too_high:  # for every other class
        estimate = Floor.estimate

        def wrong(self: Floor, sample: Any, clips: int, durations: Any) -> Any:
            floors = estimate(self, sample, clips, durations)
            floors[::2] = np.sort(sample, axis=0)[-2, ::2]
            return floors

        monkeypatch.setattr(Floor, "estimate", wrong)
    metrics: list[Metric[Any]] = [
        sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=20),
        sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=50),
    ]
    passes: list[int] = []
    run = sed.Run(engine="dask", scheduler=cluster, progress=lambda done, _: passes.append(done))
    result = sed.evaluate(scores, truth, metrics, run=run)
    expected = sed.evaluate(scores, truth, metrics)
    assert result.scalars() == expected.scalars()
    for metric in metrics:
        for label, curve in expected[metric].curve.per_class.items():
            found = result[metric].curve.per_class[label]
            for name in ("efpr", "tpr", "scores"):
                np.testing.assert_array_equal(getattr(found, name), getattr(curve, name))
    if in_blocks:
        assert result.blocks == 2
        with pytest.raises(sed.SedscopeError, match="blocks of classes"):
            result.deltas[metrics[0].criterion]


@pytest.mark.parametrize(("bundles", "tasks"), [(1, 14), (32, 310)])
def test_what_a_cluster_holds_does_not_grow_with_the_parts(
    bundles: int, tasks: int, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are counted in bundles, and states that were merged are forgotten."""
    truth = sed.simulate.ground_truth(120, seed=5)
    scores = sed.simulate.scores(truth, frame=0.1, seed=5)
    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: True)
    monkeypatch.setattr("sedscope.engines.cluster._MOST_CLIPS", 2)
    monkeypatch.setattr("sedscope.engines.cluster._BUNDLES_PER_WORKER", bundles)
    scheduler, left = cluster.cluster.scheduler, []

    def states() -> int:
        return sum(task.state == "memory" for task in [*scheduler.tasks.values()])

    def wait_and_look(client: Any, futures: Any, results: Any, *more: Any) -> None:
        wait_for(client, futures, results, *more)
        if futures is not results:
            assert len(scheduler.tasks) <= tasks
            deadline = time.monotonic() + 20
            while states() > len(results) and time.monotonic() < deadline:
                time.sleep(0.05)
            left.append(states() - len(results))

    monkeypatch.setattr("sedscope.engines.dask.wait_for", wait_and_look)
    result = sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=cluster))
    assert result.scalars() == sed.evaluate(scores, truth, PSDS).scalars()
    assert left == [0]


def test_deltas_of_too_many_clips_do_not_come_back(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = sed.simulate.ground_truth(4)
    monkeypatch.setattr("sedscope.engines.cluster._BYTES_OF_A_CELL", 1e15)
    run = sed.Run(engine="dask", scheduler=cluster)
    with pytest.raises(sed.SedscopeError, match=r"need the deltas of single clips .* 4 clips and 7 cl"):
        sed.evaluate(sed.simulate.scores(truth), truth, "psds1", resampling=10, run=run)


def test_a_local_cluster_is_started_and_reports_progress(stored: tuple[Path, sed.GroundTruth]) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    folder, truth = stored
    progress: list[tuple[int, int]] = []
    result = sed.evaluate(
        sed.read_scores(folder),
        truth,
        PSDS,
        run=sed.Run(engine="dask", progress=lambda done, total: progress.append((done, total))),
    )
    assert result.scalars() == sed.evaluate(in_memory(folder), truth, PSDS).scalars()
    assert progress[0] == (0, 60)
    assert progress[-1] == (60, 60)


@pytest.mark.parametrize("way", ["threads", "checkpoint", "dask"])
def test_clips_that_cannot_be_read_are_named_while_others_go_on(
    way: str,
    stored: tuple[Path, sed.GroundTruth],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder, truth = stored
    monkeypatch.setattr("sedscope.progress._LOG_SECONDS", 0)
    monkeypatch.setattr("sedscope.engines.checkpoint.CLIPS_PER_PART", 5)
    monkeypatch.setattr("sedscope.counting.clip_reader._BATCH_CLIPS", 5)
    broken, kept = tmp_path / "scores", tmp_path / "kept"
    shutil.copytree(folder, broken)
    for clip in ("clip_17", "clip_33"):
        (broken / f"{clip}.tsv").write_text("onset\toffset\tDog\n0\tx\t1\n")
    logged_at: dict[int, int] = {}

    def report(done: int, total: int) -> None:
        logged_at[done] = len(caplog.records)
        assert total == 60

    options: dict[str, dict[str, Any]] = {"threads": {"threads": 2}, "checkpoint": {"checkpoint": kept}}
    if way == "dask":
        options[way] = {"engine": "dask", "scheduler": request.getfixturevalue("cluster")}
    run = sed.Run(**options[way], progress=report)
    with pytest.raises(sed.SedscopeError, match=r"^2 [\s\S]*clip_17\.tsv[\s\S]*clip_33\.tsv"):
        sed.evaluate(sed.read_scores(broken), truth, PSDS, run=run)
    records = [record for record in caplog.records if record.name == "sedscope"]
    assert sorted(record.getMessage().partition(": the classes")[0] for record in records) == [
        f"problem: {broken / clip}.tsv" for clip in ("clip_17", "clip_33")
    ]
    assert all(record.levelname == "WARNING" for record in records)
    assert logged_at.keys() >= {0, 60}  # further clips were looked at, and the progress says so
    if way != "dask":  # whose workers go through the clips in any order
        assert (logged_at[15], logged_at[60]) == (0, 2)
        assert 1 in logged_at.values()
    if way == "checkpoint":
        assert len([*kept.glob("*.deltas")]) == 10  # all other parts
    caplog.clear()
    with pytest.raises(sed.SedscopeError, match="clip_33"):
        sed.evaluate(sed.read_scores(broken), truth, PSDS, run=replace(run, progress=False))
    assert not [record for record in caplog.records if record.name == "sedscope"]


@posix_only
def test_killed_workers_cost_time_not_results(
    stored: tuple[Path, sed.GroundTruth], tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    folder, truth = stored
    read = sed.read_scores(folder)
    slain = tmp_path / "slain"

    def deadly(clip: str) -> Any:
        """The first worker that comes to this clip dies."""
        if clip == "clip_23" and not slain.exists():
            slain.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return read[clip]

    scores = sed.Scores.from_function(truth.clips, deadly, classes=read.classes)
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with made, distributed.Client(made) as client:
        result = sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=client))
    assert slain.exists()
    assert result.scalars() == sed.evaluate(in_memory(folder), truth, PSDS).scalars()


@posix_only
def test_workers_that_always_die_end_in_one_clear_error(
    stored: tuple[Path, sed.GroundTruth], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    monkeypatch.setattr("sedscope.engines.dask_client.PATIENCE", 600)  # new workers start slowly
    folder, truth = stored
    read = sed.read_scores(folder)

    def deadly(clip: str) -> Any:
        if clip == "clip_23":
            os.kill(os.getpid(), signal.SIGKILL)
        return read[clip]

    scores = sed.Scores.from_function(truth.clips, deadly, classes=read.classes)
    with pytest.importorskip("dask").config.set({"distributed.scheduler.allowed-failures": 1}):
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        )
    with (
        made,
        distributed.Client(made) as client,
        pytest.raises(sed.SedscopeError, match=r"Workers died repeatedly on clips clip_\d+ … clip_"),
    ):
        sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=client))


def hogging(kept: list[Any], bytes_wanted: float) -> None:
    """Take as much memory, and leave time for that to be noticed."""
    kept.append(np.ones(int(bytes_wanted) // 8))
    time.sleep(2)


@pytest.mark.parametrize("often", [True, False])
def test_a_worker_beyond_its_memory(
    often: bool, stored: tuple[Path, sed.GroundTruth], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed and replaced: what it did is done again, a few times."""
    monkeypatch.setattr("sedscope.engines.dask_client.PATIENCE", 90)  # new workers start slowly
    folder, truth = stored
    read = sed.read_scores(folder)
    seen = tmp_path / "seen"

    def greedy(clip: str) -> Any:
        if clip == "clip_23" and (often or not seen.exists()):
            seen.write_text("")
            hogging([], 1e9)
        return read[clip]

    scores = sed.Scores.from_function(truth.clips, greedy, classes=read.classes)
    with small_workers() as client:
        if often:
            with pytest.raises(sed.SedscopeError, match=r"died repeatedly on clips clip_\d+ … clip_"):
                sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=client))
        else:
            result = sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=client))
            assert result.scalars() == sed.evaluate(in_memory(folder), truth, PSDS).scalars()
    assert seen.exists()


def test_workers_whose_memory_stays_full(
    stored: tuple[Path, sed.GroundTruth], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take no more work; nobody waits for them forever."""
    folder, truth = stored
    read = sed.read_scores(folder)
    monkeypatch.setattr("sedscope.engines.dask_client.PATIENCE", 2)

    def leaking(clip: str) -> Any:
        import builtins

        import psutil  # comes with distributed

        kept = vars(builtins).setdefault("kept", [])
        if not kept:
            hogging(kept, 0.87 * LIMIT - psutil.Process().memory_info().rss)
        return read[clip]

    scores = sed.Scores.from_function(truth.clips, leaking, classes=read.classes)
    with (
        small_workers() as client,
        pytest.raises(sed.SedscopeError, match="have paused because their memory is nearly full"),
    ):
        sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=client))


def test_memory_that_is_not_to_be_had(stored: tuple[Path, sed.GroundTruth], cluster: Any) -> None:
    folder, truth = stored
    read = sed.read_scores(folder)

    def immense(clip: str) -> Any:
        return np.ones(10**15) if clip == "clip_23" else read[clip]

    scores = sed.Scores.from_function(truth.clips, immense, classes=read.classes)
    with pytest.raises(sed.SedscopeError, match=r"A worker ran out of memory on clips clip_\d+ … clip_"):
        sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=cluster))


LIMIT = 500_000_000


@contextmanager
def small_workers() -> Iterator[Any]:
    """Workers that may take little memory."""
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    made = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=LIMIT,
        dashboard_address=":0",
        silence_logs="CRITICAL",
    )
    with made, distributed.Client(made) as client:
        yield client


def test_workers_identify_what_they_read(stored: tuple[Path, sed.GroundTruth], cluster: Any) -> None:
    folder, truth = stored
    scores = sed.postprocessing.MedianFilter(0.5)(sed.read_scores(folder))
    here = sed.deltas(scores, truth, sed.Collar(), system="a")
    there = sed.deltas(
        scores, truth, sed.Collar(), system="a", run=sed.Run(engine="dask", scheduler=cluster)
    )
    assert there.provenance == here.provenance
    assert here.provenance.scores is not None


EVALUATION = """
import sys, sedscope as sed
truth = sed.simulate.ground_truth(60, seed=4)
result = sed.evaluate(sed.read_scores(sys.argv[1]), truth, [sed.presets.PSDS1, sed.presets.PSDS2],
                      run=sed.Run(checkpoint=sys.argv[2]))
print(result.to_json())
"""


def test_killed_at_any_moment_it_goes_on(stored: tuple[Path, sed.GroundTruth], tmp_path: Path) -> None:
    """The process is killed at random moments until it comes to an end; what is kept is always right."""
    folder, _ = stored
    program = EVALUATION.replace(
        "truth =", "from sedscope.engines import checkpoint\ncheckpoint.CLIPS_PER_PART = 4\ntruth ="
    )
    rng = random.Random(0)
    start = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-c", program, str(folder), str(tmp_path / "kept")]
    expected = subprocess.run(
        [*command[:-1], str(tmp_path / "other")], check=True, capture_output=True, text=True
    ).stdout
    whole = time.perf_counter() - start
    for _ in range(6):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(whole * rng.uniform(0.4, 1.0))
        process.kill()
        process.communicate()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == expected
    # a process that is killed while it writes cannot remove its temporary file, which nobody reads
    others = [path for path in (tmp_path / "kept").iterdir() if path.suffix != ".deltas"]
    assert len(others) <= 6
    assert all(path.suffix == ".part" and path.name.startswith(".") for path in others)


def test_kept_parts_of_something_else_are_not_taken(
    stored: tuple[Path, sed.GroundTruth], tmp_path: Path
) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    sed.evaluate(scores, truth, PSDS, run=sed.Run(checkpoint=tmp_path))
    other = sed.GroundTruth.from_dict(
        {clip: truth.events(clip)[1:] for clip in truth.clips},
        durations=dict.fromkeys(truth.clips, 10.0),
    )
    result = sed.evaluate(scores, other, PSDS, run=sed.Run(checkpoint=tmp_path))
    assert result.scalars() == sed.evaluate(scores, other, PSDS).scalars()


def test_a_damaged_part_is_found_again(stored: tuple[Path, sed.GroundTruth], tmp_path: Path) -> None:
    folder, truth = stored
    engine = CheckpointEngine(tmp_path, clips_per_part=20)
    alignment = align(sed.read_scores(folder), truth)
    requests = delta_requests(PSDS)
    first = engine.run_pass(alignment, requests, None)
    damaged = sorted(tmp_path.iterdir())[1]
    damaged.write_bytes(damaged.read_bytes()[:-3])
    again = engine.run_pass(alignment, requests, None)
    for criterion, found in first.items():
        counts, expected = again[criterion].counts(), found.counts()
        for label in expected:  # the rows of a clip may have another order
            np.testing.assert_array_equal(counts[label].scores, expected[label].scores)
            np.testing.assert_array_equal(counts[label].tp, expected[label].tp)
            np.testing.assert_array_equal(counts[label].fp, expected[label].fp)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "flink"}, "Choose 'threads' or 'dask' or 'ray' or 'spark'"),
        ({"scheduler": "tcp://localhost:1"}, "A scheduler only applies to `engine='dask'`"),
        ({"engine": "dask", "scheduler": "tcp://127.0.0.1:1"}, "no Dask scheduler at tcp"),
    ],
)
def test_bad_choices(
    options: dict[str, Any], message: str, stored: tuple[Path, sed.GroundTruth]
) -> None:
    if options.get("engine") == "dask":
        pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    folder, truth = stored
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(sed.read_scores(folder), truth, PSDS, run=sed.Run(**options))


@pytest.mark.filterwarnings("ignore:Some classes are not defined in some resamples")
@pytest.mark.parametrize("names", [("a b", "a_b"), ("x" * 120 + "1", "x" * 120 + "2")])
def test_systems_with_similar_names_keep_their_parts_apart(
    names: tuple[str, str], stored: tuple[Path, sed.GroundTruth], tmp_path: Path
) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    other = sed.simulate.scores(truth, quality=0.3, seed=9)
    systems = dict(zip(names, (scores, other), strict=True))
    kept = sed.compare(systems, truth, PSDS, resampling=20, run=sed.Run(checkpoint=tmp_path))
    plain = sed.compare(systems, truth, PSDS, resampling=20)
    for psds in PSDS:
        values = [kept.values[psds][name].value for name in names]
        assert values == [plain.values[psds][name].value for name in names]
        assert values[0] != values[1]
