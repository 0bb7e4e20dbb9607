"""Systems, reference events and groups in any form: all give the same values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import sedscope as sed
from sedscope.io.side_tables import clip_seconds, write_durations

TRUTH = sed.simulate.ground_truth(12, classes=3, seed=4)
SCORES = sed.simulate.scores(TRUTH, seed=5)
EVENTS = {clip: TRUTH.events(clip) for clip in TRUTH.clips}
DURATIONS = clip_seconds(TRUTH)
FRAME = float(SCORES[TRUTH.clips[0]].edges[1])
DETECTIONS = sed.detect(SCORES, 0.5)
Make = Callable[[Path], Any]


def frames_of(clip: str) -> polars.DataFrame:
    scores = SCORES[clip]
    times = {"onset": scores.edges[:-1], "offset": scores.edges[1:]}
    return polars.DataFrame({**times, **dict(zip(SCORES.classes, scores.values.T, strict=True))})


def long_table() -> polars.DataFrame:
    tables = [frames_of(clip).insert_column(0, polars.lit(clip).alias("filename")) for clip in SCORES]
    return polars.concat(tables)


def event_table() -> polars.DataFrame:
    nothing: Any = (None, None, None)
    rows = [(clip, *event) for clip, events in EVENTS.items() for event in events or [nothing]]
    return polars.DataFrame(rows, ["filename", "onset", "offset", "event_label"], orient="row")


def stored(write: Callable[[Path], object], path: Path) -> Path:
    write(path)
    return path


SYSTEMS: dict[str, tuple[Make, dict[str, Any]]] = {
    "a path": (lambda folder: stored(lambda path: sed.write_scores(SCORES, path), folder / "s.npz"), {}),
    "a path as text": (
        lambda folder: str(stored(lambda path: sed.write_scores(SCORES, path), folder / "scores")),
        {},
    ),
    "arrays": (
        lambda _: {clip: SCORES[clip].values for clip in SCORES},
        {"classes": SCORES.classes, "frame": FRAME},
    ),
    "lists": (
        lambda _: {clip: SCORES[clip].values.astype(np.float64).tolist() for clip in SCORES},
        {"classes": SCORES.classes, "frame": FRAME},
    ),
    "polars frames": (lambda _: {clip: frames_of(clip) for clip in SCORES}, {}),
    "pandas frames": (lambda _: {clip: frames_of(clip).to_pandas() for clip in SCORES}, {}),
    "a long table": (lambda _: long_table(), {}),
    "a long pandas table, shuffled by clip": (
        lambda _: long_table().to_pandas().sort_values("filename", ascending=False, kind="stable"),
        {},
    ),
}
SYSTEMS["a long table, clips last"] = (
    lambda _: long_table().select(*long_table().columns[1:], long_table().columns[0]),
    {},
)
TRUTHS: dict[str, Make] = {
    "a path": lambda folder: stored(lambda path: sed.write_ground_truth(TRUTH, path), folder / "t.tsv"),
    "a mapping": lambda _: EVENTS,
    "polars": lambda _: event_table(),
    "pandas": lambda _: event_table().to_pandas(),
    "columns": lambda _: event_table().to_dict(as_series=False),
}
ENDS: dict[str, Make] = {
    "a path": lambda folder: stored(lambda path: write_durations(TRUTH, path), folder / "d.tsv"),
    "a mapping": lambda _: DURATIONS,
    "pandas": lambda _: pandas.DataFrame(DURATIONS.items(), columns=["filename", "duration"]),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_in_any_form(tmp_path: Path, system: str) -> None:
    make, options = SYSTEMS[system]
    result = sed.evaluate(make(tmp_path), EVENTS, durations=DURATIONS, **options)
    expected = sed.evaluate(SCORES, TRUTH, ["psds1", "psds2"])
    assert [*result.results] == [*expected.results]
    assert [of.value for of in result.results.values()] == [of.value for of in expected.results.values()]


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("durations", ENDS)
def test_reference_events_in_any_form(tmp_path: Path, truth: str, durations: str) -> None:
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    result = sed.evaluate(
        arrays,
        TRUTHS[truth](tmp_path),
        classes=SCORES.classes,
        frame=FRAME,
        durations=ENDS[durations](tmp_path),
    )
    assert result["psds1"].value == sed.evaluate(SCORES, TRUTH)["psds1"].value


@pytest.mark.parametrize("confidences", [False, True])
def test_detected_events_in_any_form(tmp_path: Path, *, confidences: bool) -> None:
    events = {
        clip: [(*event, 0.25 + 0.5 * (event[0] > 2)) if confidences else event for event in rows]
        for clip, rows in DETECTIONS.items()
    }
    columns = ["filename", "onset", "offset", "event_label", *["confidence"] * confidences]
    rows = [(clip, *event) for clip, of_clip in events.items() for event in of_clip]
    table = polars.DataFrame(rows, columns, orient="row")
    table.write_csv(tmp_path / "events.tsv", separator="\t")
    expected = sed.evaluate(
        sed.Scores.from_events(events, classes=TRUTH.labels, clips=TRUTH.clips), TRUTH, "best_collar_f1"
    )
    for system in (events, table, table.to_pandas(), tmp_path / "events.tsv"):
        result = sed.evaluate(system, EVENTS, "best_collar_f1", durations=DURATIONS)
        assert result["best_collar_f1"].value == expected["best_collar_f1"].value


@pytest.mark.filterwarnings("ignore:2 systems have the same scores")
def test_every_function_takes_the_same(tmp_path: Path) -> None:
    files = {"scores": SYSTEMS["a path"][0](tmp_path), "truth": TRUTHS["a path"](tmp_path)}
    better = {clip: frames_of(clip) for clip in SCORES}
    collar = sed.Collar()
    best = sed.BestFScore(collar)
    compared = sed.compare(
        {"a": files["scores"], "b": better}, EVENTS, resampling=40, durations=DURATIONS
    )
    assert [*compared.names.values()] == ["psds1", "psds2"]
    values = [value.value for value in compared.values[compared.metrics[0]].values()]
    assert values == [sed.evaluate(SCORES, TRUTH)["psds1"].value] * 2
    ranked = sed.rank({"a": files["scores"], "b": better}, EVENTS, resampling=40, durations=DURATIONS)
    assert [system.name for system in ranked.systems] == ["a", "b"]
    tuned = sed.tune(**files, metric=best, durations=DURATIONS)
    assert tuned.points.thresholds == sed.tune(SCORES, TRUTH, best).points.thresholds
    diagnosed = sed.diagnose(files["scores"], EVENTS, collar, 0.5, durations=DURATIONS)
    for label in SCORES.classes:
        expected = sed.diagnose(SCORES, TRUTH, collar, 0.5)[label]
        assert {kind: row.tolist() for kind, row in diagnosed[label].detections.items()} == {
            kind: row.tolist() for kind, row in expected.detections.items()
        }
    counts = sed.deltas(files["scores"], EVENTS, collar, durations=DURATIONS).counts()
    assert counts[SCORES.classes[0]].tp.tolist() == (
        sed.deltas(SCORES, TRUTH, collar).counts()[SCORES.classes[0]].tp.tolist()
    )


def test_groups_in_any_form(tmp_path: Path) -> None:
    site = {clip: "north" if number % 2 else "south" for number, clip in enumerate(TRUTH.clips)}
    table = polars.DataFrame({"filename": [*site], "group": [*site.values()]})
    table.write_csv(tmp_path / "sites.csv")
    expected = sed.evaluate(SCORES, TRUTH, "collar_f1", by=site).groups["clips"]
    for by in (table, table.to_pandas(), tmp_path / "sites.csv", sed.By(str(tmp_path / "sites.csv"))):
        groups = sed.evaluate(SCORES, TRUTH, "collar_f1", by=by).groups["clips"]
        for name in ("north", "south"):
            assert groups[name]["collar_f1"].value == expected[name]["collar_f1"].value


def test_groups_of_groups_are_refused_in_a_line() -> None:
    nested: Any = {"sites": dict.fromkeys(TRUTH.clips, "north")}
    with pytest.raises(sed.SedscopeError, match="Groups must be names or whole numbers: sites") as error:
        sed.evaluate(SCORES, TRUTH, "collar_f1", by=nested)
    assert len(str(error.value)) < 120


def test_points_choose_the_default_metrics() -> None:
    points = sed.OperatingPoints(dict.fromkeys(SCORES.classes, 0.5))
    result = sed.evaluate(SCORES, TRUTH, points=points)
    assert [*result.results] == [*points.metrics().values()]
    of_day = sed.OperatingPoints({"Dog": 0.5}, {"objective": "recall (max_false_alarms=1.0, per=day)"})
    assert of_day.metrics()["false_alarms_per_day"] == sed.FalseAlarmRate(
        sed.Collar(), "points", per="day"
    )


def test_a_truth_of_regions_cuts_what_is_read(tmp_path: Path) -> None:
    regions = sed.Regions.from_dict({clip: [(0, 10)] for clip in TRUTH.clips})
    cut = sed.RegionTruth(TRUTH, regions)
    path = SYSTEMS["a path"][0](tmp_path)
    assert (
        sed.evaluate(path, cut)["psds1"].value
        == sed.evaluate(cut.cut_scores(SCORES), cut)["psds1"].value
    )


@pytest.mark.parametrize(
    ("system", "truth", "options", "message"),
    [
        (lambda: 0, EVENTS, {}, "Scores cannot be made from function.*Scores.from_function"),
        (np.zeros((3, 2)), EVENTS, {}, "Scores cannot be made from ndarray.*Scores.from_arrays"),
        ({"a": np.zeros((3, 2))}, EVENTS, {}, "Give classes= and frame= in seconds"),
        ({"a": np.zeros((3, 2))}, EVENTS, {"classes": ["x"]}, "Scores.from_arrays"),
        (SCORES, 3, {}, "Ground truth cannot be made from int.*GroundTruth.from_dict"),
        (SCORES, TRUTH, {"durations": DURATIONS}, "so durations= cannot be used.*from_dict"),
        (SCORES, TRUTH, {"frame": 0.1}, "so frame= cannot be used.*from_arrays"),
        (
            {0.5: DETECTIONS},
            TRUTH,
            {"resampling": 5},
            r"The system holds detections at the thresholds 0.5, but resampling= needs scores",
        ),
        (long_table().rename({"filename": "name"}), TRUTH, {}, "no column"),
    ],
)
def test_what_cannot_be_read(system: Any, truth: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(system, truth, **options)


def test_an_unknown_argument() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'duration'"):
        sed.evaluate(SCORES, EVENTS, duration=3)  # type: ignore[call-arg]
    places = (
        r"read with system_reading=sed\.SystemReading\(columns=…\) or truth_reading=sed\.TruthReading"
    )
    with pytest.raises(TypeError, match=places):
        sed.evaluate(SCORES, EVENTS, columns={"filename": "clip"})  # type: ignore[call-arg]


def test_detections_by_threshold() -> None:
    result = sed.evaluate({0.5: DETECTIONS}, TRUTH, "best_collar_f1")
    expected = sed.evaluate_sets({0.5: DETECTIONS}, TRUTH, "best_collar_f1")
    assert result["best_collar_f1"].value == expected["best_collar_f1"].value


def test_validate_takes_what_evaluate_takes(tmp_path: Path) -> None:
    for number, (make, options) in enumerate(SYSTEMS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        validation = sed.validate(make(folder), event_table(), durations=DURATIONS, **options)
        assert not validation.errors, validation
        assert validation.summary["evaluated clips"] == len(SCORES)
    with pytest.raises(TypeError, match="unexpected keyword argument 'duration'"):
        sed.validate(SCORES, EVENTS, duration=DURATIONS)  # type: ignore[call-arg]


def test_validate_reports_what_cannot_be_made() -> None:
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    (first, second) = sed.validate(arrays, arrays, durations=DURATIONS).findings
    assert (first.severity, second.severity) == ("error", "error")
    assert "Are scores and ground truth swapped?" in str(first)
    assert "Give classes= and frame= in seconds" in str(second)


def test_arrays_as_ground_truth_are_one_problem() -> None:
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    with pytest.raises(sed.SedscopeError, match="Are scores and ground truth swapped") as error:
        sed.evaluate(SCORES, arrays, "psds1", durations=DURATIONS)
    assert len(str(error.value)) < 400


def test_detect_says_how_to_read_scores() -> None:
    for wrong in ("scores", {"a": [[0.5]]}):
        with pytest.raises(sed.SedscopeError, match="read files with read_scores"):
            sed.detect(wrong, 0.5)  # type: ignore[arg-type]


def test_a_file_of_operating_points_must_be_read() -> None:
    points: Any = "points.toml"
    loads = r"OperatingPoints\.load\('points\.toml'\)"
    for evaluate in (
        lambda: sed.evaluate(SCORES, TRUTH, points=points),
        lambda: sed.compare({"a": SCORES, "b": SCORES}, TRUTH, points={"a": points}),
        lambda: sed.diagnose(SCORES, TRUTH, thresholds=points),
        lambda: sed.detect(SCORES, points),
    ):
        with pytest.raises(sed.SedscopeError, match=loads):
            evaluate()
    read: Any = sed.OperatingPoints({"Dog": 0.5})
    with pytest.raises(sed.SedscopeError, match="use its method detect"):
        sed.detect(SCORES, read)


def test_latencies_of_a_system_in_any_form() -> None:
    alarm = sed.Alarm(cooldown=20)
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    options = {"durations": DURATIONS, "classes": SCORES.classes, "frame": FRAME}
    made = sed.alarm_latencies(arrays, EVENTS, alarm, 0.5, **options)  # type: ignore[arg-type]
    assert made.table() == sed.alarm_latencies(SCORES, TRUTH, alarm, 0.5).table()
