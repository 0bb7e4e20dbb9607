"""The incumbents as judges: sed_scores_eval at every threshold, psds_eval at chosen ones.

They run in their own environment (``make peers``), one process for a batch of cases. Where they define
something differently, or not at all, the cases keep clear of it:

- sed_scores_eval refuses classes without references, so each class has one there. psds_eval leaves
  such classes out, as sedscope does, so some classes have none there.
- sed_scores_eval refuses touching references of a class. What it counts is well defined for them, and
  the judge lifts the check.
- sed_scores_eval rounds needed times to microseconds, as sedscope does, but halves down as well as up,
  and what is below half a microsecond to nothing: see the last test. Frames and references here last
  a millisecond or more, and common shares of them are not halves.
- sed_scores_eval fails on a class of which no count ever changes. No set is that small here.
- psds_eval adds up ratios of floats and may miss a needed share that is met exactly. The shares in
  its cases are such that no whole number of time steps meets them.
- psds_eval counts no false positives after the end of a clip. No clip ends before its scores do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.data.times import SECONDS_PER_UNIT

from ..support import oracle
from ..support.peers.judge_process import Verdict, judge
from ..support.random_sets import KINDS, random_set
from ..support.real_data import excerpt_scores, excerpt_truth

RANDOM = [f"random-{i}" for i in range(100)]
CHOSEN = [f"chosen-{i}" for i in range(10)]
SIMULATED = ["simulated-1", "simulated-2"]
ROUNDING = ["rounding-half", "rounding-none"]
EXCERPT = ["excerpt-1", "excerpt-2"]
EXCERPT_CHOSEN = "excerpt-chosen"
EVERY_THRESHOLD = [*RANDOM, *SIMULATED, *EXCERPT]
CHOSEN_THRESHOLDS = [*CHOSEN, EXCERPT_CHOSEN]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Case:
    """What is judged; with thresholds by psds_eval, without by sed_scores_eval."""

    scores: sed.Scores
    truth: sed.GroundTruth
    metrics: tuple[sed.PSDS, ...]
    """All of one criterion."""
    thresholds: tuple[float, ...] = ()

    @property
    def criterion(self) -> sed.Intersection:
        return self.metrics[0].criterion

    def question(self) -> dict[str, Any]:
        psds = [
            {
                "alpha_ct": psds.alpha_ct,
                "alpha_st": psds.alpha_st,
                "max_efpr": psds.max_efpr,
                "unit": psds.unit,
            }
            for psds in self.metrics
        ]
        shares = {"dtc": self.criterion.dtc, "gtc": self.criterion.gtc, "cttc": self.criterion.cttc}
        judge = "psds_eval" if self.thresholds else "psds"
        return {"judge": judge, **shares, "psds": psds, "thresholds": self.thresholds}

    def counts(self) -> sed.Counts:
        """At every threshold, whatever the metrics' limits."""
        return sed.deltas(self.scores, self.truth, self.criterion, clips="scored").counts()


# The cases


def random_case(name: str) -> Case:
    """A few short clips; the name is the seed, and says which judge the case is for."""
    family, number = name.split("-")
    chosen = family == "chosen"
    rng = np.random.default_rng([int(number), int(chosen)])
    kind = KINDS[int(number) % len(KINDS)]
    scores, truth = random_set(rng, kind, coarse=chosen, with_references=2 if chosen else None)
    criterion = random_criterion(rng, never_met_exactly=chosen)
    assert truth.durations is not None
    seconds = float(truth.durations.sum()) / 1e6
    thresholds: list[float] = []
    if chosen:
        distinct = np.unique(np.concatenate([clip.values.ravel() for clip in scores.values()]))
        below_the_maximum = distinct[np.isfinite(distinct)][:-1]
        thresholds = rng.permutation(below_the_maximum)[:5].tolist()
    return Case(
        scores,
        truth,
        metrics=tuple(random_psds(rng, criterion, seconds, chosen=chosen) for _ in range(3)),
        thresholds=tuple(thresholds),
    )


def random_criterion(rng: np.random.Generator, *, never_met_exactly: bool) -> sed.Intersection:
    if never_met_exactly:  # by n steps unless n is a multiple of 10,000
        dtc, gtc, cttc = rng.choice([0.1003, 0.3001, 0.5007, 0.7001], 3).tolist()
        return sed.Intersection(dtc, gtc, cttc)
    common, odd = rng.choice([0.1, 0.25, 0.3, 0.5, 0.5, 0.7, 1.0], 3), rng.uniform(0.02, 1, 3).round(3)
    dtc, gtc, cttc = np.where(rng.random(3) < 0.7, common, odd).tolist()
    return sed.Intersection(dtc, gtc, cttc if rng.random() < 0.6 else None)


def random_psds(
    rng: np.random.Generator, criterion: sed.Intersection, seconds: float, *, chosen: bool
) -> sed.PSDS:
    """The limit allows for a few false positives, or for more than there can be."""
    unit = str(rng.choice([unit for unit in SECONDS_PER_UNIT if unit != "second" or not chosen]))
    return sed.PSDS(
        criterion,
        alpha_ct=float(rng.choice([0, 0.5, 1])) if criterion.cttc else 0.0,
        alpha_st=float(rng.choice([0, 0.5, 1])),
        max_efpr=float(rng.choice([rng.uniform(0.5, 15), 1000])) / seconds * SECONDS_PER_UNIT[unit],
        unit=unit,
    )


def with_presets(scores: sed.Scores, truth: sed.GroundTruth, name: str) -> Case:
    psds = sed.presets.PSDS1 if name.endswith("-1") else sed.presets.PSDS2
    plain = sed.PSDS(psds.criterion, max_efpr=1000)
    return Case(scores, truth, (psds, plain))


def simulated_case(name: str) -> Case:
    truth = sed.simulate.ground_truth(40)
    return with_presets(sed.simulate.scores(truth), truth, name)


def excerpt_case(name: str, data: Path) -> Case:
    scores, truth = excerpt_scores(data), excerpt_truth(data)
    if name != EXCERPT_CHOSEN:
        return with_presets(scores, truth, name)
    # times are whole milliseconds: only lengths of whole seconds could meet these exactly
    criterion = sed.Intersection(0.701, 0.701, 0.301)
    metrics = (sed.PSDS(criterion, alpha_ct=0.5, alpha_st=1), sed.PSDS(criterion))
    return Case(scores, truth, metrics, (0.02, 0.1, 0.3, 0.5, 0.7, 0.9))


def rounding_case(name: str) -> Case:
    """A detection of which too little lies in the reference before it, and then another one far off.

    Half: of 5 µs, 2.5 µs are needed, which is 3 if halves are rounded up and 2 if down. None: of 1 µs,
    0.3 µs are needed, which is at least 1 or, rounded, nothing.
    """
    share, length, overlap = {"rounding-half": (0.5, 5, 2), "rounding-none": (0.3, 1, 0)}[name]
    clip = sed.ClipScores.from_ticks(
        [[-np.inf], [1.0], [-np.inf], [0.5]], np.array([0, 100, 100 + length, 500, 1000])
    )
    events = {"clip": [(50e-6, (100 + overlap) / 1e6, "Dog")]}
    return Case(
        scores=sed.Scores(["clip"], lambda _: clip, classes=["Dog"]),
        truth=sed.GroundTruth.from_dict(events, durations={"clip": 1e-3}),
        metrics=(sed.PSDS(sed.Intersection(share, 1.0)),),
    )


# The judges


Judged = tuple[Case, Verdict]


@pytest.fixture(scope="module")
def judged_made_up(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    cases = {name: random_case(name) for name in [*RANDOM, *CHOSEN]}
    cases |= {name: simulated_case(name) for name in SIMULATED}
    cases |= {name: rounding_case(name) for name in ROUNDING}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("made_up"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.fixture(scope="module")
def judged_excerpt(
    peers_python: Path, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Judged]:
    cases = {name: excerpt_case(name, data) for name in [*EXCERPT, EXCERPT_CHOSEN]}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("excerpt"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.fixture
def judged(request: pytest.FixtureRequest) -> Judged:
    """The case of the name that the test is given, and its verdict."""
    batch = "judged_excerpt" if request.param.startswith("excerpt") else "judged_made_up"
    case: Judged = request.getfixturevalue(batch)[request.param]
    return case


# The tests


@pytest.mark.parametrize("judged", EVERY_THRESHOLD, indirect=True)
def test_counts_at_every_threshold(judged: Judged) -> None:
    case, verdict = judged
    counts = case.counts()
    for label in case.scores.classes:
        of_class = counts[label]
        others = [m for m in case.scores.classes if m != label and case.criterion.cttc]
        expected = np.stack(
            [
                verdict[f"counts/{label}/{name}"][-2::-1]  # the last row is "nothing detected"
                for name in ("scores", "tps", "fps", *(f"cts/{other}" for other in others))
            ]
        )
        # its tables also have rows where changes in several clips add up to none
        changed = np.diff(expected[1:], axis=1, prepend=0).any(axis=0)
        crossed = [of_class.ct(other) for other in others]
        got = np.stack([of_class.scores.astype(np.float64), of_class.tp, of_class.fp, *crossed])
        np.testing.assert_array_equal(got, expected[:, changed], err_msg=label)
        assert of_class.references == verdict[f"counts/{label}/n_ref"]
        assert of_class.reference_time == pytest.approx(float(verdict[f"counts/{label}/t_ref"]))


@pytest.mark.parametrize("judged", EVERY_THRESHOLD, indirect=True)
def test_psds_and_psd_rocs(judged: Judged) -> None:
    case, verdict = judged
    evaluation = sed.evaluate(case.scores, case.truth, case.metrics, clips="scored")
    for i, psds in enumerate(case.metrics):
        result = evaluation[psds]
        assert_same_steps(
            (result.curve.efpr, result.curve.etpr),
            (verdict[f"psds/{i}/efpr"], verdict[f"psds/{i}/etpr"]),
            end=psds.max_efpr,
            tolerance=1e-12,  # of means and deviations
        )
        assert result.value == pytest.approx(float(verdict[f"psds/{i}/value"]), abs=1e-9)
        for label, of_class in result.per_class.items():
            of_judge = {name: verdict[f"psds/{i}/{label}/{name}"] for name in ("efpr", "tpr", "value")}
            assert_same_steps(
                (of_class.curve.efpr, of_class.curve.tpr),
                (of_judge["efpr"], of_judge["tpr"]),
                end=psds.max_efpr,
            )
            assert of_class.value == pytest.approx(float(of_judge["value"]), abs=1e-9)


def assert_same_steps(
    got: tuple[NDArray[Any], NDArray[Any]],
    expected: tuple[NDArray[Any], NDArray[Any]],
    *,
    end: float,
    tolerance: float = 0.0,
) -> None:
    """The heights are the same between all steps of either curve that are not one but for rounding."""
    steps = np.unique(np.concatenate([got[0], expected[0], [0.0, end]]))
    steps = steps[steps <= end]
    between = ((steps[1:] + steps[:-1]) / 2)[np.diff(steps) > 1e-9 * steps[1:]]
    assert len(between)
    height, expected_height = (
        y[np.searchsorted(x, between, side="right") - 1] for x, y in (got, expected)
    )
    np.testing.assert_allclose(height, expected_height, rtol=0, atol=tolerance)


@pytest.mark.parametrize("judged", CHOSEN_THRESHOLDS, indirect=True)
def test_counts_at_chosen_thresholds(judged: Judged) -> None:
    case, verdict = judged
    counts = case.counts()
    labels = verdict["classes"].tolist()
    assert labels == sorted(label for label in counts if counts[label].references)
    assert len(verdict["points"]) == len(case.thresholds)
    for threshold, expected in zip(case.thresholds, verdict["points"], strict=True):
        got = np.zeros((len(labels), len(labels) + 1))
        for i, label in enumerate(labels):
            at = counts.at([threshold])[label]
            if len(at.scores):  # something is detected
                got[i, :-1] = [at.ct(other)[0] for other in labels]
                got[i, i], got[i, -1] = at.tp[0], at.fp[0]
        np.testing.assert_array_equal(got, expected, err_msg=f"threshold {threshold}")


@pytest.mark.parametrize("judged", CHOSEN_THRESHOLDS, indirect=True)
def test_psds_over_chosen_thresholds(judged: Judged) -> None:
    case, verdict = judged
    counts = case.counts().at(case.thresholds)
    for i, psds in enumerate(case.metrics):
        expected = float(verdict[f"psds/{i}/value"])
        assert psds.measure(counts).value == pytest.approx(expected, abs=1e-9)


def test_the_random_cases_hold_what_they_are_for() -> None:
    found = crossed = met_exactly = 0
    for case in map(random_case, RANDOM):
        counts, criterion = case.counts(), case.criterion
        found += any(of_class.tp.any() for of_class in counts.values())
        crossed += any(len(of_class.cross_rows) for of_class in counts.values())
        # of a share that is met exactly, a little more is not met
        dtc, gtc = (min(1.0, share + 1e-4) for share in (criterion.dtc, criterion.gtc))
        stricter = sed.Intersection(dtc, gtc, criterion.cttc)
        others = sed.deltas(case.scores, case.truth, stricter).counts()
        met_exactly += any(
            not np.array_equal(getattr(counts[label], name), getattr(others[label], name))
            for label in counts
            for name in ("tp", "fp")
        )
    assert found > 80
    assert crossed > 40
    assert met_exactly > 20
    without = [
        label
        for case in map(random_case, CHOSEN)
        for label in set(case.scores.classes).difference(case.truth.labels)
    ]
    assert without


@pytest.mark.parametrize("judged", ROUNDING, indirect=True)
def test_where_the_judge_rounds_differently(judged: Judged) -> None:
    case, verdict = judged
    clip, criterion = case.scores["clip"], case.criterion
    same = oracle.Clip(
        edges=clip.ticks.tolist(),
        scores={"Dog": clip.values[:, 0].tolist()},
        references=[(round(on * 1e6), round(off * 1e6), m) for on, off, m in case.truth.events("clip")],
        duration=1000,
    )
    expected = oracle.intersection_counts([same], "Dog", dtc=criterion.dtc, gtc=criterion.gtc)
    assert {score: count.fp for score, count in expected.items()} == {1.0: 1, 0.5: 2}
    counts = case.counts()["Dog"]
    assert (counts.scores.tolist(), counts.fp.tolist()) == ([1.0, 0.5], [1, 2])
    # to the judge the first detection is relevant, and only the second one is false
    assert verdict["counts/Dog/scores"].tolist() == [0.5, np.inf]
    assert verdict["counts/Dog/fps"].tolist() == [1, 0]
