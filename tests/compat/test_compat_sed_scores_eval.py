"""The drop-in for sed_scores_eval, judged by the original: both get the same arguments.

It runs in its own environment (``make peers``). Cases keep clear of what is known to differ
(``docs/differences.md``), or ``compat_comparing`` puts it on equal terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.compat.calls import SEQUENCES, Call
from ..support.compat.comparison import within
from ..support.peers.calls import leaves, results_of
from ..support.peers.judge_process import Verdict, judge
from ..support.random_sets import in_whole_segments, random_set
from ..support.real_data import excerpt_scores, excerpt_truth

PACKAGE = "sedscope.compat.sed_scores_eval"
KINDS = ("plateaus", "float32", "walk")
RANDOM = [f"random-{i}" for i in range(6)]
SETS = [*RANDOM, "simulated", "excerpt"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


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
        calls = [call.described_for_drop_in() for call in self.calls]
        return leaves(results_of(PACKAGE, calls, names))


def made_up(name: str) -> tuple[sed.Scores, sed.GroundTruth]:
    if name == "simulated":
        truth = sed.simulate.ground_truth(40, classes=4)
        return sed.simulate.scores(truth), truth
    number = int(name.split("-")[1])
    rng = np.random.default_rng([number, 8])
    return random_set(rng, KINDS[number % len(KINDS)], coarse=True, never=False)


def fits(name: str, sequence: str) -> bool:
    """Resampling needs many clips, medians of an odd number of frames those of 20 ms; the errors of
    pairs are the same where no pairs compete; psds_eval, which compares floats, finds the same where
    no share is met exactly, and so does sed_scores_eval with more decimals."""
    suited = {
        "resampled": ["simulated"],
        "median filter": ["simulated"],
        "errors of pairs": ["simulated", "excerpt"],
        "approximate": ["simulated", "excerpt"],
        "full last segments": RANDOM,
        "fewer decimals": [*RANDOM[:3], "excerpt"],
        "more decimals": ["excerpt", "simulated"],
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
    "name", [f"{name}:{sequence}" for name in SETS for sequence in SEQUENCES if fits(name, sequence)]
)
def test_same_results(
    request: pytest.FixtureRequest, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # clips of a few frames, made longer to fill whole segments
    monkeypatch.setattr("sedscope.alignment.coverage._REFUSED", 100)
    batch = "judged_excerpt" if name.startswith("excerpt") else "judged_made_up"
    case, verdict = request.getfixturevalue(batch)[name]
    ours = case.ours()
    assert verdict
    for number, call in enumerate(case.calls):
        try:
            call.compare(within(ours, str(number)), within(verdict, str(number)))
        except AssertionError as error:
            raise AssertionError(f"{call.function} {dict(call.arguments)}: {error}") from error
