"""Scores that end long before or after their clips, and who is told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.coverage import CoveredClips, extents_of
from sedscope.io.side_tables import write_durations
from sedscope.metrics import Metric

from ..support.command_line import run

F1 = sed.FScore(sed.Collar())
PSDS = sed.presets.PSDS1


def truth_of(durations: dict[str, float]) -> sed.GroundTruth:
    return sed.GroundTruth.from_dict({clip: [(0, 1, "Dog")] for clip in durations}, durations=durations)


def scores_of(frames: dict[str, int], frame: float = 1.0) -> sed.Scores:
    arrays = {clip: np.linspace(0, 1, number)[:, None] for clip, number in frames.items()}
    return sed.Scores.from_arrays(arrays, classes=["Dog"], frame=frame)


TEN = {"a": 10.0, "b": 10.0, "c": 10.0}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (1000.0, r"3 of 3 clips go on far beyond.*a \(0–10000 s of 10 s\).*seconds and milliseconds"),
        (0.001, r"3 of 3 clips cover less than half.*a \(0–0.01 s of 10 s\).*milliseconds"),
        (1 / 60, "minutes and seconds"),
        (0.4, "cover less than half"),
        (2.5, "go on far beyond"),
    ],
)
@pytest.mark.parametrize("metric", [F1, PSDS])
def test_a_wrong_frame_length_is_refused(frame: float, reason: str, metric: Metric[Any]) -> None:
    scores, truth = scores_of(dict.fromkeys(TEN, 10), frame), truth_of(TEN)
    with pytest.raises(sed.SedscopeError, match=reason):
        sed.evaluate(scores, truth, metric)
    with pytest.raises(sed.SedscopeError, match=r"`coverage='any'`"):
        sed.compare({"x": scores, "y": scores}, truth, metric, resampling=10)
    with pytest.raises(sed.SedscopeError, match=reason):
        sed.deltas(scores, truth, metric.criterion)
    with pytest.raises(sed.SedscopeError, match=reason):
        sed.diagnose(scores, truth, sed.Collar(), 0.5)
    assert [finding.kind for finding in sed.validate(scores, truth).errors] == ["coverage"]
    assert not sed.validate(scores, truth, coverage="any").errors


def test_durations_in_milliseconds_are_refused() -> None:
    with pytest.raises(sed.SedscopeError, match="as between seconds and milliseconds"):
        sed.evaluate(scores_of(dict.fromkeys(TEN, 10)), truth_of({"a": 1e4, "b": 1e4, "c": 1e4}), PSDS)


@pytest.mark.filterwarnings("always::sedscope.SedscopeWarning")
def test_clips_that_differ_by_more_than_a_tenth_are_named() -> None:
    # a is padded, b lacks half, c is a frame short
    scores = scores_of({"a": 10, "b": 5, "c": 9, "d": 10})
    truth = truth_of({"a": 7, "b": 10, "c": 10, "d": 10})
    with pytest.warns(sed.SedscopeWarning) as caught:
        result = sed.evaluate(scores, truth, F1)
    assert [str(warning.message) for warning in caught] == [*result.warnings]
    assert result.warnings == (
        "The scores of 1 clip cover less than 90 % of the clip; nothing is detected in the rest: "
        "b (0–5 s of 10 s).",
        "The scores of 1 clip go on more than 10 % beyond the end of the clip; detections there "
        "count unless they are cut off with `coverage='trim'`: a (0–10 s of 7 s).",
    )


def test_most_clips_a_little_too_long_are_a_wrong_frame_length() -> None:
    scores = scores_of(dict.fromkeys(TEN, 100), 0.108)
    with pytest.warns(
        sed.SedscopeWarning, match="3 of 3 clips are longer than their clip, mostly by 8 %"
    ):
        sed.evaluate(scores, truth_of(TEN), F1)


def test_padded_scores_of_some_short_clips_are_not_refused() -> None:
    durations = {f"clip{i}": 10.0 for i in range(20)} | {"short": 1.0}
    with pytest.warns(sed.SedscopeWarning, match=r"go on more than 10 %.*short \(0–10 s of 1 s\)"):
        sed.evaluate(scores_of(dict.fromkeys(durations, 10)), truth_of(durations), F1)


@pytest.mark.filterwarnings("ignore:1 clip has no stated duration:sedscope.SedscopeWarning")
def test_what_is_accepted_has_the_same_values() -> None:
    scores, truth = scores_of({"a": 10}), truth_of({"a": 100.0})
    with pytest.warns(sed.SedscopeWarning, match="cover less than 90 %"):
        result = sed.evaluate(scores, truth, F1, coverage="any")
    expected = sed.evaluate(scores, sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}), F1)
    assert result[F1].value == expected[F1].value
    with pytest.raises(sed.SedscopeError, match="coverage='all' is not valid"):
        sed.evaluate(scores, truth, F1, coverage="all")  # type: ignore[arg-type]  # what is not allowed


def test_a_frame_more_or_less_is_fine() -> None:
    covered = CoveredClips(
        ["a", "b"], np.array([800_000, 500_000]), extents_of([np.arange(2) * 640_000] * 2), True
    )
    assert covered.problem() is None
    assert covered.notes() == []


def test_parts_of_a_checkpoint_are_judged_together(tmp_path: Path) -> None:
    scores, truth = scores_of(dict.fromkeys(TEN, 10), 0.01), truth_of(TEN)
    for _ in range(2):  # found, then read from the folder
        with pytest.raises(sed.SedscopeError, match="3 of 3 clips cover less than half"):
            sed.evaluate(scores, truth, F1, run=sed.Run(checkpoint=tmp_path))


def test_detections_after_the_end_of_their_clips_are_refused() -> None:
    truth = truth_of(TEN)
    system = sed.Scores.from_events({"a": [(1000, 2000, "Dog")], "b": []}, clips=TEN)
    with pytest.raises(sed.SedscopeError, match="The detections of 1 of 1 clip go on far beyond"):
        sed.evaluate(system, truth, F1)
    sets = {0.5: {"a": [(1000.0, 2000.0, "Dog")]}}
    with pytest.raises(sed.SedscopeError, match="go on far beyond"):
        sed.evaluate_sets(sets, truth, F1)
    assert "coverage" in [finding.kind for finding in sed.validate(system, truth).errors]


def test_clips_that_a_list_of_detections_lacks_are_named() -> None:
    truth = truth_of(TEN)
    system = sed.Scores.from_events({"a": [(0, 1, "Dog")], "b": []}, clips=TEN)
    with pytest.warns(sed.SedscopeWarning, match=r"1 of 3 clips is not in the list .*as silent: c\."):
        sed.evaluate(system, truth, F1)
    with pytest.warns(sed.SedscopeWarning, match=r"silent: c\. `clips='scored'` keeps them"):
        sed.evaluate(system, truth, F1, clips="scored")
    assert sed.evaluate(system, truth, F1, clips=["a", "b"]).warnings == ()
    findings = {finding.kind: finding.where for finding in sed.validate(system, truth).findings}
    assert findings["silent"] == ("c",)  # the list names b, without events
    assert sed.validate(system, truth).summary["scored clips"] == 2


def test_warnings_name_only_what_was_evaluated() -> None:
    events = {"a": [(0, 11, "Dog"), (3, 3, "Dog")], "b": [(0, 12, "Dog"), (2, 2, "Cat")]}
    truth = sed.GroundTruth.from_dict(events, durations={"a": 10, "b": 10}, invalid="drop")
    scores = sed.Scores.from_arrays(
        {clip: np.eye(10, 2) for clip in events}, classes=["Dog", "Cat"], frame=1.0
    )
    assert len(truth.warnings) == 2
    for source in (truth, pickle.loads(pickle.dumps(truth))):
        with pytest.warns(sed.SedscopeWarning):
            warnings = sed.evaluate(scores, source, F1, clips=["b"], classes=["Dog"]).warnings
        assert any("clip 'b', 0–12 s" in warning for warning in warnings)
        assert not any("clip 'a'" in warning for warning in warnings)
    with pytest.warns(sed.SedscopeWarning):
        warnings = sed.evaluate(scores, truth, F1, clips=["a"], classes=["Dog"]).warnings
    assert len(warnings) == 2
    assert "1 event has no positive length and was left out" in warnings[0]


@pytest.mark.parametrize(
    ("scale", "advice"), [(100.0, "percentages, divide them by 100"), (-20.0, "logits")]
)
def test_a_threshold_that_does_not_suit_the_scores(scale: float, advice: str) -> None:
    values = scale * np.linspace(0, 1, 10)[:, None]
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    truth = truth_of({"a": 10.0})
    with pytest.warns(sed.SedscopeWarning, match=advice):
        sed.evaluate(scores, truth, F1)
    with pytest.warns(sed.SedscopeWarning, match=advice):
        sed.detect(scores, 0.5)
    assert sed.evaluate(scores, truth, sed.BestFScore(sed.Collar())).warnings == ()
    assert sed.detect(scores, scale / 2)
    assert "range" in [finding.kind for finding in sed.validate(scores, truth).warnings]


@pytest.mark.parametrize("threshold", [50.0, 1.0])
def test_a_threshold_above_all_scores(threshold: float) -> None:
    scores, truth = scores_of({"a": 10, "b": 10}), truth_of({"a": 10.0, "b": 10.0})
    with pytest.warns(
        sed.SedscopeWarning, match="no score is above 1, so nothing is detected"
    ) as caught:
        assert sed.evaluate(scores, truth, sed.FScore(sed.Collar(), threshold=threshold))
    guess = "divide them by 100 (50 becomes 0.5)" in str(caught[0].message)
    assert guess == (threshold == 50)
    with pytest.warns(sed.SedscopeWarning, match=f"The detection has a threshold of {threshold:g}"):
        assert not any(sed.detect(scores, threshold).values())
    by_class = {"Dog": threshold}
    with pytest.warns(sed.SedscopeWarning, match=r"1 class is never detected at its threshold.*Dog \("):
        sed.detect(scores, by_class)
    with pytest.warns(sed.SedscopeWarning, match="1 class is never detected at its threshold"):
        reduced = sed.at_thresholds(scores, by_class)
    with pytest.warns(sed.SedscopeWarning, match="Nothing is detected in any clip"):
        sed.evaluate(reduced, truth, F1)
    sed.detect(scores, {"Dog": np.inf})  # never, on purpose


def test_a_class_that_is_named_but_never_detected() -> None:
    events = {"a": [(0, 1, "Dog"), (2, 3, "Cat")]}
    truth = sed.GroundTruth.from_dict(events, durations={"a": 10})
    system = sed.Scores.from_events({"a": [(0, 1, "Dog")]}, classes=truth.labels)
    with pytest.warns(sed.SedscopeWarning, match="1 class of the ground truth is never detected, .*Cat"):
        sed.evaluate(system, truth, F1)


MANY = {f"clip{i}": 10.0 for i in range(12)}


def events_of_many(factor: float) -> dict[str, list[tuple[float, float, str]]]:
    events = [(1 * factor, 2 * factor, "Dog"), (5 * factor, 9 * factor, "Dog")]
    return dict.fromkeys(MANY, events)


def kinds(scores: sed.Scores | None, truth: sed.GroundTruth) -> list[str]:
    return [finding.kind for finding in sed.validate(scores, truth).findings]


def test_references_in_minutes() -> None:
    truth = sed.GroundTruth.from_dict(events_of_many(1 / 60), durations=MANY)
    scores = scores_of(dict.fromkeys(MANY, 10))
    note = "All 24 reference events lie in the first 2 % of their 12 clips.*events and the durations"
    with pytest.warns(sed.SedscopeWarning, match=note):
        sed.evaluate(scores, truth, PSDS)
    assert "squeezed" in kinds(scores, truth)
    assert kinds(None, truth) == ["squeezed"]
    assert kinds(None, sed.GroundTruth.from_dict(events_of_many(1), durations=MANY)) == []


def test_frames_in_milliseconds_without_durations() -> None:
    truth = sed.GroundTruth.from_dict(events_of_many(1))
    scores = scores_of(dict.fromkeys(MANY, 10), frame=1000.0)
    with pytest.warns(sed.SedscopeWarning) as caught:
        sed.evaluate(scores, truth, PSDS)
    notes = [str(warning.message) for warning in caught]
    assert any("first 2 % of the scores of their 12 clips" in note for note in notes)
    assert {"squeezed", "no-durations"} <= {*kinds(scores, truth)}


@pytest.mark.filterwarnings("ignore:12 clips have no stated:sedscope.SedscopeWarning")
def test_references_and_the_end_of_the_scores_without_durations() -> None:
    scores = scores_of(dict.fromkeys(MANY, 10))
    with pytest.warns(sed.SedscopeWarning, match=r"\(first: clip 'clip0', 5–11\.5 s of 10 s\)"):
        sed.evaluate(scores, sed.GroundTruth.from_dict({key: [(5, 11.5, "Dog")] for key in MANY}), PSDS)
    within = sed.GroundTruth.from_dict({key: [(5, 10.9, "Dog")] for key in MANY})  # less than a frame
    with pytest.warns(sed.SedscopeWarning) as caught:
        sed.evaluate(scores, within, PSDS)
    assert len(caught) == 1
    assert "late-ends" not in kinds(scores, within)


def test_references_much_shorter_than_a_frame() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 0.4, "Dog")]}, durations={"a": 10})
    with pytest.warns(sed.SedscopeWarning, match=r"shorter than half a frame of the scores \(1 s\)"):
        sed.evaluate(scores_of({"a": 10}), truth, PSDS)
    assert sed.evaluate(scores_of({"a": 10}), truth, sed.FScore(sed.Segment(1.0))).warnings == ()
    assert sed.evaluate(scores_of({"a": 25}, 0.4), truth, PSDS).warnings == ()


@pytest.mark.parametrize("factor", [1.0, 1 / 60])
def test_detections_in_minutes(factor: float) -> None:
    truth = sed.GroundTruth.from_dict(events_of_many(1), durations=MANY)
    system = sed.Scores.from_events(events_of_many(factor))
    if factor == 1:
        assert sed.evaluate(system, truth, PSDS).warnings == ()
    else:
        with pytest.warns(sed.SedscopeWarning, match="All detections lie in the first 2 % of their 12"):
            sed.evaluate(system, truth, PSDS)
        assert "ends" in kinds(system, truth)


@pytest.mark.parametrize("shift", [0.5, -0.5])
def test_shifted_scores_are_named_as_such(shift: float) -> None:
    arrays = {clip: np.linspace(0, 1, 100)[:, None] for clip in TEN}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], edges=np.arange(101) / 10 + shift)
    side = "after" if shift > 0 else "before"
    with pytest.warns(sed.SedscopeWarning, match=f"3 of 3 clips begin and end about 0.5 s {side}"):
        sed.evaluate(scores, truth_of(TEN), PSDS)


def points_of(times: dict[str, list[float]]) -> sed.Scores:
    events = {clip: [(time, time, "Dog", 0.9) for time in of_clip] for clip, of_clip in times.items()}
    return sed.Scores.from_events(events, overlaps="keep")


def test_points_in_milliseconds_are_refused() -> None:
    """One point per clip has no extent, but it has a time."""
    onset, truth = sed.FScore(sed.Onset(0.05)), truth_of(TEN)
    late = points_of({"a": [1000.0], "b": [2000.0], "c": [3000.0]})
    with pytest.raises(sed.SedscopeError, match=r"detections of 3 of 3 clips go on far beyond the end"):
        sed.evaluate(late, truth, onset)
    assert [finding.kind for finding in sed.validate(late, truth).errors] == ["coverage"]


def test_points_after_the_end_of_one_clip_are_noted() -> None:
    onset, truth = sed.FScore(sed.Onset(0.05)), truth_of(TEN)
    late = points_of({"a": [1.0, 25.0], "b": [1.0], "c": [2.0]})
    message = (
        r"detections of 1 clip go on more than 10 % beyond the end of the clip.*a \(1–25 s of 10 s\)"
    )
    with pytest.warns(sed.SedscopeWarning, match=message):
        sed.evaluate(late, truth, onset)
    assert [finding.kind for finding in sed.validate(late, truth).warnings] == ["ends"]


def _padded(frames: int, frame: float = 0.1) -> tuple[sed.Scores, sed.GroundTruth]:
    """Return scores of 12 clips of 2 s with a false alarm after their end, and a reference at 0.5 s."""
    values = np.full((frames, 1), 0.1)
    values[5:15] = 0.9
    values[25:30] = 0.8
    clips = [f"clip {number}" for number in range(12)]
    truth = sed.GroundTruth.from_dict(
        {clip: [(0.5, 1.5, "Dog")] for clip in clips}, durations=dict.fromkeys(clips, 2.0)
    )
    return sed.Scores.from_arrays(dict.fromkeys(clips, values), classes=["Dog"], frame=frame), truth


def test_scores_are_trimmed_to_their_clips(tmp_path: Path) -> None:
    scores, truth = _padded(30)
    error = sed.BestErrorRate(sed.Collar())
    cut, _ = _padded(20)
    for system in (scores, {clip: scores[clip].values for clip in scores}):
        options: dict[str, Any] = {} if system is scores else {"classes": ["Dog"], "frame": 0.1}
        result = sed.evaluate(system, truth, [error, "psds1"], coverage="trim", **options)
        expected = sed.evaluate(cut, truth, [error, "psds1"])
        assert [one.value for one in result.results.values()] == [
            one.value for one in expected.results.values()
        ]
    with pytest.raises(sed.SedscopeError, match=r"go on more than 10 % beyond.*coverage='trim'"):
        sed.evaluate(scores, truth, error)
    with pytest.raises(sed.SedscopeError, match=r"cuts scores to the durations .* not known"):
        sed.evaluate(scores, {clip: [(0.5, 1.5, "Dog")] for clip in scores}, error, coverage="trim")
    sed.write_scores(scores, tmp_path / "scores")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    write_durations(truth, tmp_path / "durations.tsv")
    names = ["scores", "truth.tsv", "--durations", "durations.tsv", "--coverage", "trim", "--json", "-"]
    done = run(
        "evaluate", *(tmp_path / name if "." in name or name == "scores" else name for name in names)
    )
    assert done.code == 0
    assert '"value": 1.0' in done.out


def test_post_processing_sees_what_is_cut_off() -> None:
    scores, truth = _padded(30)
    median = sed.postprocessing.MedianFilter(0.7)
    tuned = sed.tune(scores, truth, "best_collar_f1", [median], coverage="trim")
    processed = sed.evaluate(median(scores), truth, "best_collar_f1", coverage="trim")
    assert tuned.value == processed["best_collar_f1"].value


@pytest.mark.parametrize(
    ("frame", "said"),
    [(0.03, "cover less than half"), (0.06, "cover less than 90 %"), (0.16, "go on more than 10 %")],
)
def test_a_frame_length_that_would_fit_is_named(frame: float, said: str) -> None:
    scores, truth = _padded(20, frame)
    with pytest.raises(
        sed.SedscopeError, match=rf"{said}.* last {frame:g} s; frames of 0.1 s would fit"
    ):
        sed.evaluate(scores, truth, "psds1")
    with pytest.warns(sed.SedscopeWarning):
        sed.evaluate(scores, truth, "psds1", coverage="any")
    severities = {"error": "error", "any": "warning", "trim": "error"}
    if said.startswith("go on"):
        del severities["trim"]  # which cuts off what is too long
    for coverage, severity in severities.items():
        findings = sed.validate(scores, truth, coverage=cast(Any, coverage)).findings
        assert [finding.severity for finding in findings if finding.kind == "coverage"] == [severity]
