"""Label maps: labels are renamed, merged and dropped, in scores, lists of detections and reference events."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import align

LABELS = ("a", "b", "c", "d")
NAMES = st.dictionaries(st.sampled_from(LABELS), st.sampled_from([None, "v", "w", "x"]))
"""New names that no old label has, so that no map is ambiguous."""


def by_hand(values: np.ndarray, names: dict[str, str | None], mean: bool) -> dict[str, np.ndarray]:
    """The columns of each new label, label by label."""
    columns: dict[str, list[np.ndarray]] = {}
    for label, column in zip(LABELS, values.T, strict=True):
        new = names.get(label, label)
        if new is not None:
            columns.setdefault(new, []).append(column)
    combine = np.mean if mean else np.max
    return {new: combine(np.array(group), axis=0) for new, group in columns.items()}


def in_pieces(values: np.ndarray) -> sed.ClipPieces:
    return sed.ClipPieces(lambda: [values[:1], values[1:]], frames=len(values), frame=1.0)


@given(NAMES, st.sampled_from(["max", "mean"]), st.sampled_from([np.float32, np.float64]), st.data())
def test_columns_are_what_relabelling_by_hand_gives(
    names: dict[str, str | None], combine: Any, dtype: Any, data: st.DataObject
) -> None:
    shape = st.lists(st.lists(st.integers(0, 8), min_size=4, max_size=4), min_size=1, max_size=5)
    values = np.array(data.draw(shape), dtype) / 8
    label_map = sed.LabelMap(names, combine)
    scores = sed.Scores.from_arrays({"clip": values}, classes=LABELS, frame=1.0)
    expected = by_hand(values, names, combine == "mean")
    if not expected:
        with pytest.raises(sed.SedscopeError, match="drops all classes of the scores: a, b, c, d"):
            scores.relabelled(label_map)
        return
    relabelled = scores.relabelled(label_map)
    assert relabelled.classes == tuple(expected)
    averages = combine == "mean" and len({names.get(label, label) for label in LABELS} - {None}) < sum(
        names.get(label, label) is not None for label in LABELS
    )
    assert relabelled["clip"].values.dtype == (np.float64 if averages else dtype)
    np.testing.assert_allclose(
        relabelled["clip"].values, np.stack([*expected.values()], axis=1), rtol=1e-6
    )
    pieces = sed.Scores.from_pieces({"clip": in_pieces(values)}, classes=LABELS).relabelled(label_map)
    opened = pieces.open("clip")
    assert isinstance(opened, sed.ClipPieces)
    joined = np.concatenate([*opened.pieces(len(expected))])
    np.testing.assert_array_equal(joined, relabelled["clip"].values)


def test_means_of_float32_scores_do_not_become_equal() -> None:
    low, high = np.float32(0.25), np.nextafter(np.float32(0.25), np.float32(1))
    values = np.array([[low, low], [low, high], [high, high]], np.float32)
    scores = sed.Scores.from_arrays({"clip": values}, classes=["a", "b"], frame=1.0)
    means = scores.relabelled(sed.LabelMap({"a": "x", "b": "x"}, "mean"))["clip"].values.ravel()
    assert means.tolist() == [float(low), (float(low) + float(high)) / 2, float(high)]


Interval = tuple[int, int, float]


@st.composite
def separate_events(draw: st.DrawFn, confidences: Sequence[float]) -> list[Interval]:
    """Events of one label, which may touch but do not overlap."""
    times = sorted(draw(st.lists(st.integers(0, 9), min_size=2, max_size=6, unique=True)))
    gaps = draw(st.lists(st.booleans(), min_size=len(times) - 1, max_size=len(times) - 1))
    spans = [span for span, used in zip(pairwise(times), gaps, strict=True) if used]
    return [(onset, offset, draw(st.sampled_from(confidences))) for onset, offset in spans]


def union(events: list[Interval]) -> list[tuple[float, float]]:
    """Overlapping events made one, by looking at each pair again and again. Events that touch stay apart."""
    spans = [(float(onset), float(offset)) for onset, offset, _ in events]
    while True:
        pair = next(
            ((p, q) for i, p in enumerate(spans) for q in spans[:i] if p[0] < q[1] and q[0] < p[1]), None
        )
        if pair is None:
            return sorted(spans)
        spans = [span for span in spans if span not in pair]
        spans.append((min(pair[0][0], pair[1][0]), max(pair[0][1], pair[1][1])))


@given(st.lists(separate_events([0.25, 0.5, 0.75]), min_size=1, max_size=3))
def test_detections_of_merged_labels_are_the_union_at_every_threshold(
    by_label: list[list[Interval]],
) -> None:
    events = [
        (onset, offset, label, confidence)
        for label, of_label in zip(LABELS, by_label, strict=False)
        for onset, offset, confidence in of_label
    ]
    other = (3, 7, "other", 0.5)  # its boundaries must not matter, nor be changed
    scores = sed.Scores.from_events({"clip": [*events, other]})
    merged = scores.relabelled(dict.fromkeys(LABELS, "all"))
    for threshold in (0.6, 0.3, 0.1):
        active = [(onset, offset, score) for onset, offset, _, score in events if score > threshold]
        expected = [(*span, "all") for span in union(active)]
        expected += [(3.0, 7.0, "other")] if threshold < 0.5 else []
        thresholds = dict.fromkeys(merged.classes, threshold)
        with np.errstate(all="raise"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("sedscope.data.thresholds._threshold_notes", lambda *_: [])
            assert sorted(sed.detect(merged, thresholds)["clip"]) == sorted(expected)


@given(st.lists(separate_events([1.0]), min_size=1, max_size=3))
def test_references_of_merged_labels_are_the_union(by_label: list[list[Interval]]) -> None:
    events = [
        (onset, offset, label)
        for label, of_label in zip(LABELS, by_label, strict=False)
        for onset, offset, _ in of_label
    ]
    truth = sed.GroundTruth.from_dict({"clip": events, "silent": []}, durations={"clip": 9, "silent": 1})
    merged = truth.relabelled(dict.fromkeys(LABELS, "all"))
    spans = union([(onset, offset, 1.0) for onset, offset, _ in events])
    assert merged.events("clip") == [(*span, "all") for span in spans]
    assert merged.clips == truth.clips
    assert merged.durations is truth.durations
    assert len(truth.relabelled(dict.fromkeys(LABELS))) == 0


def test_a_list_that_is_the_truth_is_perfect_under_any_map() -> None:
    #   0     1     2     3
    # a [     )
    # b       [     )           touches
    # c          [     )        overlaps
    events = [(0, 1, "a"), (1, 2, "b"), (1.5, 2.5, "c")]
    truth = sed.GroundTruth.from_dict({"clip": events}, durations={"clip": 3})
    system = sed.Scores.from_events({"clip": events})
    for names in ({"a": "x", "b": "x", "c": "x"}, {"a": "b"}, {"c": None}):
        result = sed.evaluate(system.relabelled(names), truth.relabelled(names), "collar_f1")
        assert result["collar_f1"].value == 1.0


def test_names_are_replaced_at_once() -> None:
    scores = sed.Scores.from_arrays({"clip": [[0.1, 0.9]]}, classes=["a", "b"], frame=1.0)
    swapped = scores.relabelled({"a": "b", "b": "a"})
    assert swapped.classes == ("b", "a")
    assert swapped.in_memory
    assert not swapped.processing
    assert scores.relabelled({"a": "b"})["clip"].values.tolist() == [[0.9]]  # with the b that stays


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"a": "b", "b": "c"}, "a becomes b, but b becomes c. A map is applied once"),
        ({"a": "b", "b": None}, "a becomes b, but b is dropped"),
        ({"a": "b", "b": "c", "c": "b"}, "a becomes b, but b becomes c"),
        ({"a": "b", " a": "c"}, "contradicts itself: a becomes b or c"),
        ({" ": "b"}, "an entry for an empty label"),
        ({"a": 3}, "not 'a': 3"),
        ([("a", "b")], "not list"),
    ],
)
def test_ambiguous_maps_are_refused(names: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.LabelMap(names)
    with pytest.raises(sed.SedscopeError, match="Choose 'max' or 'mean'"):
        sed.LabelMap({}, "min")  # type: ignore[arg-type]


def test_a_map_is_a_value() -> None:
    label_map = sed.LabelMap({"a": " x ", "b": ""}, "mean")
    assert label_map == sed.LabelMap({"b": None, "a": "x"}, "mean") != sed.LabelMap({"a": "x"}, "mean")
    assert (
        len(
            {
                label_map,
                sed.LabelMap({"b": None, "a": "x"}, "mean"),
                pickle.loads(pickle.dumps(label_map)),
            }
        )
        == 1
    )
    with pytest.raises(TypeError):
        label_map.names["c"] = "x"  # type: ignore[index]


def test_a_mean_of_detections_is_refused() -> None:
    scores = sed.Scores.from_events({"clip": [(0, 1, "a"), (0, 1, "b")]})
    assert scores.relabelled(sed.LabelMap({"a": "x"}, "mean")).classes == ("x", "b")
    with pytest.raises(sed.SedscopeError, match=r"cannot be merged by the mean: x\. Use combine='max'"):
        scores.relabelled(sed.LabelMap({"a": "x", "b": "x"}, "mean"))


def test_names_that_neither_side_has_are_noted() -> None:
    scores = sed.Scores.from_arrays({"clip": [[0.1, 0.9]]}, classes=["speech", "Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"clip": [(0, 1, "Speech"), (0, 1, "hound")]})
    names = {"speech": "Speech", "hound": "Dog", "hond": "Dog"}
    notes = align(scores.relabelled(names), truth.relabelled(names)).warnings
    assert [note for note in notes if "label map" in note] == [
        "The label map names 1 label that neither the system nor the ground truth has: hond (did you mean "
        "hound?)."
    ]
    one_sided = align(
        scores.relabelled({"speech": "Speech"}), truth.relabelled({"hound": "Dog"})
    ).warnings
    assert not [note for note in one_sided if "label map" in note]


def test_regions_and_joined_chunks_remember_the_map_of_the_truth() -> None:
    names = {"dog": "Dog"}  # only the ground truth has the old label
    scores = sed.Scores.from_arrays({"a-0-200": [[0.2], [0.8]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a-0-200": [(0, 1, "dog")]}, durations={"a-0-200": 2})
    systems = (scores.relabelled(names), truth.relabelled(names))
    assert align(*sed.join_chunks(*systems, unit="centiseconds")).warnings == ()
    assert align(*sed.cut_to_regions(*systems, {"a-0-200": [(0, 1)]})).warnings == ()


def test_scores_stay_lazy_and_are_identified_by_their_map() -> None:
    reads: list[str] = []

    def read(clip: str) -> sed.ClipScores:
        reads.append(clip)
        return sed.ClipScores([[0.1, 0.9]], edges=[0, 1])

    scores = sed.Scores(["clip"], read, classes=["a", "b"], identify=lambda clip: "model 7")
    maps: list[dict[str, str | None]] = [{}, {"a": "x"}, {"a": "b"}, {"a": None}, {"a": "b", "b": "a"}]
    relabelled = [scores.relabelled(names) for names in maps]
    relabelled.append(scores.relabelled(sed.LabelMap({"a": "b"}, "mean")))
    assert not reads
    assert len({of_map.identity("clip") for of_map in relabelled}) == len(relabelled)
    assert relabelled[2].processing == ("merged({'b': ('a', 'b')}, combine='max')",)
    assert relabelled[0].only(["clip"]).label_maps == relabelled[0].label_maps


def test_a_checkpoint_tells_maps_apart(tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(6, seed=1)
    scores = sed.simulate.scores(truth, frame=0.1, seed=1)
    first, second, *_ = truth.labels
    for names in ({}, {first: "x", second: "x"}, {first: second, second: first}):
        systems = (scores.relabelled(names), truth.relabelled(names), "collar_f1")
        plain = sed.evaluate(*systems)["collar_f1"]
        assert sed.evaluate(*systems, run=sed.Run(checkpoint=tmp_path))["collar_f1"].value == plain.value


def test_classes_that_only_the_truth_has_do_not_take_part() -> None:
    events = {"clip": [(0, 1, "dog", 0.5)]}
    scores = sed.Scores.from_events(events, classes=["Dog", "dog"])
    scores = scores._replaced(assumed_classes=["Dog"])
    relabelled = scores.relabelled(sed.LabelMap({"dog": "Dog"}, "mean"))
    assert relabelled.classes == ("Dog",)
    assert relabelled["clip"].values.tolist() == [[0.5]]
    assert not relabelled.assumed_classes


def test_sets_of_detections_take_a_map() -> None:
    truth = sed.GroundTruth.from_dict({"clip": [(0, 2, "Dog"), (2, 3, "Dog")]}, durations={"clip": 4})
    sets = {0.5: {"clip": [(0, 2, "dog"), (1, 2, "hound"), (2, 3, "hound")]}}
    best = sed.BestFScore(sed.Collar())
    result = sed.evaluate_sets(sets, truth, best, label_map={"dog": "Dog", "hound": "Dog"})
    assert result[best].value == 1.0
    assert not result.warnings
    with pytest.raises(sed.SedscopeError, match="No label of the system is a label of the ground truth"):
        sed.evaluate_sets(sets, truth, best)


@pytest.mark.parametrize(
    ("system", "truth", "pairs"),
    [
        (
            ["dog", "Running water"],
            ["Dog", "Running_water"],
            {"dog": "Dog", "Running water": "Running_water"},
        ),
        (["Turdus merula_Blackbird"], ["Blackbird"], {"Turdus merula_Blackbird": "Blackbird"}),
        (["Turdus merula"], ["Turdus merula_Blackbird"], {"Turdus merula": "Turdus merula_Blackbird"}),
        (["Speach", "Spech", "sPeehc"], ["Rain"], {}),
        (["Speach"], ["Speech"], {"Speach": "Speech"}),  # another letter
        (["Spech"], ["Speech"], {"Spech": "Speech"}),  # a letter less
        (["Speehc"], ["Speech"], {"Speehc": "Speech"}),  # letters changed places
        (["walk", "Parus major", "car 1"], ["talk", "Parus minor", "car 2"], {}),
        (["dog", "DOG"], ["Dog"], {}),  # two partners
        (["Blackbird"], ["Turdus merula_Blackbird", "Merula turdus_blackbird"], {}),
        (["dog", "Dog"], ["Dog"], {}),  # the truth has Dog already
        (["Dog"], ["Dog", "dog"], {}),
    ],
)
def test_proposals_are_clear_pairs_only(
    system: list[str], truth: list[str], pairs: dict[str, str]
) -> None:
    assert dict(sed.LabelMap.propose(system, truth).names) == pairs


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "from,to\ndog,Dog\nnoise,\n",
        "from\tto\tnote\ndog\tDog\t\nnoise\t\tx\ndog\tDog\t\n",
        "\ufefffrom;to\ndog;Dog\nnoise;\n",
    ],
)
def test_tables_are_read(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "map.csv", text)
    assert sed.read_label_map(path) == sed.LabelMap({"dog": "Dog", "noise": None})


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "from,to\ndog,Dog\ndog,Cat\n",
            ["1 row is not clear", "line 3: dog has another new label in line 2"],
        ),
        ("from,to\na,b\n\nb,c\n", ["line 2: a becomes b, but b becomes c"]),
        ("from,to\n ,b\n", ["line 2: the row names no label"]),
        ("from,to\ndog\n", ["line 2 has 1 cell"]),
        ("label,new\ndog,Dog\n", ["there are no columns 'from', 'to'"]),
    ],
)
def test_tables_with_problems_name_the_line(tmp_path: Path, text: str, messages: list[str]) -> None:
    with pytest.raises(sed.SedscopeError) as error:
        sed.read_label_map(written(tmp_path, "map.csv", text))
    assert all(message in str(error.value) for message in messages)


def test_toml_has_tables_for_each_side(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "map.toml",
        'combine = "mean"\n[labels]\ndog = "Dog"\n[system]\nhound = "Dog"\n[truth]\n"old dog" = ""\n',
    )
    assert sed.read_label_map(path, side="system") == sed.LabelMap(
        {"dog": "Dog", "hound": "Dog"}, "mean"
    )
    assert sed.read_label_map(path, side="truth") == sed.LabelMap(
        {"dog": "Dog", "old dog": None}, "mean"
    )
    with pytest.raises(sed.SedscopeError, match=r"has a table \[system\], which is for one side only"):
        sed.read_label_map(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("labels = 3\n", r"\[labels\] must be a table"),
        ("[lables]\na = 'b'\n", r"no lables \(did you mean labels\?\)"),
        ("combine = 'min'\n[labels]\n", "combine = 'min' is not valid"),
        ("[labels]\na.b = 'c'\n", "new labels must be texts"),
        ("[labels]\na = 'b'\na = 'c'\n", "is not a label map in TOML: .*line 3"),
        ("[labels]\na = 'b'\n[system]\na = 'c'\n", "contradict each other: a becomes b or c"),
        ("[labels]\na = 'b'\n[system]\nb = 'c'\n", "a becomes b, but b becomes c"),
        ("combine = 'max'\n", r"no table \[labels\]"),
    ],
)
def test_toml_with_problems(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_label_map(written(tmp_path, "map.toml", text), side="system")
    with pytest.raises(sed.SedscopeError, match="Choose 'system' or 'truth'"):
        sed.read_label_map(tmp_path / "map.toml", side="both")  # type: ignore[arg-type]


def test_conversion_gives_new_labels(tmp_path: Path) -> None:
    names = {"dog": "Dog", "hound": "Dog", "noise": None}
    sed.write_events(
        {"a": [(0, 2, "dog"), (1, 3, "hound"), (3, 4, "dog"), (5, 6, "noise")], "b": [(0, 1, "noise")]},
        tmp_path / "events.tsv",
    )
    sed.convert(
        tmp_path / "events.tsv", tmp_path / "new.tsv", reading=sed.SystemReading(label_map=names)
    )
    assert sed.read_events(tmp_path / "new.tsv") == {"a": [(0, 3, "Dog"), (3, 4, "Dog")], "b": []}
    sed.write_events({"a": [(0, 2, "dog", 0.9), (1, 3, "hound", 0.4)]}, tmp_path / "scored.tsv")
    with pytest.raises(
        sed.SedscopeError, match="clip a: events of Dog overlap with different confidences"
    ):
        sed.convert(
            tmp_path / "scored.tsv", tmp_path / "never.tsv", reading=sed.SystemReading(label_map=names)
        )
    sed.convert(
        tmp_path / "scored.tsv",
        tmp_path / "store",
        reading=sed.SystemReading(label_map=names),
        to="store",
    )
    assert sed.read_scores(tmp_path / "store")["a"].values.ravel().tolist() == [0.9, 0.9, 0.4]
    with pytest.warns(
        sed.SedscopeWarning, match="The label map names no label that occurs. It names dgo"
    ):
        sed.convert(
            tmp_path / "events.tsv",
            tmp_path / "same.tsv",
            reading=sed.SystemReading(label_map={"dgo": "Dog"}),
        )
