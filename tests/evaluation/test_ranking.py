"""Rankings: order, intervals of ranks and tie groups by brute force, rejected systems, kept values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.ranking.rank import MetricRules
from sedscope.ranking.ranking import MeasuredSystem, RankedSystem, rank_systems
from sedscope.resampling.intervals import Interval

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def measured(scores: Sequence[float], resampled: Any) -> list[MeasuredSystem]:
    return [
        MeasuredSystem(f"s{i}", f"team {i % 2}", Interval(score, score, score, np.array(values)), {})
        for i, (score, values) in enumerate(zip(scores, resampled, strict=True))
    ]


def groups_by_hand(systems: Sequence[RankedSystem], level: float) -> list[int]:
    """Count and walk down, each step as the definition says it."""
    pairs = [(i, j) for i in range(len(systems)) for j in range(i + 1, len(systems))]
    values = {(i, j): systems[i].score.value - systems[j].score.value for i, j in pairs}
    noise = {(i, j): systems[i].score.values - systems[j].score.values - values[i, j] for i, j in pairs}
    statistic = {pair: abs(values[pair]) / np.sqrt(np.mean(noise[pair] ** 2)) for pair in pairs}
    significant = set()
    for pair in sorted(pairs, key=lambda pair: -statistic[pair]):
        left = [other for other in pairs if statistic[other] <= statistic[pair]]
        largest = np.max([np.abs(noise[o]) / np.sqrt(np.mean(noise[o] ** 2)) for o in left], axis=0)
        if (1 + sum(largest >= statistic[pair])) / (1 + len(largest)) > level * (1 + 1e-9):
            break
        significant.add(pair)
    groups, best = [], 0
    for place in range(len(systems)):
        if place and (best, place) in significant:
            best = place
        groups.append(best)
    return [sorted(set(groups)).index(start) + 1 for start in groups]


@pytest.mark.parametrize("seed", range(12))
def test_ranks_and_groups_are_those_of_a_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    number, resamples = int(rng.integers(1, 8)), 600
    scores = np.round(rng.uniform(0, 0.3, number), 2)  # some are equal
    resampled = scores[:, None] + rng.normal(0, 0.02, (number, resamples))
    higher = bool(seed % 2)
    sign = 1 if higher else -1
    systems, pairs = rank_systems(
        measured(scores.tolist(), resampled), higher_is_better=higher, confidence=0.9
    )
    values = [sign * system.score.value for system in systems]
    assert values == sorted(values, reverse=True)
    assert [system.rank for system in systems] == [1 + sum(b > a for b in values) for a in values]
    assert [system.group for system in systems] == groups_by_hand(systems, 0.1)
    assert len(pairs) == number * (number - 1) // 2
    assert [system.best_of_team for system in systems] == [
        system.team not in [other.team for other in systems[:place]]
        for place, system in enumerate(systems)
    ]
    for system in systems:
        ranks = sorted(
            1 + sum(sign * other.score.values[k] > sign * system.score.values[k] for other in systems)
            for k in range(resamples)
        )
        position = 0.05 * (resamples - 1)
        assert system.rank_low == ranks[int(position)]
        assert system.rank_high == ranks[int(np.ceil(resamples - 1 - position))]


def test_a_group_ends_where_systems_differ_from_its_best_one() -> None:
    #  a ≈ b, b ≈ c, but a > c: c starts a group, and d, which b resembles, belongs to that of c
    steps = np.linspace(-0.02, 0.02, 1999)
    resampled = [0.50 + steps, 0.49 - steps, 0.45 - steps / 2, 0.44 + steps]
    systems, _ = rank_systems(
        measured([0.50, 0.49, 0.45, 0.44], resampled), higher_is_better=True, confidence=0.95
    )
    assert [system.group for system in systems] == [1, 1, 2, 2]


def test_a_resample_without_a_score_is_left_out() -> None:
    resampled = [[0.5, np.nan, 0.5], [0.4, 0.9, 0.4], [np.nan] * 3]
    systems, pairs = rank_systems(
        measured([0.5, 0.4, 0.3], resampled), higher_is_better=True, confidence=0.5
    )
    assert [(system.rank_low, system.rank_high) for system in systems] == [(1, 1), (1, 2), (1, 3)]
    assert not pairs[0, 2].significant


def test_systems_of_the_same_score_share_a_rank_in_the_order_of_their_names() -> None:
    systems, _ = rank_systems(
        measured([0.2, 0.5, 0.5], [[0.2] * 9, [0.5] * 9, [0.5] * 9]),
        higher_is_better=True,
        confidence=0.5,
    )
    assert [(system.name, system.rank) for system in systems] == [("s2", 1), ("s1", 1), ("s0", 3)]
    assert [system.rank_high for system in systems] == [1, 1, 3]


def test_scores_that_differ_by_rounding_share_a_rank() -> None:
    lower, higher = 0.3, 0.1 + 0.2
    assert lower < higher
    systems, pairs = rank_systems(
        measured([lower, 0.2, higher], [[lower] * 99, [0.2] * 99, [higher] * 99]),
        higher_is_better=True,
        confidence=0.9,
    )
    assert [(system.name, system.rank) for system in systems] == [("s0", 1), ("s2", 1), ("s1", 3)]
    assert [(system.rank_low, system.rank_high) for system in systems] == [(1, 1), (1, 1), (3, 3)]
    assert (pairs[0, 1].difference, pairs[0, 1].p) == (0, 1)
    assert [system.group for system in systems] == [1, 1, 2]


def test_rank_limits_are_those_of_the_confidence_as_it_is_written() -> None:
    better = np.arange(1001) < 50  # in 50 of 1001 resamples, which leaves 5 % of 1000 beyond
    systems, _ = rank_systems(
        measured([0.5, 0.4], [np.full(1001, 0.5), np.where(better, 0.6, 0.4)]),
        higher_is_better=True,
        confidence=0.9,
    )
    assert [(system.rank_low, system.rank_high) for system in systems] == [(1, 1), (2, 2)]


def test_more_pairs_need_no_more_resamples() -> None:
    """With 200 resamples, no p value times 276 could be below 1."""
    rng = np.random.default_rng(1)
    scores = np.repeat([0.5, 0.4, 0.3], 8) + rng.normal(0, 0.005, 24)
    resampled = scores[:, None] + rng.normal(0, 0.01, (24, 200))
    systems, pairs = rank_systems(
        measured(scores.tolist(), resampled), higher_is_better=True, confidence=0.95
    )
    assert len(pairs) == 276
    assert [system.group for system in systems] == [1] * 8 + [2] * 8 + [3] * 8


QUALITIES = {"good": 0.9, "middle": 0.7, "bad": 0.4}


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(40, seed=5)


@pytest.fixture(scope="module")
def systems(truth: sed.GroundTruth) -> dict[str, sed.Scores]:
    return {
        name: sed.simulate.scores(truth, quality=quality, frame=0.1)
        for name, quality in QUALITIES.items()
    }


def test_values_and_differences_are_those_of_a_comparison(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth
) -> None:
    metrics = ["psds1", "psds2"]
    ranking = sed.rank(systems, truth, metrics, resampling=200)
    comparison = sed.compare(systems, truth, metrics, resampling=200, classes=truth.labels)
    assert [system.name for system in ranking.systems] == [*QUALITIES]
    for metric, name in comparison.names.items():
        for system in ranking.systems:
            there = comparison.values[metric][system.name]
            here = system.metrics[name]
            assert (here.value, here.low, here.high) == (there.value, there.low, there.high)
            for label, of_class in here.per_class.items():
                assert of_class.value == pytest.approx(there.per_class[label].value, abs=0, nan_ok=True)
    names = [system.name for system in ranking.systems]
    for (later, earlier), pair in comparison.differences[comparison.metrics[0]].items():
        better, worse = sorted((names.index(later), names.index(earlier)))
        ranked = ranking.pairs[better, worse]
        assert (ranked.p, ranked.p_corrected) == (pair.p, pair.p_corrected)
        assert abs(ranked.difference) == abs(pair.value)
        assert ranked.significant == (pair.verdict != 0)


def test_the_order_of_the_systems_does_not_matter(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, tmp_path: Path
) -> None:
    turned = dict(reversed(systems.items()))
    for name, runs in (("one", systems), ("other", turned)):
        sed.rank(runs, truth, "psds1", resampling=50).site(tmp_path / name, reports="all")
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 9
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_runs_are_averaged_and_a_lower_error_rate_is_better(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth
) -> None:
    metric = sed.ErrorRate(sed.Segment(1), average="micro")
    runs: dict[str, Any] = {"two runs": [systems["good"], systems["bad"]], "one run": systems["middle"]}
    ranking = sed.rank(runs, truth, {"er": metric}, resampling=50)
    values = {
        name: sed.evaluate(scores, truth, metric)[metric].value for name, scores in systems.items()
    }
    by_name = {system.name: system.metrics["er"] for system in ranking.systems}
    assert by_name["two runs"].runs == (values["good"], values["bad"])
    assert by_name["two runs"].value == pytest.approx((values["good"] + values["bad"]) / 2)
    first, second = ranking.systems
    assert first.score.value < second.score.value
    assert "±" in ranking.table()


@pytest.mark.parametrize(("kind", "reason"), [("clip", "no scores"), ("class", "1 label of the ground")])
def test_a_broken_system_is_rejected_and_the_others_are_ranked(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, kind: str, reason: str
) -> None:
    arrays = {clip: systems["good"][clip].values for clip in systems["good"]}
    classes = list(systems["good"].classes)
    if kind == "clip":
        del arrays[truth.clips[0]]
    else:
        arrays, classes = {clip: of[:, 1:] for clip, of in arrays.items()}, classes[1:]
    wrong = sed.Scores.from_arrays(arrays, classes=classes, frame=0.1)
    with pytest.warns(sed.SedscopeWarning, match="wrong was rejected"):
        ranking = sed.rank({**systems, "wrong": wrong}, truth, "psds1", resampling=50)
    alone = sed.rank(systems, truth, "psds1", resampling=50)
    assert [system.name for system in ranking.rejected] == ["wrong"]
    assert reason in ranking.rejected[0].reasons[0]
    assert "scored" not in ranking.rejected[0].reasons[0]  # a ranking refuses clips='scored'
    assert ranking.to_csv() == alone.to_csv()


def test_a_formula_is_the_score(systems: dict[str, sed.Scores], truth: sed.GroundTruth) -> None:
    metrics = {"psds1": "psds1", "er": sed.ErrorRate(sed.Segment(1))}
    runs: dict[str, Any] = {**systems, "two runs": [systems["good"], systems["bad"]]}
    ranking = sed.rank(runs, truth, metrics, resampling=50, score="psds1 * er - 2", better="lower")
    comparison = sed.compare(runs, truth, metrics, resampling=50, classes=truth.labels)
    psds, error_rate = comparison.metrics
    values = {
        name: comparison.values[psds][name].value * comparison.values[error_rate][name].value - 2
        for name in systems
    }
    resampled = {
        name: comparison.values[psds][name].values * comparison.values[error_rate][name].values - 2
        for name in systems
    }
    values["two runs"] = (values["good"] + values["bad"]) / 2
    resampled["two runs"] = (resampled["good"] + resampled["bad"]) / 2
    assert [system.name for system in ranking.systems] == sorted(values, key=lambda name: values[name])
    for system in ranking.systems:
        assert system.score.value == pytest.approx(values[system.name], rel=1e-14)
        np.testing.assert_allclose(system.score.values, resampled[system.name], rtol=1e-13)
    assert [metric.name for metric in ranking.metrics] == ["score", "psds1", "er"]
    assert ranking.table().splitlines()[0].split()[-4:] == ["score", "psds1", "er", "scores"]
    assert "**score**: `psds1 * er - 2`" in ranking.to_markdown()


def test_all_systems_may_be_rejected(truth: sed.GroundTruth, tmp_path: Path) -> None:
    other = sed.simulate.scores(sed.simulate.ground_truth(3))
    ranking = sed.rank({"wrong": other}, truth, "psds1", resampling=50)
    assert not ranking.systems
    ranking.site(tmp_path / "board")
    assert (
        json.loads((tmp_path / "board" / "ranking.json").read_text())["rejected"][0]["name"] == "wrong"
    )


def test_a_system_whose_score_is_not_defined_is_rejected(systems: dict[str, sed.Scores]) -> None:
    silent = sed.GroundTruth.from_dict(
        {clip: [] for clip in systems["good"]}, durations=dict.fromkeys(systems["good"], 10.0)
    )
    ranking = sed.rank(
        {"good": systems["good"]}, silent, "psds1", resampling=50, classes=systems["good"].classes
    )
    assert ranking.rejected[0].reasons == ("psds1, by which systems are ranked, is not defined.",)


@pytest.fixture
def stored(systems: dict[str, sed.Scores], tmp_path: Path) -> dict[str, sed.Scores]:
    """The systems in files."""
    for name, scores in systems.items():
        sed.write_scores(scores, tmp_path / "systems" / name)
    return {name: sed.read_scores(tmp_path / "systems" / name) for name in systems}


def test_a_system_whose_score_is_infinite_is_rejected_with_the_reason() -> None:
    durations = {f"{k}": 10.0 for k in range(8)}
    truth = sed.GroundTruth.from_dict({"0": [(1, 2, "Dog")], "1": [(1, 2, "Dog")]}, durations=durations)
    perfect = {clip: np.full((10, 1), 0.9 if clip in "01" else 0.1) for clip in durations}
    noise = {clip: np.full((10, 1), (3 * int(clip)) % 8 / 8) for clip in durations}
    systems = {
        name: sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
        for name, arrays in {"perfect": perfect, "noise": noise}.items()
    }
    ranking = sed.rank(systems, truth, "dprime", resampling=20)
    assert [system.name for system in ranking.systems] == ["noise"]
    assert "dprime, by which systems are ranked, is infinite" in ranking.rejected[0].reasons[0]


def test_one_more_system_costs_one_evaluation(
    stored: dict[str, sed.Scores],
    truth: sed.GroundTruth,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, metrics = tmp_path / "kept", ["psds1", "psds2"]
    measure, measured_systems = MetricRules._measure, []

    def counted(rules: MetricRules, submission: Any, *arguments: Any) -> Any:
        measured_systems.append(submission.name)
        return measure(rules, submission, *arguments)

    def rank(*names: str, **drawn: Any) -> str:
        chosen = {name: stored[name] for name in names}
        resampling = sed.Resampling(50, **drawn)
        run = sed.Run(checkpoint=folder)
        return sed.rank(chosen, truth, metrics, resampling=resampling, run=run).to_json()

    expected = sed.rank(stored, truth, metrics, resampling=50).to_json()
    monkeypatch.setattr(MetricRules, "_measure", counted)
    rank("good", "bad")
    assert measured_systems == ["bad", "good"]
    assert rank(*stored) == expected
    assert measured_systems[2:] == ["middle"]
    assert rank(*stored) == expected
    assert len(measured_systems) == 3
    rank("good", seed=1)  # other resamples
    rank("good", confidence=0.5)
    assert len(measured_systems) == 5
    file = min((tmp_path / "systems" / "good").iterdir())
    header, row, *rest = file.read_text().splitlines()
    file.write_text("\n".join([header, row.replace("0.1", "0.10", 1), *rest, ""]))
    rank("good")  # a file was written anew
    assert len(measured_systems) == 6
    for kept in folder.iterdir():
        kept.write_bytes(kept.read_bytes()[:-9])
    alone = sed.rank({"good": stored["good"]}, truth, metrics, resampling=50).to_json()
    assert rank("good") == alone  # incomplete files are not used


def test_values_of_scores_in_memory_are_kept_by_their_content(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, tmp_path: Path
) -> None:
    for _ in range(2):
        sed.rank({"x": systems["good"]}, truth, "psds1", resampling=50, run=sed.Run(checkpoint=tmp_path))
        assert len([*tmp_path.iterdir()]) == 1
    ranking = sed.rank(
        {"x": systems["bad"]}, truth, "psds1", resampling=50, run=sed.Run(checkpoint=tmp_path)
    )
    assert len([*tmp_path.iterdir()]) == 2
    assert ranking.to_json() == sed.rank({"x": systems["bad"]}, truth, "psds1", resampling=50).to_json()


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_kept_values_of_scores_that_end_early_are_not_used_where_they_are_refused(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, tmp_path: Path
) -> None:
    events = {clip: truth.events(clip) for clip in truth.clips}
    longer = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 30))
    arguments = ({"x": systems["good"]}, longer, "collar_f1")
    options: dict[str, Any] = {"resampling": 50, "run": sed.Run(checkpoint=tmp_path)}
    assert sed.rank(*arguments, coverage="any", **options).systems
    (rejected,) = sed.rank(*arguments, **options).rejected
    assert "cover less than half" in rejected.reasons[0]


def test_systems_of_a_list_are_numbered(systems: dict[str, sed.Scores], truth: sed.GroundTruth) -> None:
    ranking = sed.rank([*systems.values()], truth, "psds1", resampling=50)
    assert {system.name for system in ranking.systems} == {
        f"system {i}" for i in range(1, len(systems) + 1)
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clips": "scored"}, "must be lists"),
        ({"clips": ["no such clip"]}, "not in the ground truth"),
        ({"teams": {"nobody": "x"}}, "nobody"),
        ({"score": "psds1 + psds2"}, "no value psds2. Did you mean psds1"),
        ({"score": "psds1", "better": "more"}, "Choose 'higher' or 'lower'"),
        ({"better": "lower"}, "to a formula"),
    ],
)
def test_invalid_arguments(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, options: Any, message: str
) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.rank(systems, truth, "psds1", resampling=50, **options)


def test_a_score_of_error_rates_must_say_what_is_better(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth
) -> None:
    metric = {"er": sed.ErrorRate(sed.Segment(1))}
    with pytest.raises(sed.SedscopeError, match="Lower values of er are better"):
        sed.rank(systems, truth, metric, resampling=50, score="1 - er")
    with pytest.raises(sed.SedscopeError, match="another name"):
        sed.rank(systems, truth, {"score": "psds1"}, resampling=50, score="2 * score")


def test_a_folder_with_other_files_is_not_replaced(
    systems: dict[str, sed.Scores], truth: sed.GroundTruth, tmp_path: Path
) -> None:
    ranking = sed.rank(systems, truth, "psds1", resampling=50)
    board = tmp_path / "board"
    ranking.site(board, reports="best")
    ranking.site(board)  # replaces the first one, reports included
    assert not (board / "reports").exists()
    (board / "mine.txt").write_text("keep")
    with pytest.raises(sed.SedscopeError, match="not empty"):
        ranking.site(board)
    assert (board / "mine.txt").read_text() == "keep"
    assert [path.name for path in tmp_path.iterdir()] == ["board"]  # nothing temporary is left


def test_tables(systems: dict[str, sed.Scores], truth: sed.GroundTruth) -> None:
    teams = {"good": "=A", "bad": "=A"}
    ranking = sed.rank(systems, truth, ["psds1", "psds2"], resampling=50, teams=teams)
    frame = ranking.to_polars()
    assert frame.height == 3 * 2 * (1 + len(truth.labels))
    assert frame["rank"].unique().sort().to_list() == [1, 2, 3]
    assert "'=A" in ranking.to_csv()
    assert [system.best_of_team for system in ranking.systems] == [True, True, False]
    assert [system.team_rank for system in ranking.systems] == [1, 2, 1]
    assert frame["team_rank"].unique().sort().to_list() == [1, 2]
    assert [json_of["team_rank"] for json_of in ranking.to_dict()["systems"]] == [1, 2, 1]
    header, _, first, _, last, *_ = ranking.table().splitlines()
    assert "team rank" in header
    place = header.index("team rank") + len("team rank") - 1
    assert (first[place], last[place]) == ("1", " ")  # beside the best system of the team
    assert r"\textbf{" in ranking.to_latex()
    rows = [line for line in ranking.to_latex().splitlines() if line.endswith(r"\\")]
    assert rows[0] == r"rank & team & system & team rank & psds1 \\"
    assert rows[1].startswith("1 & =A & good & 1 & ")
    assert rows[3].startswith("3 & =A & bad &  & ")
    assert "psds2" in ranking.to_latex(columns=["tie group", "psds2"])
    assert "**" in ranking.to_markdown()
    assert len(ranking.pairs_to_csv().splitlines()) == 4
    assert "Ranking of 3 systems by psds1" in repr(ranking)


def test_lists_and_missing_clips_are_explained() -> None:
    truth = sed.simulate.ground_truth(12, seed=1)
    scores = sed.simulate.scores(truth)
    detected = sed.detect(scores, 0.5)
    systems = {
        "scores": scores,
        "list": sed.Scores.from_events(detected, clips=truth.clips, classes=truth.labels),
        "partial": scores.only(truth.clips[2:]),
    }
    ranking = sed.rank(systems, truth, "psds1", resampling=20)
    warnings = {system.name: " ".join(system.warnings) for system in ranking.systems}
    assert "one operating point" in warnings["list"]
    assert "one operating point" not in warnings["scores"]
    assert ranking.rejected[0].reasons[0].endswith("have no scores: clip_00, clip_01.")
    header, rule, *_ = ranking.table().splitlines()
    assert set(rule) == {"─"}
    assert len(rule) == len(header)


def test_names_are_aligned_to_the_left() -> None:
    truth = sed.simulate.ground_truth(4, seed=1)
    system = sed.simulate.scores(truth)
    teams = {"a": "Oak", "b": "Birch wood"}
    ranking = sed.rank({"a": system, "b": system}, truth, "collar_f1", resampling=10, teams=teams)
    assert "a       Oak         " in ranking.table()
    assert "| :--- | :--- | ---: |" in ranking.to_markdown()
    assert r"\begin{tabular}{lllr}" in ranking.to_latex()
