"""Sets and metrics that tests of reports share."""

from __future__ import annotations

from typing import Any

import sedscope as sed
from sedscope.metrics import Metric

METRICS: tuple[Metric[Any], ...] = (
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar()),
    sed.AUROC(sed.Segment(1.0, cross_triggers=True)),
)


HOSTILE = {
    "</script><script>document.title = 'broken'</script>": "Cat",
    "<img src=x onerror=\"document.title = 'broken'\">": "Dog",
    "שלום \u202e\"quoted\" & 'single'": "Dishes",
    "x" * 200: "Speech",
    "constructor": "Frying",
}


def simulated_set(clips: int = 60, quality: float = 0.6) -> tuple[sed.Scores, sed.GroundTruth]:
    """A small set on which a system makes errors of every kind."""
    truth = sed.simulate.ground_truth(clips, seed=3)
    return sed.simulate.scores(truth, quality=quality, seed=3), truth


def hostile_set() -> tuple[sed.Scores, sed.GroundTruth]:
    """The same with labels and clip names that break a page unless they are escaped."""
    scores, truth = simulated_set(30)
    renamed = {usual: odd for odd, usual in HOSTILE.items()}
    names = {clip: f"{clip}<b onclick='x'>\u2028&amp;" for clip in scores}
    arrays = {names[clip]: scores[clip].values for clip in scores}
    events = {
        names[clip]: [(on, off, renamed.get(label, label)) for on, off, label in truth.events(clip)]
        for clip in truth.clips
    }
    return (
        sed.Scores.from_arrays(
            arrays, classes=[renamed.get(label, label) for label in scores.classes], frame=0.02
        ),
        sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 10.0)),
    )
