"""Let the peers judge a batch of cases.

This runs in the peers' Python, which has no sedscope: ``python -m tests.support.peers.judge FOLDER``.
It reads ``FOLDER/cases.json`` and ``FOLDER/scores.npz`` and writes ``FOLDER/verdicts.npz``.

A case is ``{"name", "classes", "clips", "judge", …}``: the clips as ``{clip: {"duration", "events":
[(onset, offset, label), …]}}``, the scores as arrays ``name/clip/values`` and ``name/clip/edges``, times
in seconds. The judge is one of `JUDGES`, and its docstring says what else the case holds. All verdicts
are arrays, ``name/…``.

The peers are imported where they are used, because tests import this package where they are missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from .calls import called, psds_eval_points, signatures
from .cases import Arrays, score_tables
from .mir_eval_onsets import onset_f_measures
from .psds_eval_uses import psds_eval_uses
from .pyannote_metrics import detected_time
from .timescoring_events import any_overlap
from .values import (
    bootstrapped,
    by_criterion,
    median_filter_independent,
    median_filtered,
    psds_of_detections,
    psds_of_scores,
)


def judge(folder: Path) -> None:
    """Judge all cases of a folder."""
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    verdicts: Arrays = {}
    with np.load(folder / "scores.npz", allow_pickle=False) as arrays:
        for case in cases:
            verdict = JUDGES[case["judge"]](case, score_tables(case, arrays))
            for key, array in verdict.items():
                verdicts[f"{case['name']}/{key}"] = array
    np.savez(folder / "verdicts.npz", **verdicts)


JUDGES = {
    "calls": called,
    "psds_eval points": psds_eval_points,
    "signatures": signatures,
    "psds": psds_of_scores,
    "psds_eval": psds_of_detections,
    "criterion": by_criterion,
    "median": median_filtered,
    "mipsds": median_filter_independent,
    "bootstrap": bootstrapped,
    "psds_eval uses": psds_eval_uses,
    "time": detected_time,
    "any overlap": any_overlap,
    "onsets": onset_f_measures,
}

if __name__ == "__main__":
    judge(Path(sys.argv[1]))
