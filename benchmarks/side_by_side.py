"""``python -m benchmarks.side_by_side``: what other tools do, and what replaces them; time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np

import sedscope as sed

from .peers import PEERS_PYTHON
from .replaced_tool import TOOLS
from .sets import real, simulated

PROCESSES = 3
Load: TypeAlias = Callable[[], tuple[sed.Scores, sed.GroundTruth] | None]
SETS: dict[str, tuple[Load, int]] = {
    "1168 × 500 × 10, simulated": (partial(simulated, 1168), 50),
    "1168 × 157 × 10, real": (real, 10),
}
"""Each set, and the number of thresholds for psds_eval."""


def main() -> None:
    """Print a table with a row for each set and tool."""
    print(
        "| set | tool | work | first call | with sedscope | ratio | later calls | added memory | values |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for title, (load, thresholds) in SETS.items():
        data = load()
        if data is None:
            print(f"{title}: not measured, the data are not here", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            _write_set(Path(folder), *data, thresholds)
            for name, work in TOOLS.items():
                doc = (
                    str(work.__doc__).rstrip(".").replace("some thresholds", f"{thresholds} thresholds")
                )
                print(_row([title, name, doc], name, folder), flush=True)


def _row(cells: list[str], tool: str, folder: str) -> str:
    """Return a row of the table: medians of fresh processes, of both sides in turn."""
    runs = [[_measured(tool, side, folder) for side in ("peer", "sedscope")] for _ in range(PROCESSES)]
    theirs, ours = (
        {key: median(run[key] for run in side) for key in side[0]} for side in zip(*runs, strict=True)
    )
    cells += [f"{side['first']:.2g} s" for side in (theirs, ours)]
    cells += [f"{theirs[key] / ours[key]:.2g} ×" for key in ("first", "later")]
    cells.append(", ".join(f"{side['megabytes']:.0f} MB" for side in (theirs, ours)))
    cells.append(f"{theirs['value']:.6f}, {ours['value']:.6f}")
    return "| " + " | ".join(cells) + " |"


def _write_set(folder: Path, scores: sed.Scores, truth: sed.GroundTruth, thresholds: int) -> None:
    """Write the scores of a set, and its detections at some thresholds and at one."""
    np.save(folder / "scores.npy", np.stack([scores[clip].values for clip in truth.clips]))
    sets = sed.approximate(scores, (np.arange(thresholds) + 0.5) / thresholds)
    assert truth.durations is not None
    described = {
        "frame": float(scores[truth.clips[0]].edges[1]),
        "clips": truth.clips,
        "classes": scores.classes,
        "durations": dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True)),
        "events": {clip: truth.events(clip) for clip in truth.clips},
        "detections": [_rows(detections) for detections in sets.values()],
        "one_threshold": _rows(sed.detect(scores, 0.5)),
    }
    (folder / "set.json").write_text(json.dumps(described))


def _rows(detections: Any) -> list[list[Any]]:
    return [[clip, *event] for clip in detections for event in detections[clip]]


def _measured(tool: str, side: str, folder: str) -> dict[str, float]:
    """Measure in a process of its own."""
    python = str(PEERS_PYTHON) if side == "peer" else sys.executable
    script = str(Path(__file__).with_name("replaced_tool.py"))
    job = [python, "-W", "ignore", script, tool, side, folder]  # their warnings are many
    measured: dict[str, float] = json.loads(
        subprocess.run(job, check=True, stdout=subprocess.PIPE, text=True).stdout
    )
    return measured


if __name__ == "__main__":
    main()
