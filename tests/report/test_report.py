"""The data of a report: exact counts at slider positions, curves without visible loss, names as text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.data.score_cache import cached
from sedscope.report.html import render
from sedscope.report.packing import RESOLUTION
from sedscope.report.panels.psd_roc import EVEN_THRESHOLDS
from sedscope.report.slider_positions import MAX_POSITIONS
from sedscope.report.source import ReportSource, choose_clips, class_errors
from sedscope.report.systems import as_systems

from ..support.command_line import run
from ..support.files import write_files
from ..support.report.contents import build_page, panel
from ..support.report.packing import unpacked
from ..support.report.sets import METRICS, hostile_set, simulated_set

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def evaluation() -> sed.Evaluation:
    scores, truth = simulated_set()
    return sed.evaluate(scores, truth, METRICS)


@pytest.fixture(scope="module")
def page(evaluation: sed.Evaluation) -> Any:
    return build_page({"a": evaluation})


def test_counts_at_every_position_are_the_library_s(evaluation: sed.Evaluation, page: Any) -> None:
    scores, truth = simulated_set()
    for q, criterion in enumerate(evaluation.counts):
        counts = sed.deltas(scores, truth, criterion).counts()
        for k, label in enumerate(page.classes):
            thresholds, packed = page.thresholds[k], page.counts[0][q][k]
            expected = [counts[label].tally_at(threshold) for threshold in thresholds]
            assert unpacked(packed.tp) == [tally.tp for tally in expected]
            assert unpacked(packed.fp) == [tally.fp for tally in expected]
            at = counts[label].at(thresholds)
            by_class = panel(page, "cross_triggers").counts[0][q][k]
            for m, cross_triggers in by_class.items():
                assert unpacked(cross_triggers) == at.ct(page.classes[m]).tolist()
            assert (packed.ct is None) == (not by_class)
            if packed.ct is not None:
                total = np.sum([at.ct(other) for other in page.classes], axis=0)
                assert unpacked(packed.ct) == total.tolist()


def test_positions_are_few_and_include_what_buttons_choose(
    evaluation: sed.Evaluation, page: Any
) -> None:
    scores, truth = simulated_set()
    buttons: list[dict[str, Any]] = [
        {},
        {"objective": "recall", "max_false_alarms": 10},
        {"objective": "recall", "max_false_alarms": 0.5},
    ]
    for criterion in evaluation.counts:
        counts = sed.deltas(scores, truth, criterion).counts()
        for options in buttons:
            points = sed.choose(counts, **options)
            for k, label in enumerate(page.classes):
                thresholds = page.thresholds[k]
                assert len(thresholds) <= MAX_POSITIONS
                assert all(high > low for high, low in pairwise(thresholds))
                assert set(page.shared_thresholds) <= set(thresholds)
                if label not in points.thresholds:
                    continue
                best = counts[label].tally_at(points.thresholds[label])
                reached = [counts[label].tally_at(threshold) for threshold in thresholds]
                assert (best.tp, best.fp) in [(tally.tp, tally.fp) for tally in reached]


def test_clips_are_ranked_by_their_errors(evaluation: sed.Evaluation, page: Any) -> None:
    collar = sed.Collar()
    thresholds = dict.fromkeys(evaluation.classes, 0.4)
    scores, truth = simulated_set()
    errors = np.sum([*class_errors(sed.deltas(scores, truth, collar), thresholds)], axis=0)
    for i, clip in enumerate(scores):
        alone = sed.deltas(scores, truth, collar, clips=[clip]).counts()
        tallies = [alone[label].tally_at(0.4) for label in evaluation.classes]
        assert errors[i].tolist() == [sum(t.fp for t in tallies), sum(t.fn for t in tallies)]
    source = ReportSource(as_systems({"a": evaluation}, sed.Run()))
    assert source.clip_selection is not None
    deltas = sed.deltas(scores, truth, source.criteria[0])
    by_class = [*class_errors(deltas, source.clip_selection.thresholds)]
    total = dict(zip(scores, np.sum(by_class, axis=(0, 2)), strict=True))
    shown = [int(total[clip.name]) for clip in panel(page, "clips").clips]
    faulty = [number for number in shown if number]
    assert faulty == sorted(faulty, reverse=True)
    assert faulty == shown[: len(faulty)]
    assert len(faulty) >= 40


def test_of_every_class_the_worst_clip_is_shown(evaluation: sed.Evaluation) -> None:
    assert evaluation.alignment is not None
    errors = np.arange(60)[::-1]  # the first clips have the most
    assert choose_clips(evaluation.alignment, errors, 6, []) == [0, 1, 2, 3, 4, 5]
    assert choose_clips(evaluation.alignment, errors, 6, [30, 2, 40]) == [0, 1, 2, 3, 30, 40]


def test_cells_list_clips_with_their_cross_triggers(page: Any) -> None:
    scores, truth = simulated_set()
    criterion = sed.presets.PSDS2.criterion
    data = panel(page, "cross_triggers")
    cells = data.cells[0][1]
    assert cells
    for key, ranges in cells.items():
        c, m = map(int, key.split(","))
        label, other = page.classes[c], page.classes[m]
        thresholds = page.thresholds[c]
        for clip, first, last in ranges[:3]:
            name = data.clip_names[clip]
            alone = sed.deltas(scores, truth, criterion, clips=[name]).counts()[label]
            assert first > last
            for position in (len(thresholds) - first, len(thresholds) - 1 - last):
                assert alone.at([thresholds[position]]).ct(other)[0] > 0
    browsed = [clip.name for clip in panel(page, "clips").clips]
    assert data.clip_names[: page.header.browsable_clips] == browsed


@pytest.mark.parametrize("scale", ["probabilities", "logits"])
@pytest.mark.parametrize("alpha_ct", [0.0, 0.5])
@pytest.mark.parametrize("max_efpr", [50, 1000, 5000, 20_000])
def test_curves_of_even_thresholds_reach_the_largest_rate(
    scale: str, alpha_ct: float, max_efpr: float
) -> None:
    """Also where it lies beyond the range of thresholds that the page shows."""
    rng = np.random.default_rng(0)
    values = {f"{i}": rng.uniform(0.01, 0.99, (50, 2)) for i in range(40)}
    events = {}
    for i, clip in enumerate(("1", "2", "3", "4")):  # found at falling scores, among false alarms
        values[clip][:] = 0.01
        values[clip][10:30, i % 2] = 0.98 - 0.25 * i
        events[clip] = [(1.0, 3.0, ("Cat", "Dog")[i % 2])]
    truth = sed.GroundTruth.from_dict(
        {clip: events.get(clip, []) for clip in values}, durations=dict.fromkeys(values, 5.0)
    )
    if scale == "logits":
        values = {clip: np.log(of_clip / (1 - of_clip)) for clip, of_clip in values.items()}
    scores = sed.Scores.from_arrays(values, classes=["Cat", "Dog"], frame=0.1)
    metric = sed.PSDS(sed.Intersection(0.5, 0.5, cttc=0.3), alpha_ct=alpha_ct, max_efpr=max_efpr)
    page = build_page({"a": sed.evaluate(scores, truth, metric)})
    curves = panel(page, "psd_roc").pictures[0].systems[0]
    assert curves.approximation is not None
    assert curves.even_thresholds is not None
    overall = curves.approximation.overall
    efpr, etpr = (np.array(unpacked(text)) / RESOLUTION for text in (overall.efpr, overall.etpr))
    shown = float(np.sum(np.diff(np.append(efpr, 1)) * etpr))
    low, high = curves.even_thresholds
    thresholds = np.linspace(low, high, EVEN_THRESHOLDS)
    if scale == "probabilities":
        assert thresholds.tolist() == pytest.approx((np.arange(50) + 0.5) / 50)
    sets = sed.approximate(scores, thresholds)
    assert shown == pytest.approx(sed.evaluate_sets(sets, truth, metric)[metric].value, abs=2e-4)


def test_a_page_offers_only_rates_that_its_sliders_reach() -> None:
    rng = np.random.default_rng(0)
    values = {f"{i}": rng.uniform(0.01, 0.99, (50, 1)) for i in range(720)}  # an hour
    events: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in values}
    for i, clip in enumerate(("1", "2", "3")):
        values[clip][:] = 0.01
        values[clip][10:30] = 0.985 - 0.02 * i
        events[clip] = [(1.0, 3.0, "Cat")]
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 5.0))
    scores = sed.Scores.from_arrays(values, classes=["Cat"], frame=0.1)
    for metric in (sed.BestFScore(sed.Collar()), sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=150)):
        page = build_page({"a": sed.evaluate(scores, truth, metric)})
        counts = sed.deltas(scores, truth, metric.criterion).counts()["Cat"]
        reached = [counts.tally_at(threshold) for threshold in page.thresholds[0]]
        for rate, allowed in page.false_alarm_rates:
            best = int(counts.tp[counts.fp <= rate].max(initial=0))
            assert max(tally.tp for tally in reached if tally.fp <= allowed) == best
        assert {0.1, 10, 100} <= dict(page.false_alarm_rates).keys()
        assert 1000 not in dict(page.false_alarm_rates)


def test_scores_are_read_once_and_hashed_the_same_wherever_they_come_from(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    reads: list[str] = []
    stored = sed.read_scores(files.scores)
    truth = sed.read_ground_truth(files.truth, durations=files.durations)

    def load(clip: str) -> sed.ClipScores:
        reads.append(clip)
        return stored[clip]

    lazy = sed.Scores(stored, load, classes=stored.classes)
    result = sed.evaluate(cached(lazy), truth, sed.BestFScore(sed.Collar()))
    result.report(tmp_path / "report.html")
    assert sorted(reads) == ["a", "b"]

    held = {clip: stored[clip] for clip in stored}
    in_memory = sed.Scores(held, held.__getitem__, classes=stored.classes, in_memory=True)
    signatures = {
        str(sed.evaluate(scores, truth, sed.BestFScore(sed.Collar())).signature)
        for scores in (stored, in_memory)
    }
    assert signatures == {str(result.signature)}
    assert f">{result.signature}<" in (tmp_path / "report.html").read_text()


def test_the_same_input_gives_the_same_bytes(evaluation: sed.Evaluation, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    again = sed.evaluate(scores, truth, METRICS, run=sed.Run(threads=1))
    for name, result in (("one", evaluation), ("two", again)):
        result.report(tmp_path / f"{name}.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_checkpoint_changes_nothing(evaluation: sed.Evaluation, tmp_path: Path) -> None:
    for name in ("one", "two"):  # the second report continues from the parts of the first
        evaluation.report(tmp_path / f"{name}.html", run=sed.Run(checkpoint=tmp_path / "parts"))
        assert list((tmp_path / "parts").glob("*.deltas"))
    evaluation.report(tmp_path / "plain.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "plain.html").read_bytes()
    assert (tmp_path / "two.html").read_bytes() == (tmp_path / "plain.html").read_bytes()


def test_hostile_names_are_escaped() -> None:
    scores, truth = hostile_set()
    text = render(build_page({"<b>name</b>": sed.evaluate(scores, truth, METRICS)}))
    assert text.count("<script") == 2
    assert "<b>name" not in text
    assert "<img" not in text


def test_a_desed_sized_report_is_small() -> None:
    scores, truth = simulated_set(1168)
    text = render(build_page({"system": sed.evaluate(scores, truth, METRICS[:2])}))
    assert len(text.encode()) <= 1_000_000


def test_many_classes_are_bounded_and_it_says_so() -> None:
    truth = sed.simulate.ground_truth(40, classes=120)
    scores = sed.simulate.scores(truth)
    page = build_page({"a": sed.evaluate(scores, truth, METRICS[:2])}, clips_shown=6)
    assert len(page.thresholds) == 40
    assert len(page.values[0][0].per_class) == len(scores.classes)
    assert f"the 40 of {len(scores.classes)} classes with the most references" in page.notes[0]


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_scores_of_few_values_have_a_report(digits: int) -> None:
    """At the highest score alone there are more false alarms than anyone wants."""
    rng = np.random.default_rng(0)
    values = {f"{i}": np.round(rng.random((100, 2)), digits) for i in range(60)}
    scores = sed.Scores.from_arrays(values, classes=["Cat", "Dog"], frame=0.1)
    events = {clip: [(1, 3, "Cat")] for clip in values}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 10.0))
    with pytest.warns(sed.SedscopeWarning, match=r"1 class has no reference events.*Dog"):
        evaluation = sed.evaluate(scores, truth, METRICS)
    assert all(build_page({"a": evaluation}).thresholds)


def test_clips_without_frames_can_be_shown() -> None:
    values = {"a": np.full((10, 1), 0.9), "b": np.empty((0, 1))}
    scores = sed.Scores.from_arrays(values, classes=["Dog"], frame=1.0)
    events = {clip: [(1, 3, "Dog")] for clip in values}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 10.0))
    page = build_page({"a": sed.evaluate(scores, truth, METRICS[:3])})
    assert {clip.name for clip in panel(page, "clips").clips} == {"a", "b"}


def test_sets_of_detections_have_a_report_too(tmp_path: Path) -> None:
    scores, truth = simulated_set(20)
    sets = sed.approximate(scores, [0.2, 0.5, 0.8])
    page = build_page({"a": sed.evaluate_sets(sets, truth, METRICS[0])})
    assert page.thresholds[0] == [0.8, 0.5, 0.2]
    assert not {"clips", "errors"} & {entry.name for entry in page.panels}
    assert any("A set of detections has no scores" in note for note in page.notes)


def test_systems_must_be_evaluated_alike(evaluation: sed.Evaluation) -> None:
    scores, truth = simulated_set()
    other = sed.evaluate(scores, truth, METRICS[0])
    fewer = sed.evaluate(scores, truth, METRICS, clips=list(scores)[:30])
    with pytest.raises(sed.SedscopeError, match="b and a were evaluated with different metrics"):
        build_page({"a": evaluation, "b": other})
    with pytest.raises(sed.SedscopeError, match="different clips"):
        build_page({"a": evaluation, "b": fewer})


def test_clips_to_show(evaluation: sed.Evaluation) -> None:
    page = build_page({"a": evaluation}, clips_shown=["clip_07.wav", "clip_03"])
    chosen = panel(page, "clips").clips
    assert sorted(clip.name for clip in chosen) == ["clip_03", "clip_07"]
    with pytest.raises(sed.SedscopeError, match="1 clip that the evaluation does not contain: nothing"):
        build_page({"a": evaluation}, clips_shown=["nothing"])
    with pytest.raises(sed.SedscopeError, match="clips_shown=-1 must be"):
        build_page({"a": evaluation}, clips_shown=-1)


def test_audio_goes_in_as_far_as_there_is_room(
    evaluation: sed.Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clip_03.wav").write_bytes(b"RIFF")
    (tmp_path / "clip_04.flac").write_bytes(b"x" * 100)
    monkeypatch.setattr("sedscope.report.audio.MAX_BYTES", 50)
    names = ["clip_03", "clip_04", "clip_05"]
    page = build_page({"a": evaluation}, clips_shown=names, audio=tmp_path)
    audio = {clip.name: [part.url for part in clip.audio] for clip in panel(page, "clips").clips}
    assert audio == {"clip_03": ["data:audio/wav;base64,UklGRg=="], "clip_04": [], "clip_05": []}
    assert page.notes[-2:] == [
        "The folder has no audio file for 1 clip of this page.",
        "The audio of 1 clip is left out, because a page holds at most 0 MB of audio.",
    ]
    with pytest.raises(sed.SedscopeError, match=r"There is no folder .*nowhere"):
        build_page({"a": evaluation}, audio=tmp_path / "nowhere")


def test_command_line(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    timed = ["--durations", files.durations]
    page = tmp_path / "report.html"
    outcome = run("report", files.scores, files.truth, *timed, "-o", page)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith(f"report: {page}\n")
    first = page.read_text()
    assert run("evaluate", files.scores, files.truth, *timed, "--report", page).code == 0
    assert page.read_text() == first
    systems = [f"one={files.scores}", f"two={files.scores}"]
    outcome = run("compare", *systems, files.truth, *timed, "--bootstrap", 20, "--report", page)
    assert outcome.code == 0
    assert "<title>one, two – sedscope report</title>" in page.read_text()
    outcome = run("evaluate", files.scores, files.truth, *timed, "--audio", tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    outcome = run("report", files.scores, files.truth, *timed, "-o", page, "--clips-shown", "many")
    assert outcome.code == 2
    assert "--clips-shown many is neither a number nor a file" in outcome.err


def test_segments_are_not_called_events() -> None:
    scores, truth = simulated_set(12)
    segments = sed.AUROC(sed.Segment(1.0))
    deltas = sed.deltas(scores, truth, segments.criterion)
    events = sum(sed.deltas(scores, truth, sed.Collar()).counts().references.values())
    positives = sum(deltas.counts().references.values())
    assert positives != events
    for evaluation, text in (
        (sed.evaluate_deltas(deltas, segments), f"{positives} positive segments"),
        (sed.evaluate(scores, truth, segments), f"{events} reference events"),
    ):
        page = build_page({"system": evaluation})
        assert page.header.references == text
        assert sum(page.criteria[0].references) == positives


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (sed.FScore(sed.Collar(), threshold=0.3), "at the threshold 0.3"),
        (sed.BestFScore(sed.Collar()), "at the threshold that the metric chooses for each class"),
        (sed.presets.PSDS1, "over all thresholds"),
    ],
)
def test_only_metrics_over_all_thresholds_say_so(metric: Any, text: str) -> None:
    scores, truth = simulated_set(12)
    assert build_page({"a": sed.evaluate(scores, truth, metric)}).metrics[0].thresholds == text


def test_sets_of_detections_have_their_own_thresholds() -> None:
    scores, truth = simulated_set(12)
    evaluation = sed.evaluate_sets(sed.approximate(scores, [0.2, 0.8]), truth, sed.presets.PSDS1)
    assert build_page({"a": evaluation}).metrics[0].thresholds == "over the thresholds of the detections"
