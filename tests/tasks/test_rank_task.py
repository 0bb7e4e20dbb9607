"""Rankings by the score of a task: values, ranks by brute force, rejected submissions, kept values."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.tasks import task_ranking

from ..support.command_line import run
from ..support.files import write_durations
from .layout import dataset

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

QUALITIES = {"good": 0.9, "middle": 0.6, "bad": 0.3}
RESAMPLES = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task with two data sets, whose classes differ, and three submissions."""
    place = tmp_path_factory.mktemp("task")
    for name, seed in (("home", 3), ("street", 4)):
        truth = sed.simulate.ground_truth(16, seed=seed, classes=3 if name == "home" else 2)
        (place / "data" / name).mkdir(parents=True)
        sed.write_ground_truth(truth, place / "data" / name / "ground_truth.tsv")
        write_durations(truth, place / "data" / name / "durations.tsv")
        for system, quality in QUALITIES.items():
            (place / "systems" / system).mkdir(parents=True, exist_ok=True)
            scores = sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed)
            sed.write_scores(scores, place / "systems" / system / name)
    sites = "".join(f"clip_{i:02}\t{'NS'[i % 2]}\n" for i in range(16))
    (place / "data" / "street" / "sites.tsv").write_text("filename\tgroup\n" + sites)
    sed.tasks.write_task(task(), place / "task.toml")
    return place


def task(lower_is_better: bool = False, score: str = "home.psds1 + 2 * street.f1") -> sed.tasks.Task:
    sets = {
        "home": dataset(["psds1", "psds2"]),
        "street": dataset(
            {"f1": sed.FScore(sed.Segment(1))},
            groups=sed.tasks.GroupRule(clips="sites.tsv", average="harmonic"),
        ),
    }
    return sed.tasks.Task("mine", sets, score, lower_is_better=lower_is_better)


def submissions(folder: Path) -> dict[str, Any]:
    return {name: folder / "systems" / name for name in QUALITIES}


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_ranks_are_those_of_the_evaluations(folder: Path, lower_is_better: bool) -> None:
    chosen = task(lower_is_better)
    paths = submissions(folder)
    ranking = sed.tasks.rank_task(chosen, paths, folder / "data", resampling=RESAMPLES)
    alone = {
        name: sed.tasks.evaluate_task(chosen, path, folder / "data", resampling=RESAMPLES)
        for name, path in paths.items()
    }
    sign = -1 if lower_is_better else 1
    order = sorted(alone, key=lambda name: -sign * alone[name].score)
    assert [system.name for system in ranking.systems] == order
    assert ranking.score.higher_is_better != lower_is_better
    resampled = {}
    for name, result in alone.items():
        arrays = result.resamples
        resampled[name] = sign * (arrays["home"]["psds1"] + 2 * arrays["street"]["f1"])
    for place, system in enumerate(ranking.systems):
        result = alone[system.name]
        assert result.interval is not None
        assert system.rank == place + 1
        score = system.metrics["score"]
        assert (score.value, score.low, score.high) == (
            result.score,
            result.interval.low,
            result.interval.high,
        )
        ranks = sorted(
            1 + sum(values[k] > resampled[system.name][k] for values in resampled.values())
            for k in range(RESAMPLES)
        )
        assert system.rank_low == ranks[int(0.025 * (RESAMPLES - 1))]
        assert system.rank_high == ranks[int(np.ceil(0.975 * (RESAMPLES - 1)))]
        assert system.metrics["street.f1"].value == result.values["street"]["f1"]
        home = result.datasets["home"]
        for label, estimate in system.metrics["home.psds1"].per_class.items():
            there = home.intervals[next(iter(home))].per_class[label]
            numbers = (estimate.value, estimate.low, estimate.high)
            np.testing.assert_array_equal(numbers, (there.value, there.low, there.high))
    for (better, worse), pair in ranking.pairs.items():
        difference = resampled[order[better]] - resampled[order[worse]]
        value = sign * (alone[order[better]].score - alone[order[worse]].score)
        beyond = np.count_nonzero(np.abs(difference - value) >= value)
        assert pair.p == (1 + beyond) / (1 + RESAMPLES)
    assert [metric.name for metric in ranking.metrics] == [
        *("score", "home.psds1", "home.psds2", "street.f1")
    ]
    assert len(ranking.datasets["home"].classes) == 3
    assert len(ranking.systems[0].metrics["street.f1"].per_class) == 2
    assert "harmonic mean over groups of clips" in ranking.table()


def test_averages_over_groups_have_the_intervals_of_the_evaluation(folder: Path) -> None:
    sites = sed.tasks.GroupRule(clips="sites.tsv", average="mean")
    sets = {"street": dataset(["psds1", "psds2"], groups=sites)}
    chosen = sed.tasks.Task("mine", sets, "street.psds1 + street.psds2")
    path = folder / "systems" / "middle"
    result = sed.tasks.evaluate_task(chosen, path, folder / "data", resampling=RESAMPLES)
    ranking = sed.tasks.rank_task(chosen, {"x": path}, folder / "data", resampling=RESAMPLES)
    averages = result.datasets["street"].groups["clips"].averages
    for name, average in averages.items():
        ranked = ranking.systems[0].metrics[f"street.{name}"]
        assert average.interval is not None
        assert (ranked.value, ranked.low, ranked.high) == (
            average.value,
            average.interval.low,
            average.interval.high,
        )


def test_systems_share_their_resamples_whatever_the_order_of_clips_and_classes(
    folder: Path, tmp_path: Path
) -> None:
    """The same scores in another order, and with a class more, have the same score in each resample."""
    original = folder / "systems" / "middle"
    for name in ("home", "street"):
        scores = sed.read_scores(original / name)
        clips = [*scores][::-1]
        values = {clip: scores[clip].values[:, ::-1] for clip in clips}
        turned = sed.Scores.from_arrays(values, classes=scores.classes[::-1], frame=0.1)
        sed.write_scores(turned, tmp_path / f"{name}.h5")
        table = {clip: np.pad(scores[clip].values, ((0, 0), (1, 0))) for clip in clips}
        more = sed.Scores.from_arrays(table, classes=["Other", *scores.classes], frame=0.1)
        sed.write_scores(more, tmp_path / "more" / name)
    turned_folder = tmp_path / "turned"
    turned_folder.mkdir()
    for name in ("home", "street"):
        (tmp_path / f"{name}.h5").rename(turned_folder / f"{name}.h5")
    renamed = task()
    sets = {name: replace(of_set, submission=f"{name}.h5") for name, of_set in renamed.datasets.items()}
    first = sed.tasks.rank_task(task(), {"x": original}, folder / "data", resampling=50).systems[0].score
    other = sed.tasks.rank_task(
        replace(renamed, datasets=sets), {"x": turned_folder}, folder / "data", resampling=50
    )
    np.testing.assert_allclose(other.systems[0].score.values, first.values, rtol=1e-12)
    both = sed.tasks.rank_task(
        task(), {"x": original, "more": tmp_path / "more"}, folder / "data", resampling=50
    )
    by_name = {system.name: system for system in both.systems}
    np.testing.assert_allclose(by_name["more"].score.values, by_name["x"].score.values, rtol=1e-12)
    assert sum("do not have the same classes (Other)" in note for note in both.warnings) == 2
    assert both.to_csv().count("Other") == 3  # its values are not defined, and only one system has them
    assert "nan" in both.to_markdown()


def test_runs_are_averaged_resample_by_resample(folder: Path) -> None:
    paths = submissions(folder)
    chosen = task(score="home.psds1 * street.f1")
    runs = [paths["good"], paths["bad"]]
    ranking = sed.tasks.rank_task(
        chosen, {"two": runs, "one": paths["middle"]}, folder / "data", resampling=50
    )
    alone = [sed.tasks.evaluate_task(chosen, path, folder / "data", resampling=50) for path in runs]
    [system] = [system for system in ranking.systems if system.name == "two"]
    assert system.metrics["score"].runs == tuple(result.score for result in alone)
    intervals = [result.interval for result in alone]
    values = np.mean([interval.values for interval in intervals if interval is not None], axis=0)
    np.testing.assert_array_equal(system.score.values, values)
    assert "±" in ranking.table()


def edited(folder: Path, name: str, edit: Callable[[Path], None]) -> Path:
    """Return a copy of the best submission, edited."""
    target = folder / name
    shutil.copytree(folder.parent / "source", target)
    edit(target)
    return target


@pytest.fixture
def copies(folder: Path, tmp_path: Path) -> Path:
    """A folder for copies of a submission."""
    shutil.copytree(folder / "systems" / "good", tmp_path / "source")
    (tmp_path / "copies").mkdir()
    return tmp_path / "copies"


def _break(submission: Path) -> None:
    first, second, *_ = sorted((submission / "home").iterdir())
    first.unlink()
    lines = second.read_text().splitlines()
    lines[1] = "\t".join([*lines[1].split("\t")[:2], "nan", *lines[1].split("\t")[3:]])
    second.write_text("\n".join([*lines, ""]))
    shutil.rmtree(submission / "street")


def test_broken_submissions_are_rejected_with_all_reasons(folder: Path, copies: Path) -> None:
    broken = edited(copies, "broken", _break)
    board = copies / "board"
    done = run(
        *("rank", broken, copies / "nowhere", folder / "systems" / "good"),
        *("--task", folder / "task.toml", "--data", folder / "data", "--bootstrap", 50, "-o", board),
    )
    assert done.code == 0, done.err
    result = json.loads((board / "ranking.json").read_text())
    assert [system["name"] for system in result["systems"]] == ["good"]
    reasons = {system["name"]: system["reasons"] for system in result["rejected"]}
    assert reasons["nowhere"] == ["nowhere: there is no such file or folder"]
    assert any(reason.startswith("broken/home/clip_01.tsv:2:") for reason in reasons["broken"])
    assert "broken/street: the output for the data set street is missing" in reasons["broken"]
    assert any("the clip clip_00 is missing" in reason for reason in reasons["broken"])
    assert "--clips" not in "".join(reasons["broken"])
    check = sed.tasks.check_submission(folder / "task.toml", broken, folder / "data")
    assert len(check.problems) == len(reasons["broken"])
    done = run("rank", broken, "--task", folder / "task.toml", "--data", folder / "data")
    assert done.code == 1


def test_only_systems_with_the_same_clips_are_ranked(folder: Path, copies: Path) -> None:
    fewer = edited(copies, "fewer", lambda path: min((path / "home").iterdir()).unlink())
    sets = {name: replace(of_set, clips="scored") for name, of_set in task().datasets.items()}
    chosen = replace(task(), datasets=sets)
    systems = {**submissions(folder), "fewer": fewer}
    ranking = sed.tasks.rank_task(chosen, systems, folder / "data", resampling=50)
    assert len(ranking.systems) == 3
    assert ranking.rejected[0].reasons == (
        "home: the system was evaluated on 15 clips, but most systems on 16. Only systems with the same "
        "clips can be ranked.",
    )


def test_one_more_submission_costs_one_evaluation(
    folder: Path, copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = sed.tasks.evaluate_task
    evaluated: list[str] = []

    def counted(chosen: Any, path: Path, *arguments: Any, **options: Any) -> Any:
        evaluated.append(path.name)
        return evaluate(chosen, path, *arguments, **options)

    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    changed = edited(copies, "good", lambda _: None)

    def rank(
        *names: str, score: str = task().score, kept: Path | None = tmp_path / "kept", **drawn: Any
    ) -> str:
        paths = {name: changed if name == "good" else submissions(folder)[name] for name in names}
        resampling, run = sed.Resampling(50, **drawn), sed.Run(checkpoint=kept)
        return sed.tasks.rank_task(
            task(score=score), paths, data, resampling=resampling, run=run
        ).to_json()

    expected = rank(*QUALITIES, kept=None)
    monkeypatch.setattr(task_ranking, "evaluate_task", counted)
    rank("good", "bad")
    assert evaluated == ["bad", "good"]
    assert rank(*QUALITIES) == expected
    assert evaluated[2:] == ["middle"]
    assert rank(*QUALITIES) == expected
    assert len(evaluated) == 3
    different: list[dict[str, Any]] = [{"seed": 1}, {"confidence": 0.9}, {"score": "home.psds1"}]
    for number, options in enumerate(different, 4):
        rank("good", **options)
        assert len(evaluated) == number
    for number, (file, old, new) in enumerate(
        [
            (min((changed / "street").iterdir()), "0.0", "0.00"),
            (data / "street" / "sites.tsv", "\tN", "\tNorth"),
            (data / "home" / "durations.tsv", "10.000000", "10.000100"),
        ],
        4 + len(different),
    ):
        _replace_text(file, old, new)
        rank("good")
        assert len(evaluated) == number
    rank("good")
    assert len(evaluated) == 9


def _replace_text(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_same_inputs_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    systems = sorted((folder / "systems").iterdir())
    table = ["team,name,path", *(f"Lab,{path.name},{path}" for path in systems), ""]
    (tmp_path / "teams.csv").write_text("\n".join(table))
    options = ("--task", folder / "task.toml", "--data", folder / "data", "--bootstrap", 50)
    for board, more in (("one", ()), ("other", ("--checkpoint", tmp_path / "kept", "--threads", 1))):
        done = run(
            *("rank", tmp_path / "teams.csv", *options, "-o", tmp_path / board, "--reports", "best"),
            *more,
        )
        assert done.code == 0, done.err
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 6 + 2  # a report of the best system of the team on each data set
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    page = (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    for file in files[-2:]:
        assert file.as_posix() in page


def test_a_report_that_cannot_be_made_is_left_out_with_a_note(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking = sed.tasks.rank_task(task(), submissions(folder), folder / "data", resampling=50)

    def evaluate(system: Any, name: str) -> sed.Evaluation:
        if name == "home":
            raise sed.SedscopeError("The <references> overlap.")
        return ranking.evaluate(system, name)

    replace(ranking, evaluate=evaluate).site(tmp_path / "board", reports="best")
    page = (tmp_path / "board" / "index.html").read_text(encoding="utf-8")
    assert page.count("There is no report of home: The &lt;references&gt; overlap.") == 3
    assert all("street" in path.name for path in (tmp_path / "board" / "reports").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"audio": "nowhere"}, "no folder nowhere"),
        ({"clips_shown": ["clip_00", "clip_99"]}, "no data set contains: clip_99"),
    ],
)
def test_what_reports_show_is_checked(
    folder: Path, tmp_path: Path, arguments: Any, message: str
) -> None:
    ranking = sed.tasks.rank_task(
        task(), {"x": submissions(folder)["good"]}, folder / "data", resampling=20
    )
    with pytest.raises(sed.SedscopeError, match=message):
        ranking.site(tmp_path / "board", reports="all", **arguments)
    assert not (tmp_path / "board").exists()


def test_the_ground_truth_of_a_task_with_one_data_set(folder: Path) -> None:
    home = folder / "data" / "home"
    systems = [path / "home" for path in submissions(folder).values()]
    done = run(
        *("rank", *systems, home / "ground_truth.tsv", "--durations", home / "durations.tsv"),
        *("--task", "dcase2019_task4", "--bootstrap", 50),
    )
    assert done.code == 0, done.err
    assert "desed.collar_f1" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "psds1"], "--metric cannot be combined with --task"),
        (["--score", "home.psds1"], "--score cannot be combined with --task"),
    ],
)
def test_refused_options(folder: Path, arguments: list[str], message: str) -> None:
    options = ("--task", folder / "task.toml", "--data", folder / "data", *arguments)
    done = run("rank", folder / "systems" / "good", *options)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({}, {}, "no system"),
        ({"a": []}, {}, "a has no submission"),
        (["x"], {"teams": {"x": "y"}}, "by name"),
        ({"a": "x"}, {"teams": {"b": "y"}}, "not among the submissions: b"),
    ],
)
def test_invalid_arguments(folder: Path, systems: Any, options: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.tasks.rank_task(task(), systems, folder / "data", resampling=50, **options)


def test_values_are_not_kept_for_links_to_another_submission(folder: Path, tmp_path: Path) -> None:
    paths = {"good": folder / "systems" / "good", "copy": tmp_path / "copy"}
    (tmp_path / "copy").mkdir()
    for name in ("home", "street"):
        (tmp_path / "copy" / name).symlink_to(paths["good"] / name)
    ranking = sed.tasks.rank_task(
        task(), paths, folder / "data", resampling=RESAMPLES, run=sed.Run(checkpoint=tmp_path / "kept")
    )
    assert [system.name for system in ranking.systems] == ["good"]
    assert [system.name for system in ranking.rejected] == ["copy"]
    assert "copy/home: this is a link that leads out of the submission" in ranking.rejected[0].reasons[0]


def test_archives_are_ranked_like_folders(folder: Path, tmp_path: Path) -> None:
    packed: dict[str, Any] = {}
    for name, path in submissions(folder).items():
        packed[name] = Path(shutil.make_archive(str(tmp_path / name), "zip", path))
    plain = sed.tasks.rank_task(task(), submissions(folder), folder / "data", resampling=20)
    unpacked = sed.tasks.rank_task(task(), packed, folder / "data", resampling=20)
    assert json.loads(unpacked.to_json()) == json.loads(plain.to_json())
    unpacked.site(tmp_path / "board", reports="best")
    assert len([*(tmp_path / "board" / "reports").iterdir()]) == 6
