"""The drop-in for sed_eval against the original: the same numbers, NaN where NaN, and the same reports."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..support.peers import sed_eval_answers
from ..support.peers.sed_eval_answers import DROP_IN, answer
from ..support.project import ROOT

# means over no class at all
pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

LABELS = ["Dog", "Electric_shaver_toothbrush", "Cat"]


def _events(rng: random.Random) -> dict[str, Any]:
    """Few times on a coarse grid, so that collars are met exactly, and events have several partners."""
    labels = LABELS[: rng.randint(1, 3)]
    grid = rng.choice([0.1, 0.05, 0.2, 1 / 3])
    onset, offset = rng.choice([(True, True), (True, True), (True, False), (False, True)])

    def events(older: bool) -> list[dict[str, Any]]:
        before = "event_" if older else ""
        drawn = []
        for _ in range(rng.randrange(12)):
            start = rng.randrange(40)
            times = {
                f"{before}onset": start * grid,
                f"{before}offset": (start + rng.randrange(15)) * grid,
            }
            drawn.append({"filename": "a.wav", "event_label": rng.choice(labels), **times})
        return drawn or [{"filename": "a.wav"}]

    return {
        "kind": "events",
        "labels": [*labels, "never"],
        "precision": rng.choice(["float64", "float64", "float32"]),
        "event_based": {
            "evaluate_onset": onset,
            "evaluate_offset": offset,
            "t_collar": rng.choice([0.1, 0.2, 0.5, 1.5]),
            "percentage_of_length": rng.choice([0.0, 0.2, 0.5]),
            "event_matching_type": rng.choice(["optimal", "greedy"]),
            "empty_system_output_handling": rng.choice([None, "zero_score"]),
        },
        "segment_based": {"time_resolution": rng.choice([0.1, 0.5, 1.0])},
        "files": [
            (events(rng.random() < 0.3), events(rng.random() < 0.3), rng.choice([None, None, 4.0, 20.0]))
            for _ in range(rng.randint(1, 3))
        ],
    }


def _scenes(rng: random.Random) -> dict[str, Any]:
    def fold() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        names = [f"{i}.wav" for i in range(rng.randint(1, 9))]
        reference = [{"file": name, "scene_label": rng.choice(LABELS)} for name in names]
        rng.shuffle(names)
        return reference, [{"file": name, "scene_label": rng.choice(LABELS)} for name in names]

    return {"kind": "scenes", "labels": [*LABELS, "never"], "folds": [fold() for _ in range(2)]}


def _tags(rng: random.Random) -> dict[str, Any]:
    both = rng.random() < 0.5

    def fold() -> dict[str, Any]:
        names = [f"{i}.wav" for i in range(rng.randint(2, 12))]

        def tagged() -> list[dict[str, str]]:
            return [
                {"filename": n, "tags": ",".join(rng.sample(LABELS, rng.randint(1, 2)))} for n in names
            ]

        probabilities = [
            {"filename": name, "label": label, "probability": rng.randrange(10) / 9}
            for name in names
            for label in LABELS
        ]
        options = {"estimated_tag_list": tagged(), "estimated_tag_probabilities": probabilities}
        chosen = options if both else dict([rng.choice(list(options.items()))])
        return {"reference_tag_list": tagged(), **chosen}

    return {"kind": "tags", "labels": LABELS, "folds": [fold() for _ in range(1 + both)]}


def _matching(rng: random.Random) -> dict[str, Any]:
    rights = range(rng.randint(1, 12))
    graph = [
        (left, sorted(rng.sample(rights, rng.randint(0, min(3, len(rights)))))) for left in range(12)
    ]
    rng.shuffle(graph)
    return {"kind": "matching", "graph": graph}


def _file(rng: random.Random) -> dict[str, Any]:
    """A text file with any columns, or a table with a header."""
    cells = ["a.wav", "b.flac", "c.npy", "1.5", "0", "2,5", "-3e-1", "Dog", "x", "yz", "a;b", "", "none"]
    delimiter = rng.choice("\t,;")
    known = ["1.5 2.5 Dog", "a.wav 1 2 Dog", "a.wav street 1 2 Dog m home", "a.wav Dog#Cat", "a.wav bus"]
    row = rng.choice(known).split() if rng.random() < 0.5 else rng.choices(cells, k=rng.randint(1, 6))
    if delimiter == ",":
        row = [cell.replace(",", ".") for cell in row]
    text, suffix = delimiter.join(row) + "\n", "txt"
    if rng.random() < 0.3:
        table = [("filename", "onset", "offset", "event_label"), ("a.wav", "1", "2.5", "Dog")]
        table += [("./b.wav", rng.choice(["3", "3.0"]), "4.25", rng.choice(LABELS)) for _ in range(3)]
        text, suffix = "".join(f"{delimiter.join(row)}\n" for row in table), "csv"
    return {"kind": "file", "text": text, "names": ["a.wav", "b.wav"], "suffix": suffix}


def _signatures(rng: random.Random) -> dict[str, Any]:
    lists = ["util.event_list", "util.event_roll", "util.scene_list", "util.event_matching"]
    return {
        "kind": "signatures",
        "modules": ["sound_event", "scene", "audio_tag", "io", "metric", "util", "test", *lists],
    }


DRAWN: dict[str, tuple[Callable[[random.Random], dict[str, Any]], int]] = {
    "events": (_events, 150),
    "scenes": (_scenes, 15),
    "tags": (_tags, 30),
    "matching": (_matching, 150),
    "file": (_file, 120),
    "signatures": (_signatures, 1),
}


@pytest.fixture(scope="module")
def answers(
    peers_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[tuple[dict[str, Any], Any]]]:
    """The cases of each kind and the original's answers, all from one process."""
    folder = tmp_path_factory.mktemp("sed_eval")
    cases = [
        draw(random.Random(f"{kind} {i}"))
        for kind, (draw, number) in DRAWN.items()
        for i in range(number)
    ]
    for i, case in enumerate(cases):
        if case["kind"] == "file":
            case["path"] = str(folder / f"{i}.{case['suffix']}")
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    command = [str(peers_python), "-W", "ignore", "-m", sed_eval_answers.__name__, str(folder)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    by_original = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    by_kind: dict[str, list[tuple[dict[str, Any], Any]]] = {kind: [] for kind in DRAWN}
    for case, verdict in zip(cases, by_original, strict=True):
        by_kind[case["kind"]].append((case, verdict))
    return by_kind


@pytest.mark.parametrize("kind", [kind for kind in DRAWN if kind != "signatures"])
def test_the_drop_in_answers_as_the_original_does(
    kind: str, answers: dict[str, list[tuple[dict[str, Any], Any]]]
) -> None:
    for case, by_original in answers[kind]:
        by_drop_in = answer(DROP_IN, case)
        assert _text(by_drop_in) == _text(by_original), case


def test_functions_have_the_names_and_parameters_of_the_original(
    answers: dict[str, list[tuple[dict[str, Any], Any]]],
) -> None:
    ((case, by_original),) = answers["signatures"]
    by_drop_in = answer(DROP_IN, case)
    assert len(by_original) > 80
    for name, parameters in by_original.items():
        if name != "sound_event.SoundEventMetrics":  # of which users make no objects
            assert by_drop_in[name][: len(parameters)] == parameters, name


def test_the_cases_are_not_trivial(answers: dict[str, list[tuple[dict[str, Any], Any]]]) -> None:
    """There are substitutions, pairs that greedy matching misses, NaN, and files of both kinds."""
    events = _text([verdict for _, verdict in answers["events"]])
    assert "NaN" in events
    rates = [
        verdict[0][0]["overall"]["error_rate"]["substitution_rate"] for _, verdict in answers["events"]
    ]
    assert sum(0 < rate < 1 for rate in rates) > 20
    refused = [verdict == "refused" for _, verdict in answers["file"]]
    assert 20 < sum(refused) < len(refused) - 40


def _text(tree: Any) -> str:
    return json.dumps(tree, indent=1, sort_keys=True)
