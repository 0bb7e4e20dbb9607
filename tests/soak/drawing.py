"""Random clips and definitions, of the kinds that are hard to count.

Most clips are small, with few distinct scores, frames of any length, and references that touch each other,
lie on frame boundaries or beyond the end of the scores.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import replace
from random import Random
from typing import Any

import sedscope as sed
from sedscope.criteria import Criterion

from .case import SoakClip

INF = float("inf")
FRAMES = {"grid": (10_000, 20_000, 64_000, 23_220), "uneven": (20_000,), "tiny": (1,)}
"""The length of a frame in microseconds, by scale."""


def single(value: float) -> float:
    """The nearest float32."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


class Drawer:
    """Draws the clips of one set: they share a scale of time, a kind of scores and a type."""

    def __init__(self, rng: Random, *, scale: str | None = None, classes: int | None = None) -> None:
        self.rng = rng
        self.scale = scale or rng.choice(["grid", "grid", "uneven", "tiny"])
        self.frame = rng.choice(FRAMES[self.scale])
        self.dtype = rng.choice(["float32", "float64"])
        self.classes = classes or rng.choice([1, 1, 2, 2, 3])
        self.kind = rng.choice(["levels", "levels", "levels", "any", "plateaus", "neighbours"])
        self.levels = self._levels()
        self.most_frames = rng.choice([4, 6, 8, 8, 12, 30])

    def _levels(self) -> list[float]:
        """A few scores that all frames share; -inf for gaps."""
        rng = self.rng
        if self.kind == "neighbours":
            start = 0.5 if self.dtype == "float64" else 8_388_608.0
            step = math.ulp(start) if self.dtype == "float64" else 1.0
            return [start + k * step for k in range(rng.randint(2, 4))]
        some = [0.0, -0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 1.0, -1.0, 1e-3, 100.0, rng.random()]
        chosen = rng.sample(some, rng.randint(2, 5))
        if rng.random() < 0.3:
            chosen.append(-INF)
        return [value if self.dtype == "float64" else single(value) for value in chosen]

    def _scores(self, frames: int) -> list[float]:
        rng = self.rng
        if self.kind == "any":
            values = [rng.random() for _ in range(frames)]
            return values if self.dtype == "float64" else [single(value) for value in values]
        if self.kind == "plateaus":
            found: list[float] = []
            while len(found) < frames:
                found += [rng.choice(self.levels)] * rng.randint(1, 4)
            return found[:frames]
        return rng.choices(self.levels, k=frames)

    def _edges(self, frames: int) -> list[int]:
        rng = self.rng
        if self.scale == "grid":
            lengths = [self.frame] * frames
        elif self.scale == "uneven":
            lengths = rng.choices([1, 3, 1000, 10_000, 20_000, 64_000], k=frames)
        else:
            lengths = rng.choices([1, 1, 2, 3, 5], k=frames)
        start = rng.choice([0, 0, 0, max(1, sum(lengths) // 16)])
        edges = [start]
        for length in lengths:
            edges.append(edges[-1] + length)
        return edges

    def _references(self, edges: list[int], duration: int) -> list[tuple[int, int, int]]:
        rng = self.rng
        found = []
        latest = duration + duration // 4 + 2
        for label in range(self.classes):
            if rng.random() < 0.25:
                continue
            bounds = sorted(
                rng.choice(edges) if rng.random() < 0.5 else rng.randint(0, latest)
                for _ in range(rng.choice([2, 2, 3, 4, 6]))
            )
            for onset, offset in itertools.pairwise(bounds):
                if onset < offset and onset < duration and rng.random() < 0.7:
                    found.append((onset, offset, label))
        return found

    def clip(self) -> SoakClip:
        """One clip."""
        rng = self.rng
        frames = rng.randint(2 if rng.random() < 0.9 else 1, self.most_frames)
        edges = self._edges(frames)
        longer = rng.choice([0, 0, 0, 1, (edges[-1] - edges[0]) // 5])
        duration = edges[-1] + longer
        scores = [self._scores(frames) for _ in range(self.classes)]
        return SoakClip(edges, scores, self._references(edges, duration), duration)

    def clip_with_ignored(self) -> SoakClip:
        """One clip with some more references, which are ignored and may overlap others."""
        clip = self.clip()
        more = [event for _ in range(2) for event in self._references([*clip.edges], clip.duration)]
        ignored = [event for event in more if self.rng.random() < 0.5]
        return replace(clip, ignored=ignored)

    def clips(self, number: int) -> list[SoakClip]:
        """Some clips, at least one reference of the first class among them."""
        made = [self.clip() for _ in range(number)]
        if not any(label == 0 for clip in made for _, _, label in clip.references):
            first = made[0]
            event = (first.edges[0], first.edges[1], 0)
            made[0] = replace(first, references=[*first.references, event])
        return made

    def criterion(self, *, errors: bool = False) -> Criterion:
        """A criterion whose parameters fit the scale of the clips."""
        rng = self.rng
        flag = rng.random() < 0.5
        share = rng.choice([0.1, 0.3, 0.5, 0.7, 1.0, round(rng.uniform(0.01, 1), 3)])
        kind = rng.choice(["intersection", "intersection", "collar", "collar", "iou", "segment", "clip"])
        if kind == "intersection":
            other = rng.choice([share, 0.1, 0.5, 0.7, 1.0])
            return sed.Intersection(share, other, rng.choice([0.1, 0.3, 0.5, 1.0]) if flag else None)
        if kind == "collar":
            onset, offset = (self._time(0, 1, 2, 3, 5) if rng.random() < 0.8 else None for _ in range(2))
            if onset is None and offset is None:
                onset = self._time(2)
            rate = rng.choice([0.0, 0.2, 0.5])
            return sed.Collar(onset, offset, rate, cross_triggers=flag, errors=errors)
        if kind == "iou":
            return sed.IoU(share, cross_triggers=flag)
        aggregation = rng.choice(["max", "mean"])
        if kind == "clip":
            return sed.Clip(aggregation, cross_triggers=flag)
        longest = 64_000 if self.scale == "uneven" else self.frame
        length = longest * rng.choice([1, 1.5, 2, 3, 7])
        return sed.Segment(max(1, round(length)) / 1e6, aggregation, cross_triggers=flag)

    def alarm_criterion(self) -> Criterion:
        """A criterion about alarms, active time or onsets."""
        rng = self.rng
        kind = rng.choice(["any overlap", "any overlap", "alarm", "alarm", "time", "onset"])
        if kind == "alarm":
            within = rng.choice([None, self._time(0, 1, 2, 5)])
            margins = self._time(0, 0, 1, 2), self._time(0, 0, 1, 3)
            return sed.Alarm(self._time(0, 1, 2, 3, 5, 1000), *margins, within)
        if kind == "time":
            return sed.Time(self._time(0, 1, 2, 5))
        if kind == "onset":
            return sed.Onset(self._time(0, 1, 2, 3, 5), cross_triggers=rng.random() < 0.5)
        gap = rng.choice([None, max(1e-6, self._time(1, 2, 4))])
        split = rng.choice([None, 1.0, 1.000001, 2.5])
        return sed.AnyOverlap(self._time(0, 0, 1, 2), self._time(0, 0, 1, 3), gap, split)

    def _time(self, *frames: int) -> float:
        """Some number of frames in seconds, sometimes one microsecond off."""
        ticks = self.rng.choice(frames) * self.frame
        return max(0, ticks + self.rng.choice([0, 0, 0, 1, -1])) / 1e6

    def seconds(self, most: int) -> float:
        """A length of up to some frames, in seconds."""
        return self.rng.randint(1, max(1, most * self.frame)) / 1e6

    def metric(self, criterion: Criterion) -> Any:
        """A metric of the criterion. Limits on false alarms may or may not bind."""
        rng = self.rng
        negatives = criterion.counts_negatives
        substitutions = criterion.defines_substitutions
        averages = ["macro", "micro", "weighted"]
        errors = averages if substitutions else ["macro", "weighted"]
        threshold = rng.choice([0.5, 0.3, *(level for level in self.levels if level > -INF)])
        average = rng.choice(averages)
        makers: list[Any] = [
            lambda: sed.FScore(criterion, threshold, rng.choice([1, 2, 0.5]), average),
            lambda: sed.BestFScore(criterion, average=rng.choice([*averages, "micro_tuned"])),
            lambda: sed.BestFScore(criterion, rng.choice([0.5, 2]), average),
            lambda: sed.AveragePrecision(criterion, average),
            lambda: sed.ErrorRate(criterion, threshold, rng.choice(errors)),
            lambda: sed.BestErrorRate(criterion, rng.choice(errors)),
            lambda: sed.Precision(criterion, threshold, average),
            lambda: sed.Recall(criterion, threshold, average),
            lambda: sed.MissRate(criterion, threshold, average),
            lambda: sed.MissRateAtFalseAlarms(criterion, rng.choice([0, 3600, 10**6]), average=average),
            lambda: sed.FalseAlarmRate(criterion, threshold, rng.choice(["micro", "macro"])),
            lambda: sed.PrecisionAtRecall(criterion, rng.choice([0.25, 0.5, 1.0]), average),
            lambda: sed.RecallAtPrecision(criterion, rng.choice([0.25, 0.5, 1.0]), average),
            lambda: sed.RecallAtFalseAlarms(
                criterion,
                rng.choice([0, 60, 720, 3600, 50_000, 10**6, 10**9]),
                rng.choice(["hour", "day"]),
                average,
            ),
        ]
        if negatives:
            makers += [
                lambda: sed.AUROC(criterion, average=average),
                lambda: sed.AUROC(criterion, rng.choice([0.1, 0.5]), rng.random() < 0.5, average),
                lambda: sed.DPrime(criterion, average),
                lambda: sed.Specificity(criterion, threshold, average),
                lambda: sed.BalancedAccuracy(criterion, threshold, average),
            ]
        if isinstance(criterion, sed.Intersection):
            makers += [
                lambda: sed.PSDS(
                    criterion,
                    alpha_ct=rng.choice([0, 0.5, 1]) if criterion.cttc is not None else 0,
                    alpha_st=rng.choice([0, 1]),
                    max_efpr=rng.choice([1, 10, 100, 1e5]),
                    unit="second",
                    oracle=rng.random() < 0.7,
                )
            ] * 6
        return rng.choice(makers)()
