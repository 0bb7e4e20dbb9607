"""``sedscope calibrate``: scores made into probabilities, by reference events or by reviewed detections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import SedscopeError, listing
from .options.arguments import JSON, SCORES, postprocess
from .options.engines import ThreadOptions
from .options.groups import argument, option, output_option
from .options.inputs import InputOptions
from .options.outputs import show_result

if TYPE_CHECKING:
    from ..io.locations import Location
    from ..tuning.calibration import Calibration, CalibrationMethod


def calibrate(
    *,
    scores: Path = SCORES,
    ground_truth: Path = argument(
        "Reference events, or a review: the table of 'sedscope review plan' with answers."
    ),
    inputs: InputOptions,
    threads: ThreadOptions,
    output: Path | None = output_option(
        None, "File for the maps (.toml or .json), which --postprocess reads."
    ),
    criterion: str | None = option(
        None, "What is right. [default: Segment(1), or Window() for events that are kept as they are]"
    ),
    method: Literal["auto", "logistic", "isotonic"] = option(
        "auto", "The curve. 'auto' takes the better one, by cross-validation."
    ),
    folds: int = option(5, "Folds of clips.", min=2),
    json: str | None = JSON,
) -> None:
    """Fit a map from the scores of each class to the probability to be right."""
    from .. import Run
    from ..criteria import parse_criterion
    from ..tuning import calibrate as fit

    if output is not None and output.suffix not in (".toml", ".json"):
        raise SedscopeError(f"-o {output}: the name must end with .toml or .json.")
    if _is_review(ground_truth):
        if criterion is not None:
            raise SedscopeError("--criterion has no use with a review, whose answers say what is right.")
        result = _of_review(scores, ground_truth, inputs, method, folds)
    else:
        truth = inputs.read_truth(ground_truth)
        system = postprocess(inputs.read_scores(scores, truth, "calibrate"), inputs.postprocess)
        judge = None if criterion is None else parse_criterion(criterion)
        choice = inputs.selection(system.classes)
        run = Run(threads=threads.threads)
        result = fit(system, truth, judge, method=method, folds=folds, **choice, run=run)
    if output is not None:
        result.points.save(output)
    show_result(result, (), json)


def _is_review(path: Location) -> bool:
    from ..io.events.source import Source

    return not path.is_dir() and {"stratum", "weight", "correct"} <= set(Source(path).header)


def _of_review(
    scores: Location, review: Location, inputs: InputOptions, method: CalibrationMethod, folds: int
) -> Calibration:
    """Fit to reviewed detections. Classes without any have the map of all classes."""
    from ..io.systems import read_system_scores
    from ..review import read_review
    from ..tuning.calibration import calibrate_items, items_of_answers

    if inputs.postprocess:
        raise SedscopeError("Reviewed scores are those of the system: leave out --postprocess.")
    table = read_review(review)
    system = read_system_scores(scores, None, inputs.system_reading())
    unknown = sorted({*table.labels} - {*system.classes})
    if unknown:
        raise SedscopeError(f"{review} has classes that the system lacks: {listing(unknown)}.")
    columns = (table.clips, table.labels, table.scores, table.answers, table.weights)
    items = items_of_answers(*columns, classes=system.classes, folds=folds)
    return calibrate_items(items, method, {"data": f"review {review}"})
