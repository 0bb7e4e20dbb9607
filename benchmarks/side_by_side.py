"""``python -m benchmarks.side_by_side``: what other tools do, and what replaces them; time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed

from .peers import PEERS_PYTHON
from .replaced_tool import TOOLS
from .sets import simulated

CLIPS = 1168


def main() -> None:
    """Print a table with a row for each tool."""
    print("| tool | work | CPU time | with sedscope | ratio | added memory | with sedscope | values |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        _write_set(Path(folder))
        for name, work in TOOLS.items():
            theirs, ours = (_measured(name, side, folder) for side in ("peer", "sedscope"))
            cells = [name, str(work.__doc__).rstrip("."), f"{theirs['seconds']:.3g} s"]
            cells += [f"{ours['seconds']:.3g} s", f"{theirs['seconds'] / ours['seconds']:.2g} ×"]
            cells += [f"{side['megabytes']:.0f} MB" for side in (theirs, ours)]
            cells.append(f"{theirs['value']:.6f}, {ours['value']:.6f}")
            print("| " + " | ".join(cells) + " |", flush=True)


def _write_set(folder: Path) -> None:
    """Simulate a set, and write its scores, and its detections at 50 thresholds and at one."""
    scores, truth = simulated(CLIPS)
    np.save(folder / "scores.npy", np.stack([scores[clip].values for clip in truth.clips]))
    sets = sed.approximate(scores, (np.arange(50) + 0.5) / 50)
    assert truth.durations is not None
    described = {
        "frame": 0.02,
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
