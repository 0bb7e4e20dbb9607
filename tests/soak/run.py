"""All workers together: each in a process of its own, so that none can stop the others."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .worker import Failure, Totals, Worker, draw

SILENCE = 300  # seconds after which a worker that reports nothing is taken as hanging
ENDING = 20  # seconds that a worker gets to end once it is done
SEED_BYTES = 200
DONE = "done"


def work(seed: str, seconds: float, folder: Path, messages: Any, current: Any) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    last = 0.0

    def announce(case_seed: str) -> None:
        current.value = case_seed.encode()[: SEED_BYTES - 1]

    def tick(totals: Totals) -> None:
        nonlocal last
        if time.monotonic() - last > 2:
            last = time.monotonic()
            messages.put((seed, totals))

    worker = Worker(
        seed, folder, announce=announce, report=lambda failure: messages.put((seed, failure))
    )
    worker.run(seconds, tick=tick)
    messages.put((seed, worker.totals))
    messages.put((seed, DONE))
    messages.close()
    messages.join_thread()


@dataclass
class Process:
    """A worker process, and the case that it is at."""

    seed: str
    process: Any
    current: Any
    heard: float
    done: bool = False


@dataclass
class Soak:
    """A run of the soak."""

    minutes: float
    seed: str
    workers: int
    folder: Path
    totals: dict[str, Totals] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    crashes: int = 0

    def run(self) -> int:
        """Run all workers until the time is over. Return the exit status."""
        self.begin = time.monotonic()
        self.context = multiprocessing.get_context("spawn")
        self.messages = self.context.Queue()
        print(f"seed {self.seed}, {self.workers} workers, {self.minutes:g} minutes", flush=True)
        running = [self._start(f"{self.seed}.{i}") for i in range(self.workers)]
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            self._watch(running)
        except KeyboardInterrupt:
            print("Interrupted.", flush=True)
        finally:
            for each in running:
                if each.process.is_alive():
                    each.process.kill()
            self._print_totals()
        return 1 if self.failures or self.crashes else 0

    @property
    def _left(self) -> float:
        return 60 * self.minutes - (time.monotonic() - self.begin)

    def _start(self, seed: str) -> Process:
        current = self.context.Array("c", SEED_BYTES)
        process = self.context.Process(
            target=work, args=(seed, self._left, self.folder, self.messages, current), daemon=False
        )
        process.start()
        return Process(seed, process, current, time.monotonic())

    def _watch(self, running: list[Process]) -> None:
        next_line = 60.0
        while running:
            self._listen(running)
            for each in list(running):
                late = time.monotonic() - each.heard > (ENDING if each.done else SILENCE)
                if each.process.is_alive() and not late:
                    continue
                running.remove(each)
                if late:
                    each.process.kill()
                self._drain([*running, each])
                hangs = late and not each.done
                if not each.done:
                    self._crashed(each, "hangs" if hangs else f"ends with {each.process.exitcode}")
                    if self._left > 10:
                        running.append(self._start(f"{each.seed}+"))
            if time.monotonic() - self.begin > next_line:
                next_line += 60
                print(self._line(), flush=True)

    def _listen(self, running: list[Process], timeout: float = 1) -> bool:
        try:
            seed, message = self.messages.get(timeout=timeout)
        except queue.Empty:
            return False
        for each in running:
            if each.seed == seed:
                each.heard = time.monotonic()
                each.done = message == DONE
        if message == DONE:
            pass
        elif isinstance(message, Totals):
            self.totals[seed] = message
        else:
            self._failed(message)
        return True

    def _drain(self, running: list[Process]) -> None:
        while self._listen(running, timeout=0.2):
            pass

    def _failed(self, failure: Failure) -> None:
        self.failures.append(failure)
        print(f"FAILED {failure.seed}: {failure.message[:600]}\n  saved: {failure.path}", flush=True)

    def _crashed(self, process: Process, how: str) -> None:
        """Save the case as it was drawn: judging it again would end this process, too."""
        self.crashes += 1
        seed = process.current.value.decode()
        path = draw(seed).save(self.folder) if seed else None
        self._failed(Failure(seed.split("/")[0], seed, f"the process {how}", f"the process {how}", path))
        together = self.totals.setdefault(process.seed, Totals())
        together.failures[seed.split("/")[0], f"the process {how}"] += 1

    def _together(self) -> Totals:
        together = Totals()
        for totals in self.totals.values():
            together.add(totals)
        return together

    def _line(self) -> str:
        together = self._together()
        seconds = time.monotonic() - self.begin
        cases = ", ".join(f"{number} {check}" for check, number in together.cases.items())
        return (
            f"{seconds / 60:5.1f} min: {together.clips:,} clips judged "
            f"({together.clips / seconds:,.0f}/s, "
            f"{together.clips / max(together.core_seconds, 1e-9):,.0f} per core-second); cases: {cases}; "
            f"{sum(together.failures.values())} failures"
        )

    def _print_totals(self) -> None:
        together = self._together()
        print(f"\n{self._line()}")
        for check, number in together.cases.items():
            things = Counter({kind: n for (name, kind), n in together.compared.items() if name == check})
            compared = ", ".join(f"{n:,} {kind}" for kind, n in things.items())
            print(f"  {check}: {number:,} cases, {together.seconds[check]:.0f} s: {compared}")
        for (check, kind), number in together.failures.most_common():
            print(f"  FAILED {number} times: {check}: {kind}")
        for path in sorted({str(failure.path) for failure in self.failures if failure.path}):
            print(f"  saved: {path}")
        print(f"seeds: {', '.join(self.totals)}")
        print(f"clips judged: {together.clips}", flush=True)
        sys.stdout.flush()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
