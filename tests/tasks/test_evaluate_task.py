"""Tasks evaluated: equal to each data set evaluated by hand, combined by the formula."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.tasks.task_data import read_task_data
from sedscope.tasks.task_files import built_in_tasks

from ..support.command_line import run
from .layout import by_hand, dataset, write_set

TWO = sed.Task(
    "two",
    {"home": dataset(["psds1", "collar_f1"]), "street": dataset({"f": "segment_f1"})},
    "home.psds1 + 2 * street.f",
)
ONE_SET = [name for name in built_in_tasks() if name != "dcase2024_task4"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The data sets and the submission of the task of two sets, of equal size."""
    folder = tmp_path_factory.mktemp("two")
    for seed, name in enumerate(TWO.datasets):
        write_set(folder / "data", folder / "ours", name, seed)
    return folder / "data", folder / "ours"


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("name", ONE_SET)
def test_built_in_tasks_equal_evaluate(name: str, tmp_path: Path) -> None:
    task = sed.read_task(name)
    [name_of_set] = task.datasets
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, name_of_set, 0)
    expected = by_hand(data, ours, name_of_set, task.datasets[name_of_set].metrics)
    values = {expected.names[metric]: expected[metric].value for metric in expected}
    result = sed.evaluate_task(name, ours, data)
    assert result.values == {name_of_set: values}
    assert result.score == task.formula.value({name_of_set: values})
    truth, durations = (data / name_of_set / f"{file}.tsv" for file in ("ground_truth", "durations"))
    printed = run(
        "evaluate", ours / name_of_set, truth, "--task", name, "--durations", durations, "--json", "-"
    )
    assert json.loads(printed.out)["datasets"] == {name_of_set: values}
    # the folders of a task with one data set may be those of the set
    assert sed.evaluate_task(task, ours / name_of_set, data / name_of_set).score == result.score


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_the_layout_of_the_public_set(tmp_path: Path) -> None:
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, "desed", 0)
    expected = sed.evaluate_task("dcase2021_task4", ours, data).score
    public = data / "desed" / "metadata" / "validation"
    public.mkdir(parents=True)
    (data / "desed" / "ground_truth.tsv").rename(public / "validation.tsv")
    (data / "desed" / "durations.tsv").rename(public / "validation_durations.tsv")
    result = sed.evaluate_task("dcase2021_task4", ours, data / "desed")
    assert result.score == expected
    assert not any("stated duration" in warning for warning in result.warnings)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_intervals_combine_independent_resamples(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    result = sed.evaluate_task(TWO, ours, data, bootstrap=sed.Resampling(40, seed=3))
    seeds = [next(iter(part.intervals.values())).resampling.seed for part in result.datasets.values()]
    assert seeds[0] == 3
    assert seeds[1] != 3  # the sets have equally many clips: the same draws would not be independent
    arrays = {}
    for seed, name in zip(seeds, TWO.datasets, strict=True):
        metrics = TWO.datasets[name].metrics
        expected = by_hand(data, ours, name, metrics, sed.Resampling(40, seed=seed))
        arrays[name] = {expected.names[m]: i.values for m, i in expected.intervals.items()}
        for metric, values in arrays[name].items():
            np.testing.assert_array_equal(result.resamples[name][metric], values)
    combined = arrays["home"]["psds1"] + 2 * arrays["street"]["f"]
    assert result.interval is not None
    np.testing.assert_array_equal(result.interval.values, combined)
    assert [result.interval.low, result.interval.high] == np.quantile(combined, [0.025, 0.975]).tolist()
    plain = result.to_dict()
    assert plain["interval"] == {
        "low": result.interval.low,
        "high": result.interval.high,
        "undefined_resamples": 0,
    }
    with pytest.raises(sed.SedscopeError, match="percentile intervals only"):
        sed.evaluate_task(TWO, ours, data, bootstrap=sed.Resampling(40, interval="bca"))


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_data_that_was_read_before(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    opened = read_task_data(TWO, data)
    assert sed.evaluate_task(TWO, ours, opened).score == sed.evaluate_task(TWO, ours, data).score


def test_json_tables_and_warnings(folders: tuple[Path, Path], tmp_path: Path) -> None:
    data, ours = folders
    task = tmp_path / "two.toml"
    sed.write_task(TWO, task)
    outputs = [tmp_path / f"tables.{suffix}" for suffix in ("md", "tex", "csv")]
    outcome = run(
        "evaluate", ours, "--task", task, "--data", data, "--json", tmp_path / "two.json",
        *(word for path in outputs for word in ("-o", path)), "--threads", 1,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    plain = json.loads((tmp_path / "two.json").read_text())
    assert plain["score"] == plain["datasets"]["home"]["psds1"] + 2 * plain["datasets"]["street"]["f"]
    assert plain["task"] == "two"
    assert plain["details"]["street"]["clips"] == 12
    for text in (outcome.out, *(path.read_text() for path in outputs)):
        assert "score" in text
        assert "home.psds1 + 2 * street.f" in text.replace("\\_", "_")
    assert f"{plain['score']:.4f}" in outcome.out
    assert outputs[2].read_text().splitlines()[0].startswith("dataset,metric,class")
    only = run("evaluate", ours, "--task", task, "--data", data, "--json", "-")
    assert json.loads(only.out)["datasets"] == plain["datasets"]


def test_a_score_that_is_not_defined(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 3, "b": 3})
    scores = sed.Scores.from_arrays({"a": [[0.5]] * 3, "b": [[0.5]] * 3}, classes=["Dog"], frame=1.0)
    task = replace(TWO, datasets={"home": dataset("collar_f1")}, score="home.collar_f1")
    with pytest.warns(sed.SedscopeWarning):
        evaluation = sed.evaluate(scores, truth, "collar_f1")
    result = sed.TaskEvaluation(task, {"home": evaluation})
    assert math.isnan(result.score)
    assert result.to_dict()["score"] is None
    assert (
        result.warnings[-1] == "The score is not defined, because these values are not: home.collar_f1."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metric", "psds1"], "--metric cannot be combined with --task"),
        (["--preset", "dcase2021_task4"], "--preset cannot be combined with --task"),
        (["--classes", "Dog"], "--classes cannot be combined with --task"),
        (["--deltas"], "--deltas cannot be combined with --task"),
        (["--report", "page.html"], "A report shows one data set, but the task two has 2: home, street"),
    ],
)
def test_options_that_a_task_fixes(
    options: list[str], message: str, folders: tuple[Path, Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    sed.write_task(TWO, "two.toml")
    outcome = run("evaluate", folders[1], "--task", "two.toml", "--data", folders[0], *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_what_a_command_lacks(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    assert "--data is the folder of the data sets of a task" in run("evaluate", ours, "--data", data).err
    assert "give SUBMISSION and the folder" in run("evaluate", ours, "--task", "dcase2021_task4").err
    two_sets = run("evaluate", ours, data, "--task", "dcase2024_task4").err
    assert "has 2 data sets, desed, maestro. Give the folder" in two_sets


def test_missing_folders_are_named_together(folders: tuple[Path, Path], tmp_path: Path) -> None:
    data, ours = folders
    (tmp_path / "Home").mkdir()
    with pytest.raises(sed.SedscopeError, match=r"home is missing. There is Home.*street is missing"):
        sed.evaluate_task(TWO, tmp_path, data)
    with pytest.raises(sed.SedscopeError, match=r"The data of the task two is not complete: .*street"):
        sed.evaluate_task(TWO, ours, tmp_path)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_errors_name_the_data_set_and_no_options(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    sets = {**TWO.datasets, "street": dataset({"f": "segment_f1"}, classes=["Horse"])}
    with pytest.raises(sed.SedscopeError, match="street: 1 class has no scores: Horse"):
        sed.evaluate_task(replace(TWO, datasets=sets), ours, data)


def test_the_list_and_the_files() -> None:
    listed = run("tasks")
    assert listed.code == 0
    for name in built_in_tasks():
        assert f"{name}: " in listed.out
        assert f'name = "{name}"' in run("tasks", "show", name).out
    assert "lower is better" in listed.out
    assert "Did you mean dcase2021_task4" in run("tasks", "show", "dcase2021_task").err
    assert "Write 'tasks show NAME'" in run("tasks", "shw", "dcase2021_task4").err


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_a_report_of_one_data_set(tmp_path: Path) -> None:
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, "desed", 0)
    outcome = run(
        "evaluate", ours, "--task", "dcase2018_task4", "--data", data, "--report", tmp_path / "page.html"
    )
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_the_preset_of_2024_points_to_the_task(folders: tuple[Path, Path]) -> None:
    data, ours = (folder / "home" for folder in folders)
    truth = data / "ground_truth.tsv"
    outcome = run("evaluate", ours, truth, "--preset", "dcase2024_task4")
    assert outcome.code == 0
    assert "Use --task dcase2024_task4" in outcome.err
