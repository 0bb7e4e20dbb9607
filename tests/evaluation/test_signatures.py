"""Signatures depend on content alone; results are verified by them, and not mixed."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data import score_cache
from sedscope.evaluation.verification import StoredResult, compare_stored

from ..support.command_line import run

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CLIPS, CLASSES = ("a", "b", "c"), ("Cat", "Dog", "Owl")
EVENTS = [("a", 1.0, 2.0, "Dog"), ("a", 0.0, 1.5, "Cat"), ("c", 2.0, 4.0, "Owl"), ("c", 0.5, 1.0, "Dog")]
DURATIONS = dict.fromkeys(CLIPS, 5.0)


def arrays(seed: int = 0, dtype: Any = np.float32) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {clip: rng.random((10, 3)).astype(np.float32).astype(dtype) for clip in CLIPS}


def scores_of(values: dict[str, Any], classes: tuple[str, ...] = CLASSES) -> sed.Scores:
    return sed.Scores.from_arrays(values, classes=classes, frame=0.5)


def truth_of(
    events: list[tuple[str, float, float, str]], clips: tuple[str, ...] = CLIPS
) -> sed.GroundTruth:
    by_clip: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in clips}
    for clip, *event in events:
        by_clip[clip].append(tuple(event))  # type: ignore[arg-type]
    return sed.GroundTruth.from_dict(by_clip, durations=DURATIONS)


SCORES, TRUTH = scores_of(arrays()), truth_of(EVENTS)


def signature(scores: Any, truth: Any, metric: Any = "psds1", **options: Any) -> dict[str, Any]:
    return sed.evaluate(scores, truth, metric, **options).signature.as_json()


@settings(max_examples=20, deadline=None)
@given(
    clips=st.permutations(CLIPS),
    columns=st.permutations(range(3)),
    events=st.permutations(EVENTS),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_order_and_type_change_nothing(clips: Any, columns: Any, events: Any, dtype: Any) -> None:
    values = arrays(dtype=dtype)
    scores = scores_of(
        {clip: values[clip][:, columns] for clip in clips}, tuple(CLASSES[column] for column in columns)
    )
    assert signature(scores, truth_of(events, tuple(reversed(clips)))) == signature(SCORES, TRUTH)


def test_formats_and_the_way_of_the_pass_change_nothing(tmp_path: Path) -> None:
    expected = signature(SCORES, TRUTH)
    for name in ("tables", "scores.npz", "scores.store", "wide.parquet"):
        sed.write_scores(SCORES, tmp_path / name)
        assert signature(tmp_path / name, TRUTH) == expected, name
        assert signature(tmp_path / name, TRUTH, run=sed.Run(checkpoint=tmp_path / "parts")) == expected
    assert signature(tmp_path / "tables", TRUTH, run=sed.Run(memory="1GB")) == expected
    sed.write_ground_truth(TRUTH, tmp_path / "truth.tsv")
    assert signature(tmp_path / "tables", tmp_path / "truth.tsv", durations=DURATIONS) == expected


def test_pieces_have_the_hash_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cache, "_FRAMES_SUMMED", 4)
    edges = np.arange(11) * 0.5
    pieces = {
        clip: sed.ClipPieces(partial(np.array_split, arrays()[clip], size), edges=edges)
        for size, clip in enumerate(CLIPS, 1)
    }
    split = sed.Scores.from_pieces(pieces, classes=CLASSES)
    assert signature(split, TRUTH) == signature(SCORES, TRUTH)


@pytest.mark.parametrize(
    ("side", "scores", "truth"),
    [
        ("scores", scores_of({**arrays(), "b": arrays(1)["b"]}), TRUTH),
        ("scores", sed.Scores.from_arrays(arrays(), classes=CLASSES, frame=0.499), TRUTH),
        ("scores", scores_of(arrays(), ("Dog", "Cat", "Owl")), TRUTH),
        ("truth", SCORES, truth_of([*EVENTS[:-1], ("c", 0.5, 1.000001, "Dog")])),
        ("truth", SCORES, truth_of([*EVENTS[:-1], ("b", 0.5, 1.0, "Dog")])),
    ],
)
def test_a_change_of_one_side_changes_its_hash_alone(side: str, scores: Any, truth: Any) -> None:
    first, second = (signature(*inputs)["hashes"] for inputs in ((SCORES, TRUTH), (scores, truth)))
    assert {name for name in first if first[name] != second[name]} == {side}


def test_double_precision_that_does_not_fit_counts() -> None:
    values = arrays(dtype=np.float64)
    values["a"][3, 1] += 1e-12
    assert signature(scores_of(values), TRUTH)["hashes"] != signature(SCORES, TRUTH)["hashes"]


def test_classes_clips_and_processing_are_part_of_it() -> None:
    base = sed.evaluate(SCORES, TRUTH, "psds1").signature
    others = {
        "other classes (2 instead of 3)": sed.evaluate(SCORES, TRUTH, "psds1", classes=["Cat", "Dog"]),
        "other clips (2 instead of 3)": sed.evaluate(SCORES, TRUTH, "psds1", clips=["a", "c"]),
        "another post-processing": sed.evaluate(
            sed.postprocessing.MedianFilter(1.0)(SCORES), TRUTH, "psds1"
        ),
    }
    for reason, other in others.items():
        assert any(text.startswith(reason) for text in base.differences(other.signature)), reason
    assert base.differences(base) == []


def test_events_that_are_kept_have_a_signature() -> None:
    events = {"a": [(0.0, 1.0, "Dog", 0.5), (0.0, 2.0, "Cat", 0.9)], "b": [], "c": []}
    hashes = [
        signature(
            sed.ScoredEvents.from_events(events, classes=order), TRUTH, sed.BestFScore(sed.Collar())
        )
        for order in (("Cat", "Dog", "Owl"), ("Owl", "Dog", "Cat"))
    ]
    assert hashes[0] == hashes[1]


def test_scores_of_files_are_read_once_and_those_in_memory_only_if_asked() -> None:
    opened: list[str] = []

    def load(clip: str) -> sed.ClipScores:
        opened.append(clip)
        return SCORES[clip]

    for in_memory, reads in ((False, 1), (True, 2)):
        opened.clear()
        result = sed.evaluate(
            sed.Scores(CLIPS, load, classes=CLASSES, in_memory=in_memory), TRUTH, "psds1"
        )
        of_pass = len(opened)
        assert "scores#" in str(result.signature)
        assert len(opened) == of_pass * reads


def test_a_result_is_verified_bit_for_bit(tmp_path: Path) -> None:
    metrics = {"strict": sed.BestFScore(sed.Collar()), "psds1": sed.presets.PSDS1}
    result = sed.evaluate(SCORES, TRUTH, metrics, resampling=20)
    result.to_json(tmp_path / "result.json")
    for stored in (result, result.to_dict(), tmp_path / "result.json"):
        verification = sed.verify(stored, SCORES, TRUTH)
        assert verification.verified, str(verification)
        assert verification.agreements[0] == "strict: the value, 3 classes, thresholds"
        assert verification.notes == (
            "the intervals are not verified",
            "the values to expect on new clips are not verified",
        )

    content = result.to_dict()
    content["metrics"][0]["value"] = np.nextafter(content["metrics"][0]["value"], 1)
    differing = sed.verify(content, SCORES, TRUTH)
    assert not differing.verified
    assert "strict: " in differing.differences[0]
    assert sed.verify(result, scores_of(arrays(1)), TRUTH).differences[0] == "other scores"
    of_truth = sed.verify(result, SCORES, truth_of(EVENTS[:-1]))
    assert of_truth.differences[0] == "other reference events or durations"
    with pytest.raises(sed.SedscopeError, match="not the JSON of one evaluation"):
        sed.verify({"metrics": []}, SCORES, TRUTH)


def tampered(content: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """Return a copy of a result with another value at a place, such as ``metrics.0.value``."""
    result = copy.deepcopy(content)
    *keys, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    part: Any = result
    for key in keys:
        part = part[key]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return result


@pytest.mark.parametrize(
    ("place", "value", "difference"),
    [
        ("signature.text", "sedscope 0.1.0 psds1#ffff", "parts of the signature do not agree"),
        ("signature.metrics.psds1.hash", "0" * 32, "parts of the signature do not agree"),
        ("signature.numbers.clips", 9999, "parts of the signature do not agree"),
        ("signature.hashes.scores", None, "parts of the signature do not agree"),
        ("clips", 9999, "the number of clips: 3 instead of 9999"),
        ("hours", 1.0, "the hours"),
        ("references.Dog", 9, "the references per class"),
        ("metrics.0.value", None, "instead of None"),
        ("metrics.0.per_class.Dog", 0.99, "the values of 1 class: Dog"),
        ("metrics.0.name", "psds2", "the signature: "),
        ("metrics.1", None, "the signature: "),
    ],
)
def test_every_part_of_a_result_is_verified(place: str, value: Any, difference: str) -> None:
    content = sed.evaluate(SCORES, TRUTH, ["psds1", "collar_f1"]).to_dict()
    differences = sed.verify(tampered(content, place, value), SCORES, TRUTH).differences
    assert any(difference in text for text in differences), differences


def test_what_cannot_be_verified_is_said() -> None:
    content = sed.evaluate(SCORES, TRUTH, "psds1", by={"a": "x", "b": "y", "c": "y"}).to_dict()
    assert sed.verify(content, SCORES, TRUTH).notes == ("the values of groups are not verified",)
    twice = tampered(content, "metrics", [{**content["metrics"][0], "value": 0.99}, *content["metrics"]])
    with pytest.raises(sed.SedscopeError, match="not the JSON of one evaluation"):
        sed.verify(twice, SCORES, TRUTH)
    hashes = {"classes": content["signature"]["hashes"]["classes"]}
    signature = replace(sed.evaluate(SCORES, TRUTH, "psds1").signature, hashes=hashes).as_json()
    unknown = tampered(content, "signature", signature)
    assert sed.verify(unknown, SCORES, TRUTH).verified
    assert (
        "the result has no hash of the clips, truth, scores" in sed.verify(unknown, SCORES, TRUTH).notes
    )


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_intervals_of_groups_are_not_verified() -> None:
    sites = {clip: number % 2 for number, clip in enumerate(TRUTH.clips)}
    evaluated = partial(sed.evaluate, SCORES, TRUTH, "best_collar_f1", by=sed.Groups(sites, "mean"))
    stored = StoredResult.of(evaluated(resampling=20).to_dict(), "it")
    verification = compare_stored(stored, evaluated())
    assert verification.verified
    assert "the values of groups" in verification.agreements
    content = evaluated().to_dict()
    content["groups"]["clips"]["groups"]["1"]["metrics"][0]["value"] = 0.123
    changed = compare_stored(StoredResult.of(content, "it"), evaluated())
    assert changed.differences == ("the values of groups",)


def test_a_result_without_hashes_is_not_compared(tmp_path: Path) -> None:
    deltas = sed.deltas(SCORES, TRUTH, sed.presets.PSDS1.criterion)
    stored = sed.evaluate_deltas(deltas, "psds1")
    stored.to_json(tmp_path / "old.json")
    with pytest.raises(sed.SedscopeError, match="no hash of the clips, truth"):
        sed.compare({"old": tmp_path / "old.json", "new": SCORES}, TRUTH, "psds1", resampling=20)


def test_another_version_is_noted() -> None:
    content = sed.evaluate(SCORES, TRUTH, "psds1").to_dict()
    signature = replace(sed.evaluate(SCORES, TRUTH, "psds1").signature, version="0.0.9")
    content["signature"] = signature.as_json()
    verification = sed.verify(content, SCORES, TRUTH)
    assert verification.verified
    assert verification.notes[0].startswith("the result was computed by sedscope 0.0.9, and now by")


def test_a_stored_result_is_compared_only_if_it_is_of_the_same(tmp_path: Path) -> None:
    other = scores_of(arrays(1))
    result = sed.evaluate(other, TRUTH, ["psds1", "psds2"])
    result.to_json(tmp_path / "old.json")
    for old in (result, tmp_path / "old.json"):
        systems = {"old": old, "new": SCORES}
        comparison = sed.compare(systems, TRUTH, ["psds1", "psds2"], resampling=20)
        assert comparison["psds2"].values["old"].value == result["psds2"].value
        assert comparison.published == ("old",)
        with pytest.raises(
            sed.SedscopeError, match=r"old cannot .* other reference events or durations"
        ):
            sed.compare(systems, truth_of(EVENTS[:-1]), "psds1", resampling=20)
        with pytest.raises(sed.SedscopeError, match=r"other classes \(3 instead of 2\)"):
            sed.compare(systems, TRUTH, "psds1", resampling=20, classes=["Cat", "Dog"])
        with pytest.raises(sed.SedscopeError, match="no value of FScore"):
            sed.compare(systems, TRUTH, sed.FScore(sed.Collar()), resampling=20)


def test_comparisons_and_rankings_have_signatures() -> None:
    other = scores_of(arrays(1))
    comparison = sed.compare({"a": [SCORES, other], "b": other}, TRUTH, "psds1", resampling=20)
    alone = sed.evaluate(other, TRUTH, "psds1").signature
    assert comparison.signatures["b"] == alone
    runs = comparison.signatures["a"]
    assert runs.differences(alone) == ["other scores"]
    assert comparison.evaluations["a"].signature == sed.evaluate(SCORES, TRUTH, "psds1").signature
    assert comparison.to_dict()["signatures"]["b"]["text"] == str(alone)
    assert str(alone) in comparison.table()

    ranking = sed.rank({"a": [SCORES, other], "b": other}, TRUTH, "psds1", resampling=20)
    by_name = {system.name: system.signatures[""] for system in ranking.systems}
    assert by_name == {"a": runs, "b": alone}
    assert ranking.signatures() == {"": alone.of_scores(None)}
    assert alone.short_hash("scores") in ranking.table()
    fewer = sed.rank(
        {"a": SCORES, "b": scores_of(arrays(), ("Cat", "Dog", "Emu"))}, TRUTH, "psds1", resampling=20
    )
    assert [system.name for system in fewer.systems] == ["a"]


def test_without_scores_there_is_no_hash_of_them() -> None:
    sets = {0.5: {"a": [(1, 2, "Dog")], "b": [], "c": []}}
    result = sed.evaluate_sets(
        sets, TRUTH, sed.BestFScore(sed.Collar()), missing="empty", classes=["Dog"]
    )
    assert "scores" not in result.signature.hashes
    assert result.signature.differences(replace(result.signature, version="1")) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify")
    sed.write_scores(SCORES, path / "scores")
    sed.write_scores(scores_of(arrays(1)), path / "other")
    sed.write_ground_truth(TRUTH, path / "truth.tsv")
    (path / "durations.tsv").write_text(
        "filename\tduration\n" + "".join(f"{clip}\t5\n" for clip in CLIPS)
    )
    return path


def test_verify_on_the_command_line(folder: Path) -> None:
    durations = ("--durations", folder / "durations.tsv")
    result = folder / "result.json"
    arguments = (folder / "truth.tsv", *durations)
    assert run("evaluate", folder / "scores", *arguments, "--json", result).code == 0
    verified = run("verify", result, folder / "scores", *arguments)
    assert (verified.code, verified.out.splitlines()[-1]) == (0, "verified")
    changed = run("verify", result, folder / "other", *arguments)
    assert changed.code == 1
    assert "differs: other scores" in changed.out.splitlines()
    compared = run("compare", f"old={result}", folder / "other", *arguments, "--bootstrap", 20)
    assert "(published)" in compared.out
    assert run("verify", folder / "truth.tsv", folder / "scores", *arguments).code == 2


def test_a_submission_to_a_task_is_verified(folder: Path) -> None:
    (folder / "data").mkdir()
    for name, content in (("ground_truth.tsv", "truth.tsv"), ("durations.tsv", "durations.tsv")):
        (folder / "data" / name).write_text((folder / content).read_text())
    task = sed.tasks.Task(
        "mine", {"home": sed.tasks.Dataset({"psds1": sed.presets.PSDS1})}, "home.psds1"
    )
    sed.tasks.write_task(task, folder / "task.toml")
    options = ("--task", folder / "task.toml", "--data", folder / "data")
    result = folder / "of_task.json"
    assert run("evaluate", folder / "scores", *options, "--json", result).code == 0
    assert run("verify", result, folder / "scores", *options).code == 0
    changed = run("verify", result, folder / "other", *options)
    assert (changed.code, changed.out.splitlines()[0]) == (1, "home")
    content = json.loads(result.read_text())
    for key, value in (("score", 0.99), ("formula", "2 * home.psds1"), ("datasets", {"home": {}})):
        result.write_text(json.dumps({**content, key: value}))
        assert run("verify", result, folder / "scores", *options).code == 1


def test_labels_that_are_no_text_have_hashes() -> None:
    classes = ("Cat", "Dog", "\ud800")  # half of a character, which JSON can hold
    truth = truth_of([("a", 1.0, 2.0, "\ud800"), ("b", 1.0, 2.0, "Cat"), ("c", 1.0, 2.0, "Dog")])
    hashes = signature(scores_of(arrays(), classes), truth)["hashes"]
    assert hashes["classes"] != signature(SCORES, TRUTH)["hashes"]["classes"]
