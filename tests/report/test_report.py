"""What a report is told: exact counts at the stops, curves without visible loss, names as text."""

from __future__ import annotations

import json
import re
import string
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.cached_scores import CachedScores
from sedscope.report.clips import clip_costs
from sedscope.report.html import as_data, render
from sedscope.report.packing import differences, short_between
from sedscope.report.page_data import gather
from sedscope.report.script_bundle import joined
from sedscope.report.slider_positions import MOST
from sedscope.report.thinning import HEIGHT, WIDTH, visible_rows

from ..support.command_line import run
from ..support.files import write_files
from ..support.report.sets import HOSTILE, METRICS, hostile_set, simulated_set

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def summed(text: str) -> list[int]:
    """The numbers of which a text has the differences."""
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    numbers, bits, place = [0], 0, 0
    for value in map(alphabet.index, text):
        bits |= (value & 31) << place
        place += 5
        if value < 32:
            numbers.append(numbers[-1] + (-(bits >> 1) if bits & 1 else bits >> 1))
            bits, place = 0, 0
    return numbers[1:]


@pytest.fixture(scope="module")
def evaluation() -> sed.Evaluation:
    scores, truth = simulated_set()
    return sed.evaluate(scores, truth, METRICS)


@pytest.fixture(scope="module")
def told(evaluation: sed.Evaluation) -> dict[str, Any]:
    return gather({"a": evaluation})


def test_counts_at_every_stop_are_the_library_s(
    evaluation: sed.Evaluation, told: dict[str, Any]
) -> None:
    scores, truth = simulated_set()
    for q, criterion in enumerate(evaluation.counts):
        counts = sed.deltas(scores, truth, criterion).counts()
        for k, label in enumerate(told["classes"]):
            stops, found = told["stops"][k], told["counts"][0][q][k]
            expected = [counts[label].tally_at(stop) for stop in stops]
            assert summed(found["tp"]) == [tally.tp for tally in expected]
            assert summed(found["fp"]) == [tally.fp for tally in expected]
            for m, crossed in found.get("ct", {}).items():
                at = counts[label].at(stops)
                assert summed(crossed) == at.ct(told["classes"][int(m)]).tolist()


def test_stops_are_few_and_have_what_buttons_choose(
    evaluation: sed.Evaluation, told: dict[str, Any]
) -> None:
    scores, truth = simulated_set()
    buttons: list[dict[str, Any]] = [
        {},
        {"objective": "recall", "max_false_alarms_per_hour": 10},
        {"objective": "recall", "max_false_alarms_per_hour": 0.5},
    ]
    for criterion in evaluation.counts:
        counts = sed.deltas(scores, truth, criterion).counts()
        for options in buttons:
            points = sed.choose(counts, **options)
            for k, label in enumerate(told["classes"]):
                stops = told["stops"][k]
                assert len(stops) <= MOST
                assert all(high > low for high, low in pairwise(stops))
                assert set(told["common"]) <= set(stops)
                if label not in points.thresholds:
                    continue
                best = counts[label].tally_at(points.thresholds[label])
                reached = [counts[label].tally_at(stop) for stop in stops]
                assert (best.tp, best.fp) in [(tally.tp, tally.fp) for tally in reached]


def test_clips_are_ranked_by_what_they_cost(evaluation: sed.Evaluation, told: dict[str, Any]) -> None:
    collar = sed.Collar()
    thresholds = dict.fromkeys(evaluation.classes, 0.4)
    scores, truth = simulated_set()
    costs = clip_costs(sed.deltas(scores, truth, collar), thresholds)
    for i, clip in enumerate(scores):
        alone = sed.deltas(scores, truth, collar, clips=[clip]).counts()
        tallies = [alone[label].tally_at(0.4) for label in evaluation.classes]
        assert costs[i].tolist() == [sum(t.fp for t in tallies), sum(t.fn for t in tallies)]
    shown = [sum(clip["systems"][0]["cost"]) for clip in told["clips"]]
    costly = [cost for cost in shown if cost]
    assert costly == sorted(costly, reverse=True)
    assert costly == shown[: len(costly)]
    assert len(costly) >= 40


def test_cells_list_clips_with_their_cross_triggers(told: dict[str, Any]) -> None:
    scores, truth = simulated_set()
    criterion = sed.presets.PSDS2.criterion
    listed = told["cells"][0][1]
    assert listed
    for key, spans in listed.items():
        c, m = map(int, key.split(","))
        label, other = told["classes"][c], told["classes"][m]
        stops = told["stops"][c]
        for clip, comes, goes in spans[:3]:
            name = told["clip_names"][clip]
            alone = sed.deltas(scores, truth, criterion, clips=[name]).counts()[label]
            assert comes > goes
            for stop in (len(stops) - comes, len(stops) - 1 - goes):
                assert alone.at([stops[stop]]).ct(other)[0] > 0


positions = st.floats(0, 1) | st.integers(0, 8).map(lambda pixel: (pixel + 0.5) / WIDTH)


@given(st.lists(st.tuples(positions, positions), min_size=1, max_size=200))
def test_thinning_keeps_every_pixel_of_the_curve(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T
    rows = visible_rows(x, y)

    pixels = [(int(px), int(py)) for px, py in zip(x * WIDTH, y * HEIGHT, strict=True)]
    drawn = [pixels[row] for row in rows]
    passed = set(drawn)
    for (left, low), (right, high) in pairwise(drawn):
        if left == right:
            passed |= {(left, py) for py in range(min(low, high), max(low, high))}
        if low == high:
            passed |= {(px, low) for px in range(min(left, right), max(left, right))}
    assert set(pixels) <= passed
    assert rows[0] == 0
    assert rows[-1] == len(x) - 1


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e3))
def test_short_numbers_lie_in_their_range(low: float, width: float) -> None:
    high = low + width
    found = float(short_between(np.array([low]), np.array([high]))[0])
    assert low <= found
    assert found < high or low == high


@given(st.lists(st.integers(-(2**40), 2**40)))
def test_differences_add_up(values: list[int]) -> None:
    assert summed(differences(values)) == values


def test_scores_are_read_once_and_hashed_the_same_wherever_they_come_from(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    reads: list[str] = []
    stored = sed.read_scores(files.scores)
    truth = sed.read_ground_truth(files.truth, durations=files.durations)

    def load(clip: str) -> sed.ClipScores:
        reads.append(clip)
        return stored[clip]

    lazy = sed.Scores(stored, load, classes=stored.classes)
    result = sed.evaluate(CachedScores(lazy), truth, sed.BestFScore(sed.Collar()))
    result.report(tmp_path / "report.html")
    assert sorted(reads) == ["a", "b"]

    held = {clip: stored[clip] for clip in stored}
    in_memory = sed.Scores(held, held.__getitem__, classes=stored.classes, in_memory=True)
    digests = [CachedScores(scores).digest(("a", "b")) for scores in (stored, in_memory)]
    assert digests[0] == digests[1]
    assert f">{digests[0]}<" in (tmp_path / "report.html").read_text()
    other = CachedScores(stored, room=0)
    assert other.digest(("b", "a")) == digests[0]


def test_the_same_input_gives_the_same_bytes(evaluation: sed.Evaluation, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    again = sed.evaluate(scores, truth, METRICS, threads=1)
    for name, result in (("one", evaluation), ("two", again)):
        result.report(tmp_path / f"{name}.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_data_cannot_end_its_element() -> None:
    text = as_data(dict.fromkeys(HOSTILE, "\u2028\u2029 \ud800"))
    assert not re.search("[<>&\u2028\u2029]", text)
    assert set(json.loads(text)) == set(HOSTILE)


def test_hostile_names_are_escaped() -> None:
    scores, truth = hostile_set()
    page = render(gather({"<b>name</b>": sed.evaluate(scores, truth, METRICS)}))
    assert page.count("<script") == 2
    assert "<b>name" not in page
    assert "<img" not in page


def test_a_desed_sized_report_is_small() -> None:
    scores, truth = simulated_set(1168)
    page = render(gather({"system": sed.evaluate(scores, truth, METRICS[:2])}))
    assert len(page.encode()) <= 1_000_000


def test_many_classes_are_bounded_and_it_says_so() -> None:
    truth = sed.simulate.ground_truth(40, classes=120)
    scores = sed.simulate.scores(truth)
    told = gather({"a": sed.evaluate(scores, truth, METRICS[:2])}, clips_shown=6)
    assert len(told["stops"]) == 40
    assert len(told["values"][0][0]["per_class"]) == len(scores.classes)
    assert "classes with most references" in told["notes"][0]


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_scores_of_few_values_have_a_report(digits: int) -> None:
    """At the highest score alone there are more false alarms than anyone wants."""
    rng = np.random.default_rng(0)
    values = {f"{i}": np.round(rng.random((100, 2)), digits) for i in range(60)}
    scores = sed.Scores.from_arrays(values, classes=["Cat", "Dog"], frame=0.1)
    events = {clip: [(1, 3, "Cat")] for clip in values}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 10.0))
    with pytest.warns(sed.SedscopeWarning, match="without reference events"):
        evaluation = sed.evaluate(scores, truth, METRICS)
    told = gather({"a": evaluation})
    assert all(told["stops"])


def test_clips_without_frames_can_be_shown() -> None:
    values = {"a": np.full((10, 1), 0.9), "b": np.empty((0, 1))}
    scores = sed.Scores.from_arrays(values, classes=["Dog"], frame=1.0)
    events = {clip: [(1, 3, "Dog")] for clip in values}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 10.0))
    told = gather({"a": sed.evaluate(scores, truth, METRICS[:3])})
    assert {clip["name"] for clip in told["clips"]} == {"a", "b"}


def test_sets_of_detections_have_a_report_too(tmp_path: Path) -> None:
    scores, truth = simulated_set(20)
    sets = sed.approximate(scores, [0.2, 0.5, 0.8])
    told = gather({"a": sed.evaluate_sets(sets, truth, METRICS[0])})
    assert told["stops"][0] == [0.8, 0.5, 0.2]
    assert told["clips"] == []
    assert any("not for sets of detections" in note for note in told["notes"])


def test_systems_must_be_evaluated_alike(evaluation: sed.Evaluation) -> None:
    scores, truth = simulated_set()
    other = sed.evaluate(scores, truth, METRICS[0])
    fewer = sed.evaluate(scores, truth, METRICS, clips=list(scores)[:30])
    with pytest.raises(sed.SedscopeError, match="b and a were evaluated with other metrics"):
        gather({"a": evaluation, "b": other})
    with pytest.raises(sed.SedscopeError, match="other clips"):
        gather({"a": evaluation, "b": fewer})


def test_clips_to_show(evaluation: sed.Evaluation) -> None:
    chosen = gather({"a": evaluation}, clips_shown=["clip_07.wav", "clip_03"])["clips"]
    assert sorted(clip["name"] for clip in chosen) == ["clip_03", "clip_07"]
    with pytest.raises(sed.SedscopeError, match="not evaluated: 1 clip: nothing"):
        gather({"a": evaluation}, clips_shown=["nothing"])
    with pytest.raises(sed.SedscopeError, match="clips_shown=-1 must be"):
        gather({"a": evaluation}, clips_shown=-1)


def test_audio_goes_in_as_far_as_there_is_room(
    evaluation: sed.Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clip_03.wav").write_bytes(b"RIFF")
    (tmp_path / "clip_04.flac").write_bytes(b"x" * 100)
    monkeypatch.setattr("sedscope.report.page_data.AUDIO_ROOM", 50)
    names = ["clip_03", "clip_04", "clip_05"]
    told = gather({"a": evaluation}, clips_shown=names, audio=tmp_path)
    sounds = {clip["name"]: clip["audio"] for clip in told["clips"]}
    assert sounds == {"clip_03": "data:audio/wav;base64,UklGRg==", "clip_04": None, "clip_05": None}
    assert told["notes"][-2:] == [
        "no audio file for 1 shown clip",
        "no room for the audio of 1 shown clip",
    ]
    with pytest.raises(sed.SedscopeError, match="no folder of audio files"):
        gather({"a": evaluation}, audio=tmp_path / "nowhere")


MODULES = {
    "main.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\na(b);\n',
    "a.js": 'import { b } from "./b.js";\nexport function a() {\n  return b;\n}\n',
    "b.js": "export const b = 1;\n",
}


def test_modules_are_joined_in_the_order_of_need() -> None:
    script = joined(MODULES, "main.js")
    assert re.findall(r"^// (\S+)$", script, re.MULTILINE) == ["b.js", "a.js", "main.js"]
    assert "import" not in script
    assert "export" not in script


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"b.js": "export const b = 1;\nconst a = 2;\n"}, "b.js and a.js of the report both declare a"),
        ({"b.js": "const b = 1;\n"}, "b.js does not export b"),
        ({"b.js": 'import { a } from "./a.js";\nexport const b = 1;\n'}, "b.js → a.js|a.js → b.js"),
        ({"a.js": 'import { c } from "./c.js";\nexport function a() {}\n'}, "c.js of the report is not"),
    ],
)
def test_modules_that_do_not_fit_are_refused(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(sed.SedscopeError, match=problem):
        joined({**MODULES, **changes}, "main.js")


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
    assert "--clips-shown many: neither a number nor a file" in outcome.err
