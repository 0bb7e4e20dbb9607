"""The drop-in for sed_scores_eval: values equal sedscope's, also where the original differs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.compat.sed_scores_eval import (
    clip_based,
    collar_based,
    intersection_based,
    io,
    segment_based,
)
from sedscope.compat.sed_scores_eval.base_modules.rates import fscore_from_sed_eval_metrics
from sedscope.compat.sed_scores_eval.counting import find_deltas, statistics_of
from sedscope.compat.sed_scores_eval.delta_tables import delta_table, deltas_from_table
from sedscope.compat.sed_scores_eval.inputs import NamedScores
from sedscope.compat.sed_scores_eval.utils import nested

from ..support.compat.sets import COLLAR, DURATIONS, GRID, SCORES, TRUTH, frame, simulated
from ..support.files import write_files
from ..support.real_data import desed_scores, desed_truth
from ..support.strategies import clip_lists, criteria, to_scores, to_truth


def test_files_frames_loaders_and_scores_are_the_same(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    sources = [SCORES, str(files.scores), files.scores, io.lazy_sed_scores_loader(files.scores)]
    sources += [io.read_sed_scores(files.scores), sed.read_scores(files.scores)]
    sources += [{clip: table.astype(np.float32) for clip, table in SCORES.items()}]
    values = [
        intersection_based.psds(scores, truth, durations, **GRID)[0]
        for scores in sources
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


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_the_last_segment_may_be_judged_in_full_length() -> None:
    #        0    1    2    3    4 s; the clip ends at 2.5 s
    dog = [0.1, 0.2, 0.3, 0.9]
    data = {"a": frame(dog, dog)}, {"a": [(0.0, 1.0, "Dog")]}, {"a": 2.5}
    by_segment = partial(segment_based.accumulated_intermediate_statistics, segment_length=2.0)
    (at, _), (at_full, _) = (
        by_segment(*data, full_last_segment=choice)[0]["Dog"] for choice in (False, True)
    )
    assert at.tolist() == [0.2, 0.3, np.inf]
    assert at_full.tolist() == [0.2, 0.9, np.inf]
    after_the_end = {"a": [(2.6, 4.0, "Dog")]}
    _, stats = by_segment(data[0], after_the_end, data[2], full_last_segment=True)[0]["Dog"]
    assert stats["tps"].tolist() == [1, 1, 0]
    with pytest.raises(sed.SedscopeError, match="1 event begins at or after the end of its clip"):
        by_segment(data[0], after_the_end, data[2])
    deltas = segment_based.intermediate_statistics_deltas(
        *data, segment_length=2.0, full_last_segment=True
    )
    statistics = segment_based.accumulated_intermediate_statistics_from_deltas(deltas)
    assert statistics["Dog"][0].tolist() == at_full.tolist()


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_full_last_segments_of_real_data(data: Path) -> None:
    """The figures of ``docs/from_sed_scores_eval.md``."""
    scores, truth = desed_scores(data), desed_truth(data)
    assert truth.durations is not None
    sets = (
        scores,
        {clip: truth.events(clip) for clip in truth.clips},
        dict(zip(truth.clips, truth.durations / 1e6, strict=True)),
    )
    for full, dog, partial_mean in ((False, 0.90121, 0.744763), (True, 0.90161, 0.744754)):
        whole, _ = segment_based.auroc(*sets, full_last_segment=full)
        parts, _ = segment_based.auroc(*sets, full_last_segment=full, max_fpr=0.1)
        assert whole["Dog"] == pytest.approx(dog, abs=5e-6)
        assert parts["mean"] == pytest.approx(partial_mean, abs=5e-7)


def test_values_are_floats_of_numpy() -> None:
    value, of_classes, *_ = intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID)
    fscores, *_ = collar_based.fscore(SCORES, TRUTH, 0.5, **COLLAR)
    precisions, _ = segment_based.average_precision(SCORES, TRUTH, DURATIONS)
    areas, _ = segment_based.auroc(SCORES, TRUTH, DURATIONS, max_fpr=0.5)
    for number in (
        value,
        *(v for values in (of_classes, fscores, precisions, areas) for v in values.values()),
    ):
        assert type(number) is np.float64


def test_the_reference_functions_are_those_of_sed_eval() -> None:
    frames, truth, _ = simulated()
    tags = {clip: sorted({event[2] for event in events}) for clip, events in truth.items()}
    close = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
    for ours, theirs in (
        (
            collar_based.fscore(frames, truth, 0.5, **close),
            collar_based.reference.metrics(frames, truth, 0.5, collar=0.2, offset_collar_rate=0.2),
        ),
        (
            segment_based.fscore(frames, truth, None, 0.5),
            segment_based.reference.metrics(frames, truth, 0.5, segment_length=1.0),
        ),
        (clip_based.fscore(frames, tags, 0.5), clip_based.reference.metrics(frames, tags, 0.5)),
    ):
        for values, expected in zip(ours, fscore_from_sed_eval_metrics(theirs), strict=False):
            assert values == pytest.approx(expected)


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
    with pytest.warns(sed.SedscopeWarning, match="1 class has no reference events.*: Cat"):
        value, of_classes, _, _ = intersection_based.psds(SCORES, truth, DURATIONS, **GRID)
    assert value == of_classes["Dog"]
    assert np.isnan(of_classes["Cat"])
    with pytest.warns(sed.SedscopeWarning, match="1 class has no reference events.*: Cat"):
        fscores, *_ = collar_based.fscore(SCORES, truth, 0.5, **COLLAR)
    assert np.isnan(fscores["Cat"])
    assert fscores["macro_average"] == fscores["Dog"]


@pytest.mark.filterwarnings("ignore:The F-score or error rate has a threshold of 2")
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


@pytest.mark.filterwarnings("ignore:The scores of 1 clip cover less than 90 %")
def test_references_after_the_last_score_count_as_missed() -> None:
    truth = {"a": [(1.0, 3.0, "Dog"), (9.0, 9.5, "Dog")], "b": [(0.0, 1.0, "Cat")]}
    _, _, recalls, stats = collar_based.fscore(SCORES, truth, 0.5, **COLLAR)
    assert recalls["Dog"] == 0.5
    assert stats["Dog"]["n_ref"] == 2


def test_events_may_come_one_by_one() -> None:
    truth = {clip: (event for event in events) for clip, events in TRUTH.items()}
    assert intersection_based.fscore(SCORES, truth, 0.5, **GRID)[0]["macro_average"] == 1


@pytest.mark.filterwarnings("ignore:The scores of 1 clip cover less than 90 %")
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
    deltas = find_deltas(NamedScores(scores, {clip: clip for clip in scores}), truth, criterion)
    again = deltas_from_table(delta_table(deltas), criterion, truth)
    direct, back = statistics_of(deltas.counts()), statistics_of(again.counts())
    for label, (at, stats) in direct.items():
        assert np.array_equal(back[label][0], at)
        flat = nested.flatten(back[label][1])
        for name, column in nested.flatten(stats).items():
            np.testing.assert_allclose(flat[name], column, rtol=0, atol=1e-12)
