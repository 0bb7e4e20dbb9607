"""``python -m benchmarks``: sedscope, the sort it is measured by, and its peers, in one run."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.counting.clip_reader import read_each
from sedscope.counting.threads import thread_count
from sedscope.data.cached_scores import CachedScores
from sedscope.metrics import Metric
from sedscope.postprocessing import MedianFilter, parse_sweep

from .timing import Row, markdown, seconds

ROOT = Path(__file__).parent.parent
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PSDS1, PSDS2 = sed.presets.PSDS1, sed.presets.PSDS2
COLLAR_F1 = sed.BestFScore(sed.Collar())
# windows of an odd number of frames, of which all have the same idea of a median
MIPSDS1 = sed.PiPSDS(PSDS1.criterion, alpha_st=1, postprocessing="MedianFilter(0.1..2.1/0.2)")
FILTERS = parse_sweep("MedianFilter(0.02..1.94/0.08)")
FILTER = MedianFilter(0.5)  # with which the peer shows what one of them costs it
COLLAR = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
FSCORES: dict[str, tuple[str, dict[str, float]]] = {
    "collar F1": ("collar", COLLAR),
    "intersection F1": ("intersection", {"dtc_threshold": 0.5, "gtc_threshold": 0.5}),
}
SORT = "np.sort of the scores"
PEER = "sed_scores_eval 0.0.4"


def simulated(clips: int, frame: float = 0.02, **options: Any) -> tuple[sed.Scores, sed.GroundTruth]:
    """A simulated set in memory."""
    truth = sed.simulate.ground_truth(clips, **options)
    made = sed.simulate.scores(truth, frame=frame)
    arrays = {clip: made[clip].values for clip in made}
    return sed.Scores.from_arrays(arrays, classes=made.classes, frame=frame), truth


def in_memory(clips: int) -> list[Row]:
    """PSDS and full counts of a DESED-sized set against one sort of its scores, and the peer."""
    scores, truth = simulated(clips)
    by_class = np.concatenate([scores[clip].values for clip in scores]).T.copy()

    def evaluate(*metrics: Metric[Any]) -> Callable[[], object]:
        return lambda: sed.evaluate(scores, truth, metrics)

    def full_counts(criterion: sed.Intersection) -> Callable[[], object]:
        return lambda: sed.deltas(scores, truth, criterion).counts()

    sort, psds1, psds2, both, full, full_ct, collar = seconds(
        lambda: [np.sort(row) for row in by_class],
        evaluate(PSDS1),
        evaluate(PSDS2),
        evaluate(PSDS1, PSDS2),
        full_counts(PSDS1.criterion),
        full_counts(PSDS2.criterion),
        evaluate(COLLAR_F1),
    )
    size = f"{clips} × 500 × 10 float32"
    rows = [
        Row(f"PSDS 1, {size}", psds1, SORT, psds1 / sort, "≤ 0.4"),
        Row(f"PSDS 2, {size}", psds2, SORT, psds2 / sort, "≤ 1.0"),
        Row("PSDS 1 and PSDS 2 together", both, SORT, both / sort),
        Row("counts at every threshold, 0.7/0.7", full, SORT, full / sort, "≤ 1.0"),
        Row("counts at every threshold, 0.1/0.1/0.3", full_ct, SORT, full_ct / sort),
        Row(f"best collar F1, {size}", collar, SORT, collar / sort, "≤ 1.5"),
    ]
    peer = peer_times(scores, truth)
    independent, tuning = seconds(
        evaluate(MIPSDS1), lambda: sed.tune(scores, truth, COLLAR_F1, FILTERS), repeat=2
    )
    compared: list[tuple[str, Metric[Any], float, str | None]] = [
        (f"PSDS 1, {size}", PSDS1, psds1, "≥ 150"),
        (f"PSDS 2, {size}", PSDS2, psds2, "≥ 300"),
        (f"best collar F1, {size}", COLLAR_F1, collar, "≥ 80"),
        ("median-filter independent PSDS 1, 11 filters", MIPSDS1, independent, None),
    ]
    for work, metric, ours, bar in compared:
        theirs = peer[repr(metric)]
        _require_same(repr(metric), sed.evaluate(scores, truth, metric)[metric].value, theirs["value"])
        rows.append(Row(work, ours, PEER, theirs["seconds"] / ours, bar))
    tuned = sed.tune(scores, truth, COLLAR_F1, [FILTER])
    _require_same("filtered", tuned.value, peer["filtered"]["value"])
    rows.append(
        Row(
            f"best collar F1 of {len(FILTERS)} median filters × 10 classes",
            tuning,
            f"{PEER}, {len(FILTERS)} × one filter",
            len(FILTERS) * peer["filtered"]["seconds"] / tuning,
        )
    )
    return [*rows, drop_in(scores, truth, peer)]


def drop_in(scores: sed.Scores, truth: sed.GroundTruth, peer: dict[str, dict[str, float]]) -> Row:
    """The evaluation of a DCASE baseline through the drop-in, from pandas frames to results."""
    from sedscope.compat.sed_scores_eval import collar_based, intersection_based
    from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

    classes = list(scores.classes)
    frames = {
        clip: create_score_dataframe(of_clip.values, of_clip.edges, classes)
        for clip, of_clip in scores.items()
    }
    events = {clip: truth.events(clip) for clip in truth.clips}
    assert truth.durations is not None
    durations = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    packages = {"collar": collar_based, "intersection": intersection_based}

    def evaluate() -> dict[str, float]:
        found = {
            repr(metric): intersection_based.psds(frames, events, durations, **psds_options(metric))[0]
            for metric in (PSDS1, PSDS2)
        }
        for name, (package, options) in FSCORES.items():
            fscores, *_ = packages[package].fscore(frames, events, 0.5, **options)
            found[name] = fscores["macro_average"]
        return found

    for name, value in evaluate().items():
        _require_same(name, value, peer[name]["value"])
    (ours,) = seconds(evaluate, repeat=3)
    theirs = sum(peer[name]["seconds"] for name in evaluate())
    work = f"PSDS 1 and 2, collar and intersection F1 at 0.5 of {len(scores)} pandas frames, drop-in"
    return Row(work, ours, PEER, theirs / ours, "≥ 20")


def psds_options(metric: sed.PSDS) -> dict[str, Any]:
    """What the peer calls the parts of a PSDS."""
    return {
        "dtc_threshold": metric.criterion.dtc,
        "gtc_threshold": metric.criterion.gtc,
        "cttc_threshold": metric.criterion.cttc,
        "alpha_ct": metric.alpha_ct,
        "alpha_st": metric.alpha_st,
        "max_efpr": metric.max_efpr,
    }


def resampling(clips: int) -> list[Row]:
    """1000 resamples against one evaluation."""
    scores, truth = simulated(clips)
    metrics: dict[str, tuple[Metric[Any], str | None]] = {
        "PSDS 1": (PSDS1, "≤ 20"),
        "PSDS 2": (PSDS2, None),
        "best collar F1": (COLLAR_F1, None),
    }
    rows = []
    for name, (metric, bar) in metrics.items():
        once, often = seconds(
            _evaluate(scores, truth, metric), _resample(scores, truth, metric), repeat=3
        )
        rows.append(Row(f"1000 resamples of {name}", often, f"one {name}", often / once, bar))
    return rows


def _resample(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]) -> Callable[[], object]:
    return lambda: sed.bootstrap(sed.deltas(scores, truth, metric.criterion), metric)


def _require_same(what: str, here: float, there: float) -> None:
    if abs(here - there) > 1e-9:
        raise SystemExit(f"{what}: {here} here, {there} by {PEER}")


def peer_times(scores: sed.Scores, truth: sed.GroundTruth) -> dict[str, dict[str, float]]:
    """What the peer finds on the same set, and how long it takes."""
    assert truth.durations is not None
    described = {
        "clips": list(scores),
        "classes": scores.classes,
        "frame": float(scores[next(iter(scores))].edges[1]),
        "events": {clip: truth.events(clip) for clip in truth.clips},
        "durations": {
            clip: ticks / 1e6 for clip, ticks in zip(truth.clips, truth.durations.tolist(), strict=True)
        },
        "psds": {repr(metric): psds_options(metric) for metric in (PSDS1, PSDS2)},
        "collar_fscore": {repr(COLLAR_F1): COLLAR},
        "independent_psds": {
            repr(MIPSDS1): {
                "dtc_threshold": MIPSDS1.criterion.dtc,
                "gtc_threshold": MIPSDS1.criterion.gtc,
                "alpha_st": MIPSDS1.alpha_st,
                "max_efpr": MIPSDS1.max_efpr,
                "median_filter_lengths_in_sec": [0.1 + 0.2 * k for k in range(11)],
            }
        },
        "filtered_fscore": {"filtered": (FILTER.seconds, COLLAR)},
        "fscores": FSCORES,
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "set.json").write_text(json.dumps(described))
        np.savez(Path(folder, "set.npz"), scores=np.stack([clip.values for clip in scores.values()]))
        job = [str(PEERS_PYTHON), str(Path(__file__).parent / "peer.py"), folder]
        done = subprocess.run(job, check=True, capture_output=True, text=True)
    result: dict[str, dict[str, float]] = json.loads(done.stdout)
    return result


def long_recordings(hours: float) -> list[Row]:
    """One class at 50 frames a second: how time grows with the length of the recording."""
    lengths = (hours / 24, hours)
    metrics: dict[str, Metric[Any]] = {"PSDS 1": PSDS1, "best collar F1": COLLAR_F1}
    times: dict[str, list[float]] = {name: [] for name in metrics}
    for length in lengths:
        scores, truth = simulated(1, seconds=3600 * length, classes=1, events_per_minute=4)
        for name, metric in metrics.items():
            times[name] += seconds(_evaluate(scores, truth, metric))
    return [
        Row(
            f"{name}, one class, one recording of {hours:g} h, {len(truth)} references",
            long,
            f"{lengths[0]:g} h, per hour",
            long / short / (lengths[1] / lengths[0]),
            "≤ 1.1",
        )
        for name, (short, long) in times.items()
    ]


def _evaluate(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]) -> Callable[[], object]:
    return lambda: sed.evaluate(scores, truth, metric)


def reading(clips: int) -> list[Row]:
    """The same scores in every format: tables against the peer, a store and others against tables."""
    scores, truth = simulated(clips)
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / f"scores{suffix}" for name, suffix in STORED.items()}
        for name, place in places.items():
            sed.write_scores(scores, place, format=name)
        times = dict(zip(places, seconds(*map(_read_all, places.values()), repeat=3), strict=True))
        job = [str(PEERS_PYTHON), str(Path(__file__).parent / "peer_reading.py"), str(places["tsv"])]
        peer = float(subprocess.run(job, check=True, capture_output=True, text=True).stdout)
        (end_to_end,) = seconds(
            lambda: sed.evaluate(sed.read_scores(places["tsv"]), truth, [PSDS1, PSDS2]), repeat=3
        )
        sizes = {name: _megabytes(place) for name, place in places.items()}
    tables = f"{clips} TSV files, {sizes['tsv']:.0f} MB"
    rows = [
        Row(f"read {tables}", times["tsv"], f"{PEER}, read_sed_scores", peer / times["tsv"], "≥ 3"),
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


STORED = {"tsv": "", "store": ".store", "npz": ".npz", "hdf5": ".h5", "parquet": ".parquet"}


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


def report(clips: int) -> list[Row]:
    """A report, against the evaluation from files that it shows."""
    scores, truth = simulated(clips)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sed.write_scores(scores, folder / "scores")

        def evaluate() -> sed.Evaluation:
            read = CachedScores(sed.read_scores(folder / "scores"))
            return sed.evaluate(read, truth, [PSDS1, PSDS2])

        result = evaluate()
        evaluated, written = seconds(evaluate, lambda: result.report(folder / "report.html"), repeat=3)
        size = (folder / "report.html").stat().st_size / 1e6
    return [
        Row(
            f"report of {clips} clips, {size:.2f} MB",
            written,
            "its evaluation",
            written / evaluated,
            "≤ 1",
        )
    ]


def ranking(clips: int, systems: int = 3) -> list[Row]:
    """A ranking of systems in TSV files, against evaluating each of them with intervals."""
    truth = sed.simulate.ground_truth(clips)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(2):
            sed.write_scores(sed.simulate.scores(truth, quality=0.6 + 0.2 * k), folder / f"{k}")
        read = {f"system {k}": sed.read_scores(folder / f"{k % 2}") for k in range(systems)}

        def evaluate_each() -> None:
            for scores in read.values():
                sed.evaluate(scores, truth, [PSDS1, PSDS2], bootstrap=1000)

        def rank(checkpoint: Path | None = None) -> Callable[[], object]:
            return lambda: sed.rank(read, truth, [PSDS1, PSDS2], n=1000, checkpoint=checkpoint)

        rank(folder / "kept")()
        each, ranked, again = seconds(evaluate_each, rank(), rank(folder / "kept"), repeat=2)
    work = f"rank {systems} systems of {clips} TSV files, PSDS 1 and 2, 1000 resamples"
    return [
        Row(work, ranked, "evaluating each with intervals", ranked / each, "≤ 1.2"),
        Row("the same again, with a checkpoint", again, "the first time", again / ranked),
    ]


def training(clips: int) -> list[Row]:
    """An epoch of a training loop against one evaluation; left out where torch is not installed."""
    try:
        import torch

        from sedscope.torch import SEDMetric
    except ImportError as error:
        print(f"left out: the training loop ({error})", file=sys.stderr)
        return []
    scores, truth = simulated(clips)
    batches = [list(scores)[first : first + 48] for first in range(0, clips, 48)]
    values = [torch.from_numpy(np.stack([scores[clip].values for clip in batch])) for batch in batches]
    metric = SEDMetric(PSDS1, scores.classes, frame=0.02, truth=truth)

    def epoch() -> None:
        metric.reset()
        for batch, of_batch in zip(batches, values, strict=True):
            metric.update(of_batch, batch)
        metric.compute()

    once, all_batches = seconds(_evaluate(scores, truth, PSDS1), epoch)
    _require_same(
        "the training loop",
        metric.result()[PSDS1].value,
        sed.evaluate(scores, truth, PSDS1)[PSDS1].value,
    )
    return [
        Row(
            f"an epoch of PSDS 1 in the training loop, {len(batches)} batches",
            all_batches,
            "one PSDS 1",
            all_batches / once,
            "≤ 2",
        )
    ]


def starting() -> list[Row]:
    """What it costs to begin."""

    def run(*command: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)

    nothing, numpy, sedscope, used, shown = seconds(
        run("-c", "pass"),
        run("-c", "import numpy"),
        run("-c", "import sedscope"),
        run("-c", "import sedscope; sedscope.evaluate"),
        run("-m", "sedscope", "--help"),
    )
    return [
        Row(
            "import sedscope",
            sedscope - nothing,
            "import numpy",
            (sedscope - nothing) / (numpy - nothing),
            "≤ 2",
        ),
        Row(
            "import sedscope and reach for sedscope.evaluate, which loads numpy and the core",
            used - nothing,
            "import numpy",
            (used - nothing) / (numpy - nothing),
        ),
        Row("sedscope --help", shown, "one second", shown, "≤ 0.5"),
    ]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--clips", type=int, default=1168, help="size of the sets")
    parser.add_argument("--hours", type=float, default=24, help="length of the long recording")
    options = parser.parse_args()
    if not PEERS_PYTHON.exists():
        raise SystemExit("the peers' environment is missing: run 'make peers'")
    start = time.perf_counter()
    rows = [
        *in_memory(options.clips),
        *resampling(options.clips),
        *long_recordings(options.hours),
        *reading(options.clips),
        *report(options.clips),
        *ranking(options.clips),
        *training(options.clips),
        *starting(),
    ]
    print(markdown(rows))
    print(
        f"\nsedscope {sed.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{thread_count(None)} cores; measured in {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
