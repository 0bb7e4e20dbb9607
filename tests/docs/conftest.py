"""The files that the examples of the documentation read."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed

from ..support.files import write_durations


@pytest.fixture(scope="module")
def small_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples read."""
    folder = tmp_path_factory.mktemp("documentation")
    truth = sed.simulate.ground_truth(30)
    sed.write_scores(sed.simulate.scores(truth), folder / "scores")
    sed.write_scores(sed.simulate.scores(truth, quality=0.8, seed=1), folder / "other_scores")
    sed.write_ground_truth(truth, folder / "ground_truth.tsv")
    write_durations(truth, folder / "durations.tsv")
    return folder
