"""``python -m benchmarks.remote``: PSDS 1 of scores on a web server, as a store and as one Parquet file.

The server is a process on this machine. It sends parts of files, and waits 20 ms before each answer.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sedscope as sed

from .timing import grouped

LATENCY = 0.02  # seconds
FORMATS = {"store": "scores.store", "parquet": "scores.parquet"}


class Slow(SimpleHTTPRequestHandler):
    """A server that sends parts of files, some time after it was asked."""

    protocol_version = "HTTP/1.1"
    requests: Synchronized[int]

    def do_GET(self) -> None:
        """Send a file, or the part of it that is requested."""
        time.sleep(LATENCY)
        with self.requests.get_lock():
            self.requests.value += 1
        requested, file = self.headers.get("Range"), Path(self.translate_path(self.path))
        if requested is None or not file.is_file():
            super().do_GET()
            return
        begin, end = requested.removeprefix("bytes=").split("-")
        size, first = file.stat().st_size, int(begin)
        last = min(int(end) if end else size, size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        with file.open("rb") as content:
            content.seek(first)
            self.wfile.write(content.read(last - first + 1))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def serve(folder: str, port: Synchronized[int], requests: Synchronized[int]) -> None:
    """Serve a folder, and say at which port."""
    Slow.requests = requests
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Slow, directory=folder)) as server:
        port.value = server.server_port
        server.serve_forever()


def main() -> None:
    """Measure both formats, for a small and a large set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.remote", description=__doc__)
    parser.add_argument("--clips", type=int, nargs="+", default=[1168, 20_000])
    options = parser.parse_args()
    print("| clips × 500 frames × 10 classes | format | size | time | requests |")
    print("| --- | --- | --- | --- | --- |")
    for clips in options.clips:
        truth = sed.simulate.ground_truth(clips)
        scores = sed.simulate.scores(truth, frame=0.02)
        with TemporaryDirectory(prefix="sedscope-bench-") as folder:
            for name in FORMATS.values():
                sed.write_scores(scores, Path(folder) / name)
            measure(folder, truth, clips)


def measure(folder: str, truth: sed.GroundTruth, clips: int) -> None:
    """Measure both formats, in turn, and print the better of three times."""
    port, requests = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(folder, port, requests), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    found: dict[str, list[tuple[float, int, float]]] = {name: [] for name in FORMATS}
    for _ in range(3):
        for name, file in FORMATS.items():
            before, begin = requests.value, time.perf_counter()
            scores = sed.read_scores(f"http://127.0.0.1:{port.value}/{file}")
            value = sed.evaluate(scores, truth, "psds1").scalars()["psds1"]
            found[name].append((time.perf_counter() - begin, requests.value - before, value))
    server.terminate()
    for name, runs in found.items():
        seconds, number, _ = min(runs)
        path = Path(folder) / FORMATS[name]
        size = sum(file.stat().st_size for file in ([*path.rglob("*")] if path.is_dir() else [path]))
        print(
            f"| {grouped(clips)} | {name} | {size / 1e6:.0f} MB | {seconds:.2f} s | {number} |",
            flush=True,
        )
    assert len({value for runs in found.values() for *_, value in runs}) == 1


if __name__ == "__main__":
    main()
