"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.three_systems import write_systems


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, one of them with a second run, on the same clips."""
    place = tmp_path_factory.mktemp("three_systems")
    write_systems(place)
    return place
