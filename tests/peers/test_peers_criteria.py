"""sed_scores_eval as the judge of every criterion: counts, curves and what is read off them.

As in ``test_peers``, the cases keep clear of what it defines differently or not at all; what that is has
tests of its own at the end, and is listed in ``docs/differences.md``. Here this is:

- Segments and clips have no scores of ``-inf``, which to it are scores like any other.
- Clips last until the end of their last segment, and segments have lengths that floats represent: it
  judges the last segment in full length, and rounding may give it one more.
- Its areas under ROCs are in steps, and for them the judge sorts in a stable way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.criteria import Criterion
from sedscope.metrics import ClassValue, ClasswiseMetric, Tally

from ..support.peers.judge_process import Verdict, judge
from ..support.random_sets import KINDS, in_whole_segments, random_set
from ..support.real_data import excerpt_scores, excerpt_truth

CRITERIA = ("collar", "segment", "clip", "intersection")
RANDOM = [f"{criterion}-{i}" for criterion in CRITERIA for i in range(25)]
SIMULATED = [f"simulated-{criterion}" for criterion in CRITERIA]
EXCERPT = [f"excerpt-{criterion}" for criterion in CRITERIA]
EVERY = [*RANDOM, *SIMULATED, *EXCERPT]
WITH_NEGATIVES = [name for name in EVERY if "segment" in name or "clip" in name]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Case:
    scores: sed.Scores
    truth: sed.GroundTruth
    criterion: Criterion
    beta: float = 1.0
    threshold: float = 0.5
    max_fpr: float = 0.1
    max_insertion_rate: float = 0.1

    def question(self) -> dict[str, Any]:
        package, options = _as_the_judge_says(self.criterion)
        return {
            "judge": "criterion",
            "criterion": package,
            "options": options,
            "beta": self.beta,
            "threshold": self.threshold,
            "max_fpr": self.max_fpr,
            "max_insertion_rate": self.max_insertion_rate,
        }

    def counts(self) -> sed.Counts:
        return sed.deltas(self.scores, self.truth, self.criterion, clips="scored").counts()


def _as_the_judge_says(criterion: Criterion) -> tuple[str, dict[str, Any]]:
    if isinstance(criterion, sed.Collar):
        return "collar_based", {
            "onset_collar": criterion.onset,
            "offset_collar": criterion.offset,
            "offset_collar_rate": criterion.offset_rate,
        }
    if isinstance(criterion, sed.Segment):
        return "segment_based", {"segment_length": criterion.length}
    if isinstance(criterion, sed.Intersection):
        shares = {"dtc_threshold": criterion.dtc, "gtc_threshold": criterion.gtc}
        return "intersection_based", {**shares, "cttc_threshold": None}
    return "clip_based", {}


# The cases


def random_case(name: str) -> Case:
    """The name says the criterion and is the seed."""
    family, number = name.split("-")
    rng = np.random.default_rng([int(number), 2 + CRITERIA.index(family)])
    kind = KINDS[int(number) % len(KINDS)]
    scores, truth = random_set(rng, kind, never=family in ("collar", "intersection"))
    criterion: Criterion
    if family == "collar":
        # a hundredth of a second is a frame or less, and some collars are wider than all events
        onset, offset = rng.choice([0.0, 0.01, 0.02, 0.05, 0.2], 2).tolist()
        criterion = sed.Collar(onset, offset, float(rng.choice([0.0, 0.2, 0.25, 0.5, 1.0])))
    elif family == "segment":
        criterion = sed.Segment(float(rng.choice([1 / 32, 1 / 16, 1 / 8])))
        truth = in_whole_segments(scores, truth, criterion.length)
    elif family == "clip":
        criterion = sed.Clip()
    else:
        criterion = sed.Intersection(*rng.choice([0.1, 0.3, 0.5, 0.7, 1.0], 2).tolist())
    return Case(
        scores,
        truth,
        criterion,
        beta=float(rng.choice([0.5, 1.0, 1.0, 2.0])),
        threshold=float(rng.choice([0.0, 0.5, 0.75])),
        max_fpr=float(rng.choice([0.1, 0.25, 0.7])),
    )


def usual(scores: sed.Scores, truth: sed.GroundTruth, name: str) -> Case:
    """The criterion as it is mostly used."""
    criteria: dict[str, Criterion] = {
        "collar": sed.Collar(),
        "segment": sed.Segment(1.0),
        "clip": sed.Clip(),
        "intersection": sed.Intersection(0.5, 0.5),
    }
    return Case(scores, truth, criteria[name.partition("-")[2]])


Judged = tuple[Case, Verdict]


@pytest.fixture(scope="module")
def judged_made_up(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    cases = {name: random_case(name) for name in RANDOM}
    truth = sed.simulate.ground_truth(40)
    scores = sed.simulate.scores(truth)
    cases |= {name: usual(scores, truth, name) for name in SIMULATED}
    cases |= DIFFERENT
    verdicts = judge(peers_python, tmp_path_factory.mktemp("made_up"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.fixture(scope="module")
def judged_excerpt(
    peers_python: Path, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Judged]:
    scores, truth = excerpt_scores(data), excerpt_truth(data)
    cases = {name: usual(scores, truth, name) for name in EXCERPT}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("excerpt"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.fixture
def judged(request: pytest.FixtureRequest) -> Judged:
    """The case of the name that the test is given, and its verdict."""
    batch = "judged_excerpt" if request.param.startswith("excerpt") else "judged_made_up"
    case: Judged = request.getfixturevalue(batch)[request.param]
    return case


# The tests


@pytest.mark.parametrize("judged", EVERY, indirect=True)
def test_counts_at_every_threshold(judged: Judged) -> None:
    case, verdict = judged
    for label, counts in case.counts().items():
        of_judge = {name: verdict[f"counts/{label}/{name}"] for name in ("scores", "tps", "fps")}
        # its tables also have rows where changes in several clips add up to none, and one for nothing
        expected = np.stack([of_judge[name][-2::-1] for name in of_judge])
        changed = np.diff(expected[1:], axis=1, prepend=0).any(axis=0)
        got = np.stack([counts.scores.astype(np.float64), counts.tp, counts.fp])
        np.testing.assert_array_equal(got, expected[:, changed], err_msg=label)
        assert counts.references == verdict[f"counts/{label}/n_ref"]


@pytest.mark.parametrize("judged", EVERY, indirect=True)
def test_curves(judged: Judged) -> None:
    case, verdict = judged
    for label, counts in case.counts().items():
        pr = sed.curves.precision_recall_curve(counts)
        same_curve(pr.scores, pr.precision, verdict, f"pr/{label}", "precision")
        same_curve(pr.scores, pr.recall, verdict, f"pr/{label}", "recall")
        fscores = sed.curves.fscore_curve(counts, case.beta)
        same_curve(fscores.scores, fscores.values, verdict, f"f/{label}", "values")
        errors = sed.curves.error_rate_curve(counts)
        same_curve(errors.scores, errors.values, verdict, f"er/{label}", "values")


def same_curve(
    scores: NDArray[Any], values: NDArray[Any], verdict: Verdict, curve: str, column: str
) -> None:
    """The values are the same wherever both have an operating point, which is at all scores."""
    of_judge = dict(zip(verdict[f"{curve}/scores"], verdict[f"{curve}/{column}"], strict=True))
    expected = [of_judge[score] for score in scores]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=curve)


@pytest.mark.parametrize("judged", EVERY, indirect=True)
def test_at_a_threshold(judged: Judged) -> None:
    case, verdict = judged
    counts = case.counts()
    fscore = sed.FScore(case.criterion, case.threshold, case.beta).measure(counts)
    errors = sed.ErrorRate(case.criterion, case.threshold).measure(counts)
    for result, what in ((fscore, "f_at"), (errors, "er_at")):
        expected = {label: float(verdict[f"{what}/{label}"]) for label in counts}
        got = {label: of_class.value for label, of_class in result.per_class.items()}
        assert got == pytest.approx(expected, abs=1e-12)
        macro = float(verdict[f"{what}/macro_average"])
        assert result.average("macro") == pytest.approx(macro, abs=1e-12)
    assert fscore.average("micro") == pytest.approx(float(verdict["f_at/micro_average"]), abs=1e-12)


@pytest.mark.parametrize("judged", EVERY, indirect=True)
def test_at_the_best_threshold(judged: Judged) -> None:
    case, verdict = judged
    counts = case.counts()
    fscore = sed.BestFScore(case.criterion, case.beta)
    same_best(case, verdict, fscore, "best_f", lambda tally: tally.fscore(case.beta))
    errors = sed.BestErrorRate(case.criterion)
    same_best(case, verdict, errors, "best_er", lambda tally: tally.error_rate)
    macro = fscore.measure(counts).average("macro")
    assert macro == pytest.approx(float(verdict["best_f/macro_average/value"]), abs=1e-12)
    macro = errors.measure(counts).average("macro")
    assert macro == pytest.approx(float(verdict["best_er/macro_average/value"]), abs=1e-12)


def same_best(
    case: Case,
    verdict: Verdict,
    metric: ClasswiseMetric[Any],
    what: str,
    quantity: Callable[[Tally], float],
) -> None:
    result = metric.measure(case.counts())
    all_the_same = True
    for label, best in result.per_class.items():
        of_judge = {
            name: verdict[f"{what}/{label}/{name}"] for name in ("value", "threshold", "tps", "fps")
        }
        assert best.value == pytest.approx(float(of_judge["value"]), abs=1e-12)
        assert best.tally is not None
        if (best.tally.tp, best.tally.fp) == (of_judge["tps"], of_judge["fps"]):
            changes = result.counts[label].scores
            scores = verdict[f"counts/{label}/scores"]
            same_threshold(best, float(of_judge["threshold"]), changes, scores)
            continue
        # of equally good ones it takes what rounding makes the best
        other = Tally(int(of_judge["tps"]), int(of_judge["fps"]), best.tally.references)
        assert quantity(other) == best.value
        all_the_same = False
    if all_the_same and what == "best_f":
        expected = float(verdict["best_f/micro_average/value"])
        assert result.average("micro_tuned") == pytest.approx(expected, abs=1e-12)


def same_threshold(
    best: ClassValue[Any], expected: float, changes: NDArray[Any], of_judge: NDArray[Any]
) -> None:
    """The judge also knows scores at which no count changes. Where the next lower one is such a score,
    its threshold lies higher between the same two changes."""
    assert best.threshold is not None
    if expected == -np.inf:  # below all scores
        assert best.threshold < of_judge[0]
    elif best.threshold != pytest.approx(expected, abs=1e-12):
        lower = of_judge[of_judge < expected][-1]
        assert best.threshold < expected
        assert lower not in changes


@pytest.mark.parametrize("judged", EVERY, indirect=True)
def test_average_precision(judged: Judged) -> None:
    case, verdict = judged
    result = sed.AveragePrecision(case.criterion).measure(case.counts())
    for label, of_class in result.per_class.items():
        expected = float(verdict[f"ap/{label}"])
        assert of_class.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("judged", WITH_NEGATIVES, indirect=True)
def test_roc(judged: Judged) -> None:
    case, verdict = judged
    for label, counts in case.counts().items():
        if counts.trials == counts.references:  # no negatives, no rate
            continue
        curve = sed.curves.roc_curve(counts)
        same_curve(curve.scores, curve.fpr, verdict, f"roc/{label}", "fpr")
        same_curve(curve.scores, curve.tpr, verdict, f"roc/{label}", "tpr")
        for what, end in (("auroc", 1.0), ("pauroc", case.max_fpr)):
            rates = np.unique(curve.fpr[curve.fpr <= end])
            heights = np.array([curve.tpr[curve.fpr == rate].max() for rate in rates])
            area = np.sum(heights * np.diff(rates, append=end)) / end
            assert area == pytest.approx(float(verdict[f"{what}/{label}"]), abs=1e-12)


def test_the_random_cases_hold_what_they_are_for() -> None:
    found = dict.fromkeys(CRITERIA, 0)
    for name in RANDOM:
        counts = random_case(name).counts()
        found[name.partition("-")[0]] += any(of_class.tp.any() for of_class in counts.values())
    assert min(found.values()) > 20
    relative = 0  # collars for which the length of a reference matters
    for name in RANDOM:
        case = random_case(name)
        if isinstance(case.criterion, sed.Collar):
            narrow = sed.Collar(case.criterion.onset, case.criterion.offset, 0.0)
            relative += any(
                not np.array_equal(of_class.tp, case.counts()[label].tp)
                for label, of_class in sed.deltas(case.scores, case.truth, narrow).counts().items()
            )
    assert relative > 5


# Where the judge differs

LIMITED = ["simulated-collar", "simulated-segment"]


def one_clip(
    criterion: Criterion,
    values: list[float],
    frame: float,
    reference: tuple[float, float],
    duration: float,
) -> Case:
    scores = sed.Scores.from_arrays({"clip": np.array(values)[:, None]}, classes=["Dog"], frame=frame)
    events = {"clip": [(*reference, "Dog")]}
    return Case(scores, sed.GroundTruth.from_dict(events, durations={"clip": duration}), criterion)


DIFFERENT = {
    # the clip ends in the middle of its second segment; a frame after that has the highest score
    "last-segment": one_clip(sed.Segment(1.0), [0.2, 0.2, 0.5, 0.9], 0.5, (0.0, 1.0), 1.5),
    # 2.1 / 0.3 is a little more than 7 in floats
    "one-segment-more": one_clip(sed.Segment(0.3), [0.5] * 7, 0.3, (0.0, 0.3), 2.1),
    # nothing is scored in the last second
    "without-scores": one_clip(sed.Segment(1.0), [-2.0, -1.0], 0.5, (0.0, 0.5), 2.0),
    "never": one_clip(sed.Segment(0.1), [-np.inf, 1.0, -np.inf], 0.1, (0.1, 0.2), 0.3),
}


@pytest.mark.parametrize("judged", ["last-segment"], indirect=True)
def test_the_judge_looks_beyond_the_end_of_the_clip(judged: Judged) -> None:
    case, verdict = judged
    assert table(case) == [(0.5, 0, 1), (0.2, 1, 1)]
    assert judged_table(verdict) == [(0.9, 0, 1), (0.2, 1, 1)]
    same = Case(case.scores, in_whole_segments(case.scores, case.truth, 1.0), case.criterion)
    assert table(same) == judged_table(verdict)


@pytest.mark.parametrize("judged", ["one-segment-more"], indirect=True)
def test_the_judge_has_one_segment_more(judged: Judged) -> None:
    case, verdict = judged
    assert table(case) == [(0.5, 1, 6)]
    assert judged_table(verdict) == [(0.5, 1, 6), (0.0, 1, 7)]


@pytest.mark.parametrize("judged", ["without-scores"], indirect=True)
def test_the_judge_scores_segments_without_scores_with_zero(judged: Judged) -> None:
    case, verdict = judged
    assert table(case) == [(-1.0, 1, 0)]
    assert judged_table(verdict) == [(0.0, 0, 1), (-1.0, 1, 1)]


@pytest.mark.parametrize("judged", ["never"], indirect=True)
def test_the_judge_detects_segments_of_minus_infinity(judged: Judged) -> None:
    #            0      0.1   0.2    0.3
    # scores     │ -inf │  1  │ -inf │
    # reference         ├─Dog─┤
    case, verdict = judged
    assert table(case) == [(1.0, 1, 0)]
    assert judged_table(verdict) == [(1.0, 1, 0), (-np.inf, 1, 2)]


def table(case: Case) -> list[tuple[float, int, int]]:
    counts = case.counts()["Dog"]
    rows = zip(counts.scores.tolist(), counts.tp.tolist(), counts.fp.tolist(), strict=True)
    return list(rows)


def judged_table(verdict: Verdict) -> list[tuple[float, int, int]]:
    columns = [verdict[f"counts/Dog/{name}"][-2::-1].tolist() for name in ("scores", "tps", "fps")]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("judged", LIMITED, indirect=True)
def test_the_judge_turns_limits_of_rates_round(judged: Judged) -> None:
    """Asked for few insertions, it takes the best of the points that have many, if there are any."""
    case, verdict = judged
    for label, counts in case.counts().items():
        tally = counts.tally()
        insertions = tally.fp / tally.references
        many = tally.error_rate[insertions >= case.max_insertion_rate]
        if len(many):
            assert verdict[f"limited/{label}/value"] == pytest.approx(many.min(), abs=1e-12)
            assert verdict[f"limited/{label}/insertions"] >= case.max_insertion_rate
