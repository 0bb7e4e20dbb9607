"""Ways of running an evaluation: all give the bits of the plain one."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.counting import deltas as deltas_module
from sedscope.counting.delta_files import merge_files
from sedscope.engines import checkpoint as checkpoint_module
from sedscope.postprocessing import MedianFilter

from ...support.passes import find_all_deltas, memory_of_one_class
from ..case import LABELS, Case, Mismatch, SoakClip
from ..drawing import Drawer
from .check import Check, require_equal, require_same_result, require_same_values

Metrics = Sequence[Any]


def threads(case: Case, metrics: Metrics, rng: Random) -> None:
    """Several threads."""
    got = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=rng.randint(2, 4)))
    require_same_result(got, plain(case, metrics))


def stream(case: Case, metrics: Metrics, rng: Random) -> None:
    """A function that returns the clips."""
    scores = sed.Scores.from_function(
        case.names, case.scores.__getitem__, classes=case.classes, thread_safe=rng.random() < 0.5
    )
    got = sed.evaluate(scores, case.truth, metrics, run=sed.Run(threads=rng.randint(1, 2)))
    require_same_result(got, plain(case, metrics))


def reused_buffer(case: Case, metrics: Metrics, rng: Random) -> None:
    """A function that returns arrays, each in the same memory as the one before."""
    longest = max(len(clip.edges) for clip in case.clips)
    buffer = np.empty((longest, len(case.classes)), case.dtype)

    def fill(name: str) -> Any:
        clip = case.scores[name]
        part = buffer[: len(clip.values)]
        part[:] = clip.values
        return part

    edges = {name: case.scores[name].edges for name in case.names}
    scores = sed.Scores.from_function(case.names, fill, classes=case.classes, edges=edges)
    try:
        got = sed.evaluate(scores, case.truth, metrics, run=sed.Run(threads=1))
    except sed.SedscopeError:  # it may be refused
        return
    require_same_result(got, plain(case, metrics))


def pieces(case: Case, metrics: Metrics, rng: Random) -> None:
    """Recordings in pieces."""

    def cut(name: str) -> sed.ClipPieces:
        clip = case.scores[name]
        where = sorted(rng.choices(range(len(clip.values) + 1), k=rng.randint(0, 4)))
        return sed.ClipPieces(lambda: np.split(clip.values, where), edges=clip.edges)

    clips = {name: cut(name) for name in case.names}
    scores = sed.Scores.from_pieces(clips, classes=case.classes)
    whole = [metric for metric in metrics if not metric.variants]
    if whole:
        got = sed.evaluate(scores, case.truth, whole, run=sed.Run(threads=rng.randint(1, 2)))
        require_same_result(got, plain(case, whole))


def blocks(case: Case, metrics: Metrics, rng: Random) -> None:
    """Blocks of classes. Counts that lack rows must refuse what they cannot answer."""
    limit = memory_of_one_class(case.scores, case.truth, metrics, slack=1.1)
    try:
        got = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(memory=limit))
    except sed.SedscopeError as error:
        if "at once" in str(error):
            return
        raise
    expected = plain(case, metrics)
    require_same_values(got, expected)
    levels = sorted({level for clip in case.clips for scores in clip.scores for level in scores})
    for criterion, counts in got.counts.items():
        for label in case.classes:
            for threshold in rng.sample(levels, min(4, len(levels))):
                wanted = expected.counts[criterion][label]
                if threshold < wanted.floor:
                    continue
                try:
                    found = counts[label].tally_at(threshold)
                except sed.SedscopeError:
                    continue
                tally = wanted.tally_at(threshold)
                where = (criterion, label, threshold)
                require_equal((found.tp, found.fp), (tally.tp, tally.fp), "counts in blocks", where)


def checkpoint(case: Case, metrics: Metrics, rng: Random) -> None:
    """A folder of finished parts, after an interruption; then another system in the same folder."""
    with (
        TemporaryDirectory() as folder,
        changed(checkpoint_module, "CLIPS_PER_PART", rng.randint(1, 1 + len(case.clips))),
    ):

        def run(scores: sed.Scores, progress: Any = None) -> sed.Evaluation:
            kept = sed.Run(checkpoint=folder, progress=progress)
            return sed.evaluate(scores, case.truth, metrics, run=kept)

        class Interruption(Exception):
            pass

        last = rng.randint(0, len(case.clips))

        def stop(done: int, total: int) -> None:
            if done >= last:
                raise Interruption

        with suppress(Interruption):
            run(case.scores, progress=stop)
        expected = plain(case, metrics)
        require_same_result(run(case.scores), expected)
        require_same_result(run(case.scores), expected)
        other = replace(case, clips=[other_system(clip, rng) for clip in case.clips])
        systems = [other.scores, MedianFilter(3 * case.options.get("frame", 1) / 1e6)(case.scores)]
        for system in systems:
            try:
                found = run(system)
            except sed.SedscopeError:  # a folder of another system may be refused
                continue
            of_system = sed.evaluate(system, case.truth, metrics, run=sed.Run(threads=1))
            require_same_result(found, of_system)


def other_system(clip: SoakClip, rng: Random) -> SoakClip:
    """The same clip with its scores in another order."""
    return replace(clip, scores=[rng.sample(list(scores), len(scores)) for scores in clip.scores])


def merges(case: Case, metrics: Metrics, rng: Random) -> None:
    """Deltas of parts of the clips, merged in any order, some of them from files."""
    cuts = sorted({0, len(case.names), *rng.choices(range(len(case.names)), k=3)})
    parts = [case.names[first:last] for first, last in pairwise(cuts)]
    rng.shuffle(parts)
    found = [
        [*find_all_deltas(case.scores, case.truth, metrics, clips=names).values()] for names in parts
    ]
    with TemporaryDirectory() as folder:
        merged: Any
        if rng.random() < 0.5:
            paths = [Path(folder, f"{i}.deltas") for i in range(len(parts))]
            for part, path in zip(found, paths, strict=True):
                sed.save_deltas(part, path)
            merged = merge_files(paths)
        else:
            merged = [first.merge(*others) for first, *others in zip(*found, strict=True)]
        got = sed.evaluate_deltas(merged, metrics, run=sed.Run(threads=1))
    require_same_result(got, plain(case, metrics))


def pruned(case: Case, metrics: Metrics, rng: Random) -> None:
    """Deltas that were found for one metric, and read by others. They may be refused."""
    first, *others = [metric for metric in metrics if metric.criterion == metrics[0].criterion]
    if not others:
        return
    found = plain(case, [first]).deltas
    with suppress(sed.SedscopeError):
        got = sed.evaluate_deltas(found.values(), others, run=sed.Run(threads=1))
        require_same_values(got, plain(case, others))


def class_by_class(case: Case, metrics: Metrics, rng: Random) -> None:
    """Counts that are added up when they are read."""
    with changed(deltas_module, "ROWS_TO_KEEP", 0):
        got = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))
        require_same_result(got, plain(case, metrics))


def clip_order(case: Case, metrics: Metrics, rng: Random) -> None:
    """The clips and classes in another order."""
    clips, classes = rng.sample(case.names, len(case.names)), rng.sample(case.classes, len(case.classes))
    got = sed.evaluate(
        case.scores, case.truth, metrics, clips=clips, classes=classes, run=sed.Run(threads=1)
    )
    require_same_result(got, plain(case, metrics))


def events(case: Case, metrics: Metrics, rng: Random) -> None:
    """At one threshold, the events that are detected there."""
    threshold = rng.choice([level for scores in case.clips[0].scores for level in scores])
    binary = sed.at_thresholds(case.scores, threshold)
    detected = sed.Scores.from_events(
        sed.detect(case.scores, threshold), classes=case.classes, clips=case.names
    )
    chosen = [m for m in metrics if m.criterion.thresholds_frames and not m.variants]
    if chosen:
        expected = sed.evaluate(binary, case.truth, chosen, run=sed.Run(threads=1))
        require_same_result(sed.evaluate(detected, case.truth, chosen, run=sed.Run(threads=1)), expected)


def relabelled(case: Case, metrics: Metrics, rng: Random) -> None:
    """Classes of two labels each, which have the scores of different frames, merged again."""
    labels = [f"{label} {k}" for label in case.classes for k in range(2)]

    def split(name: str) -> sed.ClipScores:
        clip = case.scores[name]
        values = np.repeat(clip.values, 2, axis=1)
        first = np.array([[rng.random() < 0.5 for _ in case.classes] for _ in clip.values], bool)
        values[:, 0::2][~first.reshape(clip.values.shape)] = -np.inf
        values[:, 1::2][first.reshape(clip.values.shape)] = -np.inf
        return sed.ClipScores.from_ticks(values, clip.ticks)

    clips = {name: split(name) for name in case.names}
    scores = sed.Scores(clips, clips.__getitem__, classes=labels, in_memory=True, thread_safe=True)
    names = {label: label.rsplit(" ", 1)[0] for label in labels}
    got = sed.evaluate(
        scores.relabelled(names), case.truth, metrics, run=sed.Run(threads=rng.randint(1, 2))
    )
    require_same_result(got, plain(case, metrics))


WAYS: dict[str, Callable[[Case, Metrics, Random], None]] = {
    way.__name__: way
    for way in (
        threads,
        stream,
        reused_buffer,
        pieces,
        blocks,
        checkpoint,
        merges,
        pruned,
        class_by_class,
        clip_order,
        events,
        relabelled,
    )
}


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """A setting of a module, changed for a while."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def plain(case: Case, metrics: Metrics) -> sed.Evaluation:
    """The scores in memory, on one thread."""
    return sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))


def _draw(check: str, ways: Sequence[str], **choices: Any) -> Callable[[Random, str], Case]:
    def draw(rng: Random, seed: str) -> Case:
        """Some clips, metrics of up to two criteria, and a way."""
        drawer = Drawer(rng, **choices)
        way = rng.choice(ways)
        metrics: list[Any] = []
        for _ in range(rng.randint(1, 2)):
            criterion = drawer.criterion(errors=rng.random() < 0.3)
            metrics += [drawer.metric(criterion) for _ in range(rng.randint(1, 3))]
            if isinstance(criterion, sed.Intersection) and criterion.cttc is None and rng.random() < 0.3:
                windows = f"MedianFilter(0|{drawer.seconds(3):g}|{drawer.seconds(5):g})"
                metrics.append(sed.PiPSDS(criterion, max_efpr=10, unit="second", postprocessing=windows))
        definitions = [*dict.fromkeys(map(repr, metrics))]
        clips = drawer.clips(rng.choice([1, 4, 20, 60, 200]))
        options = {"way": way, "frame": drawer.frame}
        return Case(check, seed, drawer.dtype, clips, definitions, options)

    return draw


def judge(case: Case) -> Mapping[str, int]:
    """Run the way of the case."""
    way = case.options["way"]
    metrics = [sed.parse_metric(text) for text in case.definitions]
    try:
        WAYS[way](case, metrics, Random(case.seed))
    except Mismatch as error:
        raise Mismatch(f"{way}, {error.what}", error.detail) from None
    return {way: 1}


@cache
def _cluster() -> Any:
    """A cluster of threads that lives as long as this process."""
    distributed = import_module("distributed")
    made = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        silence_logs="CRITICAL",
    )
    client = distributed.Client(made)
    atexit.register(made.close)
    atexit.register(client.close)
    return client


def judge_dask(case: Case) -> Mapping[str, int]:
    """A Dask cluster."""
    metrics = [sed.parse_metric(text) for text in case.definitions]
    got = sed.evaluate(
        case.scores, case.truth, metrics, run=sed.Run(engine="dask", scheduler=_cluster())
    )
    require_same_result(got, plain(case, metrics))
    return {"dask": 1}


def judge_torch(case: Case) -> Mapping[str, int]:
    """The metric of the training loop, with batches in any order and some clips twice."""
    import torch

    from sedscope.torch import SEDMetrics

    rng = Random(case.seed)
    frame = case.options["frame"]
    clips = []
    for clip in case.clips:  # from 0 on, in frames of one length
        edges = [frame * i for i in range(len(clip.edges))]
        duration = edges[-1]
        references = [event for event in clip.references if event[0] < duration]
        clips.append(replace(clip, edges=edges, duration=duration, references=references))
    case = replace(case, clips=clips)
    metrics = [sed.parse_metric(text) for text in case.definitions]
    by_events = rng.random() < 0.3
    measured = SEDMetrics(
        metrics, case.classes, frame=frame / 1e6, truth=None if by_events else case.truth
    )
    rows = [*rng.sample(range(len(clips)), len(clips)), *rng.choices(range(len(clips)), k=2)]
    cuts = sorted({0, len(rows), *rng.choices(range(1, len(rows) + 1), k=3)})
    for first, last in pairwise(cuts):
        batch = [clips[row] for row in rows[first:last]]
        longest = max(len(clip.edges) - 1 for clip in batch)
        values = np.full((len(batch), longest, len(case.classes)), np.nan, case.dtype)
        for i, clip in enumerate(batch):
            values[i, : len(clip.edges) - 1] = np.array(clip.scores, case.dtype).T
        targets = [
            [(onset / 1e6, offset / 1e6, LABELS[label]) for onset, offset, label in clip.references]
            for clip in batch
        ]
        measured.update(
            torch.from_numpy(values),
            [case.names[row] for row in rows[first:last]],
            targets if by_events else None,
            torch.tensor([len(clip.edges) - 1 for clip in batch]),
        )
    require_same_result(measured.result(), plain(case, metrics))
    return {"torch": 1}


CHECKS = (
    Check("ways", 12, _draw("ways", list(WAYS)), judge),
    Check("dask", 3, _draw("dask", ["dask"]), judge_dask, needs=("distributed",)),
    Check(
        "torch", 3, _draw("torch", ["torch"], scale="grid"), judge_torch, needs=("torch", "torchmetrics")
    ),
)
