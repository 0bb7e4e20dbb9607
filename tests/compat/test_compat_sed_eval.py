"""The drop-in for sed_eval by itself. ``tests/peers/test_peers_sed_eval.py`` compares it to the original."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sedscope.compat import sed_eval
from sedscope.compat.dcase_util.containers import MetaDataContainer
from sedscope.compat.sed_eval import sound_event
from sedscope.compat.sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics


def _events(*events: tuple[float, float, str], file: str = "a.wav") -> list[dict[str, Any]]:
    return [
        {"filename": file, "onset": on, "offset": off, "event_label": label} for on, off, label in events
    ]


def test_greedy_matching_takes_the_first_detection_that_fits() -> None:
    #                 0         1         2
    # reference       ├─── a ───┤
    #                   ├── b ──┤
    # detections        ├─ fits both
    #                      ├─ fits b only
    reference = _events((0.0, 1.0, "Dog"), (0.2, 1.0, "Dog"))
    estimated = _events((0.1, 1.0, "Dog"), (0.3, 1.0, "Cat"))
    greedy, optimal = (
        EventBasedMetrics(["Dog", "Cat"], t_collar=0.15, event_matching_type=kind).evaluate(
            reference, estimated
        )
        for kind in ("greedy", "optimal")
    )
    # b and the detection of a cat are a substitution
    for metrics in (greedy, optimal):
        assert metrics.overall == {"Nref": 2, "Nsys": 2, "Nsubs": 1, "Ntp": 1, "Nfp": 0, "Nfn": 0}

    estimated = _events((0.1, 1.0, "Dog"), (-0.1, 1.0, "Dog"))  # the second fits a only
    assert greedy.reset().evaluate(reference, estimated).overall["Ntp"] == 1
    assert optimal.reset().evaluate(reference, estimated).overall["Ntp"] == 2


@pytest.mark.parametrize("kind", ["optimal", "greedy"])
def test_comparing_all_pairs_at_once_is_comparing_one_by_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(0)
    times = [round(0.1 * i, 1) for i in range(30)]

    def drawn() -> list[dict[str, Any]]:
        onsets = rng.choices(times, k=40)
        return _events(*((onset, onset + rng.choice(times), rng.choice("ab")) for onset in onsets))

    files = [(drawn(), drawn()) for _ in range(5)]

    def counts() -> dict[str, float]:
        metrics = EventBasedMetrics(["a", "b"], event_matching_type=kind)
        for pair in files:
            metrics.evaluate(*pair)
        return metrics.overall

    at_once = counts()
    monkeypatch.setattr(sound_event, "_PAIRS", 50)
    assert counts() == at_once  # in several parts
    monkeypatch.setattr(sound_event, "_time_names", lambda events: None)
    assert counts() == at_once  # one by one


def test_a_long_chain_of_events_is_matched() -> None:
    """Each detection fits two references, and the only way to pair all of them is to shift all."""
    number = 3000
    graph = {i: [i, i + 1] for i in range(number)}
    graph[number] = [0]
    assert sed_eval.util.bipartite_match(graph) == {0: number, **{i + 1: i for i in range(number)}}


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")
def test_reset_forgets_everything() -> None:
    events = _events((0.0, 1.0, "Dog"))
    for metrics in (EventBasedMetrics(["Dog"]), SegmentBasedMetrics(["Dog"])):
        untouched = str(metrics.reset())
        assert str(metrics.evaluate(events, events)) != untouched
        assert str(metrics.reset()) == untouched
    tagging = sed_eval.audio_tag.AudioTaggingMetrics(["Dog"])
    scores = [{"filename": "a.wav", "label": "Dog", "probability": 0.5}]
    tagging.evaluate([{"filename": "a.wav", "tags": ["Dog"]}], estimated_tag_probabilities=scores)
    assert tagging.reset().results_overall_metrics()["eer"] == {"eer": None}


TAGGED = [{"filename": "a.wav", "tags": "Dog"}]
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "labels": (lambda: EventBasedMetrics(("Dog",)), "needs to be list or numpy.array, not tuple"),  # type: ignore[arg-type]
    "collar": (lambda: EventBasedMetrics(["Dog"], t_collar=1), "t_collar needs to be float > 0, not 1"),
    "share": (lambda: EventBasedMetrics(["Dog"], percentage_of_length=1.5), "in \\[0, 1\\], not 1.5"),
    "nothing": (lambda: EventBasedMetrics(["Dog"], evaluate_onset=False, evaluate_offset=False), "Both"),
    "matching": (lambda: EventBasedMetrics(["Dog"], event_matching_type="best"), "not 'best'"),
    "resolution": (lambda: SegmentBasedMetrics(["Dog"], time_resolution=1), "time_resolution needs"),
    "files": (
        lambda: EventBasedMetrics(["Dog"]).evaluate(
            [*_events((0, 1, "Dog")), *_events((0, 1, "Dog"), file="b.wav")], []
        ),
        "reference_event_list contains events from multiple files .a.wav, b.wav",
    ),
    "unknown label": (
        lambda: SegmentBasedMetrics(["Dog"]).evaluate(_events((0.0, 1.0, "Cat")), []),
        "The label 'Cat' of an event is not in the list of labels: Dog",
    ),
    "no tags": (
        lambda: sed_eval.audio_tag.AudioTaggingMetrics(["Dog"]).evaluate(TAGGED, []),
        "Not all reference files estimated, please check .a.wav",
    ),
    "no reference": (
        lambda: sed_eval.scene.SceneClassificationMetrics(["bus"]).evaluate(
            [], [{"filename": "a.wav", "scene_label": "bus"}]
        ),
        "Cannot find reference_item for estimated item .a.wav",
    ),
    "probabilities of one call of two": (
        lambda: (
            sed_eval.audio_tag.AudioTaggingMetrics(["Dog"])
            .evaluate(TAGGED, TAGGED)
            .evaluate(TAGGED, None, [{"filename": "a.wav", "label": "Dog", "probability": 0.5}])
            .results()
        ),
        "same length, but have 2 and 1 values.*in all of them or in none",
    ),
    "lengths": (lambda: sed_eval.test.mcnemar([1], [1], [1, 2]), "same length, not 1, 1 and 2 items"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_refuses_with_the_errors_of_the_original(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_precision_of_0_has_two_decimals() -> None:
    metrics = EventBasedMetrics(["Dog"], empty_system_output_handling="zero_score")
    metrics.evaluate(_events((0.0, 1.0, "Dog")), [])
    assert metrics.result_report_overall().count(": 0.00 %") == 3


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="File not found"):
        sed_eval.io.load_event_list(tmp_path / "missing.txt")
    table = tmp_path / "events.tsv"
    table.write_text("a.wav\t0\t1.5\tDog\n", encoding="utf-8")
    with pytest.raises(OSError, match=r"Unknown format \[.tsv\].*file_format='CSV'"):
        sed_eval.io.load_event_list(table)
    (event,) = sed_eval.io.load_event_list(table, file_format="TXT")
    assert event == {"filename": "a.wav", "onset": 0.0, "offset": 1.5, "event_label": "Dog"}
    pickled = tmp_path / "events.pkl"
    pickled.write_bytes(b"\x80\x04]\x94.")
    with pytest.raises(OSError, match=r"Unknown format of file .*events\.pkl.*not text"):
        sed_eval.io.load_event_list(pickled)
    commas = tmp_path / "events.txt"
    commas.write_text("a.wav;0,5;1,5;Dog\n", encoding="utf-8")
    assert sed_eval.io.load_event_list(commas, decimal="comma", delimiter=";").max_offset == 1.5
    table.write_text("a,b,c\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is not a pair of files"):
        sed_eval.io.load_file_pair_list(table)


@pytest.mark.parametrize("suffix", [".tsv", ".lab", ""])
def test_tables_with_other_suffixes_are_recognised_by_their_header(suffix: str, tmp_path: Path) -> None:
    table = tmp_path / f"events{suffix}"
    table.write_text("filename\tonset\toffset\tevent_label\na.wav\t0\t1.5\tDog\n", encoding="utf-8")
    (event,) = sed_eval.io.load_event_list(table)
    assert event == {"filename": "a.wav", "onset": 0.0, "offset": 1.5, "event_label": "Dog"}
    table.write_text("a.wav\t0\t1.5\tDog\n", encoding="utf-8")
    fields = ["filename", "onset", "offset", "event_label"]
    assert sed_eval.io.load_event_list(table, fields=fields, csv_header=False) == [event]


def test_lists_of_events_filter_and_add_up() -> None:
    events = MetaDataContainer(_events((0, 1, "Dog"), (1, 2, "Cat")))
    events += [{"file": "sub/../b.wav", "event_label": " Dog ", "event_onset": 1, "event_offset": "x"}]
    assert events.unique_files == ["a.wav", "b.wav"]
    assert events[-1].event_label == "Dog"
    assert (events[-1].onset, events[-1].offset) == (1.0, None)
    assert [event.filename for event in events.filter(event_label="Dog")] == ["a.wav", "b.wav"]
    assert len(events.filter(event_list=["Cat", "Bird"])) == 1
    assert len(events.filter(scene_label="street")) == 3  # none of them has a scene
    events[0].identifier, events[1].identifier, events[2].identifier = "p1", "p2", "p1"
    assert len(events.filter(identifier="p1", event_label="Dog")) == 2
    assert len(events.filter(identifier_list=("p2", "p3"))) == 1
    events[0].dataset, events[1].source_label = "DESED", "m"
    assert (events.identifier_count, events.dataset_count) == (2, 1)
    assert (events.unique_datasets, events.unique_source_labels) == (["DESED"], ["m"])
    copied = events.filter(filename="a.wav")
    copied[0].onset = 0.5
    assert events[0].onset == 0.0
    assert isinstance(events + copied, MetaDataContainer)
    assert len(events) == 3


def test_equal_error_rate_is_where_both_errors_meet() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 200)
    scores = np.round(true + rng.normal(size=200), 1)
    rate = sed_eval.metric.equal_error_rate(true, scores)
    thresholds = np.unique(scores)
    false_alarms = np.array([(scores[true == 0] >= t).mean() for t in thresholds])
    misses = np.array([(scores[true == 1] < t).mean() for t in thresholds])
    larger = int(np.argmax(misses >= false_alarms))
    assert misses[larger - 1] <= rate <= misses[larger]
    assert false_alarms[larger] <= rate <= false_alarms[larger - 1]
    assert np.isnan(sed_eval.metric.equal_error_rate([0, 0], [0.1, 0.2]))
    assert np.isnan(sed_eval.metric.equal_error_rate([1, 1], [0.1, 0.2]))
