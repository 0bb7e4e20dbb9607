"""Everything that the package registers has an example that tests go through."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

import sedscope.metrics
from sedscope.criteria.criterion import CRITERIA
from sedscope.io.events.files import EVENT_FORMATS
from sedscope.io.scores.files import SCORE_FORMATS
from sedscope.metrics.metric import METRICS
from sedscope.postprocessing import POSTPROCESSINGS, ScoreTransform

from .support import examples
from .support.event_files import SAMPLES
from .support.score_files import TARGETS


def assert_all_have_examples(registry: Mapping[str, type], examples: list[object]) -> None:
    """Every class of the registry has an example, and every example is of a registered class."""
    assert {type(example) for example in examples} == set(registry.values())
    assert all(name == cls.__name__ for name, cls in registry.items())


def test_every_metric_has_an_example() -> None:
    others = [*examples.EVENT_METRICS, *examples.PROBABILITY_METRICS]
    assert_all_have_examples(METRICS, [*examples.METRICS, *others])


def test_every_criterion_has_an_example() -> None:
    metrics = [*examples.METRICS, *examples.EVENT_METRICS]
    assert_all_have_examples(CRITERIA, [metric.criterion for metric in metrics])


def test_every_postprocessing_has_an_example() -> None:
    # a score transform is defined by a file: test_score_transform.py makes one
    defined_by_text = {
        name: cls for name, cls in POSTPROCESSINGS.items() if not issubclass(cls, ScoreTransform)
    }
    assert_all_have_examples(defined_by_text, [*examples.POSTPROCESSINGS])


def test_a_class_is_loaded_when_its_name_is_looked_up() -> None:
    code = """
import sys
from sedscope.metrics.metric import METRICS
print(*METRICS.parse("PSDS(Intersection(0.7, 0.7))").criterion.__dict__.values(), "Dog" in METRICS)
modules = ("metrics.psds", "metrics.thresholded", "criteria.collar")
print(*(f"sedscope.{name}" in sys.modules for name in modules))
print(*METRICS)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    parsed, loaded, listed = done.stdout.splitlines()
    assert parsed == "0.7 0.7 None False"
    assert loaded == "True False False"
    assert listed.split() == [*METRICS] == sorted(METRICS)


def test_a_room_has_the_names_of_its_stub() -> None:
    assert {*METRICS} <= {*dir(sedscope.metrics)}
    names: dict[str, object] = {}
    exec("from sedscope.metrics import *", names)
    assert {*names} - {"__builtins__"} == {*dir(sedscope.metrics)}
    with pytest.raises(AttributeError, match=r"module 'sedscope\.metrics' has no attribute 'Dog'"):
        _ = sedscope.metrics.Dog  # type: ignore[attr-defined]  # that is what is tested


def test_every_format_of_events_has_a_sample() -> None:
    assert {sample.format for sample in SAMPLES.values()} == set(EVENT_FORMATS)


def test_every_format_of_scores_has_a_target() -> None:
    assert set(TARGETS) == set(SCORE_FORMATS)
