"""``python -m tests.peers.parity``: the table of ``docs/parity.md``, with the judges of ``make peers``.

Tools that a registry has are asked again, here and by the tests. For evaluators that are no packages, the
table has what a comparison found once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sedscope as sed

from ..support.peers.judge_process import Verdict, judge
from ..support.project import ROOT
from . import (
    test_peers,
    test_peers_any_overlap,
    test_peers_chunks,
    test_peers_criteria,
    test_peers_onsets,
    test_peers_time,
)

PAGE = ROOT / "docs" / "parity.md"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->"
HEADER = ["evaluator", "tasks", "compared", "cases", "largest difference", "checked"]
Cases = Mapping[str, Any]
Pairs = Iterator[tuple[float, float]]
"""A value of sedscope and that of the judge."""


@dataclass(frozen=True)
class Comparison:
    """What a judge is asked, and what sedscope answers."""

    evaluator: str
    tasks: str
    compared: str
    cases: Callable[[], Cases]
    pairs: Callable[[Any, Verdict], Pairs]

    def row(self, folder: Path) -> list[str]:
        """Ask the judge, and return a row of the table."""
        cases = self.cases()
        verdicts = judge(PEERS, folder, cases)
        pairs = [pair for name, case in cases.items() for pair in self.pairs(case, verdicts[name])]
        ours, theirs = np.array(pairs).T
        defined = ~np.isnan(ours)
        largest = float(np.abs(ours - theirs)[defined].max())
        numbers = f"{len(cases)} sets, {int(defined.sum())} values"
        if not defined.all():
            numbers += f"; {int((~defined).sum())} more are not defined in sedscope"
        return [self.evaluator, self.tasks, self.compared, numbers, bound(largest), "by the tests"]


def bound(largest: float) -> str:
    """Return 0, or the smallest of some powers of ten above a difference: it is the same on all machines."""
    if largest == 0:
        return "0"
    return next(
        f"below {text}" for text in ("1e-12", "1e-9", "1e-6", "1e-3", "1") if largest < float(text)
    )


def psds(case: Any, verdict: Verdict) -> Pairs:
    """Each PSDS, and that of each class."""
    result = sed.evaluate(case.scores, case.truth, case.metrics, clips="scored")
    for i, metric in enumerate(case.metrics):
        yield result[metric].value, float(verdict[f"psds/{i}/value"])
        for label, of_class in result[metric].per_class.items():
            yield of_class.value, float(verdict[f"psds/{i}/{label}/value"])


def psds_at_thresholds(case: Any, verdict: Verdict) -> Pairs:
    counts = case.counts().at(case.thresholds)
    for i, metric in enumerate(case.metrics):
        yield metric.measure(counts).value, float(verdict[f"psds/{i}/value"])


def criteria(case: Any, verdict: Verdict) -> Pairs:
    """F-scores and error rates at a threshold and at the best one, and average precision."""
    counts, criterion = case.counts(), case.criterion
    for metric, key in (
        (sed.FScore(criterion, case.threshold, case.beta), "f_at/{}"),
        (sed.ErrorRate(criterion, case.threshold), "er_at/{}"),
        (sed.BestFScore(criterion, case.beta), "best_f/{}/value"),
        (sed.BestErrorRate(criterion), "best_er/{}/value"),
        (sed.AveragePrecision(criterion), "ap/{}"),
    ):
        for label, of_class in metric.measure(counts).per_class.items():
            yield of_class.value, float(verdict[key.format(label)])


def maestro(case: Any, verdict: Verdict) -> Pairs:
    result = sed.evaluate(case.scores, case.truth, test_peers_chunks.METRICS)
    keys = ("best_f/macro_average/value", "auroc/mean", "pauroc/mean")
    for metric, key in zip(test_peers_chunks.METRICS, keys, strict=True):
        yield result[metric].value, float(verdict[key])


def time(case: Any, verdict: Verdict) -> Pairs:
    counts = case.counts()
    for i, threshold in enumerate(case.thresholds):
        for k, metric in enumerate(case.metrics(threshold)):
            for label, of_class in metric.measure(counts).per_class.items():
                yield of_class.value, float(verdict[label][i, k])


def any_overlap(case: Any, verdict: Verdict) -> Pairs:
    counts = sed.deltas(case.scores, case.truth, case.criterion).counts()
    for label, of_class in counts.items():
        for i, threshold in enumerate(test_peers_any_overlap.THRESHOLDS):
            tally = of_class.tally_at(threshold)
            ours = (tally.tp, tally.fp, of_class.references)
            yield from zip(ours, verdict[label][i].tolist(), strict=True)


def onsets(case: Any, verdict: Verdict) -> Pairs:
    criterion = sed.Onset(case.tolerance)
    for clip in case.scores:
        counts = sed.deltas(case.peaks, case.truth, criterion, clips=[clip]).counts()
        for i, threshold in enumerate(test_peers_onsets.THRESHOLDS):
            for k, kind in enumerate((sed.FScore, sed.Precision, sed.Recall)):
                for label, of_class in kind(criterion, threshold).measure(counts).per_class.items():
                    yield of_class.value, float(verdict[f"{clip}/{label}"][i, k])


def usual_criteria() -> Cases:
    truth = sed.simulate.ground_truth(40)
    scores = sed.simulate.scores(truth)
    usual = test_peers_criteria.usual
    cases = {name: test_peers_criteria.random_case(name) for name in test_peers_criteria.RANDOM}
    return cases | {name: usual(scores, truth, name) for name in test_peers_criteria.SIMULATED}


def psds_cases() -> Cases:
    cases = {name: test_peers.random_case(name) for name in test_peers.RANDOM}
    return cases | {name: test_peers.simulated_case(name) for name in test_peers.SIMULATED}


COMPARISONS = [
    Comparison(
        "sed_scores_eval 0.0.4",
        "`dcase2021_task4`, `dcase2022_task4`, `dcase2023_task4a`, `dcase2024_task4`",
        "PSDS, of all classes and of each",
        psds_cases,
        psds,
    ),
    Comparison(
        "sed_scores_eval 0.0.4",
        "`dcase2018_task4`, `dcase2019_task4`, `dcase2020_task4`, `dcase2023_task4b`",
        "F-scores, error rates and average precision by collars, segments, clips and intersections",
        usual_criteria,
        criteria,
    ),
    Comparison(
        "sed_scores_eval 0.0.4, on chunks joined by the rule of the DCASE 2024 baseline",
        "`dcase2023_task4b`, `dcase2024_task4`",
        "best F-score, AUROC and mpAUC of 1 s segments",
        lambda: {name: test_peers_chunks.as_case(set_) for name, set_ in test_peers_chunks.SETS.items()},
        maestro,
    ),
    Comparison(
        "psds_eval 0.5.3",
        "`dcase2020_task4`",
        "PSDS at some thresholds",
        lambda: {name: test_peers.random_case(name) for name in test_peers.CHOSEN},
        psds_at_thresholds,
    ),
    Comparison(
        "pyannote.metrics 3.2.1",
        "",
        "`Time`: error rate, cost, precision, recall, accuracy",
        lambda: {name: test_peers_time.made_up(name) for name in test_peers_time.CASES},
        time,
    ),
    Comparison(
        "timescoring 0.0.7",
        "",
        "`AnyOverlap`: true positives, false positives, references",
        lambda: {
            name: test_peers_any_overlap.made_up(*case)
            for name, case in test_peers_any_overlap.CASES.items()
        },
        any_overlap,
    ),
    Comparison(
        "mir_eval 0.8.2",
        "",
        "`Onset`: F-score, precision, recall of each clip",
        lambda: {str(seed): test_peers_onsets.random_case(seed) for seed in range(30)},
        onsets,
    ),
]
BY_RULES = "by a brute force and by hand, after the rules"
STORED = [
    [
        "scikit-learn 1.9.1",
        "`dcase2023_task4b`, `dcase2024_task4`",
        "curves, average precision and AUROC, also partial, of segments and clips",
        "82 sets",
        "below 1e-11",
        "by the tests (`tests/metrics/test_sklearn.py`)",
    ],
    [
        "sed_scores_eval c7a3b71",
        "as 0.0.4",
        "PSDS 1 and 2, four F-scores, average precision of segments; DESED validation set with a DCASE 2021 "
        "baseline, and 20 clips of a DCASE 2023 baseline",
        "2 sets, 162 values",
        "below 1e-12",
        "where the data are (`tests/evaluation/test_reference_values.py`)",
    ],
    [
        "sed_eval 0.2.1",
        "`dcase2016_task3`, `dcase2017_task2`, `dcase2017_task3`, `dcase2018_task4`, `dcase2019_task4`, "
        "`dcase2020_task4`",
        "all numbers and reports of the drop-in for events, segments, scenes and tags",
        "195 sets",
        "0",
        "by the tests (`tests/peers/test_peers_sed_eval.py`)",
    ],
    [
        "evaluator of DCASE Task 5",
        "`dcase_task5`",
        "counts and F-scores",
        "400 sets",
        "0 in 394 sets; [two differences](differences.md#bioacoustic-tasks) explain 6",
        "once",
    ],
    [
        "evaluator of BioDCASE Task 2",
        "`biodcase_task2`",
        "the rules; sedscope follows the description [where they differ](differences.md#bioacoustic-tasks)",
        "none",
        "",
        BY_RULES,
    ],
    [
        "evaluator of QVHighlights, which lighthouse uses",
        "`dcase2026_task6`",
        "the rules, with [some differences](differences.md#scored-events-and-retrieval)",
        "none",
        "",
        BY_RULES,
    ],
    [
        "evaluator of ActivityNet",
        "`activitynet`",
        "the rules, with [some differences](differences.md#scored-events-and-retrieval)",
        "none",
        "",
        BY_RULES,
    ],
]


def table() -> str:
    """Ask all judges, and return the table."""
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        rows = [comparison.row(Path(folder)) for comparison in COMPARISONS]
    lines = [HEADER, ["---"] * len(HEADER), *rows, *STORED]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def parts_of_page() -> tuple[str, str, str]:
    """Return what stands before the table, the table, and what stands behind it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    stored, _, after = rest.partition(END)
    return before + BEGIN, stored, END + after


if __name__ == "__main__":
    before, _, after = parts_of_page()
    PAGE.write_text(before + table() + after, encoding="utf-8")
