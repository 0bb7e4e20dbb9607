"""Measurements that are kept in a folder, so that a system is measured once for all rankings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..io.checked_files import read_checked, write_checked
from ..io.output_targets import check_output
from .ranking import Estimate, MetricEstimate, RankedSet


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured of a system. Values of resamples are kept for its score alone."""

    score: FloatArray
    """The score in each resample."""
    metrics: Mapping[str, MetricEstimate]
    """By name. The first one is the score."""
    sets: Mapping[str, RankedSet] = field(default_factory=dict)
    """By name of the data set. Without a task, there is one without a name."""
    notes: tuple[str, ...] = ()


def keep(folder: Path, key: str, measurement: Measurement) -> None:
    """Write a measurement to the folder, under a digest of everything that it depends on."""
    check_output(folder, "folder")
    content = BytesIO()
    facts = {
        "metrics": {name: _plain(metric) for name, metric in measurement.metrics.items()},
        "sets": {name: vars(of_set) for name, of_set in measurement.sets.items()},
        "notes": measurement.notes,
    }
    np.savez(content, score=measurement.score, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8))
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
            metrics={name: _estimate(plain) for name, plain in facts["metrics"].items()},
            sets={
                name: RankedSet(**{**plain, "classes": tuple(plain["classes"])})
                for name, plain in facts["sets"].items()
            },
            notes=tuple(facts["notes"]),
        )


def _plain(metric: MetricEstimate) -> dict[str, Any]:
    """Return an estimate as JSON can hold it. Numbers keep all their digits."""
    return {
        "numbers": _numbers(metric),
        "runs": metric.runs,
        "classes": {label: _numbers(of_class) for label, of_class in metric.per_class.items()},
    }


def _numbers(estimate: Estimate) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]


def _estimate(plain: Mapping[str, Any]) -> MetricEstimate:
    per_class = {label: Estimate(*numbers) for label, numbers in plain["classes"].items()}
    value, low, high = plain["numbers"]
    return MetricEstimate(value, low, high, tuple(plain["runs"]), per_class)


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.ranked"
