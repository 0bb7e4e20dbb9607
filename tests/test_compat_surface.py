"""In the place of sed_scores_eval: its names and arguments, files, what is refused, what differs."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
import sedscope.compat.sed_scores_eval as sed_scores_eval
from sedscope.compat.sed_scores_eval import (
    clip_based,
    collar_based,
    intersection_based,
    io,
    segment_based,
)
from sedscope.compat.sed_scores_eval.base_modules import bootstrap, curves, detection, ground_truth
from sedscope.compat.sed_scores_eval.base_modules.postprocessing import apply_postprocessing, medfilt
from sedscope.compat.sed_scores_eval.base_modules.scores import (
    create_score_dataframe,
    get_unique_thresholds,
    validate_score_dataframe,
)
from sedscope.compat.sed_scores_eval.counting import find, statistics_of
from sedscope.compat.sed_scores_eval.delta_tables import delta_table, found_in_table
from sedscope.compat.sed_scores_eval.inputs import NamedScores
from sedscope.compat.sed_scores_eval.utils import array_ops, nested, visualization

from .cases import clip_lists, criteria, to_scores, to_truth
from .files import write_files
from .judging import judge
from .peers.judge import parameters

MODULES = [
    *(
        f"{package}.{module}"
        for package in ("intersection_based", "collar_based", "segment_based", "clip_based")
        for module in ("intermediate_statistics", "precision_recall", "error_rate", "roc")
        if module != "roc" or package in ("segment_based", "clip_based")
    ),
    "intersection_based.psds",
    "intersection_based.pipsds",
    *(
        f"base_modules.{module}"
        for module in (
            *("bootstrap", "curves", "detection", "error_rate", "ground_truth", "io"),
            *("postprocessing", "precision_recall", "roc", "scores"),
        )
    ),
    *("utils.array_ops", "utils.nested", "utils.visualization"),
]
NOT_OFFERED = {
    # pieces of how it counts, not of what it finds
    *("statistics_fn", "acceleration_fn", "psd_roc_postprocessing", "assert_non_connected_events"),
    "download_test_data",
}
GRID: dict[str, Any] = {"dtc_threshold": 0.5, "gtc_threshold": 0.5}
COLLAR: dict[str, Any] = {"onset_collar": 0.2, "offset_collar": 0.2}


# Names and arguments


@dataclass(frozen=True)
class Nothing:
    """No set, but a question."""

    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 1.0})

    def question(self) -> dict[str, Any]:
        return {"judge": "signatures", "modules": MODULES}


@pytest.fixture(scope="module")
def functions(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    verdict = judge(peers_python, tmp_path_factory.mktemp("signatures"), {"all": Nothing()})["all"]
    return [json.loads(text) for text in verdict["functions"].tolist()]


def test_all_functions_are_there_and_take_the_same_arguments(functions: list[Any]) -> None:
    assert len(functions) > 100
    missing, differing = [], []
    for module, name, theirs in functions:
        if name in NOT_OFFERED:
            continue
        found = getattr(import_module(f"{sed_scores_eval.__name__}.{module}"), name, None)
        if found is None:
            missing.append(f"{module}.{name}")
            continue
        ours = parameters(found)
        takes_any = any(
            one.kind is inspect.Parameter.VAR_KEYWORD
            for one in inspect.signature(found).parameters.values()
        )
        positions = [one[0] for one in ours if one[1]]
        expected = [one[0] for one in theirs if one[1]]
        known = {one[0]: one[2] for one in ours}
        if positions[: len(expected)] != expected:
            differing.append(f"{module}.{name}: {positions} for {expected}")
        for parameter, _, default in theirs:
            if parameter in known:
                value = known[parameter]
                same = default in (None, value) or float(default) == float(value or "nan")
                if not same:
                    differing.append(f"{module}.{name}: {parameter}={value} for {default}")
            elif not takes_any:
                differing.append(f"{module}.{name}: no {parameter}")
    assert missing == []
    assert differing == []


def test_names_of_other_versions() -> None:
    for name in (
        "postprocessing_independent_psds",
        "postprocessing_independent_psds_from_postprocessed_scores",
        "bootstrapped_postprocessing_independent_psds_from_postprocessed_scores",
        "bootstrapped_best_fscore",
    ):
        assert callable(getattr(intersection_based, name))
    assert sed_scores_eval.utils.scores.create_score_dataframe is create_score_dataframe
    assert sed_scores_eval.utils.create_score_dataframe is create_score_dataframe
    assert callable(segment_based.bootstrapped_auroc)
    assert callable(clip_based.bootstrapped_auroc)
    assert callable(collar_based.bootstrapped_best_fscore)


# Sets


def frame(*columns: list[float], classes: tuple[str, ...] = ("Dog", "Cat")) -> Any:
    values = np.array(columns).T
    return create_score_dataframe(values, np.arange(len(values) + 1.0), list(classes))


#           0    1    2    3    4 s
DOG = {"a": [0.1, 0.9, 0.8, 0.2], "b": [0.1, 0.1, 0.3, 0.1]}
CAT = {"a": [0.1, 0.1, 0.1, 0.1], "b": [0.7, 0.1, 0.1, 0.1]}
SCORES = {clip: frame(DOG[clip], CAT[clip]) for clip in "ab"}
TRUTH = {"a": [(1.0, 3.0, "Dog")], "b": [(0.0, 1.0, "Cat")]}
DURATIONS = {"a": 4.0, "b": 4.0}


def simulated() -> tuple[dict[str, Any], dict[str, Any], dict[str, float]]:
    truth = sed.simulate.ground_truth(30, classes=3)
    scores = sed.simulate.scores(truth)
    assert truth.durations is not None
    frames = {
        clip: create_score_dataframe(one.values, one.edges, list(scores.classes))
        for clip, one in scores.items()
    }
    events = {clip: truth.events(clip) for clip in truth.clips}
    return frames, events, dict(zip(truth.clips, truth.durations / 1e6, strict=True))


def test_files_frames_loaders_and_scores_are_the_same(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    given = [SCORES, str(files.scores), files.scores, io.lazy_sed_scores_loader(files.scores)]
    given += [io.read_sed_scores(files.scores), sed.read_scores(files.scores)]
    given += [{clip: table.astype(np.float32) for clip, table in SCORES.items()}]
    values = [
        intersection_based.psds(scores, truth, durations, **GRID)[0]
        for scores in given
        for truth in (TRUTH, files.truth)
        for durations in (DURATIONS, files.durations)
    ]
    assert values == [1.0] * len(values)


def test_psds_are_those_of_sedscope() -> None:
    frames, truth, durations = simulated()
    options = {"dtc_threshold": 0.1, "gtc_threshold": 0.1, "cttc_threshold": 0.3}
    weights: dict[str, Any] = {"alpha_ct": 0.5, "alpha_st": 1.0}
    metric = sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), **weights)
    scores = sed.Scores.from_tables(frames)
    events = sed.GroundTruth.from_dict(truth, durations=durations)
    ours = intersection_based.psds(frames, truth, durations, **options, **weights)
    expected = sed.evaluate(scores, events, metric)[metric]
    assert ours[0] == expected.value
    assert ours[1] == {label: one.value for label, one in expected.per_class.items()}
    for label, (tpr, efpr, at) in ours[3].items():
        curve = expected.per_class[label].curve
        assert np.array_equal([tpr, efpr, at], [curve.tpr, curve.efpr, curve.scores])
    falling = sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), **weights, oracle=False)
    ours = intersection_based.psds(frames, truth, durations, **options, **weights, non_oracle=True)
    assert ours[0] == sed.evaluate(scores, events, falling)[falling].value


def test_resamples_draw_each_clip_equally_often() -> None:
    frames, truth, durations = simulated()
    values, *_ = intersection_based.bootstrapped_psds(
        frames, truth, durations, **GRID, n_bootstrap_samples=8
    )
    deltas = sed.deltas(
        sed.Scores.from_tables(frames),
        sed.GroundTruth.from_dict(truth, durations=durations),
        sed.Intersection(0.5, 0.5),
    )
    drawn = sorted(frames) * 8
    np.random.RandomState(0).shuffle(drawn)
    rows = np.array(drawn).reshape(8, -1)
    weights = [[np.count_nonzero(row == clip) for clip in deltas.clips] for row in rows]
    expected = sed.bootstrap(deltas, sed.PSDS(sed.Intersection(0.5, 0.5)), weights=weights)
    np.testing.assert_allclose(values, expected.values, atol=1e-12)


@pytest.mark.parametrize(
    ("package", "data", "options"),
    [
        (intersection_based, ("truth",), GRID),
        (collar_based, ("truth",), COLLAR),
        (segment_based, ("truth", "durations"), {"segment_length": 1.0}),
        (clip_based, ("tags",), {}),
    ],
)
def test_resampled_best_fscores_are_of_the_chosen_clips(
    package: Any, data: tuple[str, ...], options: dict[str, Any]
) -> None:
    """The best F-score of a resample is that of its clips alone."""
    frames, truth, durations = simulated()
    tags = {clip: [event[2] for event in events] for clip, events in truth.items()}
    named = {"truth": truth, "durations": durations, "tags": tags}
    ids = sorted(frames)
    np.random.RandomState(0).shuffle(ids)
    kept = ids[15:]  # without the first of two folds
    best, *_ = package.bootstrapped_best_fscore(
        frames, *(named[name] for name in data), **options, n_folds=2, n_iterations=1
    )
    alone, *_ = package.best_fscore(
        {clip: frames[clip] for clip in kept},
        *({clip: named[name][clip] for clip in kept} for name in data),
        **options,
    )
    assert best[0] == pytest.approx(alone)


@pytest.mark.filterwarnings("error")
def test_values_lead_back_to_their_thresholds() -> None:
    """The F-score at the threshold of the best one is the best one, and so for error rates."""
    frames, truth, durations = simulated()
    best, _, _, thresholds, _ = collar_based.best_fscore(frames, truth, **COLLAR)
    again, *_ = collar_based.fscore(frames, truth, thresholds, **COLLAR)
    assert again == pytest.approx(best)
    best, _, _, thresholds, _ = segment_based.best_error_rate(frames, truth, durations)
    again, *_ = segment_based.error_rate(frames, truth, durations, thresholds)
    assert again == pytest.approx(best)


def test_error_rates_by_intersection_are_defined() -> None:
    rates, insertions, deletions, stats = intersection_based.error_rate(SCORES, TRUTH, 0.5, **GRID)
    assert rates == insertions == deletions == {"Dog": 0.0, "Cat": 0.0, "macro_average": 0.0}
    assert stats["Dog"]["tps"] == stats["Dog"]["n_ref"] == 1


def test_limits_of_error_rates_are_kept() -> None:
    frames, truth, _ = simulated()
    for limit in (0.0, 0.2, 5.0):
        _, insertions, *_ = collar_based.best_error_rate(
            frames, truth, **COLLAR, max_insertion_rate=limit
        )
        assert all(rate <= limit for rate in insertions.values())
    rates, insertions, deletions, thresholds, _ = collar_based.best_error_rate(
        frames, truth, **COLLAR, max_deletion_rate=0.0
    )
    label = next(iter(thresholds))
    assert (rates[label], insertions[label], deletions[label]) == (1, 0, 1)  # as it says for no point
    assert thresholds[label] == np.inf


@pytest.mark.parametrize("max_fpr", [None, 0.3])
def test_areas_are_those_of_scikit_learn(max_fpr: float | None) -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="compares with scikit-learn")
    frames, truth, _ = simulated()
    tags = {clip: [event[2] for event in events] for clip, events in truth.items()}
    areas, _ = clip_based.auroc(frames, tags, max_fpr=max_fpr, mcclish_correction=max_fpr is not None)
    for label in next(iter(frames.values())).columns[2:]:
        expected = sklearn.roc_auc_score(
            [label in tags[clip] for clip in frames],
            [frames[clip][label].max() for clip in frames],
            max_fpr=max_fpr,
        )
        assert areas[label] == pytest.approx(expected, abs=1e-12)


def test_classes_without_references_are_left_out() -> None:
    truth: dict[str, Any] = {"a": [(1.0, 3.0, "Dog")], "b": []}
    with pytest.warns(sed.SedscopeWarning, match="1 class: Cat"):
        value, of_classes, _, _ = intersection_based.psds(SCORES, truth, DURATIONS, **GRID)
    assert value == of_classes["Dog"]
    assert np.isnan(of_classes["Cat"])
    with pytest.warns(sed.SedscopeWarning, match="1 class: Cat"):
        fscores, *_ = collar_based.fscore(SCORES, truth, 0.5, **COLLAR)
    assert np.isnan(fscores["Cat"])
    assert fscores["macro_average"] == fscores["Dog"]


def test_precision_of_nothing_is_1_also_over_all_classes() -> None:
    _, precisions, recalls, _ = intersection_based.fscore(SCORES, TRUTH, 2.0, **GRID)
    assert set(precisions.values()) == {1.0}
    assert set(recalls.values()) == {0.0}


def test_touching_references_and_gaps_between_frames_are_fine() -> None:
    truth = {"a": [(1.0, 2.0, "Dog"), (2.0, 3.0, "Dog")], "b": [(0.0, 1.0, "Cat")]}
    fscores, *_ = intersection_based.fscore(SCORES, truth, 0.5, **GRID)
    assert fscores["Dog"] == 1
    with_a_gap = {**SCORES, "a": SCORES["a"].drop(index=0)}
    assert intersection_based.fscore(with_a_gap, TRUTH, 0.5, **GRID)[0]["Dog"] == 1


def test_references_after_the_last_score_count_as_missed() -> None:
    truth = {"a": [(1.0, 3.0, "Dog"), (9.0, 9.5, "Dog")], "b": [(0.0, 1.0, "Cat")]}
    _, _, recalls, stats = collar_based.fscore(SCORES, truth, 0.5, **COLLAR)
    assert recalls["Dog"] == 0.5
    assert stats["Dog"]["n_ref"] == 2


def test_events_may_come_one_by_one() -> None:
    truth = {clip: (event for event in events) for clip, events in TRUTH.items()}
    assert intersection_based.fscore(SCORES, truth, 0.5, **GRID)[0]["macro_average"] == 1


def test_segments_without_durations_go_to_the_last_score_or_reference() -> None:
    truth = {"a": [(1.0, 3.0, "Dog"), (5.0, 6.0, "Dog")], "b": [(0.0, 1.0, "Cat")]}
    statistics, names = segment_based.accumulated_intermediate_statistics(SCORES, truth, None)
    assert names == ["a", "b"]
    assert statistics["Dog"][1]["n_ref"] == 3
    assert statistics["Dog"][1]["tns"][-1] == 10 - 3
    assert statistics["Dog"][1]["tps"][0] == 2  # the last one has no score
    deltas = segment_based.intermediate_statistics_deltas(SCORES, truth, None)
    again, _ = segment_based.accumulated_intermediate_statistics(None, None, None, deltas=deltas)
    for name, column in statistics["Dog"][1].items():
        assert np.array_equal(again["Dog"][1][name], column)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@given(
    case=clip_lists,
    criterion=criteria() | st.sampled_from([sed.Collar(), sed.Collar(errors=True), sed.Segment(0.03)]),
)
@settings(max_examples=60)
def test_a_table_of_deltas_is_as_good_as_the_scores(case: Any, criterion: Any) -> None:
    scores, truth = to_scores(case), to_truth(case)
    found = find(NamedScores(scores, {clip: clip for clip in scores}), truth, criterion)
    again = found_in_table(delta_table(found), criterion, truth)
    direct, back = statistics_of(found.counts()), statistics_of(again.counts())
    for label, (at, stats) in direct.items():
        assert np.array_equal(back[label][0], at)
        flat = nested.flatten(back[label][1])
        for name, column in nested.flatten(stats).items():
            np.testing.assert_allclose(flat[name], column, rtol=0, atol=1e-12)


# Files


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    io.write_sed_scores(frames, tmp_path / "scores")
    back = io.read_sed_scores(tmp_path / "scores")
    assert list(back) == sorted(frames)
    for clip, table in frames.items():
        assert np.array_equal(back[clip].to_numpy(), table.to_numpy())
    io.write_ground_truth_events(truth, tmp_path / "truth.tsv")
    read = io.read_ground_truth_events(tmp_path / "truth.tsv")
    assert {clip: [tuple(event) for event in events] for clip, events in read.items()} == truth
    assert io.read_ground_truth_events(pandas.read_csv(tmp_path / "truth.tsv", sep="\t")) == read
    rows = "".join(f"{clip}.wav\t{seconds}\n" for clip, seconds in durations.items())
    (tmp_path / "durations.tsv").write_text("filename\tduration\n" + rows)
    assert io.parse_audio_durations(tmp_path / "durations.tsv", audio_ids=list(frames)) == durations
    scores, events, clips = io.parse_inputs(tmp_path / "scores", tmp_path / "truth.tsv")
    assert clips == sorted(scores) == sorted(events)


def test_tags_are_read_from_rows_or_lists(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("filename\tevent_label\na.wav\tDog\na.wav\tCat\nb.wav\t\n")
    (tmp_path / "lists.tsv").write_text("filename\tevent_labels\na.wav\tDog,Cat\nb.wav\t\n")
    expected = ({"a": ["Dog", "Cat"], "b": []}, {"Dog": 1, "Cat": 1})
    assert io.read_ground_truth_tags(tmp_path / "rows.tsv") == expected
    assert io.read_ground_truth_tags(tmp_path / "lists.tsv") == expected
    given = clip_based.fscore(SCORES, {"a": ["Dog", "Cat"], "b": []}, 0.5)[0]
    assert clip_based.fscore(SCORES, tmp_path / "rows.tsv", 0.5)[0] == given


def test_detections_are_added_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "events.tsv"
    io.write_detection(SCORES, 0.5, path)
    io.write_detections({"a": SCORES["a"]}, {"Dog": 0.85, "Cat": 0.5}, path)
    assert path.read_text().splitlines() == [
        "filename\tonset\toffset\tevent_label",
        "a.wav\t1.0\t3.0\tDog",
        "b.wav\t0.0\t1.0\tCat",
        "a.wav\t1.0\t2.0\tDog",
    ]
    io.write_detections_for_multiple_thresholds(SCORES, [0.25, 0.5], tmp_path / "points")
    assert sorted(file.name for file in (tmp_path / "points").iterdir()) == ["0.250.tsv", "0.500.tsv"]


def test_a_score_transform_spreads_scores_in_references(tmp_path: Path) -> None:
    frames, truth, durations = simulated()
    io.write_score_transform(frames, truth, tmp_path / "transform.tsv", classwise_transform=True)
    transform = io.read_score_transform(tmp_path / "transform.tsv")
    moved = {clip: transform(table) for clip, table in frames.items()}
    before, *_ = intersection_based.psds(frames, truth, durations, **GRID)
    after, *_ = intersection_based.psds(moved, truth, durations, **GRID)
    assert after == pytest.approx(before, abs=1e-12)
    assert any(not moved[clip].equals(frames[clip]) for clip in frames)


# Post-processing


def test_median_filters_of_each_class() -> None:
    filtered = medfilt(SCORES, [3.0, 0.0])
    assert filtered["a"]["Cat"].tolist() == [0.1] * len(filtered["a"])
    assert filtered["a"]["Dog"].max() == 0.8
    lazy = medfilt(SCORES, 3.0, lazy=True)
    assert lazy["a"].equals(medfilt(SCORES, 3.0)["a"])
    assert [len(lazy[clip]) for clip in lazy.map(lambda table: table)] == [len(lazy[c]) for c in lazy]


def test_a_function_of_arrays_is_applied_and_stored(tmp_path: Path) -> None:
    doubled = apply_postprocessing(
        SCORES, lambda values, edges, times: (values * times, edges), times=2, storage_dir=tmp_path
    )
    assert doubled["a"]["Dog"].tolist() == [0.2, 1.8, 1.6, 0.4]
    assert io.read_sed_scores(tmp_path)["a"].equals(doubled["a"])


def test_median_filters_are_one_post_processing_among_others() -> None:
    frames, truth, durations = simulated()
    options = {**GRID, "alpha_st": 1.0}
    lengths = [0.06, 0.3]
    filtered = intersection_based.median_filter_independent_psds(
        frames, truth, durations, median_filter_lengths_in_sec=lengths, **options
    )
    functions = [partial(medfilt, filter_length_in_sec=length) for length in lengths]
    called = intersection_based.postprocessing_independent_psds(
        frames, truth, durations, postprocessing_functions=functions, **options
    )
    given = intersection_based.postprocessing_independent_psds_from_postprocessed_scores(
        [medfilt(frames, length) for length in lengths], truth, durations, **options
    )
    assert filtered[:2] == called[:2] == given[:2]
    deltas = [
        intersection_based.deltas_postprocessing(frames, truth, function, **GRID)
        for function in functions
    ]
    again = intersection_based.median_filter_independent_psds(
        None, truth, durations, median_filter_lengths_in_sec=lengths, deltas=deltas, **options
    )
    assert again[:2] == filtered[:2]
    several = intersection_based.psds([frames, frames], truth, durations, **GRID)
    assert [len(of_both) for of_both in several] == [2, 2, 2, 2]


# Helpers


def test_helpers_do_what_they_say() -> None:
    assert curves.staircase_auc(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 2, 3]), max_x=2.5) == 2
    assert curves.linear_auc(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 2, 3]), max_x=2.5) == 3.125
    assert curves.get_curve_idx_for_threshold(np.array([0.2, 0.5, np.inf]), 0.5) == 2
    assert curves.get_curve_idx_for_threshold(np.array([0.2, 0.5, np.inf]), np.inf) == 2
    assert array_ops.get_first_index_where(np.array([1, 2, 3]), "gt", 5) == 3
    tree = {"a": 1, "b": {"c": 2, "d": {}}}
    assert nested.deflatten(nested.flatten(tree)) == tree
    assert nested.deflatten({"a.b.c": 1}, maxdepth=1) == {"a": {"b.c": 1}}
    single = ground_truth.multi_label_to_single_label_ground_truths(TRUTH, ["Dog", "Cat"])
    assert single == {"Dog": {"a": [(1.0, 3.0)], "b": []}, "Cat": {"a": [], "b": [(0.0, 1.0)]}}
    counts, seconds = ground_truth.event_counts_and_durations(TRUTH, ["Dog", "Cat"])
    assert (counts, seconds) == ({"Dog": 1, "Cat": 1}, {"Dog": 2.0, "Cat": 1.0})
    assert ground_truth.onset_offset_times_to_indices(0.5, 1.5, [0, 1, 2, 3]) == (0, 2)
    assert get_unique_thresholds(np.array([2.0, 1.0]))[0].tolist() == [-np.inf, 1.5]
    assert detection.scores_to_event_list(SCORES["a"], 0.5) == [(1.0, 3.0, "Dog")]
    mean, low, high = bootstrap.confidence_interval([0.0, 1.0, 2.0, 3.0, 4.0], confidence=0.5)
    assert (mean, low, high) == (2, 1, 3)
    assert bootstrap.confidence_interval([{"Dog": 1.0}, {"Dog": 1.0}]) == {"Dog": (1, 1, 1)}


def test_parts_of_deltas_are_resampled() -> None:
    frames, truth, _ = simulated()
    deltas = collar_based.intermediate_statistics_deltas(frames, truth, 0.2, 0.2)
    options = {**COLLAR, "n_folds": 2, "n_iterations": 2}
    measure = partial(collar_based.fscore, None, truth, 0.5)
    parts = bootstrap.bootstrap_from_deltas(measure, deltas, n_folds=2, n_iterations=2, **COLLAR)
    assert parts == collar_based.bootstrapped_fscore(frames, truth, 0.5, **options)


def test_a_curve_is_drawn(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    value, _, roc, _ = intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID)
    _, axes = pyplot.subplots()
    options: dict[str, Any] = {**GRID, "cttc_threshold": None, "alpha_ct": 0.0, "alpha_st": 0.0}
    visualization.plot_psd_roc(
        roc,
        **options,
        unit_of_time="hour",
        max_efpr=100.0,
        psds=value,
        axes=axes,
        filename=tmp_path / "a.png",
    )
    assert axes.get_title().startswith(f"PSDS: {value:.5f}\ndtc: 0.50, gtc: 0.50, cttc: na")
    assert (tmp_path / "a.png").exists()
    pyplot.close("all")


# What is refused


def nan_scores() -> Any:
    return {**SCORES, "a": frame([0.1, np.nan, 0.8, 0.2], CAT["a"])}


def deltas_of(changes: dict[str, list[int]]) -> Any:
    return {clip: {label: ([0.5], changes) for label in ("Dog", "Cat")} for clip in "ab"}


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (
            lambda: intersection_based.psds({"a": SCORES["a"]}, TRUTH, DURATIONS, **GRID),
            "without scores: 1",
        ),
        (
            lambda: intersection_based.psds(SCORES, {"a": []}, {"a": 4.0}, **GRID),
            "not in the ground truth: 1 clip with scores: b",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, {"a": 4.0}, **GRID),
            "durations: none for 1 clip",
        ),
        (lambda: intersection_based.psds(3, TRUTH, DURATIONS, **GRID), "scores must be a mapping"),
        (lambda: intersection_based.psds([], TRUTH, DURATIONS, **GRID), "scores is an empty list"),
        (lambda: intersection_based.psds({}, TRUTH, DURATIONS, **GRID), "there is no score table"),
        (lambda: intersection_based.psds(SCORES, 3, DURATIONS, **GRID), "ground truth: give a mapping"),
        (lambda: intersection_based.psds(SCORES, TRUTH, 3, **GRID), "durations: give a mapping"),
        (lambda: intersection_based.psds(SCORES, TRUTH, None, **GRID), "durations: give a mapping"),
        (
            lambda: intersection_based.bootstrapped_psds(SCORES, TRUTH, None, **GRID),
            "durations: give a mapping",
        ),
        (
            lambda: intersection_based.fscore(nan_scores(), TRUTH, 0.5, **GRID),
            "1 score not a number .NaN.: clip a, class Dog, frame 1",
        ),
        (
            lambda: collar_based.fscore(SCORES, {"a": [(1, 3, "Bird")], "b": []}, 0.5, **COLLAR),
            "1 label of the ground truth not among the classes of the scores: Bird",
        ),
        (
            lambda: collar_based.fscore(SCORES, {"a": [(1, 3)], "b": []}, 0.5, **COLLAR),
            r"a: \(1, 3\) is not \(onset, offset, label\)",
        ),
        (
            lambda: collar_based.fscore(
                SCORES, {"a": [(1, 3, "Dog"), (2, 4, "Dog")], "b": []}, 0.5, **COLLAR
            ),
            "1 event overlapping another of the same class and clip",
        ),
        (lambda: clip_based.fscore(SCORES, TRUTH, 0.5), "tags must be lists of labels"),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, cttc_threshold=0.3),
            "cttc_threshold=0.3 and alpha_ct=0.0 do not go together",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, unit_of_time="day"),
            "unit_of_time='day': choose 'second'",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, max_efpr=0),
            "max_efpr=0 must be above 0",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, 0.5, **GRID, time_decimals=3),
            "time_decimals=3: times are exact to 6 decimals",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, {"Dog": 0.5}, **GRID),
            "there is no threshold for Cat",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, [0.5], **GRID),
            "thresholds must be one number",
        ),
        (
            lambda: intersection_based.fscore(None, TRUTH, 0.5, deltas={}, **GRID),
            "deltas must be a mapping",
        ),
        (
            lambda: collar_based.fscore(None, TRUTH, 0.5, deltas=deltas_of({"tps": [1]}), **COLLAR),
            "the deltas have no 'fps': they are of another kind",
        ),
        (
            lambda: collar_based.fscore(
                None, TRUTH, 0.5, deltas=deltas_of({"tps": [1], "fps": [0, 1]}), **COLLAR
            ),
            "one change of each count for each score",
        ),
        (
            lambda: intersection_based.median_filter_independent_psds(
                SCORES, TRUTH, DURATIONS, median_filter_lengths_in_sec=[], **GRID
            ),
            "there is no median filter",
        ),
        (lambda: medfilt(SCORES, [1.0]), "clip a: give one filter length, or one for each of 2 classes"),
        (lambda: validate_score_dataframe(SCORES["a"].drop(index=1)), "that do not begin where the one"),
        (lambda: validate_score_dataframe(SCORES), "must be a pandas.DataFrame, not dict"),
        (lambda: validate_score_dataframe(SCORES["a"], event_classes=["Dog"]), "are Dog, Cat, not Dog"),
        (lambda: create_score_dataframe([[1.0]], [0.0], ["Dog"]), "1 frames need 2 timestamps"),
        (lambda: create_score_dataframe([[1.0]], [0.0, 1.0], ["Dog", "Cat"]), "a list of 1 names"),
        (
            lambda: io.write_detections_for_multiple_thresholds(SCORES, [0.5, 0.50001], "nowhere"),
            "thresholds must differ within 3 decimals",
        ),
        (
            lambda: io.parse_ground_truth(TRUTH, audio_ids=["a", "c"]),
            "ground truth: none for 1 clip: c; without scores: 1 clip: b",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(act: Any, said: str) -> None:
    with pytest.raises(sed.SedscopeError, match=said):
        act()


def test_arguments_that_are_not_there_are_refused() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'dtc_threshold'"):
        intersection_based.psds(SCORES, TRUTH, DURATIONS, gtc_threshold=0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'dtc'"):
        intersection_based.fscore(SCORES, TRUTH, 0.5, dtc=0.5, gtc_threshold=0.5, dtc_threshold=0.5)


def test_sedscope_does_not_load_pandas() -> None:
    imports = "import sys, sedscope.compat.sed_scores_eval, sedscope.compat.psds_eval"
    code = f"{imports}; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
