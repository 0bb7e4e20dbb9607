"""Sweeps over post-processings: the time per filter."""

from __future__ import annotations

import sedscope as sed

from .peers import PEER, peer_times, require_same
from .sets import COLLAR_F1, FILTER, FILTERS, MIPSDS1, PSDS1, evaluation, simulated
from .timing import Row, seconds

PER_FILTER = "one evaluation without a filter, per filter"


def sweeps(clips: int) -> list[Row]:
    """Many median filters against one evaluation without a filter, and the peer."""
    scores, truth = simulated(clips)
    plain_psds, plain_collar = evaluation(scores, truth, PSDS1), evaluation(scores, truth, COLLAR_F1)
    psds, collar, independent, tuning = seconds(
        lambda: [plain_psds() for _ in range(5)],
        lambda: [plain_collar() for _ in range(5)],
        evaluation(scores, truth, MIPSDS1),
        lambda: sed.tune(scores, truth, COLLAR_F1, FILTERS),
        repeat=4,
    )
    psds, collar = psds / 5, collar / 5
    of_psds = f"median-filter independent PSDS 1, {len(MIPSDS1.variants)} filters"
    of_collar = f"best collar F1 of {len(FILTERS)} median filters × 10 classes"
    peer = peer_times(scores, truth, sweeps=True)
    theirs = peer[repr(MIPSDS1)]
    require_same(repr(MIPSDS1), sed.evaluate(scores, truth, MIPSDS1)[MIPSDS1].value, theirs["value"])
    tuned = sed.tune(scores, truth, COLLAR_F1, [FILTER])
    require_same("filtered", tuned.value, peer["filtered"]["value"])
    return [
        Row(of_psds, independent, PER_FILTER, independent / len(MIPSDS1.variants) / psds, "≤ 2.5"),
        Row(of_collar, tuning, PER_FILTER, tuning / len(FILTERS) / collar, "≤ 1.5"),
        Row(of_psds, independent, PEER, theirs["seconds"] / independent),
        Row(
            of_collar,
            tuning,
            f"{PEER}, {len(FILTERS)} × one filter",
            len(FILTERS) * peer["filtered"]["seconds"] / tuning,
        ),
    ]
