"""Floors estimated from a sample of clips: the result is the same, right or wrong."""

from __future__ import annotations

import numpy as np
import pytest

import sedscope as sed
from sedscope.data.scores import ClipScores
from sedscope.engines import floor_search

PSDS = [
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=1.62, unit="minute"),
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=1.62, unit="minute"),
]


@pytest.mark.parametrize("lift", [0.0, 10.0, np.inf])
def test_a_guess_changes_nothing(lift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(160, events_per_minute=4, seed=3)
    made = sed.simulate.scores(truth, frame=0.1, seed=3)
    monkeypatch.setattr(floor_search, "_SAMPLE", 40)
    monkeypatch.setattr(floor_search, "_BYTES_BEFORE_FLOORS", 0)
    sampled = {truth.clips[i] for i in np.linspace(0, 159, 40).astype(int)}
    reads: list[str] = []

    def load(clip: str) -> ClipScores:
        """Where the clips of the sample lie higher than all others, the guess is too high."""
        reads.append(clip)
        loud = np.float32(lift if clip in sampled else 0)
        return ClipScores.from_ticks(made[clip].values + loud, made[clip].ticks)

    lazy = sed.Scores.from_function(truth.clips, load, classes=made.classes)
    arrays = {clip: load(clip).values for clip in truth.clips}
    held = sed.Scores.from_arrays(arrays, classes=made.classes, frame=0.1)
    reads.clear()
    found, expected = sed.evaluate(lazy, truth, PSDS), sed.evaluate(held, truth, PSDS)
    assert found.scalars() == expected.scalars()
    times_read = 2 if lift else 1
    assert len(reads) == 160 * times_read + 40 + 1
    for psds in PSDS:
        for label in found.classes:
            one, other = (result[psds].per_class[label].curve for result in (found, expected))
            np.testing.assert_array_equal(one.scores, other.scores)
            assert (
                found.counts[psds.criterion][label].floor == expected.counts[psds.criterion][label].floor
            )


def test_many_recordings_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(60, events_per_minute=4, seed=4)
    made = sed.simulate.scores(truth, frame=0.1, seed=4)
    monkeypatch.setattr(floor_search, "_SAMPLE", 20)

    def pieces(clip: str) -> sed.ClipPieces:
        return sed.ClipPieces(lambda: np.array_split(made[clip].values, 3), edges=made[clip].edges)

    cut = sed.Scores.from_function(truth.clips, pieces, classes=made.classes)
    expected = sed.evaluate(made, truth, PSDS).scalars()
    assert sed.evaluate(cut, truth, PSDS).scalars() == expected
    monkeypatch.setattr(floor_search, "_BYTES_BEFORE_FLOORS", 0)
    assert sed.evaluate(cut, truth, PSDS).scalars() == expected
