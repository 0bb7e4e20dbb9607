"""sed_scores_eval itself judges what is offered in its place: both are called with the same arguments.

It runs in its own environment (``make peers``). What is known to differ (``docs/differences.md``) is
kept clear of, or put on equal terms: operating points of a curve at which nothing changes are left out
before curves are compared, and best operating points are compared by their value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed

from .judging import Verdict, in_whole_segments, judge, random_set
from .peers.judge import leaves, results_of
from .sets import excerpt_scores, excerpt_truth

PACKAGE = "sedscope.compat.sed_scores_eval"
KINDS = ("plateaus", "float32", "walk")
RANDOM = [f"random-{i}" for i in range(6)]
SETS = [*RANDOM, "simulated", "excerpt"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Call:
    """A function with its arguments; see ``peers.judge.results_of``."""

    function: str
    data: tuple[Any, ...]
    arguments: Mapping[str, Any]
    compare: Callable[[Leaves, Leaves], None]

    def described(self) -> dict[str, Any]:
        return {"function": self.function, "data": self.data, "arguments": self.arguments}


Leaves = Mapping[str, NDArray[Any]]


# How results are compared


def same(ours: Leaves, theirs: Leaves) -> None:
    """Everything is the same."""
    assert ours.keys() == theirs.keys()
    for path, column in theirs.items():
        equal(ours[path], column, path)


def equal(ours: NDArray[Any], theirs: NDArray[Any], what: str) -> None:
    assert ours.shape == theirs.shape, what
    if theirs.dtype.kind in "OUS":
        assert ours.tolist() == theirs.tolist(), what
    else:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9, err_msg=what)


def same_but_for(*fields: str) -> Callable[[Leaves, Leaves], None]:
    """The same, apart from the values (of a tuple) at these places."""

    def compare(ours: Leaves, theirs: Leaves) -> None:
        assert ours.keys() == theirs.keys()
        same(
            *(
                {p: c for p, c in tree.items() if p.split("/")[0] not in fields}
                for tree in (ours, theirs)
            )
        )

    return compare


def same_curves(
    scores_at: str, order: tuple[str, str] | None = None
) -> Callable[[Leaves, Leaves], None]:
    """Tuples with scores at one place: the same operating points, but for those where nothing changes.

    ``order``: the places of the rates by which ours are to be ordered, unless by score.
    """

    def compare(ours: Leaves, theirs: Leaves) -> None:
        for group, (here, there) in groups(ours, theirs).items():
            first, second = order or (scores_at, scores_at)
            rows = np.lexsort((here[second], here[first]))
            for place in (first, second):
                assert np.array_equal(here[place][rows], here[place], equal_nan=True), f"{group}: order"
            equal_changes(here, there, scores_at, group)

    return compare


def groups(ours: Leaves, theirs: Leaves) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """The columns of each class, or of the class of each result."""
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for side, tree in enumerate((ours, theirs)):
        for path, column in tree.items():
            group, _, place = path.partition("/")
            found.setdefault(group, ({}, {}))[side][place] = column
    return found


def equal_changes(here: Leaves, there: Leaves, scores_at: str, what: str) -> None:
    assert here.keys() == there.keys(), what
    sides = []
    for side in (here, there):
        rows = np.argsort(side[scores_at], kind="stable")
        length = len(rows)
        columns = {
            place: column[rows]
            for place, column in sorted(side.items())
            if column.ndim and len(column) == length and place != scores_at
        }
        table = np.stack(list(columns.values()), axis=1)
        changed = np.append(np.any(np.abs(np.diff(table, axis=0)) > 1e-12, axis=1), True)
        sides.append((list(columns), side[scores_at][rows][changed], table[changed]))
        assert np.isposinf(side[scores_at][rows[-1]]), what
    assert sides[0][0] == sides[1][0], what
    equal(sides[0][1], sides[1][1], f"{what}: scores")
    equal(sides[0][2], sides[1][2], f"{what}: {sides[0][0]}")
    for place, column in there.items():
        if not column.ndim:
            equal(here[place], column, f"{what}: {place}")


def same_statistics(ours: Leaves, theirs: Leaves) -> None:
    """``(statistics by class, clips)``."""
    same(within(ours, "1"), within(theirs, "1"))
    same_curves("0")(within(ours, "0"), within(theirs, "0"))


def within(tree: Leaves, *keys: str) -> dict[str, NDArray[Any]]:
    """The part of a tree below a path."""
    prefix = "/".join(keys) + "/"
    return {
        path.removeprefix(prefix): column for path, column in tree.items() if path.startswith(prefix)
    }


def same_areas(scores_at: str, order: tuple[str, str]) -> Callable[[Leaves, Leaves], None]:
    """``(values, curves)``."""

    def compare(ours: Leaves, theirs: Leaves) -> None:
        same(within(ours, "0"), within(theirs, "0"))
        same_curves(scores_at, order)(within(ours, "1"), within(theirs, "1"))

    return compare


def same_rocs(ours: Leaves, theirs: Leaves) -> None:
    """``(areas by class, curves)``: the curves; theirs has areas under steps."""
    assert within(ours, "0").keys() == within(theirs, "0").keys()
    same_curves("2", ("1", "0"))(within(ours, "1"), within(theirs, "1"))
    for label, (here, _) in groups(within(ours, "1"), {}).items():
        tpr, fpr = here["0"], here["1"]
        lines = np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2)
        np.testing.assert_allclose(ours[f"0/{label}"], lines, atol=1e-12)


def same_best(ours: Leaves, theirs: Leaves) -> None:
    """The best value of each class and the macro average; other places may have it as well."""
    assert ours.keys() == theirs.keys()
    for path, value in within(theirs, "0").items():
        if path != "micro_average":
            equal(ours[f"0/{path}"], value, path)


def same_psds(ours: Leaves, theirs: Leaves) -> None:
    """Values and curves; of the scores of a curve only how many: several may have the same rates."""
    assert ours.keys() == theirs.keys()
    for path, column in theirs.items():
        is_score = path.endswith("/2") and column.ndim == 1
        if is_score:
            assert ours[path].shape == column.shape
        else:
            equal(ours[path], column, path)


def same_independent(ours: Leaves, theirs: Leaves) -> None:
    """The same, without the scores and numbers of the post-processings of equally good points."""
    same_psds(
        *(
            {path: one for path, one in tree.items() if not path.endswith("/3")}
            for tree in (ours, theirs)
        )
    )


def same_resamples(compare: Callable[[Leaves, Leaves], None]) -> Callable[[Leaves, Leaves], None]:
    """A list with a tuple for each value: compared resample by resample."""

    def each(ours: Leaves, theirs: Leaves) -> None:
        resampled = {path.split("/")[1] for path in theirs}
        assert resampled == {path.split("/")[1] for path in ours}
        for number in resampled:
            compare(of_resample(ours, number), of_resample(theirs, number))

    return each


def of_resample(tree: Leaves, number: str) -> Leaves:
    parts = {path: path.split("/") for path in tree}
    return {
        "/".join([place[0], *place[2:]]): tree[path]
        for path, place in parts.items()
        if place[1] == number
    }


def same_deltas(ours: Leaves, theirs: Leaves) -> None:
    """Changes at distinct scores, summed up where theirs has a score several times, zeros left out."""

    def added_up(tree: Leaves) -> dict[str, dict[float, float]]:
        found: dict[str, dict[float, float]] = {}
        for path, changes in tree.items():
            clip, label, place, *name = path.split("/")
            if place == "1":
                scores = np.atleast_1d(tree[f"{clip}/{label}/0"])
                sums: dict[float, float] = {}
                for score, change in zip(scores.tolist(), np.atleast_1d(changes).tolist(), strict=True):
                    sums[score] = sums.get(score, 0) + change
                found["/".join([clip, label, *name])] = {
                    score: change for score, change in sums.items() if abs(change) > 1e-9
                }
        return found

    here, there = added_up(ours), added_up(theirs)
    assert here.keys() == there.keys()
    for path, changes in there.items():
        assert here[path] == pytest.approx(changes, abs=1e-9), path


# The calls


INTERSECTION = {"dtc_threshold": 0.7, "gtc_threshold": 0.7}
LOOSE = {"dtc_threshold": 0.1, "gtc_threshold": 0.1}
COLLAR = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
SEGMENT = {"segment_length": 0.5}
CROSS = {**LOOSE, "cttc_threshold": 0.3}
PSDS1 = {**INTERSECTION, "alpha_st": 1.0}
PSDS2 = {**CROSS, "alpha_ct": 0.5, "alpha_st": 1.0}
FILTERS = [0.15, 0.45]
FEW = {"n_folds": 3, "n_iterations": 2}


def metric_calls(package: str, data: tuple[Any, ...], options: Mapping[str, Any]) -> list[Call]:
    """What all criteria have."""
    pr, f = same_curves("2", ("1", "0")), same_curves("3")
    at = (*data, 0.45)
    calls = [
        Call(f"{package}.accumulated_intermediate_statistics", data, options, same_statistics),
        Call(f"{package}.precision_recall_curve", data, options, pr),
        Call(f"{package}.fscore_curve", data, {**options, "beta": 2.0}, f),
        Call(f"{package}.fscore", at, options, same),
        Call(f"{package}.fscore", at, {**options, "beta": 0.5}, same),
        Call(f"{package}.best_fscore", data, options, same_best),
        Call(f"{package}.best_fscore", data, {**options, "min_precision": 0.4}, same_best),
        Call(f"{package}.best_fscore", data, {**options, "min_recall": 0.6, "beta": 2.0}, same_best),
        Call(f"{package}.error_rate_curve", data, options, f),
        Call(f"{package}.best_error_rate", data, options, same_best),
    ]
    if package != "intersection_based":  # it fails there
        calls.append(Call(f"{package}.error_rate", at, options, same))
    if package in ("segment_based", "clip_based"):
        calls += [
            Call(f"{package}.average_precision", data, options, same_areas("2", ("1", "0"))),
            Call(f"{package}.roc_curve", data, options, same_curves("2", ("1", "0"))),
            Call(f"{package}.auroc", data, options, same_rocs),
        ]
    return calls


def with_deltas(package: str, finder: Call, calls: list[Call]) -> list[Call]:
    """Deltas first, then calls that are given them."""
    given = [
        Call(
            call.function,
            (None, *call.data[1:]),
            {**call.arguments, "deltas": "$0"},
            call.compare,
        )
        for call in calls
    ]
    return [finder, *given]


EVENTS = ("$scores", "$truth")
DATA = (*EVENTS, "$durations")
PSDS_CALLS = [
    Call("intersection_based.psds", DATA, PSDS1, same_psds),
    Call("intersection_based.psds", DATA, PSDS2, same_psds),
    Call("intersection_based.psds", DATA, {**PSDS1, "max_efpr": 3, "unit_of_time": "minute"}, same_psds),
    Call("intersection_based.psd_roc", DATA, PSDS2, same_psds),
    Call("intersection_based.psd_roc", DATA, {**PSDS1, "max_efpr": None}, same_psds),
]
SEQUENCES: dict[str, list[Call]] = {
    "intersection": [*metric_calls("intersection_based", EVENTS, INTERSECTION), *PSDS_CALLS],
    "cross-triggers": [
        Call("intersection_based.accumulated_intermediate_statistics", EVENTS, CROSS, same_statistics)
    ],
    "intersection deltas": with_deltas(
        "intersection_based",
        Call("intersection_based.intermediate_statistics_deltas", EVENTS, INTERSECTION, same_deltas),
        [*metric_calls("intersection_based", EVENTS, INTERSECTION), PSDS_CALLS[0]],
    ),
    "cross-trigger deltas": with_deltas(
        "intersection_based",
        Call("intersection_based.intermediate_statistics_deltas", EVENTS, CROSS, same_deltas),
        [PSDS_CALLS[1], PSDS_CALLS[3]],
    ),
    "collar": [
        *metric_calls("collar_based", EVENTS, COLLAR),
        Call(
            "collar_based.accumulated_intermediate_statistics",
            EVENTS,
            {"onset_collar": 0.1, "offset_collar": 0.3},
            same_statistics,
        ),
    ],
    "errors of pairs": [
        Call(
            "collar_based.fscore",
            (*EVENTS, 0.45),
            {**COLLAR, "return_onset_offset_dist_sum": True},
            same,
        ),
    ],
    "collar deltas": with_deltas(
        "collar_based",
        Call("collar_based.intermediate_statistics_deltas", EVENTS, COLLAR, same_deltas),
        metric_calls("collar_based", EVENTS, COLLAR),
    ),
    "segment": metric_calls("segment_based", DATA, SEGMENT),
    "segment deltas": with_deltas(
        "segment_based",
        Call(
            "segment_based.intermediate_statistics.intermediate_statistics_deltas",
            DATA,
            SEGMENT,
            same_deltas,
        ),
        metric_calls("segment_based", DATA, SEGMENT),
    ),
    "clip": metric_calls("clip_based", ("$scores", "$tags"), {}),
    "clip deltas": with_deltas(
        "clip_based",
        Call(
            "clip_based.intermediate_statistics.intermediate_statistics_deltas",
            ("$scores", "$tags"),
            {},
            same_deltas,
        ),
        metric_calls("clip_based", ("$scores", "$tags"), {}),
    ),
    "independent": [
        Call(
            "intersection_based.median_filter_independent_psds",
            DATA,
            {**PSDS1, "median_filter_lengths_in_sec": FILTERS},
            same_independent,
        ),
        Call(
            "intersection_based.postprocessing_independent_psds",
            DATA,
            {**PSDS2, "postprocessing_functions": [{"$median": seconds} for seconds in FILTERS]},
            same_independent,
        ),
        Call(
            "intersection_based.postprocessing_independent_psd_roc",
            DATA,
            {**PSDS1, "postprocessing_functions": None, "scores_processed": ["$scores"]},
            same_independent,
        ),
        Call("intersection_based.psds", (["$scores"], *DATA[1:]), PSDS1, same_psds),
        Call("collar_based.fscore", (["$scores"], "$truth", 0.45), COLLAR, same),
    ],
    "detection": [
        Call("base_modules.detection.scores_to_event_list", ("$scores", 0.4), {}, same),
        Call("base_modules.postprocessing.medfilt", ("$scores", 0.0), {}, same),
    ],
    "median filter": [
        Call("base_modules.postprocessing.medfilt", ("$scores", 0.1), {}, same),
        Call("base_modules.postprocessing.medfilt", ("$scores", [0.1, 0.0, 0.3, 0.14]), {}, same),
    ],
    "resampled": [
        Call(
            "intersection_based.bootstrapped_psds",
            DATA,
            {**PSDS1, **FEW},
            same_resamples(same_psds),
        ),
        Call(
            "intersection_based.bootstrapped_psds",
            DATA,
            {**PSDS2, **FEW},
            same_resamples(same_psds),
        ),
        Call(
            "collar_based.bootstrapped_fscore",
            (*EVENTS, 0.45),
            {**COLLAR, **FEW},
            same_resamples(same),
        ),
        Call(
            "intersection_based.bootstrapped_median_filter_independent_psds",
            DATA,
            {**PSDS1, **FEW, "median_filter_lengths_in_sec": FILTERS},
            same_resamples(same_independent),
        ),
        Call(
            "intersection_based.bootstrapped_postprocessing_independent_psds",
            DATA,
            {**PSDS1, **FEW, "postprocessing_functions": [{"$median": 0.15}]},
            same_resamples(same_independent),
        ),
    ],
}


# The sets


@dataclass(frozen=True)
class Case:
    """Calls on a set."""

    scores: sed.Scores
    truth: sed.GroundTruth
    calls: tuple[Call, ...]

    def question(self) -> dict[str, Any]:
        return {
            "judge": "calls",
            "package": "sed_scores_eval",
            "calls": [call.described() for call in self.calls],
        }

    def ours(self) -> Verdict:
        frame = import_module(f"{PACKAGE}.base_modules.scores").create_score_dataframe
        clips = list(self.scores)
        assert self.truth.durations is not None
        names = {
            "scores": {
                clip: frame(self.scores[clip].values, self.scores[clip].edges, list(self.scores.classes))
                for clip in clips
            },
            "truth": {clip: self.truth.events(clip) for clip in clips},
            "tags": {clip: sorted({event[2] for event in self.truth.events(clip)}) for clip in clips},
            "durations": {
                clip: ticks / 1e6
                for clip, ticks in zip(self.truth.clips, self.truth.durations.tolist(), strict=True)
                if clip in self.scores
            },
        }
        return leaves(results_of(PACKAGE, [call.described() for call in self.calls], names))


def made_up(name: str) -> tuple[sed.Scores, sed.GroundTruth]:
    if name == "simulated":
        truth = sed.simulate.ground_truth(40, classes=4)
        return sed.simulate.scores(truth), truth
    number = int(name.split("-")[1])
    rng = np.random.default_rng([number, 8])
    return random_set(rng, KINDS[number % len(KINDS)], coarse=True, never=False)


def fits(name: str, sequence: str) -> bool:
    """Resampling needs many clips, medians of an odd number of frames those of 20 ms; the errors of
    pairs are the same where no pairs compete."""
    suited = {
        "resampled": ["simulated"],
        "median filter": ["simulated"],
        "errors of pairs": ["simulated", "excerpt"],
    }
    return name in suited.get(sequence, SETS)


def cases_of(name: str, scores: sed.Scores, truth: sed.GroundTruth) -> dict[str, Case]:
    """One for each sequence of calls, with clips of whole segments where those are judged."""
    whole = in_whole_segments(scores, truth, 0.5)
    cases = {}
    for sequence, calls in SEQUENCES.items():
        if fits(name, sequence):
            of_segments = sequence.startswith("segment")
            cases[f"{name}:{sequence}"] = Case(scores, whole if of_segments else truth, tuple(calls))
    return cases


@pytest.fixture(scope="module")
def judged_made_up(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    cases: dict[str, Case] = {}
    for name in SETS:
        if name != "excerpt":
            cases |= cases_of(name, *made_up(name))
    verdicts = judge(peers_python, tmp_path_factory.mktemp("made_up"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.fixture(scope="module")
def judged_excerpt(
    peers_python: Path, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    scores, truth = excerpt_scores(data), excerpt_truth(data)
    chosen = sed.GroundTruth.from_dict(
        {clip: truth.events(clip) for clip in scores}, durations=dict.fromkeys(scores, 10.0)
    )
    cases = cases_of("excerpt", scores, chosen)
    verdicts = judge(peers_python, tmp_path_factory.mktemp("excerpt"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.mark.parametrize(
    "name",
    [f"{name}:{sequence}" for name in SETS for sequence in SEQUENCES if fits(name, sequence)],
)
def test_same_results(request: pytest.FixtureRequest, name: str) -> None:
    batch = "judged_excerpt" if name.startswith("excerpt") else "judged_made_up"
    case, verdict = request.getfixturevalue(batch)[name]
    ours = case.ours()
    assert verdict
    for number, call in enumerate(case.calls):
        try:
            call.compare(within(ours, str(number)), within(verdict, str(number)))
        except AssertionError as error:
            raise AssertionError(f"{call.function} {dict(call.arguments)}: {error}") from error
