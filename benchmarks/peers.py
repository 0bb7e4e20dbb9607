"""What the peers find on the same sets, and how long it takes them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed

from .sets import COLLAR_F1, FILTER, MIPSDS1, PSDS1, PSDS2

PEERS_PYTHON = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
PEER = "sed_scores_eval 0.0.4"
COLLAR = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
FSCORES: dict[str, tuple[str, dict[str, float]]] = {
    "collar F1": ("collar", COLLAR),
    "intersection F1": ("intersection", {"dtc_threshold": 0.5, "gtc_threshold": 0.5}),
}


def peer_times(
    scores: sed.Scores, truth: sed.GroundTruth, *, sweeps: bool = False
) -> dict[str, dict[str, float]]:
    """What the peer finds on the same set, and how long it takes: with filters, or else without."""
    assert truth.durations is not None
    described = {
        "clips": list(scores),
        "classes": scores.classes,
        "frame": float(scores[next(iter(scores))].edges[1]),
        "events": {clip: truth.events(clip) for clip in truth.clips},
        "durations": {
            clip: ticks / 1e6 for clip, ticks in zip(truth.clips, truth.durations.tolist(), strict=True)
        },
        "psds": {},
        "collar_fscore": {},
        "independent_psds": {},
        "filtered_fscore": {},
        "fscores": {},
    }
    if sweeps:
        described["independent_psds"] = {
            repr(MIPSDS1): {
                "dtc_threshold": MIPSDS1.criterion.dtc,
                "gtc_threshold": MIPSDS1.criterion.gtc,
                "alpha_st": MIPSDS1.alpha_st,
                "max_efpr": MIPSDS1.max_efpr,
                "median_filter_lengths_in_sec": [0.1 + 0.2 * k for k in range(11)],
            }
        }
        described["filtered_fscore"] = {"filtered": (FILTER.seconds, COLLAR)}
    else:
        described["psds"] = {repr(metric): psds_options(metric) for metric in (PSDS1, PSDS2)}
        described["collar_fscore"] = {repr(COLLAR_F1): COLLAR}
        described["fscores"] = FSCORES
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "set.json").write_text(json.dumps(described))
        np.savez(Path(folder, "set.npz"), scores=np.stack([clip.values for clip in scores.values()]))
        job = [str(PEERS_PYTHON), str(Path(__file__).parent / "peer.py"), folder]
        done = subprocess.run(job, check=True, capture_output=True, text=True)
    result: dict[str, dict[str, float]] = json.loads(done.stdout)
    return result


def psds_options(metric: sed.PSDS) -> dict[str, Any]:
    """What the peer calls the parts of a PSDS."""
    return {
        "dtc_threshold": metric.criterion.dtc,
        "gtc_threshold": metric.criterion.gtc,
        "cttc_threshold": metric.criterion.cttc,
        "alpha_ct": metric.alpha_ct,
        "alpha_st": metric.alpha_st,
        "max_efpr": metric.max_efpr,
    }


def require_same(what: str, ours: float, theirs: float) -> None:
    """Stop unless both tools agree."""
    if abs(ours - theirs) > 1e-9:
        raise SystemExit(f"{what}: {ours} here, {theirs} by {PEER}")
