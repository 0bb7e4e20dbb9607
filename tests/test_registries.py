"""Everything that the package registers has an example that tests go through."""

from __future__ import annotations

from collections.abc import Mapping

from sedscope.criteria.registry import CRITERIA
from sedscope.io.events.registry import EVENT_FORMATS
from sedscope.io.scores.registry import SCORE_FORMATS
from sedscope.metrics.registry import METRICS
from sedscope.postprocessing import POSTPROCESSINGS, ScoreTransform

from .support import examples
from .support.event_files import SAMPLES
from .support.score_files import TARGETS


def assert_all_have_examples(registry: Mapping[str, type], examples: list[object]) -> None:
    """Every class of the registry has an example, and every example is of a registered class."""
    assert {type(example) for example in examples} == set(registry.values())
    assert all(name == cls.__name__ for name, cls in registry.items())


def test_every_metric_has_an_example() -> None:
    assert_all_have_examples(METRICS, [*examples.METRICS])


def test_every_criterion_has_an_example() -> None:
    assert_all_have_examples(CRITERIA, [metric.criterion for metric in examples.METRICS])


def test_every_postprocessing_has_an_example() -> None:
    # a score transform is defined by a file: test_score_transform.py makes one
    defined_by_text = {
        name: cls for name, cls in POSTPROCESSINGS.items() if not issubclass(cls, ScoreTransform)
    }
    assert_all_have_examples(defined_by_text, [*examples.POSTPROCESSINGS])


def test_every_format_of_events_has_a_sample() -> None:
    assert {sample.format for sample in SAMPLES.values()} == set(EVENT_FORMATS)


def test_every_format_of_scores_has_a_target() -> None:
    assert set(TARGETS) == set(SCORE_FORMATS)
