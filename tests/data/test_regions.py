"""Scored regions: what is cut, what is refused, and that nothing else changes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.postprocessing import MedianFilter, MinimumDuration

from ..support.command_line import run, table_rows
from ..support.equality import assert_equal_scores

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

METRICS = (
    sed.BestFScore(sed.IoU(0.3)),
    sed.AveragePrecision(sed.Segment(2e-6)),
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=1e9),
)


@st.composite
def recordings(
    draw: st.DrawFn,
) -> tuple[list[int], list[float], list[tuple[int, int]], list[tuple[int, int]]]:
    """Lengths of frames, their scores, references and regions, all in microseconds."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    values = draw(st.lists(st.sampled_from([0.1, 0.4, 0.6, 0.9]), min_size=8, max_size=8))
    end = sum(lengths)

    def spans(least: int) -> list[tuple[int, int]]:
        bounds = draw(st.lists(st.integers(0, end), min_size=2, max_size=6, unique=True).map(sorted))
        used = draw(st.lists(st.booleans(), min_size=len(bounds) - 1, max_size=len(bounds) - 1))
        chosen = [span for span, use in zip(pairwise(bounds), used, strict=True) if use]
        return chosen or [(bounds[0], bounds[-1])][:least]

    return (
        lengths,
        values[: len(lengths)],
        spans(0) if end > 1 else [],
        spans(1) if end > 1 else [(0, end)],
    )


@given(recordings(), st.sampled_from(["cut", "drop"]))
def test_a_region_is_evaluated_like_a_clip_that_has_nothing_else(
    recording: tuple[list[int], list[float], list[tuple[int, int]], list[tuple[int, int]]], crossing: str
) -> None:
    lengths, values, references, regions = recording
    end = sum(lengths)
    scores = sed.Scores(
        ["rec"],
        lambda _: sed.ClipScores.from_ticks(np.array(values)[:, None], np.cumsum([0, *lengths])),
        classes=["Dog"],
    )
    events = [(onset / 1e6, offset / 1e6, "Dog") for onset, offset in references]
    truth = sed.GroundTruth.from_dict({"rec": events}, durations={"rec": end / 1e6})
    cut_scores, cut_truth = sed.cut_to_regions(
        scores,
        truth,
        {"rec": [(a / 1e6, b / 1e6) for a, b in regions]},
        crossing="cut" if crossing == "cut" else "drop",
    )
    # by brute force, instant by instant
    instants = np.repeat(values, lengths)
    expected_events: dict[str, list[tuple[float, float, str]]] = {}
    expected_scores: dict[str, list[list[float]]] = {}
    for begin, stop in regions:
        name = "rec" if (begin, stop) == (0, end) else f"rec@{seconds(begin)}-{seconds(stop)}"
        inside = [(max(a, begin) - begin, min(b, stop) - begin) for a, b in references]
        kept = [
            span
            for span, (a, b) in zip(inside, references, strict=True)
            if span[0] < span[1] and (crossing == "cut" or (begin <= a and b <= stop))
        ]
        expected_events[name] = [(a / 1e6, b / 1e6, "Dog") for a, b in kept]
        expected_scores[name] = instants[begin:stop, None].tolist()
    assert {clip: cut_truth.events(clip) for clip in cut_truth.clips} == expected_events
    expected_truth = sed.GroundTruth.from_dict(
        expected_events, durations={name: len(rows) / 1e6 for name, rows in expected_scores.items()}
    )
    by_instant = sed.Scores.from_arrays(expected_scores, classes=["Dog"], frame=1e-6)
    assert cut_truth.durations is not None
    assert cut_truth.durations.tolist() == [len(rows) for rows in expected_scores.values()]
    if expected_truth.labels:
        got = sed.evaluate(cut_scores, cut_truth, METRICS)
        expected = sed.evaluate(by_instant, expected_truth, METRICS)
        for metric in METRICS:
            assert got[metric].value == pytest.approx(expected[metric].value, nan_ok=True)
        assert got.hours == pytest.approx(expected.hours)


def seconds(tick: int) -> str:
    return np.format_float_positional(tick / 1e6, trim="-")


def night() -> tuple[sed.Scores, sed.GroundTruth]:
    """Two recordings of a minute."""
    truth = sed.simulate.ground_truth(2, seconds=60, classes=2, events_per_minute=20, seed=2)
    return sed.simulate.scores(truth, frame=0.1, seed=3), truth


def some_regions(truth: sed.GroundTruth) -> dict[str, list[tuple[float, float]]]:
    first, second = truth.clips
    return {first: [(1.03, 20), (20, 31.5)], second: [(0, 60)]}


def test_recordings_in_pieces_are_cut_alike() -> None:
    scores, truth = night()
    wholes = {clip: scores[clip] for clip in scores}
    pieces = {
        clip: sed.ClipPieces(
            lambda values=whole.values: iter(np.array_split(values, 7)),  # type: ignore[misc]
            edges=whole.edges,
        )
        for clip, whole in wholes.items()
    }
    in_pieces = sed.Scores.from_pieces(pieces, classes=scores.classes)
    expected, _ = sed.cut_to_regions(scores, truth, some_regions(truth))
    got, cut_truth = sed.cut_to_regions(in_pieces, truth, some_regions(truth))
    for clip in got:
        opened = got.open(clip)
        assert isinstance(opened, sed.ClipPieces)
        joined = np.concatenate([*opened.pieces(len(scores.classes))])
        np.testing.assert_array_equal(joined, expected[clip].values)
        np.testing.assert_array_equal(opened.ticks, expected[clip].ticks)
    metric = sed.BestFScore(sed.Intersection(0.5, 0.5))
    assert (
        sed.evaluate(got, cut_truth, metric)[metric].value
        == sed.evaluate(expected, cut_truth, metric)[metric].value
    )


def test_postprocessing_sees_the_whole_recordings() -> None:
    scores, truth = night()
    step = MedianFilter(1.1)
    before, cut_truth = sed.cut_to_regions(step(scores), truth, some_regions(truth))
    after = step(sed.cut_to_regions(scores, truth, some_regions(truth))[0])
    assert_equal_scores(before, after)
    metric = sed.BestFScore(sed.Intersection(0.5, 0.5))
    candidates = [MedianFilter(0.5), MinimumDuration(1.5)]
    cut, _ = sed.cut_to_regions(scores, truth, some_regions(truth))
    tuning = sed.tune(cut, cut_truth, metric, candidates)
    for label in scores.classes:
        values = [
            sed.evaluate(
                sed.cut_to_regions(candidate(scores), truth, some_regions(truth))[0], cut_truth, metric
            )[metric]
            .per_class[label]
            .value
            for candidate in candidates
        ]
        assert tuning.per_class[label].value == max(values)


def test_scores_that_lost_their_recordings_are_not_postprocessed() -> None:
    scores, truth = night()
    cut, _ = sed.cut_to_regions(scores, truth, some_regions(truth))
    copied = cut._replaced(recut=None)
    with pytest.raises(sed.SedscopeError, match="Post-process the whole recordings first"):
        MedianFilter(1)(copied)


def test_what_is_not_evaluated_is_said() -> None:
    scores, truth = night()
    first, second = truth.clips
    cut_scores, cut_truth = sed.cut_to_regions(scores, truth, {first: [(10.05, 11.05)]}, crossing="drop")
    result = sed.evaluate(cut_scores, cut_truth, sed.BestFScore(sed.Segment(1.0)))
    assert result.clips == 1
    assert result.hours == pytest.approx(1 / 3600)
    assert any("1 of the 2 clips in the ground truth has no region" in note for note in result.warnings)
    assert second not in cut_truth.clips


def test_regions_of_files_are_identified_and_travel(tmp_path: Path) -> None:
    scores, truth = night()
    sed.write_scores(scores, tmp_path / "scores")
    read = sed.read_scores(tmp_path / "scores")
    clip = truth.clips[0]
    texts = set()
    for end in (20, 21):
        cut, cut_truth = sed.cut_to_regions(read, truth, {clip: [(0, end)]})
        texts.add(cut.identity(f"{clip}@0-{end}"))
        metric = sed.BestFScore(sed.Collar(0.5))
        kept = sed.evaluate(cut, cut_truth, metric, run=sed.Run(checkpoint=tmp_path / "parts"))[
            metric
        ].value
        assert kept == sed.evaluate(cut, cut_truth, metric)[metric].value
        travelled = pickle.loads(pickle.dumps(cut))
        assert_equal_scores(MedianFilter(1)(travelled), MedianFilter(1)(cut))
    assert None not in texts
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a\t2\t2"], "1 region has no length: regions.tsv line 2 (a: 2–2 s)"),
        (["a\t4\t2"], "1 region ends before it begins: regions.tsv line 2 (a: 4–2 s)"),
        (["a\t-1\t2"], "begins before 0 s"),
        (["a\t0\t2", "b\t0\t3", "a.wav\t1\t3"], "overlaps another one: regions.tsv line 4 (a: 1–3 s)"),
        (["a\t0\t2", "b\t5\t11"], "1 region ends after its clip: regions.tsv line 3 (b: 5–11 s)"),
        (["a\t0\t2", "c\t0\t2"], "1 region is in no clip: regions.tsv line 3 (c: 0–2 s)"),
        (["c\t0\t2"], "no region is in a clip of the ground truth, which has a, b"),
        (["a\t0\tx"], "onset '0', offset 'x'"),
    ],
)
def test_wrong_regions_are_refused_with_their_lines(
    tmp_path: Path, rows: list[str], message: str
) -> None:
    path = tmp_path / "regions.tsv"
    path.write_text("\n".join(["filename\tonset\toffset", *rows]) + "\n")
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 10, "b": 10})
    scores = sed.Scores.from_arrays({"a": [[0.1]], "b": [[0.2]]}, classes=["Dog"], frame=10)
    with pytest.raises(sed.SedscopeError) as error:
        sed.cut_to_regions(scores, truth, sed.read_regions(path))
    assert message in str(error.value)
    if error.value.lines:
        assert error.value.lines[0].startswith(f"{path}:")


def test_events_of_any_format_are_regions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("0.5\t1.5\tscored\n")  # an Audacity label track
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 3})
    assert [*sed.read_regions(path).stretches(truth)] == ["a@0.5-1.5"]


def test_regions_are_named_unambiguously() -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "a@0-1": []}, durations={"a": 3, "a@0-1": 3})
    with pytest.raises(sed.SedscopeError, match="1 region has the name of another clip: a@0-1"):
        sed.RegionTruth(truth, sed.Regions.from_dict({"a": [(0, 1)]}))


SITES = {"north": "2", "south": "1"}
"""How many regions each site has."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Sequence[str]]:
    """Files of two recordings, with three regions, and the options that name them."""
    scores, truth = night()
    sed.write_scores(scores, tmp_path / "scores")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    from ..support.files import write_durations

    write_durations(truth, tmp_path / "durations.tsv")
    rows = [
        f"{clip}\t{onset}\t{offset}"
        for clip, spans in some_regions(truth).items()
        for onset, offset in spans
    ]
    (tmp_path / "regions.tsv").write_text("\n".join(["filename\tonset\toffset", *rows]) + "\n")
    return tmp_path, ["--durations", "durations.tsv", "--regions", "regions.tsv"]


def test_commands_cut_to_regions(
    files: tuple[Path, Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, options = files
    monkeypatch.chdir(folder)
    scores, truth = (
        sed.read_scores("scores"),
        sed.read_ground_truth("truth.tsv", durations="durations.tsv"),
    )
    cut_scores, cut_truth = sed.cut_to_regions(
        MedianFilter(0.5)(scores), truth, sed.read_regions("regions.tsv")
    )
    metric = sed.BestFScore(sed.Collar(0.2))
    expected = sed.evaluate(cut_scores, cut_truth, metric)[metric].value
    common = [*options, "--postprocess", "MedianFilter(0.5)"]
    chosen = ["--metric", "BestFScore(Collar(0.2))"]
    evaluated = run("evaluate", "scores", "truth.tsv", *common, *chosen, "--bootstrap", "20")
    assert f"{expected:.4f}" in evaluated.out
    assert "groups of clips" in evaluated.out
    run("deltas", "scores", "truth.tsv", *common, *chosen, "-o", "deltas.npz")
    assert f"{expected:.4f}" in run("evaluate", "--deltas", "deltas.npz", *chosen).out
    tuned = run(
        "tune", "scores", "truth.tsv", *options, "--sweep", "MedianFilter(0.5)", *chosen, "-o", "p.toml"
    )
    assert f"{expected:.4f}" in tuned.out
    compared = run("compare", "a=scores", "b=scores", "truth.tsv", *common, *chosen, "--bootstrap", "20")
    assert f"{expected:.4f}" in compared.out
    ranked = run("rank", "scores", "truth.tsv", *common, *chosen, "--bootstrap", "20")
    assert f"{expected:.4f}" in ranked.out
    for drawn in (evaluated, compared, ranked):
        assert "20 resamples of groups of clips" in drawn.out
    run("report", "scores", "truth.tsv", *common, *chosen, "-o", "page.html")
    assert f"{truth.clips[0]}@1.03-20" in Path("page.html").read_text(encoding="utf-8")


def test_regions_have_the_groups_of_their_recordings(
    files: tuple[Path, Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, options = files
    monkeypatch.chdir(folder)
    first, second = sed.read_ground_truth("truth.tsv").clips
    Path("sites.csv").write_text(f"filename,group\n{first}.wav,north\n{second}.wav,south\n")
    outcome = run(
        "evaluate", "scores", "truth.tsv", *options, "--by", "sites.csv", "--metric", "collar_f1"
    )
    assert {site: cells[0] for site, cells in table_rows(outcome.out).items() if site in SITES} == SITES


def test_recordings_are_drawn_and_not_regions() -> None:
    _, truth = night()
    first, second = truth.clips
    cut = sed.RegionTruth(truth, sed.Regions.from_dict(some_regions(truth)))
    by_recording = {f"{first}@1.03-20": first, f"{first}@20-31.5": first, second: second}
    assert cut.recording_of == by_recording
    assert cut.resampling_groups(None) == by_recording
    assert cut.resampling_groups({f"{first}.wav": "north", second: "south"}) == {
        name: {first: "north", second: "south"}[clip] for name, clip in by_recording.items()
    }
    own = {f"{first}@20-31.5": "south", first: "north"}
    assert cut.groups_of_regions(own) == {f"{first}@1.03-20": "north", f"{first}@20-31.5": "south"}
    single = sed.RegionTruth(truth, sed.Regions.from_dict({first: [(0, 1)], second: [(3, 4)]}))
    assert single.resampling_groups(None) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--regions", "regions.tsv", "--clips", "truth.tsv"], "Give regions only in those clips"),
        (["--crossing", "drop"], "--crossing only applies to --regions"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    files: tuple[Path, Sequence[str]], monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(files[0])
    outcome = run("evaluate", "scores", "truth.tsv", "--durations", "durations.tsv", *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_voice_activity_in_regions_of_a_uem_file(tmp_path: Path) -> None:
    #             0   1   2   3   4   5   6
    # reference     [ anna  )
    #                     [ ben )
    # system      [     )[    )          [)
    # scored      [               )
    (tmp_path / "truth.rttm").write_text(
        "SPEAKER call 1 0.5 2.0 <NA> <NA> anna <NA> <NA>\nSPEAKER call 1 2.0 1.5 <NA> <NA> ben <NA> <NA>\n"
    )
    (tmp_path / "system.rttm").write_text(
        "SPEAKER call 1 0.0 1.5 <NA> <NA> s1 <NA> <NA>\nSPEAKER call 1 1.75 1.25 <NA> <NA> s2 <NA> <NA>\n"
        "SPEAKER call 1 5.5 0.5 <NA> <NA> s1 <NA> <NA>\n"
    )
    (tmp_path / "scored.uem").write_text(";; what was annotated\ncall 1 0.0 4.0\n")
    outcome = run(
        *("evaluate", str(tmp_path / "system.rttm"), str(tmp_path / "truth.rttm")),
        *("--label", "speech", "--overlaps", "merge", "--regions", str(tmp_path / "scored.uem")),
        *("--metric", "detection_error_rate", "--metric", "DetectionCost(Time())", "--json", "-"),
    )
    assert outcome.code == 0, outcome.err
    error_rate, cost = (metric["value"] for metric in json.loads(outcome.out)["metrics"])
    assert error_rate == pytest.approx((0.5 + 0.75) / 3)  # false: 0–0.5 s; missed: 1.5–1.75 s, 3–3.5 s
    assert cost == pytest.approx(0.75 * 0.75 / 3 + 0.25 * 0.5 / 1)


def test_clips_that_only_the_system_has_are_noted() -> None:
    truth = sed.GroundTruth.from_dict({"call": [(0, 1, "speech")]}, durations={"call": 4})
    scores = sed.Scores.from_arrays({"call": [[0.9]], "cal": [[0.9]]}, classes=["speech"], frame=4)
    with pytest.warns(sed.SedscopeWarning, match=r"1 clip has scores or detections, but .*: cal\."):
        sed.cut_to_regions(scores, truth, {"call": [(0, 2)]})


def test_merging_detections_of_other_confidences_is_noted(tmp_path: Path) -> None:
    #             0   1   2   3   4   5
    # system      [ .9  )   [ .3 )
    #                [ .2 )  [.3)           of equal confidences: merging changes nothing
    (tmp_path / "truth.rttm").write_text("SPEAKER call 1 0 1.5 <NA> <NA> anna <NA> <NA>\n")
    rows = {(0.0, 1.5): 0.9, (1.0, 1.0): 0.2, (3.0, 1.5): 0.3, (3.25, 0.5): 0.3}
    (tmp_path / "system.rttm").write_text(
        "".join(f"SPEAKER call 1 {a} {b} <NA> <NA> s {c} <NA>\n" for (a, b), c in rows.items())
    )
    (tmp_path / "scored.uem").write_text("call 1 0 5\n")
    outcome = run(
        *("evaluate", tmp_path / "system.rttm", tmp_path / "truth.rttm", "--label", "speech"),
        *("--overlaps", "merge", "--regions", tmp_path / "scored.uem", "--metric", "time_f1"),
    )
    assert "1 detection overlaps another one of the same class and clip with a higher" in outcome.err
    assert (
        "count at the highest of their confidences: system.rttm line 2 (call: speech 1–2 s)"
        in outcome.err
    )


def test_a_uem_file_of_several_channels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scored.uem").write_text("call 1 0 4\ncall 2 0 4\n")
    with pytest.raises(sed.SedscopeError, match=r"1 file has several channels: call \(1, 2\)"):
        sed.read_regions(tmp_path / "scored.uem")


def test_ignored_references_are_cut_and_never_dropped() -> None:
    truth = sed.GroundTruth.from_dict(
        {"a": [(6, 7, "Dog")]}, ignored={"a": [(1, 4, "Dog")]}, durations={"a": 9}
    )
    scores = sed.Scores.from_events({"a": [(1, 3, "Dog")]})
    cut_scores, cut_truth = sed.cut_to_regions(scores, truth, {"a": [(2, 9)]}, crossing="drop")
    assert not any("crosses" in note for note in cut_truth.warnings)
    counts = sed.deltas(cut_scores, cut_truth, sed.IoU(0.5)).counts()
    assert counts["Dog"].fp.sum() == 0
