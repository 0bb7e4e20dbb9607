"""Ray and Spark for real: the bits of threads, with workers that are killed, and within their memory."""

from __future__ import annotations

import datetime
import itertools
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


LAYOUTS = ("wide", "long", "lists")


def as_table(scores: sed.Scores, layout: str) -> Any:
    """Return the rows of all clips as a table of Arrow, in no order."""
    classes = [*scores.classes]
    table = polars.concat(
        polars.DataFrame(
            {"clip": clip, "onset": scores[clip].edges[:-1], "offset": scores[clip].edges[1:]}
            | dict(zip(classes, scores[clip].values.T, strict=True))
        )
        for clip in scores
    )
    if layout == "long":
        times = ["clip", "onset", "offset"]
        table = table.unpivot(classes, index=times, variable_name="label", value_name="score")
    elif layout == "lists":
        table = table.select("clip", "onset", "offset", scores=polars.concat_list(classes))
    return table.sample(fraction=1, shuffle=True, seed=1).to_arrow()


def in_cluster(engine: str, table: Any, request: pytest.FixtureRequest) -> Any:
    """Return a table as the cluster holds it: Spark in any order, Ray in blocks that are sorted by clip."""
    package = request.getfixturevalue(engine)
    if engine == "spark":
        return package.createDataFrame(table)
    data = pytest.importorskip("ray.data", reason="needs Ray Data: pip install 'ray[data]'")
    table = table.sort_by(table.column_names[0])
    cuts = [0, 5, 700, 1111, len(table)]
    return data.from_arrow([table.slice(a, b - a) for a, b in itertools.pairwise(cuts)])


of_packages = pytest.mark.filterwarnings(  # whose code warns of itself
    "ignore:PySpark does not yet:FutureWarning", "ignore::DeprecationWarning:ray"
)


@of_packages
@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_tables_in_a_cluster_are_systems(
    engine: Any,
    layout: str,
    in_blocks: bool,
    stored: tuple[Path, sed.GroundTruth],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    system = in_cluster(engine, as_table(scores, layout), request)
    monkeypatch.setattr("sedscope.evaluation.cluster_blocks.is_large", lambda _: in_blocks)
    steps: list[tuple[int, int]] = []
    run = sed.Run(engine=engine, progress=lambda done, total: steps.append((done, total)))
    reading = sed.SystemReading(classes=scores.classes if layout == "lists" else None)
    result = sed.evaluate(system, truth, METRICS, system_reading=reading, run=run)
    assert_same(result, sed.evaluate(scores, truth, METRICS))
    assert (steps[0], steps[-1]) == ((0, 40), (40, 40))


def test_workers_read_the_files_of_an_arrow_dataset(
    engine: Any, stored: tuple[Path, sed.GroundTruth], tmp_path: Path
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    folder, truth = stored
    table = as_table(sed.read_scores(folder), "long").sort_by("clip")
    dataset.write_dataset(
        table, tmp_path, format="parquet", max_rows_per_file=9000, max_rows_per_group=2500
    )
    result = sed.evaluate(dataset.dataset(tmp_path), truth, METRICS, run=sed.Run(engine=engine))
    assert_same(result, sed.evaluate(folder, truth, METRICS))


@of_packages
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_whatever_runs_on_the_engine_takes_tables_in_it(
    engine: Any, stored: tuple[Path, sed.GroundTruth], request: pytest.FixtureRequest
) -> None:
    folder, truth = stored
    scores = sed.read_scores(folder)
    system, run = in_cluster(engine, as_table(scores, "wide"), request), sed.Run(engine=engine)
    reading = sed.SystemReading(label_map={"Dog": "Cat"})
    there, here = (
        sed.evaluate(
            read,
            truth.relabelled({"Dog": "Cat"}),
            "psds1",
            resampling=50,
            run=on,
            system_reading=reading,
        )
        for read, on in ((system, run), (folder, None))
    )
    assert there.scalars() == here.scalars()
    [metric] = here.intervals
    np.testing.assert_array_equal(there.intervals[metric].values, here.intervals[metric].values)
    found, expected = (
        sed.deltas(read, truth, sed.Collar(), run=on) for read, on in ((system, run), (folder, None))
    )
    scalars = [sed.evaluate_deltas(deltas, METRICS[2]).scalars() for deltas in (found, expected)]
    assert scalars[0] == scalars[1]
    compared = sed.compare({"a": system, "b": folder}, truth, "psds1", resampling=20, run=run)
    assert compared.evaluations["a"].scalars() == compared.evaluations["b"].scalars()
    few = [*scores][:3]
    assert (
        sed.evaluate(system, truth, "psds1", clips=few, run=run).scalars()
        == sed.evaluate(folder, truth, "psds1", clips=few).scalars()
    )


@of_packages
def test_columns_of_other_kinds_are_left_out(
    engine: Any, stored: tuple[Path, sed.GroundTruth], request: pytest.FixtureRequest
) -> None:
    scores = sed.read_scores(stored[0])
    rows = polars.DataFrame(as_table(scores, "wide")).rename({"clip": "key of audio"})
    now = datetime.datetime(2026, 1, 1)
    others = {
        "model.name": polars.lit("v7"),
        "written at": polars.lit(now),
        "day": polars.lit(now.date()),
    }
    system = in_cluster(engine, rows.with_columns(**others).to_arrow(), request)
    columns = {"clip": "key of audio"}
    with pytest.raises(sed.SedscopeError, match=r"'model.name', 'written at', 'day'.*Give classes="):
        sed.read_scores(system, columns=columns)
    reading = sed.SystemReading(classes=scores.classes, columns=columns)
    result = sed.evaluate(system, stored[1], METRICS, system_reading=reading, run=sed.Run(engine=engine))
    assert_same(result, sed.evaluate(scores, stored[1], METRICS))


BROKEN: dict[str, tuple[Callable[[polars.DataFrame], polars.DataFrame], str, str]] = {
    "a class is missing": (lambda rows: rows[1:], "long", "a frame lacks a class or has one twice"),
    "rows are doubled": (lambda rows: polars.concat([rows, rows[7:8]]), "wide", "overlap"),
    "rows of a long table are doubled": (
        lambda rows: polars.concat([rows, rows[7:8]]),
        "long",
        "a frame lacks a class or has one twice",
    ),
    "a score is null": (
        lambda rows: rows.with_columns(Dog=polars.when(polars.int_range(polars.len()) > 0).then("Dog")),
        "wide",
        "not a number",
    ),
    "a clip is null": (
        lambda rows: rows.with_columns(
            clip=polars.when(polars.int_range(polars.len()) > 0).then("clip")
        ),
        "wide",
        "clip",
    ),
    "scores are texts": (
        lambda rows: rows.with_columns(Dog=polars.lit("x")),
        "wide",
        r"not scores: 'Dog'.*clip \(String\)",
    ),
}


@of_packages
@pytest.mark.parametrize("problem", BROKEN)
def test_broken_tables_are_refused(
    engine: Any, problem: str, stored: tuple[Path, sed.GroundTruth], request: pytest.FixtureRequest
) -> None:
    change, layout, message = BROKEN[problem]
    rows = polars.DataFrame(as_table(sed.read_scores(stored[0]), layout))
    system = in_cluster(engine, change(rows).to_arrow(), request)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(system, stored[1], METRICS, run=sed.Run(engine=engine))


@of_packages
def test_only_their_engine_reads_tables_in_a_cluster(
    ray: Any, spark: Any, stored: tuple[Path, sed.GroundTruth], request: pytest.FixtureRequest
) -> None:
    table = as_table(sed.read_scores(stored[0]), "wide")
    expected = sed.evaluate(sed.read_scores(stored[0]), stored[1], METRICS)
    in_ray, in_spark = (in_cluster(engine, table, request) for engine in ("ray", "spark"))
    assert_same(sed.evaluate(in_ray, stored[1], METRICS), expected)  # in the process that is connected
    cases: tuple[tuple[Any, Any, str], ...] = (
        (in_ray, "spark", "ray"),
        (in_spark, "ray", "spark"),
        (in_spark, "threads", "spark"),
    )
    for system, engine, right in cases:
        with pytest.raises(sed.SedscopeError, match=rf"Give `Run\(engine='{right}'\)`") as error:
            sed.evaluate(system, stored[1], METRICS, run=sed.Run(engine=engine))
        assert str(error.value).count("Only the workers") == 1
    with pytest.raises(sed.SedscopeError, match=r"engine='spark'.*repartition\('clip'\).*write.parquet"):
        sed.read_scores(in_spark)["clip_00"]
    reading = sed.SystemReading(
        stitch={clip: ("all", 10.0 * k) for k, clip in enumerate(stored[1].clips)}
    )
    truth = sed.GroundTruth.from_dict({"all": [(0, 1, "Dog")]}, durations={"all": 400})
    with pytest.raises(sed.SedscopeError, match="cannot be joined or cut there"):
        sed.evaluate(in_spark, truth, METRICS, system_reading=reading, run=sed.Run(engine="spark"))


@of_packages
def test_spark_workers_hold_few_clips(
    spark: Any, stored: tuple[Path, sed.GroundTruth], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the batches, those of whole clips are in hand, and no more than were asked for."""
    scores = sed.read_scores(stored[0]).only([f"clip_{k:02}" for k in range(9)])
    rows = as_table(scores, "wide").sort_by("clip")
    read = sed.read_scores(spark.createDataFrame(rows))
    assert [*read] == [*scores]
    table = read._table

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.integers(0, len(rows)), max_size=20), st.integers(1, 40_000))
    def check(cuts: list[int], together: int) -> None:
        monkeypatch.setattr("sedscope.io.scores.spark_tables._BYTES_TOGETHER", together)
        bounds = [0, *sorted({*cuts} - {0, len(rows)}), len(rows)]
        largest = max(b - a for a, b in itertools.pairwise(bounds))
        batches = [
            rows.slice(a, b - a).combine_chunks().to_batches()[0] for a, b in itertools.pairwise(bounds)
        ]
        seen = []
        for clips in table.in_hand(batches):
            seen += clips
            held = sum(len(table.load(clip).values) for clip in clips)
            assert held <= together / 32 + 2 * largest + 200
            for clip in clips:
                np.testing.assert_array_equal(table.load(clip).values, scores[clip].values)
        assert seen == [*scores]

    try:
        check()
    finally:
        type(table).clips_in_hand = None
