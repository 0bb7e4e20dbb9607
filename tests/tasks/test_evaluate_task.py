"""Tasks evaluated: equal to each data set evaluated by hand, combined by the formula."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import sedscope as sed
from sedscope.tasks.task_data import read_task_data
from sedscope.tasks.task_files import built_in_tasks

from ..support.command_line import run
from ..support.files import write_durations
from .layout import by_hand, dataset, write_set

TWO = sed.tasks.Task(
    "two",
    {"home": dataset(["psds1", "collar_f1"]), "street": dataset({"f": "segment_f1"})},
    "home.psds1 + 2 * street.f",
)
OWN_TESTS = {"dcase2024_task4", "dcase_task5", "biodcase_task2", "dcase2026_task6", "activitynet"}
ONE_SET = sorted({*built_in_tasks()} - OWN_TESTS)


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
    task = sed.tasks.read_task(name)
    [name_of_set] = task.datasets
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, name_of_set, 0)
    expected = by_hand(data, ours, name_of_set, task.datasets[name_of_set].metrics)
    values = {expected.names[metric]: expected[metric].value for metric in expected}
    result = sed.tasks.evaluate_task(name, ours, data)
    assert result.values == {name_of_set: values}
    assert result.score == task.formula.value({name_of_set: values})
    truth, durations = (data / name_of_set / f"{file}.tsv" for file in ("ground_truth", "durations"))
    printed = run(
        "evaluate", ours / name_of_set, truth, "--task", name, "--durations", durations, "--json", "-"
    )
    assert json.loads(printed.out)["datasets"] == {name_of_set: values}
    # the folders of a task with one data set may be those of the set
    assert sed.tasks.evaluate_task(task, ours / name_of_set, data / name_of_set).score == result.score


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_the_layout_of_the_public_set(tmp_path: Path) -> None:
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, "desed", 0)
    expected = sed.tasks.evaluate_task("dcase2021_task4", ours, data).score
    public = data / "desed" / "metadata" / "validation"
    public.mkdir(parents=True)
    (data / "desed" / "ground_truth.tsv").rename(public / "validation.tsv")
    (data / "desed" / "durations.tsv").rename(public / "validation_durations.tsv")
    result = sed.tasks.evaluate_task("dcase2021_task4", ours, data / "desed")
    assert result.score == expected
    assert not any("stated duration" in warning for warning in result.warnings)


def write_maestro(data: Path, submission: Path, durations: str) -> None:
    """Write soft labels and scores of chunks of 10 s that overlap; some have no label above 0.5."""
    rng = np.random.default_rng(0)
    classes = [
        *(sed.tasks.read_task("dcase2024_task4").datasets["maestro"].classes or ()),
        "announcement",
    ]
    rows, scores, seconds = ["filename\tonset\toffset\tevent_label\tconfidence"], {}, {}
    for recording in ("cafe_1", "street_2"):
        for start in range(0, 60, 5):
            chunk = f"{recording}-{100 * start}-{100 * (start + 10)}"
            scores[chunk] = rng.random((20, len(classes)))
            seconds[chunk if durations == "chunks" else recording] = 10 if durations == "chunks" else 65
            for label in rng.choice(classes, 6, replace=False):
                onset = int(rng.integers(9))
                confidence = rng.choice([0.2, 0.5, 0.6, 1.0])
                rows.append(f"{chunk}.wav\t{onset}\t{onset + 1}\t{label}\t{confidence}")
    (data / "maestro").mkdir(parents=True)
    (data / "maestro" / "ground_truth.tsv").write_text("\n".join(rows) + "\n")
    write_durations(seconds, data / "maestro" / "durations.tsv")
    made = sed.Scores.from_arrays(scores, classes=classes, frame=0.5)
    submission.mkdir(exist_ok=True)
    sed.write_scores(made, submission / "maestro")


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("durations", ["chunks", "recordings"])
def test_dcase2024_equals_its_definition(durations: str, tmp_path: Path) -> None:
    data, ours = tmp_path / "data", tmp_path / "ours"
    write_set(data, ours, "desed", 0, clips=60)
    write_maestro(data, ours, durations)
    task = sed.tasks.read_task("dcase2024_task4")
    desed, maestro = task.datasets["desed"], task.datasets["maestro"]
    by_name: dict[str, dict[str, float]] = {}
    expected = by_hand(data, ours, "desed", desed.metrics)
    by_name["desed"] = {expected.names[metric]: expected[metric].value for metric in expected}
    scores, truth = sed.join_chunks(
        sed.read_scores(ours / "maestro"),
        sed.read_ground_truth(
            data / "maestro" / "ground_truth.tsv", confidence="> 0.5", overlaps="merge"
        ),
        unit="centiseconds",
        durations={"cafe_1": 65, "street_2": 65},
        uncovered=0.0,
        unreferenced="drop",
        classes=maestro.classes,
    )
    expected = sed.evaluate(scores, truth, maestro.metrics, classes=maestro.classes)
    by_name["maestro"] = {expected.names[metric]: expected[metric].value for metric in expected}
    result = sed.tasks.evaluate_task(task, ours, data, resampling=10)
    assert result.values == by_name
    assert result.score == by_name["desed"]["psds1"] + by_name["maestro"]["mpauc"]
    assert sed.tasks.check_submission(task, ours, data).problems == []
    (ours / "maestro" / "cafe_1-500-1500.tsv").unlink()
    problems = sed.tasks.check_submission(task, ours, data).problems
    assert problems == [f"{ours / 'maestro'}: the clip cafe_1-500-1500 is missing"]


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("as_file", [False, True], ids=["table", "file"])
def test_labels_get_new_names(as_file: bool, folders: tuple[Path, Path]) -> None:
    data, ours = folders
    home = data / "home"
    truth = sed.read_ground_truth(home / "ground_truth.tsv", durations=home / "durations.tsv")
    scores = sed.read_scores(ours / "home")
    names = {"Cat": "animal", "Dog": "animal", "Frying": ""}
    (home / "map.csv").write_text("from,to\nCat,animal\nDog,animal\nFrying,\n")
    system_names = {"Speech": "speech"}
    task = sed.tasks.Task(
        "mapped",
        {
            "home": dataset(
                "segment_f1",
                labels=sed.tasks.LabelRule(
                    "map.csv" if as_file else names, system_names, {"Speech": "speech"}
                ),
            )
        },
        "home.segment_f1",
    )
    both = {**names, **system_names}
    expected = sed.evaluate(scores.relabelled(both), truth.relabelled(both), "segment_f1")
    result = sed.tasks.evaluate_task(task, ours, data)
    assert result.score == expected["segment_f1"].value
    assert result.datasets["home"].classes == expected.classes
    assert "animal" in expected.classes
    assert sed.tasks.check_submission(task, ours, data).problems == []


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("average", [None, "mean", "harmonic"])
def test_the_average_over_groups_is_the_value(
    average: Literal["mean", "harmonic"] | None, folders: tuple[Path, Path]
) -> None:
    data, ours = folders
    home = data / "home"
    truth = sed.read_ground_truth(home / "ground_truth.tsv", durations=home / "durations.tsv")
    sites = {clip: f"site{i % 2}" for i, clip in enumerate(truth.clips)}
    rows = "".join(f"{clip}\t{site}\n" for clip, site in sites.items())
    (home / "sites.tsv").write_text(f"filename\tgroup\n{rows}")
    rule = sed.tasks.GroupRule(clips="sites.tsv", average=average)
    task = sed.tasks.Task("sites", {"home": dataset("segment_f1", groups=rule)}, "home.segment_f1")
    expected = sed.evaluate(
        sed.read_scores(ours / "home"), truth, "segment_f1", by=sed.Groups(sites, average), resampling=10
    )
    interval: Any = next(iter(expected.intervals.values()))
    if average is not None:
        interval = expected.groups["clips"].averages["segment_f1"].interval
    result = sed.tasks.evaluate_task(task, ours, data, resampling=10)
    assert interval is not None
    assert result.interval is not None
    assert result.score == interval.value
    np.testing.assert_array_equal(result.interval.values, interval.values)
    assert f"{result.score:.4f}" in result.table().splitlines()[-3]


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_regions_are_cut_and_recordings_drawn(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    home = data / "home"
    truth = sed.read_ground_truth(home / "ground_truth.tsv", durations=home / "durations.tsv")
    rows = [f"{clip}\t{start}\t{start + 4}\n" for clip in truth.clips for start in (0, 5)]
    (home / "regions.tsv").write_text("filename\tonset\toffset\n" + "".join(rows))
    task = sed.tasks.Task(
        "cut", {"home": dataset("segment_f1", regions="regions.tsv")}, "home.segment_f1"
    )
    cut_scores, cut_truth = sed.cut_to_regions(
        sed.read_scores(ours / "home"), truth, sed.read_regions(home / "regions.tsv")
    )
    result = sed.tasks.evaluate_task(task, ours, data, resampling=10)
    assert result.score == sed.evaluate(cut_scores, cut_truth, "segment_f1")["segment_f1"].value
    [interval] = result.datasets["home"].intervals.values()
    assert interval.resampling.units_name() == "groups of clips"


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_intervals_combine_independent_resamples(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    drawn = sed.Resampling(40, seed=3, interval="percentile")
    result = sed.tasks.evaluate_task(TWO, ours, data, resampling=drawn)
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


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("kind", [None, "percentile", "bca"])
def test_a_score_of_one_metric_has_its_interval(kind: str | None, folders: tuple[Path, Path]) -> None:
    data, ours = folders
    drawn = sed.Resampling(40, interval=kind)
    for score in ("home.psds1", " (home.psds1) ", "street.f"):
        task = replace(TWO, score=score)
        result = sed.tasks.evaluate_task(task, ours, data, resampling=drawn)
        dataset, name = score.strip(" ()").split(".")
        [metric] = [metric for metric, named in result.datasets[dataset].names.items() if named == name]
        alone = result.datasets[dataset].intervals[metric]
        assert result.interval is not None
        ends = (result.interval.low, result.interval.high)
        if score.startswith(" ") and kind is None:  # the bounds of a formula are not known
            assert ends == pytest.approx((alone.low, alone.high), abs=0.1)
        else:
            assert ends == (alone.low, alone.high)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("kind", ["subsampling", "bca"])
def test_intervals_combine_the_subsets_of_all_sets(kind: str, folders: tuple[Path, Path]) -> None:
    data, ours = folders
    result = sed.tasks.evaluate_task(TWO, ours, data, resampling=sed.Resampling(40, interval=kind))
    (home, street) = (
        {n: i for m, i in part.intervals.items() for n in [part.names[m]]}
        for part in result.datasets.values()
    )
    first, second = home["psds1"], street["f"]
    if kind == "subsampling":  # halves of both sets, and quarters of both
        subsets = first.subsets + 2 * second.subsets
    else:  # each clip of each set is left out once
        subsets = np.concatenate([first.subsets + 2 * second.value, first.value + 2 * second.subsets])
    assert result.interval is not None
    np.testing.assert_array_equal(result.interval.subsets, subsets)
    assert result.interval.low < result.interval.high


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_data_that_was_read_before(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    opened = read_task_data(TWO, data)
    assert (
        sed.tasks.evaluate_task(TWO, ours, opened).score
        == sed.tasks.evaluate_task(TWO, ours, data).score
    )


def test_json_tables_and_warnings(folders: tuple[Path, Path], tmp_path: Path) -> None:
    data, ours = folders
    task = tmp_path / "two.toml"
    sed.tasks.write_task(TWO, task)
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
    scores = sed.Scores.from_arrays({"a": [[0.6]] * 3, "b": [[0.4]] * 3}, classes=["Dog"], frame=1.0)
    task = replace(TWO, datasets={"home": dataset("collar_f1")}, score="home.collar_f1")
    with pytest.warns(sed.SedscopeWarning):
        evaluation = sed.evaluate(scores, truth, "collar_f1")
    result = sed.tasks.TaskEvaluation(task, {"home": evaluation})
    assert math.isnan(result.score)
    assert result.to_dict()["score"] is None
    assert (
        result.warnings[-1] == "The score is not defined, because these values are not: home.collar_f1."
    )
    truth = sed.GroundTruth.from_dict({"a": [(0, 3, "Dog")], "b": []}, durations={"a": 3, "b": 3})
    inverse = replace(task, score="1 / (home.collar_f1 - home.collar_f1)")
    divided = sed.tasks.TaskEvaluation(inverse, {"home": sed.evaluate(scores, truth, "collar_f1")})
    assert divided.to_dict()["score"] is None
    assert divided.warnings[-1].startswith("The score is not defined, because 1 / (home.")


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
    sed.tasks.write_task(TWO, "two.toml")
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
        sed.tasks.evaluate_task(TWO, tmp_path, data)
    with pytest.raises(sed.SedscopeError, match=r"The data of the task two is not complete: .*street"):
        sed.tasks.evaluate_task(TWO, ours, tmp_path)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_errors_name_the_data_set_and_no_options(folders: tuple[Path, Path]) -> None:
    data, ours = folders
    sets = {**TWO.datasets, "street": dataset({"f": "segment_f1"}, classes=["Horse"])}
    with pytest.raises(sed.SedscopeError, match="street: 1 class has no scores: Horse"):
        sed.tasks.evaluate_task(replace(TWO, datasets=sets), ours, data)


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
