"""The report in a real browser: what it shows is what the library says."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.diagnosis import diagnose_clip

from ..support.command_line import run
from ..support.report.browser import Browser
from ..support.report.page import check_table, number, thresholds
from ..support.report.sets import METRICS, simulated_set
from .conftest import opened, page, report

__all__ = ["opened", "page", "report"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA = tuple(dict.fromkeys(metric.criterion for metric in METRICS))


@pytest.fixture(scope="module")
def counts() -> dict[Any, sed.Counts]:
    """What there is to be seen, by criterion."""
    scores, truth = simulated_set()
    return {criterion: sed.deltas(scores, truth, criterion).counts() for criterion in CRITERIA}


def test_values_and_definitions(opened: Browser) -> None:
    scores, truth = simulated_set()
    result = sed.evaluate(scores, truth, METRICS)
    headings = result.names
    read = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    for metric, text in zip(METRICS, opened.run(read, ".metric"), strict=True):
        assert headings[metric] in text
        assert f"{result[metric].value:.4f}" in text
    legend = dict(zip(opened.run(read, "dt"), opened.run(read, "dd"), strict=True))
    assert legend == {
        headings[metric]: f"{metric!r}, {thresholds}"
        for metric, thresholds in zip(
            METRICS,
            ["over all thresholds"] * 2
            + ["at the threshold that the metric chooses for each class", "over all thresholds"],
            strict=True,
        )
    }
    assert not any(repr(metric) in opened.text("main") for metric in METRICS)  # each stands once
    for row in opened.rows():
        for metric in METRICS:
            assert row[headings[metric]] == f"{result[metric].per_class[row['class']].value:.4f}"
        assert number(row["references"]) == result.references[row["class"]]
    assert "In brackets 95 % subsampling intervals" in opened.text("header")


@pytest.mark.parametrize("q", range(len(CRITERIA)))
def test_sliders_show_exact_counts(opened: Browser, counts: Any, q: int) -> None:
    opened.choose("#criterion", q)
    check_table(opened, counts[CRITERIA[q]])
    for share in (0, 0.2, 0.5, 0.8, 1):
        opened.run(
            """for (const slider of document.querySelectorAll("#table input[type=range]")) {
                slider.value = Math.round(slider.max * arguments[0]);
                slider.dispatchEvent(new Event("input"));
            }""",
            share,
        )
        check_table(opened, counts[CRITERIA[q]])
        slider = opened.run("return document.querySelector('#slider').max")
        opened.choose("#slider", round(int(slider) * share))
        assert len(set(thresholds(opened).values())) == 1
        check_table(opened, counts[CRITERIA[q]])


@pytest.mark.parametrize("q", range(len(CRITERIA)))
def test_buttons_choose_as_the_library_does(opened: Browser, counts: Any, q: int) -> None:
    opened.choose("#criterion", q)
    criterion_counts = counts[CRITERIA[q]]
    buttons: list[tuple[Any, dict[str, Any]]] = [
        (None, {}),
        (10, {"objective": "recall", "max_false_alarms": 10}),
        (0.5, {"objective": "recall", "max_false_alarms": 0.5}),
    ]
    for rate, options in buttons:
        if rate is None:
            opened.click("#best")
        else:
            opened.choose("#rate", rate)
        best = sed.choose(criterion_counts, **options).thresholds
        chosen = thresholds(opened)
        for label, threshold in best.items():
            expected = criterion_counts[label].tally_at(threshold)
            shown = criterion_counts[label].tally_at(chosen[label])
            assert (shown.tp, shown.fp) == (expected.tp, expected.fp)


def test_a_class_is_selected_and_typed_thresholds_snap(opened: Browser, counts: Any) -> None:
    opened.click("tr[data-class=Speech] button")
    assert opened.run("return document.querySelector('#class').selectedOptions[0].text") == "Speech"
    before = thresholds(opened)
    opened.choose("#threshold", 0.3333)
    after = thresholds(opened)
    assert {label for label in after if after[label] != before[label]} == {"Speech"}
    assert after["Speech"] == pytest.approx(0.3333, abs=0.05)
    assert after["Speech"] >= 0.3333
    assert opened.run("return document.querySelectorAll('#psd_roc .chart .strong').length") == 4
    check_table(opened, counts[CRITERIA[0]])
    opened.click("tr[data-class=Speech] button")
    assert opened.run("return document.querySelector('#class').value") == ""


def test_curves_can_be_pointed_at_with_keys(opened: Browser) -> None:
    opened.run("document.querySelector('#psd_roc .chart').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        opened.run(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0] }))",
            key,
        )
    tooltip = opened.text("#tooltip")
    assert "active where score ≥" in tooltip
    assert "TPR" in tooltip
    assert "eFPR" in tooltip
    assert "cross-triggers" not in tooltip  # they do not count for PSDS 1


def test_effective_rates_are_split(opened: Browser, counts: Any) -> None:
    criterion_counts, hours = counts[METRICS[1].criterion], counts[METRICS[1].criterion].duration / 3600
    scores, truth = simulated_set()
    curve = sed.evaluate(scores, truth, METRICS[1])[METRICS[1]].per_class["Dishes"].curve
    opened.run("document.querySelectorAll('#psd_roc .chart')[1].focus()")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0] }))"
    for _ in range(1 + list(criterion_counts).index("Dishes")):
        opened.run(press, "ArrowDown")
    crossed = 0.0
    for vertex in range(len(curve.efpr)):
        text = opened.text("#tooltip")
        of_false, of_cross = map(
            float,
            re.search(r"= ([\d.]+) from false positives\+ ([\d.]+) from cross", text).groups(),  # type: ignore[union-attr]
        )
        table = criterion_counts["Dishes"]
        fp = int(np.max(table.fp[table.scores == curve.scores[vertex]], initial=0))
        assert of_false == pytest.approx(fp / hours, abs=0.01)
        assert of_false + of_cross == pytest.approx(curve.efpr[vertex], abs=0.02)
        crossed = max(crossed, of_cross)
        opened.run(press, "ArrowRight")
    assert crossed > 1


def test_references_are_those_of_the_criterion(opened: Browser, counts: Any) -> None:
    for q, criterion in enumerate(CRITERIA):
        opened.choose("#criterion", q)
        rows = opened.rows(foot=True)
        name = "positives" if isinstance(criterion, sed.Segment) else "references"
        for row in rows[:-1]:
            assert number(row[name]) == counts[criterion][row["class"]].references
            assert number(row[name]) == number(row["TP"]) + number(row["FN"])
        assert number(rows[-1][name]) == sum(counts[criterion].references.values())
    assert f"{sum(counts[CRITERIA[0]].references.values())} reference events" in opened.text(".facts")


def test_a_class_leads_to_clips_with_its_errors(opened: Browser) -> None:
    scores, truth = simulated_set()
    read = """return [...document.querySelectorAll(".clip-list li")].map((item) =>
        [item.querySelector("bdi").textContent, item.querySelector(".errors").textContent])"""
    before = opened.run(read)
    for label in ("Cat", "Vacuum_cleaner"):
        opened.choose("#class", list(scores.classes).index(label))
        chosen = thresholds(opened)
        listed = opened.run(read)
        errors = []
        for clip, text in listed:
            judged = diagnose_clip(
                scores[clip], truth.events(clip), CRITERIA[0], chosen, classes=scores.classes
            )
            false, missed = (
                sum(event.label == label and event.error_type not in ("true", "found") for event in side)
                for side in (judged.detections, judged.references)
            )
            assert text == f"{false} false, {missed} missed"
            errors.append(false + missed)
        assert errors == sorted(errors, reverse=True)
        assert errors[0] > 0
        opened_clip = opened.text(".clip-list .chosen bdi")
        assert errors[[clip for clip, _ in listed].index(opened_clip)] > 0
        assert opened.text(".clip-view h4") == label
    opened.choose("#class", "")
    assert opened.run(read) == before


LISTED = """return [...document.querySelectorAll(".clip-list li:not([hidden])")].map((item) =>
    [item.querySelector("bdi").textContent, item.querySelector(".errors").textContent])"""


def _events_by_clip(
    chosen: dict[str, float], label: str, wanted: set[tuple[str, str]]
) -> dict[str, int]:
    """How many events of a class have one of these sides and types, in each clip that has any."""
    scores, truth = simulated_set()
    numbers = {}
    for clip in truth.clips:
        judged = diagnose_clip(
            scores[clip], truth.events(clip), CRITERIA[0], chosen, classes=scores.classes
        )
        sides = {"references": judged.references, "detections": judged.detections}
        types = [(side, e.error_type) for side, es in sides.items() for e in es if e.label == label]
        numbers[clip] = sum(each in wanted for each in types)
    return {clip: number for clip, number in numbers.items() if number}


def _check_listed(opened: Browser, label: str, wanted: set[tuple[str, str]]) -> None:
    expected = _events_by_clip(thresholds(opened), label, wanted)
    listed = {clip: int(text.split()[0]) for clip, text in opened.run(LISTED)}
    on_page = opened.run(
        "return [...document.querySelectorAll('.clip-list bdi')].map((name) => name.textContent)"
    )
    assert listed == {clip: number for clip, number in expected.items() if clip in on_page}
    assert list(listed.values()) == sorted(listed.values(), reverse=True)
    status = opened.text(".order")
    shown, total = (sum(numbers.values()) for numbers in (listed, expected))
    assert f"{shown} of {total} in" in status if shown < total else f": {total} in" in status
    assert f"{len(listed)} listed clip" in status


def test_errors_lead_to_exactly_their_clips(opened: Browser) -> None:
    scores, _ = simulated_set()
    row = f"#errors tbody tr:nth-child({1 + scores.classes.index('Speech')})"
    for side, type_ in (("references", "missed"), ("detections", "background")):
        bar = f"{row} td:nth-of-type({1 + (side == 'detections')}) .e-{type_}"
        opened.run(
            "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            bar,
        )
        _check_listed(opened, "Speech", {(side, type_)})
        assert opened.text(".clip-list .chosen bdi") in [clip for clip, _ in opened.run(LISTED)]
    higher = int(opened.run("return document.querySelector('#slider').value")) + 3
    opened.choose("#slider", higher)  # the list follows
    _check_listed(opened, "Speech", {("detections", "background")})
    opened.run("document.querySelector('.gains tr[data-cause=background] button').click()")
    _check_listed(opened, "Speech", {("detections", "background")})
    for field, text in (("#listed-errors", ""), ("#clip-order", "name")):
        opened.choose(field, text)
    names = [clip for clip, _ in opened.run(LISTED)]
    assert len(names) > 20
    assert names == sorted(names)
    opened.choose(".filters input", names[3])
    assert [clip for clip, _ in opened.run(LISTED)] == names[3:4]


def test_systems_are_compared_by_clip_and_the_view_is_in_the_address(
    page: Browser, tmp_path: Path
) -> None:
    scores, truth = simulated_set()
    other = sed.simulate.scores(truth, quality=0.4, seed=3)
    file = tmp_path / "report.html"
    sed.compare({"a": scores, "b": other}, truth, METRICS[:1]).report(file)
    page.open(file)
    page.choose("#clip-order", "difference")
    pairs = [[int(n) for n in re.findall(r": (\d+)", text)] for _, text in page.run(LISTED)]
    spread = [abs(a - b) for a, b in pairs]
    assert spread == sorted(spread, reverse=True)
    assert spread[0] > 0
    page.choose("#system", 1)
    page.choose("#class", scores.classes.index("Cat"))
    page.choose("#slider", 7)
    page.choose("#listed-errors", "missed/")
    page.run("[...document.querySelectorAll('.clip-list li:not([hidden]) button')].at(-1).click()")
    view = """return [document.querySelector("#summary").textContent, location.hash,
        document.querySelector(".clip-list .chosen bdi").textContent,
        ...["#class", "#system", "#listed-errors", "#clip-order"].map(
            (id) => document.querySelector(id).value)]"""
    page.wait(lambda: "clip=" in page.run("return location.hash"))
    before = page.run(view)
    assert "class=Cat&" in before[1]
    assert "system=b&" in before[1]
    page.driver.refresh()
    page.wait(lambda: page.run("return document.body.dataset.ready"))
    assert page.run(view) == before
    page.run("location.hash = 'class=Nobody&system=a&errors=%22&sliders=9.9.9_x'")
    page.wait(lambda: page.run("return document.querySelector('#system').value") == "0")
    assert page.run(view)[3] == ""
    assert page.problems() == []


SAVE_CSV = """[...document.querySelectorAll("#curves figure")].find((figure) => figure.textContent.includes(
    arguments[0])).querySelector(".tools button:last-child").click()"""


@pytest.mark.parametrize(("q", "complete"), [(0, False), (2, True)])
def test_recall_over_false_alarms(opened: Browser, counts: Any, q: int, complete: bool) -> None:
    # PSDS reads nothing beyond its largest rate, so the curve ends there
    opened.choose("#criterion", q)
    text = opened.saved("froc.csv", lambda: opened.run(SAVE_CSV, "FROC"))
    vertices = list(csv.DictReader(io.StringIO(text)))
    hours = counts[CRITERIA[q]].duration / 3600
    for label, of_class in counts[CRITERIA[q]].items():
        curve = sed.curves.froc_curve(of_class, hours)
        drawn = [
            (float(row["false alarms per hour"]), float(row["recall"]))
            for row in vertices
            if row["curve"] == label
        ]
        assert [recall for _, recall in drawn] == sorted(recall for _, recall in drawn)
        if complete:
            assert drawn[-1][1] == pytest.approx(curve.recall[-1])
        for rate, recall in drawn:
            assert recall == pytest.approx(curve.recall_at(rate))


def test_curves_of_several_systems_are_means_over_the_classes(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    systems = {"a": scores, "b": sed.simulate.scores(truth, quality=0.8, seed=4)}
    metrics: list[Any] = [sed.BestFScore(sed.Collar()), "psds1", "psds2"]
    comparison = sed.compare(systems, truth, metrics, resampling=20)
    comparison.report(tmp_path / "two.html")
    page.open(tmp_path / "two.html", width=1400)
    boxes = "return [...document.querySelectorAll('.scroll')]"
    assert set(page.run(f"{boxes}.map((box) => box.scrollWidth - box.clientWidth)")) == {0}

    def saved_rows(name: str, title: str) -> list[dict[str, str]]:
        text = page.saved(f"{name}.csv", lambda: page.run(SAVE_CSV, title))
        return list(csv.DictReader(io.StringIO(text)))

    froc, fscore = saved_rows("froc", "FROC"), saved_rows("fscore", "F-score")
    for name, system in systems.items():
        counts = sed.deltas(system, truth, sed.Collar()).counts()
        curves = [sed.curves.froc_curve(of_class, counts.hours) for of_class in counts.values()]
        of_system = [row for row in froc if row["curve"] == f"{name}: all classes"]
        assert len(of_system) > 5
        for row in of_system:
            rate = float(row["false alarms per hour"])
            assert float(row["recall"]) == pytest.approx(np.mean([c.recall_at(rate) for c in curves]))
        of_system = [row for row in fscore if row["curve"] == f"{name}: all classes"]
        assert len(of_system) > 5
        for row in of_system:
            at_score = counts.at(np.array([float(row["score"])]))
            means = np.mean([of_class.tally().fscore()[-1] for of_class in at_score.values()])
            assert float(row["F1"]) == pytest.approx(means)
    page.choose("#criterion", 1)  # which PSDS counts as far as it reads: beyond, recall is not known
    froc = saved_rows("froc", "FROC")
    for name, system in systems.items():
        counts = sed.deltas(system, truth, sed.Intersection(0.7, 0.7)).counts()
        curves = [sed.curves.froc_curve(of_class, counts.hours) for of_class in counts.values()]
        of_system = [row for row in froc if row["curve"] == f"{name}: all classes"]
        assert len(of_system) > 5
        for row in of_system:
            rate = float(row["false alarms per hour"])
            assert float(row["recall"]) == pytest.approx(np.mean([c.recall_at(rate) for c in curves]))
    paths = page.run(
        "return [...document.querySelectorAll('#curves figure')].find((f) => f.textContent.includes('FROC'))"
        ".querySelectorAll('path.curve.strong').values().map((p) => p.getAttribute('d')).toArray()"
    )
    assert len(paths) == 2
    for path in paths:  # it never runs back
        places = [float(x) for x in re.findall(r"[MH]([\d.]+)", path)]
        assert places == sorted(places)
    assert page.problems() == []


def test_the_page_says_what_to_expect_on_new_clips(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    best = sed.BestFScore(sed.Collar())
    resampled = sed.evaluate(scores, truth, {"f1": best}, resampling=20)
    interval = resampled.on_new_clips[best]
    expected = f"f1 {interval.value:.4f} ({interval.low:.4f}–{interval.high:.4f})"
    for result in (resampled, sed.evaluate(scores, truth, {"f1": best})):
        result.report(tmp_path / "one.html")
        page.open(tmp_path / "one.html")
        shown = page.text("header.page")
        # without intervals of its own, the page has those of 1000 resamples
        start = expected if result is resampled else expected.partition(" (")[0]
        assert f"To expect on new clips: {start}" in shown
        assert re.search(r"To expect on new clips: f1 [\d.]+ \([\d.]+–[\d.]+\) \(each of at most", shown)
    systems = {"a": scores, "b": sed.simulate.scores(truth, quality=0.8, seed=4)}
    comparison = sed.compare(systems, truth, {"f1": best}, resampling=20)
    assert comparison.evaluations["a"].on_new_clips[best].value == resampled.on_new_clips[best].value
    comparison.report(tmp_path / "two.html")
    page.open(tmp_path / "two.html")
    assert f"o expect on new clips: a: {expected}, b: f1 " in page.text("#systems")


def test_resampled_recall_over_false_alarms_has_a_band(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    metric = sed.RecallAtFalseAlarms(sed.IoU(0.3), false_alarms=10)
    result = sed.evaluate(scores, truth, metric, resampling=20)
    result.report(tmp_path / "band.html")
    page.open(tmp_path / "band.html")
    assert page.run("return document.querySelectorAll('.band').length") == 0  # too many would cover it
    page.choose("#class", result.classes.index("Speech"))
    path = page.run("return document.querySelector('.band').getAttribute('d')")
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
    curve = result[metric].per_class["Speech"].curve
    assert curve is not None
    assert curve.band is not None
    expected = [*curve.band.high, *curve.band.low[::-1]]
    assert np.corrcoef(heights, expected)[0, 1] == pytest.approx(-1, abs=1e-4)


def test_an_event_list_without_confidences_is_points(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    events = sed.detect(scores, dict.fromkeys(scores.classes, 0.5))
    system = sed.Scores.from_events(events, classes=scores.classes, clips=truth.clips)
    metrics: list[Any] = [sed.PSDS(sed.Intersection(0.3, 0.3), max_efpr=1000), METRICS[3]]
    sed.evaluate(system, truth, metrics).report(tmp_path / "points.html")
    page.open(tmp_path / "points.html")
    for criterion, pictures in ((0, 4), (1, 5)):  # with PSD-ROC; FROC, or ROC and DET
        page.choose("#criterion", criterion)
        charts = page.run(
            """return [...document.querySelectorAll(".chart")].map((chart) => [
                [...chart.querySelectorAll("path.curve")].map((path) => path.getAttribute("d")),
                chart.querySelectorAll(".shape").length])"""
        )
        assert len(charts) == pictures
        for paths, shapes in charts:
            assert not any(re.search("[LHV]", path) for path in paths)  # no line leads anywhere
            assert shapes == len(paths)
    assert page.run("return document.querySelectorAll('#table .spark .curve').length") == 0
    assert page.problems() == []


def test_the_table_is_sorted(opened: Browser) -> None:
    metric = list(opened.rows()[0])[2]
    for column in ("references", metric, "F1"):
        for reverse in (True, False):
            opened.run(
                """[...document.querySelectorAll("#table thead button")]
                    .find((button) => button.textContent === arguments[0]).click()""",
                column,
            )
            values = [number(row[column]) for row in opened.rows()]
            assert values == sorted(values, reverse=reverse)


def test_saved_thresholds_are_those_of_detect(opened: Browser, counts: Any, tmp_path: Path) -> None:
    scores, truth = simulated_set()
    sed.write_scores(scores, tmp_path / "scores")
    opened.choose("#rate", 20)
    shown = {row["class"]: row for row in opened.rows()}
    chosen = thresholds(opened)
    points = opened.downloads / "points.toml"
    outcome = run("detect", tmp_path / "scores", "--points", points, "-o", tmp_path / "events.tsv")
    assert outcome.code == 0
    events = sed.read_events(tmp_path / "events.tsv")
    detected = sed.Scores.from_events(events, classes=scores.classes, clips=truth.clips)
    found = sed.deltas(detected, truth, CRITERIA[0]).counts()
    assert set(chosen) == set(scores.classes)
    for label in scores.classes:
        tally = found[label].tally_at(0.5)
        assert (tally.tp, tally.fp) == (number(shown[label]["TP"]), number(shown[label]["FP"]))


def test_cross_triggers_and_their_clips(opened: Browser, counts: Any) -> None:
    opened.choose("#criterion", 1)
    chosen = thresholds(opened)
    criterion_counts = counts[CRITERIA[1]]
    rows = opened.run(
        """return [...document.querySelectorAll(".matrix tbody tr")].map(
            (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))"""
    )
    largest = (0, 0, 0)
    for c, (label, row) in enumerate(zip(criterion_counts, rows, strict=True)):
        at = criterion_counts[label].at([chosen[label]])
        for m, (other, text) in enumerate(zip(criterion_counts, row, strict=True)):
            expected = at.tp[0] if c == m else at.ct(other)[0]
            assert (0 if text == "·" else number(text)) == expected
            if c != m:
                largest = max(largest, (int(expected), c, m))
    opened.run(
        """document.querySelectorAll(".matrix tbody tr")[arguments[0]]
            .querySelectorAll("td")[arguments[1]].firstChild.click()""",
        *largest[1:],
    )
    names = opened.run(
        "return [...document.querySelectorAll('.cell-clips li')].map((li) => li.textContent)"
    )
    listed = [name for name in names if not name.startswith("and ")]
    scores, truth = simulated_set()
    label, other = (list(criterion_counts)[i] for i in largest[1:])
    for name in listed:
        alone = sed.deltas(scores, truth, CRITERIA[1], clips=[name]).counts()[label]
        assert alone.at([chosen[label]]).ct(other)[0] > 0


@pytest.mark.parametrize("q", [0, 1, 2])
def test_error_types_are_the_library_s(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    scores, truth = simulated_set()
    chosen = thresholds(opened)
    diagnosis = sed.diagnose(scores, truth, CRITERIA[q], chosen)
    text = opened.saved("errors.csv", lambda: opened.click("#errors .tools button"))
    for row in csv.DictReader(io.StringIO(text)):
        if row["class"] in diagnosis:
            numbers = getattr(diagnosis[row["class"]], row["side"])
            expected = {error_type: int(number[0]) for error_type, number in numbers.items()}
            shown = [error_type for error_type in numbers if error_type != "ignored"]
            assert expected.pop("ignored", 0) == 0  # so the page does not speak of it
            assert {error_type: int(row[error_type]) for error_type in shown} == expected
    opened.choose("#class", list(scores.classes).index("Speech"))
    speech = diagnosis["Speech"]
    gains = {
        cause: float(tally.fscore()[0] - speech.tally().fscore()[0])
        for cause, tally in speech.fixed().items()
    }
    shown = opened.run(
        """return [...document.querySelectorAll(".gains tbody tr")].map(
            (row) => [row.dataset.cause, row.children[4].textContent])"""
    )
    assert {cause: number(text) for cause, text in shown} == pytest.approx(gains, abs=5.1e-4)


@pytest.mark.parametrize("q", [0, 1, 2])
def test_clips_are_judged_as_the_library_does(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    scores, truth = simulated_set()
    chosen = thresholds(opened)
    shown = opened.run(
        """return [...document.querySelectorAll(".clip-list button")].map(
            (button) => [...button.children].map((part) => part.textContent))"""
    )
    assert len(shown) >= 40
    for i, (clip, cost) in enumerate(shown):
        opened.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", i)
        bars = opened.run(
            """return [...document.querySelectorAll(".clip-view .lane")].flatMap((lane) =>
                [...lane.querySelectorAll("rect")].map((bar) => [
                    lane.getAttribute("aria-label").split(":")[0], bar.textContent]))"""
        )
        drawn = {label for label, _ in bars}
        found = diagnose_clip(
            scores[clip], truth.events(clip), CRITERIA[q], chosen, classes=scores.classes
        )
        events = [("reference", event) for event in found.references]
        events += [("detection", event) for event in found.detections]
        expected = sorted(
            (
                event.label,
                f"{kind} {event.onset:g} s to {event.offset:g} s, {_verdict(kind, event.error_type)}",
            )
            for kind, event in events
        )
        assert {label for label, _ in expected} == drawn
        assert sorted(map(tuple, bars)) == expected
        false = sum(event.error_type != "true" for event in found.detections)
        missed = sum(event.error_type != "found" for event in found.references)
        assert cost == f"{false} false, {missed} missed"


def _verdict(kind: str, error_type: str) -> str:
    """The words of the page for an error type."""
    words = {"onset": "wrong onset", "offset": "wrong offset", "cross_trigger": "cross-trigger"}
    name = words.get(error_type, error_type.replace("_", " "))
    if kind == "reference":
        return "found" if name == "found" else f"missed ({name})".replace("missed (missed)", "missed")
    return "true" if name == "true" else f"false ({name})"
