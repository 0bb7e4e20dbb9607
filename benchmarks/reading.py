"""Reading scores in every format."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import sedscope as sed
from sedscope.counting.clip_reader import read_each, thread_count

from .peers import PEER, PEERS_PYTHON
from .sets import PSDS1, PSDS2, simulated
from .timing import Row, seconds

STORED = {"tsv": "", "store": ".store", "npz": ".npz", "hdf5": ".h5", "parquet": ".parquet"}


def reading(clips: int) -> list[Row]:
    """The same scores in every format: tables against the peer, a store and others against tables."""
    scores, truth = simulated(clips)
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / f"scores{suffix}" for name, suffix in STORED.items()}
        for name, place in places.items():
            sed.write_scores(scores, place, format=name)
        paths = sorted(places["tsv"].iterdir())
        plain, *measured = seconds(
            lambda: [path.read_bytes() for path in paths], *map(_read_all, places.values()), repeat=5
        )
        times = dict(zip(places, measured, strict=True))
        job = [str(PEERS_PYTHON), str(Path(__file__).parent / "peer_reading.py"), str(places["tsv"])]
        peer = float(subprocess.run(job, check=True, capture_output=True, text=True).stdout)
        (end_to_end,) = seconds(
            lambda: sed.evaluate(sed.read_scores(places["tsv"]), truth, [PSDS1, PSDS2]), repeat=3
        )
        sizes = {name: _megabytes(place) for name, place in places.items()}
    tables = f"{clips} TSV files, {sizes['tsv']:.0f} MB"
    rows = [
        Row(f"read {tables}", times["tsv"], f"{PEER}, read_sed_scores", peer / times["tsv"], "≥ 3"),
        Row(f"read {tables}", times["tsv"], "a plain read of the bytes", times["tsv"] / plain, "≤ 4"),
        Row(f"PSDS 1 and 2 from {tables}", end_to_end, "reading them", end_to_end / times["tsv"]),
    ]
    bars = {"store": "≥ 20"}
    return rows + [
        Row(
            f"read the same as {name}, {sizes[name]:.0f} MB",
            times[name],
            "the TSV files",
            times["tsv"] / times[name],
            bars.get(name),
        )
        for name in places
        if name != "tsv"
    ]


def _read_all(place: Path) -> Callable[[], object]:
    """Every clip of a set, as evaluation reads them; all pages of an array are touched."""

    def read() -> list[float]:
        scores = sed.read_scores(place)
        loaded = read_each(scores, list(scores), thread_count(None))
        return [float(clip.values.max()) for clip in loaded if isinstance(clip, sed.ClipScores)]

    return read


def _megabytes(place: Path) -> float:
    files = [place] if place.is_file() else [*place.iterdir()]
    return sum(file.stat().st_size for file in files) / 1e6
