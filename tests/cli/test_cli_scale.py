"""Commands for large sets: deltas in files, clusters, checkpoints, limits of memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed

from ..support.command_line import Outcome, run
from ..support.files import write_durations


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("large")
    truth = sed.simulate.ground_truth(30, seed=6)
    sed.write_scores(sed.simulate.scores(truth, frame=0.1, seed=6), made / "scores")
    sed.write_ground_truth(truth, made / "truth.tsv")
    write_durations(truth, made / "durations.tsv")
    for k in range(2):
        (made / f"clips{k}.txt").write_text("\n".join(truth.clips[k::2]))
    return made


def values(outcome: Outcome) -> object:
    """The results as JSON, without the signature: deltas do not know all that it hashes."""
    assert outcome.code == 0, outcome.err
    return {**json.loads(outcome.out), "signature": None}


def evaluated(folder: Path, *options: object) -> object:
    """The results as JSON, without the signature."""
    done = run(
        *("evaluate", folder / "scores", folder / "truth.tsv", "--durations", folder / "durations.tsv"),
        *("--json", "-", *options),
    )
    return values(done)


def test_deltas_of_shards_are_evaluated_together(folder: Path, tmp_path: Path) -> None:
    files = []
    for k in range(2):
        files.append(tmp_path / f"{k}.deltas")
        done = run(
            *("deltas", folder / "scores", folder / "truth.tsv", "-o", files[-1]),
            *("--durations", folder / "durations.tsv", "--clips", folder / f"clips{k}.txt"),
            *("--system", "baseline"),
        )
        assert done.code == 0, done.err
        assert "15 clips" in done.out
    done = run("evaluate", "--deltas", *files, "--json", "-")
    assert values(done) == evaluated(folder)
    options = ["--durations", folder / "durations.tsv", "--clips", folder / "clips1.txt"]
    options += ["--append", "--system", "baseline"]
    appended = run("deltas", folder / "scores", folder / "truth.tsv", "-o", files[0], *options)
    assert "30 clips (15 new)" in appended.out
    assert values(run("evaluate", "--deltas", files[0], "--json", "-")) == evaluated(folder)
    files = files[:1]
    with_intervals = run("evaluate", "--deltas", *files, "--bootstrap", 20, "--json", "-")
    assert with_intervals.code == 0, with_intervals.err
    assert json.loads(with_intervals.out)["metrics"][0]["interval"]["low"] is not None


def test_deltas_for_some_metrics_are_small(folder: Path, tmp_path: Path) -> None:
    arguments = [folder / "scores", folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    complete, read = tmp_path / "complete.deltas", tmp_path / "read.deltas"
    metric = "PSDS(Intersection(0.7, 0.7), max_efpr=60)"
    assert run("deltas", *arguments, "-o", complete, "--metric", metric).code == 0
    assert run("deltas", *arguments, "-o", read, "--for", metric).code == 0
    assert read.stat().st_size < complete.stat().st_size / 3
    whole, part = (
        run("evaluate", "--deltas", path, "--metric", metric, "--json", "-") for path in (complete, read)
    )
    assert json.loads(part.out) == json.loads(whole.out)
    short = run("evaluate", "--deltas", read, "--metric", "PSDS(Intersection(0.7, 0.7), max_efpr=500)")
    assert "was not counted: its counts are complete only above" in short.err
    assert run("deltas", *arguments, "-o", read, "--for", "psds1,psds2").code == 0
    refused = run("deltas", *arguments, "-o", read, "--for", "psds1", "--metric", "psds2")
    assert "--for cannot be combined with --metric" in refused.err


def test_deltas_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.deltas"
    run(
        *("deltas", folder / "scores", folder / "truth.tsv", "-o", file),
        *("--durations", folder / "durations.tsv", "--metric", "BestFScore(Collar())"),
    )
    twice = run("evaluate", "--deltas", file, file, "--metric", "BestFScore(Collar())")
    assert (twice.code, twice.err.count("\n")) == (2, 1)
    assert "in more than one of the deltas" in twice.err
    other = run("evaluate", "--deltas", file)
    assert other.code == 2
    assert "no deltas for PSDS" in other.err
    text = run("evaluate", "--deltas", folder / "truth.tsv")
    assert "is not a file of deltas" in text.err
    for option in (("--report", tmp_path / "x.html"), ("--points", "x"), ("--engine", "dask")):
        refused = run("evaluate", "--deltas", file, *option)
        assert f"{option[0]} cannot be combined with --deltas" in refused.err
    chosen = run("evaluate", "--deltas", file, "--classes", "Dog", "--postprocess", "MedianFilter(1)")
    assert "--classes, --postprocess cannot be combined with --deltas" in chosen.err


def test_deltas_of_other_systems_are_not_appended(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.deltas"

    def append(clips: str, *options: object) -> Outcome:
        return run(
            *("deltas", folder / "scores", folder / "truth.tsv", "-o", file, "--append", *options),
            *("--durations", folder / "durations.tsv", "--clips", folder / clips),
        )

    assert append("clips0.txt", "--system", "a").err == ""
    before = file.read_bytes()
    other = append("clips1.txt", "--system", "b")
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "the new deltas: The deltas come from different systems: 'a', 'b'." in other.err
    filtered = append("clips1.txt", "--system", "a", "--postprocess", "MedianFilter(1)")
    assert "different post-processings: none, MedianFilter(seconds=1)" in filtered.err
    assert file.read_bytes() == before
    unnamed = append("clips1.txt")
    assert unnamed.code == 0
    assert unnamed.err.startswith(
        "warning: sedscope cannot check that all deltas come from the same system"
    )


def test_checkpoints_know_the_options(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    classes = sed.read_scores(folder / "scores").classes
    sed.OperatingPoints(dict.fromkeys(classes, 0.6)).save(points)
    filtered = ("--postprocess", "MedianFilter(0.7)")
    kept = ("--checkpoint", tmp_path / "kept", "--metric", "FScore(Collar())")
    values = []
    for options in ((), filtered, ("--points", points), (*filtered, "--points", points)):
        expected = evaluated(folder, *kept[2:], *options)
        assert evaluated(folder, *kept, *options) == expected
        assert evaluated(folder, *kept, *options) == expected
        values.append(json.dumps(expected))
    assert len({*values}) == 4


def test_outputs_are_looked_at_first(folder: Path, tmp_path: Path) -> None:
    paths = (tmp_path / "none", tmp_path / "none")  # which would be the next errors
    nowhere = tmp_path / "nowhere" / "x.md"
    for command in (
        ("evaluate", *paths, "--json", nowhere),
        ("evaluate", *paths, "--report", nowhere),
        ("report", *paths, "-o", nowhere),
        ("compare", *paths, folder / "truth.tsv", "-o", nowhere),
        ("tune", *paths, "-o", nowhere),
        ("deltas", *paths, "-o", nowhere),
    ):
        assert f"Cannot write {nowhere}: the folder {nowhere.parent} does not exist" in run(*command).err


def test_engines_and_limits_change_nothing(folder: Path, tmp_path: Path) -> None:
    expected = evaluated(folder)
    assert evaluated(folder, "--checkpoint", tmp_path / "kept") == expected
    assert list((tmp_path / "kept").glob("*.deltas"))
    assert evaluated(folder, "--checkpoint", tmp_path / "kept") == expected
    assert evaluated(folder, "--memory", "1GB") == expected


def test_a_limit_that_is_no_number_of_bytes(folder: Path) -> None:
    done = run("evaluate", folder / "scores", folder / "truth.tsv", "--memory", "1e400GB")
    assert done.code == 2
    assert done.err.strip().splitlines() == [
        "error: memory='1e400GB' is not a number of bytes. Give it as '4GB' or '500MB'."
    ]


def test_a_report_needs_all_classes_at_once(folder: Path, tmp_path: Path) -> None:
    command = (
        *("evaluate", folder / "scores", folder / "truth.tsv", "--metric", "BestFScore(Collar())"),
        *("--durations", folder / "durations.tsv"),
    )
    limit = ("--memory", "200kB", "--report", tmp_path / "report.html")
    done = run(*command, *limit)
    assert done.code == 2
    assert "A report needs the counts of all classes at once" in done.err
    assert done.out == run(*command).out
    assert not (tmp_path / "report.html").exists()


def test_a_cluster_of_its_own(folder: Path) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    assert evaluated(folder, "--engine", "dask") == evaluated(folder)


def test_memory_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uncut, aligned = sed.GroundTruth._uncut_references, []

    def noted(truth: sed.GroundTruth, *args: Any) -> Any:
        aligned.append(truth)
        return uncut(truth, *args)

    monkeypatch.setattr(sed.GroundTruth, "_uncut_references", noted)
    done = run(
        *("evaluate", folder / "scores", folder / "truth.tsv", "--verbose"),
        *("--durations", folder / "durations.tsv"),
    )
    assert len(aligned) == 1  # the announcement does not align the set again
    assert done.code == 0
    assert "GB expected for deltas and counts" in done.err
    assert "GB used at the peak" in done.err
    assert "this machine has" not in done.err


def test_too_little_memory_is_reported_before_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "evaluate",
        folder / "scores",
        folder / "truth.tsv",
        "--durations",
        folder / "durations.tsv",
    )
    monkeypatch.setattr("sedscope.evaluation.class_blocks.machine_memory", lambda: 10_000)
    assert "memory" not in run(*command).err
    monkeypatch.setattr("sedscope.cli.options.engines._LARGE_SET", 10)
    assert "--memory 1GB counts classes in blocks" in run(*command).err
    assert "memory" not in run(*command, "--memory", "1GB").err
    monkeypatch.undo()
    monkeypatch.setattr("sedscope.cli.options.engines._LARGE_SET", 10)
    assert "memory" not in run(*command).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "much"), "is not a number of bytes"),
        (("--scheduler", "tcp://127.0.0.1:1"), "A scheduler only applies to --engine dask"),
        (("--memory", "1GB", "--bootstrap", "10"), "Resampling needs all deltas at once"),
    ],
)
def test_bad_options(folder: Path, options: tuple[str, ...], message: str) -> None:
    done = run(
        *("evaluate", folder / "scores", folder / "truth.tsv", *options),
        *("--durations", folder / "durations.tsv"),
    )
    assert done.code == 2
    assert message in done.err


def test_scores_without_ground_truth(folder: Path) -> None:
    done = run("evaluate", folder / "scores")
    assert done.code == 2
    assert "Give two paths, SCORES and GROUND_TRUTH, not 1 path" in done.err
