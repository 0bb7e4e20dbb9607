"""Measurements that are kept in a folder, so that a system is measured once for all rankings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..io.checked_files import read_checked, write_checked
from ..io.output_targets import check_output


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured of a system. Values of resamples are kept for its score alone."""

    score: FloatArray
    """The score in each resample."""
    numbers: FloatArray
    """(metrics × (1 + classes) × 3) values with the ends of their intervals; first those of all classes."""
    runs: FloatArray
    """(metrics × runs) the value of each run."""
    hours: float
    """The duration of all clips."""
    notes: tuple[str, ...]

    @property
    def values(self) -> list[float]:
        """The value of each metric over all classes."""
        values: list[float] = self.numbers[:, 0, 0].tolist()
        return values


def keep(folder: Path, key: str, measurement: Measurement) -> None:
    """Write a measurement to the folder, under a digest of everything that it depends on."""
    check_output(folder, "folder")
    content = BytesIO()
    facts = json.dumps({"hours": measurement.hours, "notes": measurement.notes}).encode()
    np.savez(
        content,
        score=measurement.score,
        numbers=measurement.numbers,
        runs=measurement.runs,
        facts=np.frombuffer(facts, np.uint8),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SedscopeError(f"Cannot write to {folder}: {error.strerror or error}.") from None
    write_checked(_file(folder, key), content.getvalue())


def kept(folder: Path, key: str) -> Measurement | None:
    """Return the measurement of that key; None if there is none, or an incomplete or altered one."""
    content = read_checked(_file(folder, key))
    if content is None:
        return None
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        return Measurement(
            score=arrays["score"],
            numbers=arrays["numbers"],
            runs=arrays["runs"],
            hours=facts["hours"],
            notes=tuple(facts["notes"]),
        )


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.ranked"
