"""What invalid arguments of an evaluation get: wrong choices, and values of the wrong kind."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import sedscope as sed

from ..support.systems import posix_only

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

NAN = float("nan")
RUN: Any = sed.Run
PSDS = sed.PSDS(sed.Intersection(0.7, 0.7))

#         0      1      2      3 s
VALUES = [[0.2], [0.9], [0.4]]
#                [ Dog )
SCORES = sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], frame=1.0)
TRUTH = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})


BAD_CHOICES: dict[str, tuple[Any, str]] = {
    "missing": ({"missing": "drop"}, "missing='drop' is not valid. Choose 'error' or 'empty'"),
    "classes as text": ({"classes": "Dog"}, "classes must be a list"),
    "no classes": ({"classes": []}, "no class to evaluate"),
    "unknown classes": ({"classes": ["Dog", "Cow", "Emu"]}, "Cow, Emu. The scores have Dog"),
    "an empty class": ({"classes": [""]}, "''"),
    "a class of None": ({"classes": [None]}, "None"),
    "a number for a class": ({"classes": [1]}, "1"),
    "a list for a class": ({"classes": [["Dog"]]}, "Dog"),
    "clips as text": ({"clips": "a"}, "clips='a' is not valid. Give a list of clips, or 'scored'"),
    "no clips": ({"clips": []}, "no clip"),
    "unknown clips": ({"clips": ["a", "b", "c"]}, "2 chosen clips have no scores: b, c"),
    "a number for a clip": ({"clips": [1]}, "1"),
    "a clip of None": ({"clips": [None]}, "None"),
    "no threads": ({"run": RUN(threads=0)}, "threads=0 must be at least 1"),
    "fewer threads": ({"run": RUN(threads=-1)}, "threads=-1"),
    "half threads": ({"run": RUN(threads=1.5)}, r"threads=1\.5"),
    "threads as text": ({"run": RUN(threads="2")}, "threads='2'"),
    "a number as run": ({"run": 2}, "Give a Run"),
    "threads beyond all bounds": ({"run": RUN(threads=2**70)}, "threads"),
}


@pytest.mark.parametrize(("options", "message"), BAD_CHOICES.values(), ids=BAD_CHOICES)
def test_bad_choices_of_what_is_evaluated(options: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(SCORES, TRUTH, PSDS, **options)


@pytest.mark.parametrize(
    ("scores", "truth", "metrics", "message"),
    [
        (SCORES, TRUTH, [], "no metric"),
        (SCORES, TRUTH, sed.PSDS, "metric"),
        (SCORES, TRUTH, PSDS.criterion, "Not a metric: Intersection"),
        (SCORES, TRUTH, [PSDS, 0.7], "Not a metric: 0.7"),
        (SCORES, TRUTH, "PSDS", "needs parameters in brackets"),
        (SCORES, TRUTH, {"": PSDS}, "The name of a metric"),
        (SCORES, TRUTH, {"a": PSDS, "b": repr(PSDS)}, "a and b are the same metric"),
        ({"a": VALUES}, TRUTH, PSDS, "[Ss]cores"),
        ("scores/", TRUTH, PSDS, "[Ss]cores"),
        (SCORES, 3, PSDS, "[Gg]round"),
        (SCORES, None, PSDS, "[Gg]round"),
        (TRUTH, SCORES, PSDS, "[Ss]cores"),
    ],
)
def test_wrong_kinds_of_arguments(scores: Any, truth: Any, metrics: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(scores, truth, metrics)


@pytest.mark.parametrize("criterion", [None, PSDS, "Intersection(0.7, 0.7)"], ids=repr)
def test_deltas_of_what_is_no_criterion(criterion: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="criterion"):
        sed.deltas(SCORES, TRUTH, criterion)


@pytest.mark.parametrize("clips", [np.array, pandas.Series, polars.Series, iter, tuple], ids=repr)
def test_clips_and_classes_may_be_any_series(clips: Any) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES, "b": VALUES}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")], "b": []}, durations={"a": 3, "b": 3})
    for names, number in ((["a"], 1), (["a", "b"], 2), (["b.wav", "dir/b.flac"], 1)):
        result = sed.evaluate(scores, truth, PSDS, clips=clips(names), classes=clips(["Dog"]))
        assert result.clips == number


def test_generators_are_used_once() -> None:
    def each(*items: Any) -> Iterator[Any]:
        yield from items

    scores = sed.Scores.from_function(
        each("a", "b"), lambda _: VALUES, classes=each("Dog"), frame=1.0, thread_safe=True
    )
    truth = sed.GroundTruth.from_dict(
        {"a": each((1, 2, "Dog")), "b": each()}, durations={"a": 3, "b": 3}
    )
    metrics = [PSDS, sed.presets.PSDS1]
    for _ in range(2):
        result = sed.evaluate(scores, truth, each(*metrics), classes=each("Dog"), clips=each("b", "a"))
        assert (list(result), result.clips, result.references) == (metrics, 2, {"Dog": 1})


def test_what_is_not_there_is_not_found() -> None:
    counts = sed.deltas(SCORES, TRUTH, PSDS.criterion).counts()
    result = sed.evaluate(SCORES, TRUTH, PSDS)
    for find in (
        lambda: SCORES["b"],
        lambda: counts["Cat"],
        lambda: counts["Dog"].ct("Cat"),
        lambda: TRUTH.events("b"),
        lambda: result["psds1"],
        lambda: result[sed.presets.PSDS1],
    ):
        with pytest.raises((sed.SedscopeError, KeyError)):
            find()


@pytest.mark.parametrize("thresholds", [[NAN], [0.5, NAN], "high", ["high"], [None]], ids=repr)
def test_bad_thresholds(thresholds: Any) -> None:
    counts = sed.deltas(SCORES, TRUTH, PSDS.criterion).counts()
    with pytest.raises(sed.SedscopeError, match=r"[Tt]hreshold"):
        counts.at(thresholds)


@posix_only
def test_results_do_not_replace_what_is_no_file(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        return
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that writing does not wait
    with contextlib.suppress(sed.SedscopeError):
        sed.evaluate(SCORES, TRUTH, PSDS).to_json(pipe)
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_text_that_cannot_be_encoded_is_refused(tmp_path: Path) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "\udcff")]})
    with pytest.raises(sed.SedscopeError, match="Cannot write"):
        sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    assert not list(tmp_path.iterdir())


def test_clips_of_other_names() -> None:
    truth = sed.GroundTruth.from_dict({"Ya": [(0, 1, "Dog")]}, durations={"Ya": 4})
    for clips in (None, "scored"):
        with pytest.raises(sed.SedscopeError, match=r"The system has a\. The ground truth has Ya\."):
            sed.evaluate(SCORES, truth, PSDS, clips=clips)
    events = sed.Scores.from_events({"a": [(0, 1, "Dog")]}, clips=truth.clips, classes=["Dog"])
    with pytest.raises(sed.SedscopeError, match="No clip of the system is in the ground truth"):
        sed.evaluate(events, truth, PSDS)


def two(clip: str = "b", label: str = "Dog") -> sed.GroundTruth:
    events = {name: [(1, 2, label)] for name in ("a", clip)}
    return sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 3))


BOTH = sed.Scores.from_arrays({"a": VALUES, "b": VALUES}, classes=["Dog"], frame=1.0)


@pytest.mark.parametrize(
    ("what", "make"),
    [
        ("clip", lambda: two(clip="x\0y")),
        ("clip", lambda: sed.Scores.from_arrays({"x\0y": VALUES}, classes=["Dog"], frame=1.0)),
        ("clip", lambda: sed.GroundTruth.from_dict({}, durations={"x\0y": 3})),
        ("class in ground truth", lambda: two(label="x\0y")),
        ("class", lambda: sed.Scores.from_arrays({"a": VALUES}, classes=["x\0y"], frame=1.0)),
        ("class", lambda: sed.Scores.from_events({"a": [(1, 2, "x\0y")]})),
        ("class", lambda: BOTH.relabelled({"Dog": "x\0y"})),
        ("class", lambda: two().relabelled({"Dog": "x\0y"})),
        ("metric", lambda: sed.evaluate(BOTH, two(), {"x\0y": "collar_f1"})),
        ("group", lambda: sed.evaluate(BOTH, two(), "collar_f1", by={"a": "x\0y", "b": "z"})),
        ("group", lambda: sed.evaluate(BOTH, two(), "collar_f1", by=sed.By(classes={"Dog": "x\0y"}))),
        ("system", lambda: sed.rank({"x\0y": BOTH}, two(), "collar_f1", resampling=10)),
        (
            "system or team",
            lambda: sed.rank({"s": BOTH}, two(), "collar_f1", resampling=10, teams={"s": "x\0y"}),
        ),
        ("system", lambda: sed.compare({"x\0y": BOTH, "s": BOTH}, two(), "collar_f1", resampling=10)),
        ("system", lambda: sed.deltas(BOTH, two(), sed.Collar(), system="x\0y")),
    ],
)
def test_no_name_has_a_nul(what: str, make: Callable[[], object]) -> None:
    message = rf"The name of a {what} cannot have a NUL character: '.*x\\x00y.*'\. Rename it\."
    with pytest.raises(sed.SedscopeError, match=message):
        make()
