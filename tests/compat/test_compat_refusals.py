"""The drop-in for sed_scores_eval: what it refuses, and with which message."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import (
    clip_based,
    collar_based,
    intersection_based,
    io,
    segment_based,
)
from sedscope.compat.sed_scores_eval.base_modules.postprocessing import medfilt
from sedscope.compat.sed_scores_eval.base_modules.scores import (
    create_score_dataframe,
    validate_score_dataframe,
)

from ..support.compat.sets import CAT, COLLAR, DURATIONS, GRID, SCORES, TRUTH, frame


def nan_scores() -> Any:
    return {**SCORES, "a": frame([0.1, np.nan, 0.8, 0.2], CAT["a"])}


def deltas_of(changes: dict[str, list[int]]) -> Any:
    return {clip: {label: ([0.5], changes) for label in ("Dog", "Cat")} for clip in "ab"}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: intersection_based.psds({"a": SCORES["a"]}, TRUTH, DURATIONS, **GRID),
            "ground truth: without scores: 1 clip: b",
        ),
        (
            lambda: intersection_based.psds(SCORES, {"a": []}, DURATIONS, **GRID),
            "ground truth: none for 1 clip: b. There must be one for each clip with scores",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, {**DURATIONS, "c": 4.0}, **GRID),
            "durations: without scores: 1 clip: c",
        ),
        (
            lambda: segment_based.auroc(SCORES, {**TRUTH, "c": []}, DURATIONS),
            "ground truth: without scores: 1 clip: c",
        ),
        (lambda: clip_based.auroc(SCORES, {"a": []}), "ground truth: none for 1 clip: b"),
        (
            lambda: intersection_based.median_filter_independent_psds(
                SCORES, {"a": []}, DURATIONS, median_filter_lengths_in_sec=[1.0], **GRID
            ),
            "ground truth: none for 1 clip: b",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, {"a": 4.0}, **GRID),
            "durations: none for 1 clip",
        ),
        (lambda: intersection_based.psds(3, TRUTH, DURATIONS, **GRID), "scores must be a mapping"),
        (lambda: intersection_based.psds([], TRUTH, DURATIONS, **GRID), "scores is an empty list"),
        (lambda: intersection_based.psds({}, TRUTH, DURATIONS, **GRID), "There are no score tables"),
        (
            lambda: intersection_based.psds(SCORES, 3, DURATIONS, **GRID),
            "The ground truth must be a mapping",
        ),
        (lambda: intersection_based.psds(SCORES, TRUTH, 3, **GRID), "Durations must be a mapping"),
        (lambda: intersection_based.psds(SCORES, TRUTH, None, **GRID), "Durations must be a mapping"),
        (
            lambda: intersection_based.bootstrapped_psds(SCORES, TRUTH, None, **GRID),
            "Durations must be a mapping",
        ),
        (
            lambda: intersection_based.fscore(nan_scores(), TRUTH, 0.5, **GRID),
            "1 score is not a number .NaN.: clip a, class Dog, frame 1",
        ),
        (
            lambda: collar_based.fscore(SCORES, {"a": [(1, 3, "Bird")], "b": []}, 0.5, **COLLAR),
            "1 label is in the ground truth but not in the scores: Bird.*leave out events of other",
        ),
        (
            lambda: collar_based.fscore(SCORES, {"a": [(1, 3)], "b": []}, 0.5, **COLLAR),
            r"a: \(1, 3\) is not \(onset, offset, label\)",
        ),
        (
            lambda: collar_based.fscore(
                SCORES, {"a": [(1, 3, "Dog"), (2, 4, "Dog")], "b": []}, 0.5, **COLLAR
            ),
            "1 event overlaps another one of the same class and clip",
        ),
        (lambda: clip_based.fscore(SCORES, TRUTH, 0.5), "Tags must be lists of labels"),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, cttc_threshold=0.3),
            "cttc_threshold=0.3 and alpha_ct=0.0 do not go together",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, unit_of_time="day"),
            "unit_of_time='day' is not valid. Choose 'second'",
        ),
        (
            lambda: intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID, max_efpr=0),
            "max_efpr=0 must be above 0",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, 0.5, **GRID, time_decimals=-1),
            "time_decimals=-1 must be a whole number, at least 0",
        ),
        (
            lambda: segment_based.auroc(SCORES, TRUTH, DURATIONS, max_fpr=0),
            "max_fpr=0 must be above 0 and at most 1",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, {"Dog": 0.5}, **GRID),
            "There is no threshold for Cat",
        ),
        (
            lambda: intersection_based.fscore(SCORES, TRUTH, [0.5], **GRID),
            "A threshold must be one number",
        ),
        (
            lambda: intersection_based.fscore(None, TRUTH, 0.5, deltas={}, **GRID),
            "deltas must be a mapping",
        ),
        (
            lambda: collar_based.fscore(None, TRUTH, 0.5, deltas=deltas_of({"tps": [1]}), **COLLAR),
            "The deltas have no 'fps', so they belong to another criterion",
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
            "There are no median filters",
        ),
        (
            lambda: medfilt(SCORES, [1.0]),
            "Clip a: Pass one filter length, or one for each of the 2 classes",
        ),
        (lambda: validate_score_dataframe(SCORES["a"].drop(index=1)), "do not begin where the one"),
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
def test_what_cannot_be_evaluated_is_refused(act: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        act()


def test_arguments_that_are_not_there_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^psds\(\) missing a required argument: 'dtc_threshold'"):
        intersection_based.psds(SCORES, TRUTH, DURATIONS, gtc_threshold=0.5)
    with pytest.raises(TypeError, match=r"^accumulated_intermediate_statistics\(\) missing"):
        collar_based.accumulated_intermediate_statistics(SCORES)
    with pytest.raises(TypeError, match=r"^fscore\(\) got an unexpected keyword argument 'dtc'"):
        intersection_based.fscore(SCORES, TRUTH, 0.5, dtc=0.5, gtc_threshold=0.5, dtc_threshold=0.5)


def in_milliseconds(scores: Any) -> Any:
    return {
        clip: table.assign(onset=1000 * table.onset, offset=1000 * table.offset)
        for clip, table in scores.items()
    }


def test_scores_in_another_unit_are_refused() -> None:
    with pytest.raises(
        sed.SedscopeError, match=r"go on far beyond.*milliseconds.*use sedscope.evaluate"
    ):
        intersection_based.psds(in_milliseconds(SCORES), TRUTH, DURATIONS, **GRID)
    short = {
        clip: table.assign(onset=table.onset / 1000, offset=table.offset / 1000)
        for clip, table in SCORES.items()
    }
    with pytest.raises(sed.SedscopeError, match="cover less than half"):
        collar_based.fscore(short, TRUTH, 0.5, **COLLAR)


def test_percentages_with_a_threshold() -> None:
    percent = {clip: table.copy() for clip, table in SCORES.items()}
    for table in percent.values():
        table[["Dog", "Cat"]] *= 100
    with pytest.warns(sed.SedscopeWarning, match="If they are percentages"):
        collar_based.fscore(percent, TRUTH, 0.5, **COLLAR)


def test_a_label_that_may_be_meant_is_named() -> None:
    truth = {"a": [(1.0, 2.0, "dog")], "b": []}
    with pytest.raises(sed.SedscopeError, match=r"dog \(did you mean Dog\?\)"):
        intersection_based.psds(SCORES, truth, DURATIONS, **GRID)


def test_white_space_around_labels_is_removed() -> None:
    spaced = {clip: table.rename(columns={"Dog": " Dog"}) for clip, table in SCORES.items()}
    truth = {clip: [(*times, f"{label} ") for *times, label in TRUTH[clip]] for clip in TRUTH}
    expected = collar_based.fscore(SCORES, TRUTH, 0.5, **COLLAR)
    assert collar_based.fscore(spaced, truth, 0.5, **COLLAR)[0] == expected[0]
    tags = {clip: [label for *_, label in TRUTH[clip]] for clip in TRUTH}
    spaced_tags = {clip: [*tags[clip], *(f"\t{label}" for label in tags[clip])] for clip in tags}
    of_tags = clip_based.fscore(SCORES, tags, 0.5)
    assert clip_based.fscore(spaced, spaced_tags, 0.5)[0] == of_tags[0]


def test_messages_advise_no_options_of_other_functions() -> None:
    truth = {"a": [(1.0, 3.0, "Dog"), (2.0, 4.0, "Dog")], "b": []}
    with pytest.raises(sed.SedscopeError, match=r"1 event overlaps .*\. Correct them\.$"):
        intersection_based.psds(SCORES, truth, DURATIONS, **GRID)
    torn = UserDict({clip: table.drop(index=table.index[1]) for clip, table in SCORES.items()})
    with pytest.raises(sed.SedscopeError, match="gap") as refusal:
        intersection_based.psds(torn, TRUTH, DURATIONS, **GRID)
    assert "silent" not in str(refusal.value)
    chunks = {clip: np.zeros((4, 2)) for clip in ("a-0-4", "a-8-12", "b-0-4")}
    stitched = sed.Scores.from_arrays(chunks, classes=["Dog", "Cat"], frame=1.0).stitch()
    with pytest.raises(sed.SedscopeError, match=r"No chunk covers 4–8 s\. Correct them"):
        intersection_based.psds(stitched, TRUTH, DURATIONS, **GRID)


@pytest.mark.filterwarnings("ignore:1 class has no reference events")
def test_references_in_another_unit_are_reported() -> None:
    frames = {f"clip_{i}": SCORES[next(iter(SCORES))] for i in range(12)}
    end = float(frames["clip_0"].offset.iloc[-1])
    events = {key: [(0.0, end / 100, "Dog"), (end / 90, end / 60, "Dog")] for key in frames}
    note = "All 24 reference events lie in the first 2 % of "
    with pytest.warns(sed.SedscopeWarning, match=note):
        collar_based.fscore(frames, events, 0.5, **COLLAR)
    with pytest.warns(sed.SedscopeWarning, match=note):
        intersection_based.psds(frames, events, dict.fromkeys(frames, end), **GRID)
