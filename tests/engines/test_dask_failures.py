"""A cluster that has stopped working ends in one clear error, or the work goes on with what is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.engines import dask_client

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'sedscope[dask]'")
pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here"
)
PSDS = sed.PSDS(sed.Intersection(0.5, 0.5))
PATIENCE = 2


class Cluster:
    """A scheduler and workers, each in its own process."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self._file, self._closing = folder / "scheduler.json", closing
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard")
        self.workers: list[subprocess.Popen[bytes]] = []
        while not self._file.exists():
            time.sleep(0.05)
        self.client = closing.enter_context(distributed.Client(scheduler_file=str(self._file)))

    def add_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        worker = self._start("worker", "--no-nanny", "--no-dashboard", "--nthreads", "1", **environment)
        self.workers.append(worker)
        self.client.wait_for_workers(len(self.workers), timeout=60)
        return worker

    def _start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--scheduler-file", str(self._file)],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._closing.callback(process.wait)
        self._closing.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(dask_client, "PATIENCE", PATIENCE)
    monkeypatch.setattr(dask_client, "_SILENCE", 1.5)
    with ExitStack() as closing:
        yield Cluster(tmp_path, closing)


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(24)


def slow_scores(truth: sed.GroundTruth, seconds: float = 0.1) -> sed.Scores:
    simulated = sed.simulate.scores(truth)

    def load(clip: str) -> Any:
        time.sleep(seconds)
        return simulated[clip]

    return sed.Scores.from_function(truth.clips, load, classes=simulated.classes)


def evaluate(cluster: Cluster, scores: sed.Scores, truth: sed.GroundTruth) -> float:
    result = sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask", scheduler=cluster.client))
    return result[PSDS].value


def test_no_workers(cluster: Cluster, truth: sed.GroundTruth) -> None:
    with pytest.raises(sed.SedscopeError, match=r"The Dask cluster has no workers\. Start workers"):
        evaluate(cluster, sed.simulate.scores(truth), truth)


def test_workers_that_cannot_import_the_package(
    cluster: Cluster, truth: sed.GroundTruth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_client, "PATIENCE", 60)  # it answers, however busy the machine
    monkeypatch.setattr(dask_client, "_SILENCE", 30)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['sedscope'] = None\n")
    cluster.add_worker(PYTHONPATH=str(tmp_path))
    with pytest.raises(sed.SedscopeError, match="sedscope"):
        evaluate(cluster, sed.simulate.scores(truth), truth)


@pytest.mark.parametrize("delay", [0.0, 0.6])
def test_the_only_worker_is_killed(cluster: Cluster, truth: sed.GroundTruth, delay: float) -> None:
    worker = cluster.add_worker()
    threading.Timer(delay, worker.kill).start()
    with pytest.raises(sed.SedscopeError, match=r"All Dask workers are gone|has no workers|died"):
        evaluate(cluster, slow_scores(truth), truth)


def test_the_only_worker_freezes(cluster: Cluster, truth: sed.GroundTruth) -> None:
    worker = cluster.add_worker()
    threading.Timer(0.5, worker.send_signal, [signal.SIGSTOP]).start()
    with pytest.raises(sed.SedscopeError, match=r"All Dask workers are gone, or frozen"):
        evaluate(cluster, slow_scores(truth), truth)


def test_work_goes_on_without_a_frozen_worker(cluster: Cluster, truth: sed.GroundTruth) -> None:
    frozen, _ = cluster.add_worker(), cluster.add_worker()
    threading.Timer(0.5, frozen.send_signal, [signal.SIGSTOP]).start()
    value = evaluate(cluster, slow_scores(truth), truth)
    assert value == sed.evaluate(sed.simulate.scores(truth), truth, PSDS)[PSDS].value


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_a_scheduler_that_does_not_answer(
    cluster: Cluster, truth: sed.GroundTruth, delay: float
) -> None:
    cluster.add_worker()
    threading.Timer(delay, cluster.scheduler.send_signal, [signal.SIGSTOP]).start()
    try:
        with pytest.raises(sed.SedscopeError, match=r"The Dask scheduler does not answer"):
            evaluate(cluster, slow_scores(truth), truth)
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)


def test_workers_die_while_results_are_gathered(
    cluster: Cluster, truth: sed.GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, gather = cluster.add_worker(), cluster.client.gather

    def kill_first(*arguments: Any, **options: Any) -> Any:
        worker.kill()
        worker.wait()
        return gather(*arguments, **options)

    monkeypatch.setattr(cluster.client, "gather", kill_first)
    with pytest.raises(sed.SedscopeError, match=r"All Dask workers are gone|has no workers"):
        evaluate(cluster, sed.simulate.scores(truth), truth)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(b"", "timed out"), (b"HTTP/1.1 400 Bad Request\r\n\r\n", "another service answers")],
)
def test_a_service_that_is_not_dask(
    answer: bytes, reason: str, truth: sed.GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_client, "PATIENCE", PATIENCE)
    with socket.create_server(("127.0.0.1", 0)) as service, ExitStack() as connections:

        def serve() -> None:
            with suppress(OSError):  # until the service is closed
                while True:
                    connections.enter_context(service.accept()[0]).sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{service.getsockname()[1]}"
        with pytest.raises(sed.SedscopeError, match=f"no Dask scheduler at {address}: {reason}"):
            sed.evaluate(
                sed.simulate.scores(truth), truth, PSDS, run=sed.Run(engine="dask", scheduler=address)
            )
    assert distributed.client._get_global_client() is None


def test_an_interrupted_cluster_leaves_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with pytest.raises(KeyboardInterrupt), dask_client.client_of(None, 1):
        raise KeyboardInterrupt
    assert "PYTHONSAFEPATH" not in os.environ
