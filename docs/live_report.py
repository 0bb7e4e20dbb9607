"""Write the report that the site shows, of two simulated systems."""

from __future__ import annotations

from pathlib import Path

import sedscope as sed


def write_live_report(page: Path) -> None:
    """Compare two systems on 120 simulated clips, and write the report."""
    page.parent.mkdir(parents=True, exist_ok=True)
    truth = sed.simulate.ground_truth(120, seed=1)
    systems = {
        "baseline": sed.simulate.scores(truth, quality=0.65, seed=1),
        "proposed": sed.simulate.scores(truth, quality=0.8, seed=2),
    }
    comparison = sed.compare(systems, truth, ["psds1", "psds2", "best_collar_f1"], resampling=200)
    comparison.report(page, clips_shown=20)
