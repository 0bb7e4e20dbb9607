"""Deltas in one call: from scores and ground truth to the changes of the counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..counting.deltas import Deltas
from ..counting.request import DeltaRequest, Requests
from ..criteria import Criterion
from ..data.alignment import Alignment, align
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.time_agreement import TimeSample
from ..engines.floor_search import find_deltas
from ..engines.run import Run
from ..errors import SedscopeError
from ..postprocessing import PostProcessing, as_postprocessings
from .notes import input_notes


def deltas(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    postprocessing: PostProcessing | Iterable[PostProcessing] | str = (),
    system: str | None = None,
    run: Run | None = None,
) -> Deltas:
    """Find how the counts of a criterion change at every threshold.

    This is a step of :func:`~sedscope.evaluate`, which also warns of input that looks odd.

    Parameters
    ----------
    scores : Scores
        The scores of the system.
    truth : GroundTruth
        The reference events.
    criterion : Criterion
        What counts as found.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    postprocessing : post-processing, iterable of them, or str
        Variants of the scores to count as well: a list, or a sweep as text. The result holds their
        deltas in ``variants``.
    system : str, optional
        The name of the system. Deltas of systems with different names cannot be merged. With a name, the
        deltas also know a hash of the scores; without, only if the scores are not in memory.
    run : Run, optional
        How the pass runs; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Deltas
        Add them up with :meth:`Deltas.counts`, merge them with those of other clips with
        :meth:`Deltas.merge`.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sed.deltas(scores, truth, sed.Intersection(0.7, 0.7)).counts()["Dog"].tp.tolist()
    [1, 0]
    """
    if not isinstance(criterion, Criterion):
        raise SedscopeError(f"Not a criterion: {criterion!r}.")
    run = Run._of(run, "Counting", "engine", "scheduler", "checkpoint")
    request = DeltaRequest(variants=as_postprocessings(postprocessing))
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    # to read files takes much longer than to hash them; to read arrays does not
    alignment = replace(alignment, hashed=system is not None or not scores.in_memory)
    with run._open_engine() as opened:
        by_criterion = find_deltas(alignment, {criterion: request}, opened, run._steps)
    of_criterion = by_criterion[criterion]
    return of_criterion if system is None else of_criterion.of_system(system)


def deltas_and_notes(
    alignment: Alignment, requests: Requests, run: Run
) -> tuple[dict[Criterion, Deltas], list[str]]:
    """Find the deltas of several criteria, and note what a user should know about the input."""
    sample = TimeSample(alignment)
    with run._open_engine() as opened:
        by_criterion = find_deltas(sample.alignment, requests, opened, run._steps)
    return by_criterion, input_notes(alignment, by_criterion, sample)
