"""Plans draw from strata with the probabilities that they state, and what they write is read back."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.review.sampling import greedy, strata_of
from sedscope.review.table import SILENT

from ..support.command_line import run


def windows(number: int, label: str = "Dog", clips: int = 4) -> sed.ScoredEvents:
    """Windows of 3 s, every second one detected, with falling scores."""
    events: dict[str, list[tuple[float, float, str, float]]] = {f"night_{i}": [] for i in range(clips)}
    for i in range(number):
        start = 6.0 * (i // clips)
        events[f"night_{i % clips}"].append((start, start + 3, label, 1 - i / (number + 1)))
    return sed.ScoredEvents.from_events(events)


@given(st.integers(1, 500), st.integers(1, 200))
def test_strata_have_all_detections_and_as_many_reviews_as_asked_for(number: int, reviews: int) -> None:
    sizes, drawn = strata_of(number, reviews)
    assert sum(sizes) == number
    assert sum(drawn) == min(number, reviews)
    assert all(0 <= n <= size for size, n in zip(sizes, drawn, strict=True))
    assert all(n for n in drawn) or reviews < 2 * len(sizes)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.01, 1)), min_size=1, max_size=4),
    st.integers(1, 14),
)
def test_reviews_go_where_they_reduce_the_variance_most(
    strata: list[tuple[int, float]], more: int
) -> None:
    sizes, weights = (np.array(column) for column in zip(*strata, strict=True))
    least = np.minimum(sizes, 2)
    chosen = greedy(sizes, np.zeros(len(sizes), np.int64), weights, more)
    assert chosen.sum() == min(more, sizes.sum())
    if chosen.sum() < least.sum():
        return
    grid = np.stack(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(least, sizes, strict=True))), -1)
    fitting = grid.reshape(-1, len(sizes))
    fitting = fitting[fitting.sum(1) == chosen.sum()]
    best = (weights / fitting).sum(1).min()
    assert (weights / chosen).sum() == pytest.approx(best)


def test_every_detection_of_a_stratum_is_drawn_equally_often() -> None:
    system = windows(60)
    drawn: dict[tuple[str, int], float] = {}
    plans = 300
    for seed in range(plans):
        review = sed.review.plan(system, reviews=20, seed=seed)
        for clip, onset, weight in zip(
            review.clips, review.times[:, 0].tolist(), review.weights.tolist(), strict=True
        ):
            drawn[clip, onset] = drawn.get((clip, onset), 0) + weight / plans
    assert len(drawn) == 60
    assert np.mean([*drawn.values()]) == pytest.approx(1)
    # the mean of 300 draws with a probability of at least 1/6 has a deviation of at most 0.13
    assert max(abs(mean - 1) for mean in drawn.values()) < 0.5


def test_high_scores_are_drawn_more_often() -> None:
    review = sed.review.plan(windows(1000), reviews=60)
    weight_of = dict(zip(review.strata, review.weights, strict=True))
    strata = sorted(weight_of, key=int)
    assert weight_of[strata[0]] < weight_of[strata[-1]] / 4
    lowest = {
        s: min(x for x, name in zip(review.scores, review.strata, strict=True) if name == s)
        for s in strata
    }
    assert [*lowest.values()] == sorted(lowest.values(), reverse=True)


def test_detections_of_frames_are_runs_above_the_lowest_score_with_their_peak() -> None:
    #           0    1    2    3    4    5
    frames = [0.05, 0.3, 0.8, 0.1, 0.6, 0.2]
    scores = sed.Scores.from_arrays({"a": [[x] for x in frames]}, classes=["Dog"], frame=1.0)
    review = sed.review.plan(scores)
    assert review.events() == {"a": [(1, 3, "Dog", 0.8), (4, 6, "Dog", 0.6)]}
    assert sed.review.plan(scores, above=0.25).events() == {
        "a": [(1, 3, "Dog", 0.8), (4, 5, "Dog", 0.6)]
    }
    assert review.weights.tolist() == [1, 1]


def test_reviews_of_all_classes_together_are_shared() -> None:
    events = [(i, i + 1, "Dog", 0.5) for i in range(100)] + [(i, i + 1, "Cat", 0.5) for i in range(5)]
    events += [(i, i + 1, "Owl", 0.5) for i in range(50)]
    review = sed.review.plan(sed.ScoredEvents.from_events({"a": events}), reviews=45, per="total")
    assert {label: review.labels.count(label) for label in ("Dog", "Cat", "Owl")} == {
        **{"Dog": 20, "Cat": 5, "Owl": 20}
    }
    with pytest.raises(sed.SedscopeError, match="2 reviews cannot be shared among 3 classes"):
        sed.review.plan(sed.ScoredEvents.from_events({"a": events}), reviews=2, per="total")


def test_silent_windows_overlap_no_detection() -> None:
    system = windows(8)
    durations = dict.fromkeys(system, 20.0)
    review = sed.review.plan(system, silent_windows=5, durations=durations)
    silent = [i for i, name in enumerate(review.strata) if name == SILENT]
    assert len(silent) == 5
    for i in silent:
        onset, offset = review.times[i]
        assert offset - onset == 3_000_000
        for other in system.open(review.clips[i]).times:
            assert offset <= other[0] or onset >= other[1]
    # 6 whole windows in each of 4 clips, of which 2 have a detection
    assert review.weights[silent].tolist() == [16 / 5] * 5
    with pytest.raises(sed.SedscopeError, match="how long each clip is"):
        sed.review.plan(system, silent_windows=5)


def test_more_reviews_go_where_the_wanted_precision_is_uncertain(tmp_path: Path) -> None:
    system = windows(400)
    review = sed.review.plan(system, reviews=40)
    answered = review.answered((review.scores > 0.7).tolist())
    more = sed.review.extend(system, answered, 30)
    assert len(more) == 70
    kept = {row[:4]: row[7] for row in answered.rows()}
    rows = more.rows()
    assert {row[:4]: row[7] for row in rows if row[:4] in kept} == kept
    new = [row for row in rows if row[:4] not in kept]
    assert len(new) == 30
    assert {row[7] for row in new} == {-2}
    # the threshold for a precision of 0.9 is near 0.67
    assert np.mean([0.5 < row[4] < 0.9 for row in new]) > 0.5
    sizes: dict[str, float] = {}
    for row in rows:
        sizes[row[5]] = sizes.get(row[5], 0) + row[6]
    assert sum(sizes.values()) == pytest.approx(400)


def test_a_review_of_another_system_is_refused() -> None:
    review = sed.review.plan(windows(50), reviews=20)
    answered = review.answered([True] * 20)
    with pytest.raises(sed.SedscopeError, match=r"no detection for|do not fit the 49 detections"):
        sed.review.extend(windows(50), answered, 5, above=1 - 48.5 / 51)
    with pytest.raises(sed.SedscopeError, match="no detection for"):
        sed.review.extend(windows(50, clips=3), answered, 5)
    rows = answered.rows()
    with pytest.raises(sed.SedscopeError, match="may have been removed"):
        sed.review.extend(windows(50), sed.review.Review.of_rows(rows[1:]), 5)


def test_a_table_is_read_back(tmp_path: Path) -> None:
    clips = {"=night, 1": [(0.1234567, 3, "Dög", 1 / 3), (4, 5, "Cat", 2.0)]}
    review = sed.review.plan(
        sed.ScoredEvents.from_events(clips), silent_windows=1, durations={"=night, 1": 20}
    )
    for name in ("review.csv", "review.tsv"):
        review.write(tmp_path / name)
        read = sed.review.read_review(tmp_path / name)
        for row, original in zip(read.rows(), review.rows(), strict=True):
            assert (*row[:4], *row[5:]) == (*original[:4], *original[5:])
            assert row[4] == pytest.approx(original[4], rel=1e-5, nan_ok=True)
    text = (tmp_path / "review.csv").read_text(encoding="utf-8")
    assert text.startswith("filename,onset,offset,event_label,score,stratum,weight,correct\n")
    answers = iter(["Yes", "0", "?", ""])
    lines = [line + (next(answers) if i else "") for i, line in enumerate(text.splitlines())]
    (tmp_path / "review.csv").write_text("\n".join(lines), encoding="utf-8")
    assert sed.review.read_review(tmp_path / "review.csv").answers.tolist() == [1, 0, -1, -2]
    (tmp_path / "review.csv").write_text(text.replace(",\n", ",perhaps\n"), encoding="utf-8")
    with pytest.raises(sed.SedscopeError, match="line 2: 'perhaps'"):
        sed.review.read_review(tmp_path / "review.csv")
    header, *rows = text.splitlines()
    (tmp_path / "review.csv").write_text("\n".join([header, rows[1], *rows]), encoding="utf-8")
    with pytest.raises(sed.SedscopeError, match="1 row occurs twice: lines 2 and 4"):
        sed.review.read_review(tmp_path / "review.csv")


def test_a_class_that_is_never_detected_has_no_plan() -> None:
    system = sed.ScoredEvents.from_events({"a": [(0, 3, "Dog", 0.5)]}, classes=["Dog", "Cat"])
    with pytest.raises(sed.SedscopeError, match="detects nothing of Cat"):
        sed.review.plan(system, classes=["Dog", "Cat"])
    nothing = sed.ScoredEvents.from_events({}, classes=["Dog"])
    with pytest.raises(sed.SedscopeError, match="detects nothing, so"):
        sed.review.plan(nothing, silent_windows=5, durations={"a": 20.0})


def write_recordings(folder: Path, system: sed.ScoredEvents) -> None:
    folder.mkdir()
    for clip in system:
        with wave.open(str(folder / f"{clip}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(1000)
            file.writeframes(np.arange(100_000, dtype=np.int16).tobytes())


def test_the_command_writes_tables_lists_and_audio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    system = windows(40)
    sed.write_events(system.events(), "birds.tsv")
    write_recordings(tmp_path / "recordings", system)
    outputs = ["-o", "review.csv", "-o", "raven", "-o", "labels.audacity"]
    done = run(
        *("review", "plan", "birds.tsv", *outputs, "--reviews", 12),
        *("--audio", "recordings", "--cuts", "cuts", "--margin", 0.5),
    )
    assert done.code == 0, done.err
    assert done.out == "12 rows to review in review.csv: Dog (12)\n"
    review = sed.review.read_review("review.csv")
    assert [*zip(review.clips, review.times[:, 0], strict=True)] == sorted(
        zip(review.clips, review.times[:, 0], strict=True)
    )
    listed = sed.read_events("raven")
    assert {clip.removesuffix(".wav"): [*events] for clip, events in listed.items()} == {
        clip: [(*event[:3], pytest.approx(event[3], rel=1e-4)) for event in events]
        for clip, events in review.events().items()
    }
    cuts = sorted((tmp_path / "cuts").iterdir())
    assert len(cuts) == 12
    with wave.open(str(cuts[-1])) as file:
        first = np.frombuffer(file.readframes(10**6), np.int16)
    assert len(first) == 4000
    assert first[0] == np.int16(review.times[-1, 0] // 1000 - 500)
    refused = run("review", "plan", "birds.tsv", "-o", "raven2")
    assert refused.code == 2
    assert "-o review.csv" in refused.err


def test_the_command_adds_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sed.write_events(windows(40).events(), "birds.tsv")
    assert run("review", "plan", "birds.tsv", "-o", "review.csv", "--reviews", 12).code == 0
    sed.review.read_review("review.csv").answered([True] * 12).write("answered.csv")
    more = ["--given", "answered.csv", "--more", 5, "-o", "more.csv"]
    done = run("review", "plan", "birds.tsv", *more)
    assert done.code == 0, done.err
    assert np.bincount(sed.review.read_review("more.csv").answers + 2).tolist() == [5, 0, 0, 12]
    assert run("review", "plan", "birds.tsv", *more[2:]).code == 2
    assert run("review", "plan", "birds.tsv", *more, "--class", "Dog").code == 2
