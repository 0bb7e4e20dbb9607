"""Draw the pictures of the documentation: ``python docs/pictures.py``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import sedscope as sed
from sedscope.postprocessing import MedianFilter, parse_sweep

WIDTH, HEIGHT, BOTTOM, TOP, RIGHT = 640, 360, 48, 20, 150
BLUE, ORANGE, GREY = "#0b62a4", "#c8500a", "#666"


@dataclass
class Picture:
    """An SVG picture with axes. Methods take coordinates in the units of the axes."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: int = 56
    height: int = HEIGHT

    def __post_init__(self) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{self.height}" fill="white"/>',
        ]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.height - BOTTOM - (value - low) / (high - low) * (self.height - BOTTOM - TOP)

    def axes(
        self, x_label: str, y_label: str, x_ticks: Iterable[float], y_ticks: Iterable[float]
    ) -> None:
        across, up = WIDTH - self.left - RIGHT, self.height - BOTTOM - TOP
        for tick in x_ticks:
            self.parts.append(f'<path d="M{self.x(tick):.1f} {TOP}v{up}" stroke="#ddd"/>')
            self.text(self.x(tick), self.height - BOTTOM + 18, f"{tick:g}", anchor="middle")
        for tick in y_ticks:
            self.parts.append(f'<path d="M{self.left} {self.y(tick):.1f}h{across}" stroke="#ddd"/>')
            self.text(self.left - 8, self.y(tick) + 4, f"{tick:.1f}", anchor="end")
        self.text(self.left + across / 2, self.height - 10, x_label, anchor="middle")
        middle = TOP + up / 2
        turned = f'transform="rotate(-90 16 {middle})" '
        self.parts.append(f'<text x="16" y="{middle}" text-anchor="middle" {turned}>{y_label}</text>')

    def text(
        self, x: float, y: float, text: str, *, anchor: str = "start", colour: str = "black"
    ) -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
        )

    def legend(self, row: int, name: str, detail: str, colour: str) -> None:
        at = TOP + 20 + 40 * row
        self.text(WIDTH - RIGHT + 12, at, name, colour=colour)
        self.text(WIDTH - RIGHT + 12, at + 16, detail, colour=colour)

    def path(self, path: str, colour: str, width: float = 2, dash: str = "none") -> None:
        self.parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>'
        )

    def steps(self, xs: ArrayLike, ys: ArrayLike, colour: str) -> None:
        """Draw a step function up to the end of the axis."""
        points = list(zip(np.asarray(xs).tolist(), np.asarray(ys).tolist(), strict=True))
        moves = [f"M{self.x(0):.1f} {self.y(points[0][1]):.1f}"]
        moves += [f"H{self.x(x):.1f}V{self.y(y):.1f}" for x, y in points]
        self.path(" ".join([*moves, f"H{self.x(self.x_range[1]):.1f}"]), colour)

    def line(self, xs: ArrayLike, ys: ArrayLike, colour: str, dash: str = "none") -> None:
        points = zip(np.asarray(xs).tolist(), np.asarray(ys).tolist(), strict=True)
        self.path(
            "M" + " L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points), colour, 2, dash
        )

    def dot(self, x: float, y: float, colour: str) -> None:
        self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="4" fill="{colour}"/>')

    def save(self, name: str) -> None:
        text = "\n".join([*self.parts, "</svg>\n"])
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")


def psd_roc() -> None:
    """Draw the PSD-ROC of the demo's first system, with all thresholds and with 50."""
    truth = sed.simulate.ground_truth()
    psds = sed.presets.PSDS1
    scores = sed.simulate.scores(truth, quality=0.75, seed=1)
    counts = sed.deltas(scores, truth, psds.criterion).counts()
    picture = Picture((0, psds.max_efpr), (0, 1))
    ticks = np.arange(6) / 5
    picture.axes("effective false positives per hour", "true positive ratio", 100 * ticks, ticks)
    counts_at_50 = counts.at((np.arange(50) + 0.5) / 50)
    for row, (name, shown_counts, colour) in enumerate(
        (("every threshold", counts, BLUE), ("50 thresholds", counts_at_50, ORANGE))
    ):
        result = psds.measure(shown_counts)
        picture.steps(result.curve.efpr, result.curve.etpr, colour)
        picture.legend(row, name, f"PSDS1 {result.value:.3f}", colour)
    picture.save("psd_roc.svg")


def tutorial_set() -> tuple[sed.GroundTruth, dict[str, sed.Scores]]:
    """Simulate the ground truth and the two systems of the tutorial."""
    truth = sed.simulate.ground_truth(400, seed=1)
    return truth, {
        "baseline": sed.simulate.scores(truth, quality=0.6, seed=1),
        "proposed": sed.simulate.scores(truth, quality=0.75, seed=2),
    }


def tuning() -> None:
    """Draw the best F-score of some classes over the length of the median filter."""
    truth, systems = tutorial_set()
    sweep = parse_sweep("MedianFilter(0..2/0.1)")
    tuned = sed.tune(systems["baseline"], truth, sed.BestFScore(sed.Collar()), sweep)
    picture = Picture((0, 2), (0, 0.8))
    picture.axes("median filter (s)", "best collar F1", np.arange(5) / 2, np.arange(5) / 5)
    lengths = [candidate.seconds for candidate in sweep if isinstance(candidate, MedianFilter)]
    shown = {"Speech": BLUE, "Vacuum_cleaner": ORANGE, "Dishes": GREY}
    for row, (label, colour) in enumerate(shown.items()):
        choice = tuned.per_class[label]
        assert isinstance(choice.postprocessing, MedianFilter)
        best = choice.postprocessing.seconds
        picture.line(lengths, [*choice.values.values()], colour, ("none", "8 3", "2 3")[row])
        picture.dot(best, choice.value, colour)
        picture.legend(row, label, f"best: {best:g} s", colour)
    picture.save("tuning.svg")


def differences() -> None:
    """Draw the difference of two systems for each class, with confidence intervals."""
    truth, systems = tutorial_set()
    metric = sed.presets.PSDS1
    comparison = sed.compare(systems, truth, metric)
    overall = comparison.differences[metric]["proposed", "baseline"]
    rows = [*overall.per_class.items(), ("overall", overall)]
    picture = Picture((-0.6, 0.6), (len(rows) - 0.5, -0.5), left=200, height=60 + 28 * len(rows))
    picture.axes("PSDS1, proposed − baseline", "", np.arange(-3, 4) / 5, ())
    zero = f"M{picture.x(0):.1f} {TOP}V{picture.height - BOTTOM}"
    picture.path(zero, "black", 1)
    for row, (label, difference) in enumerate(rows):
        colour = {1: BLUE, 0: GREY, -1: ORANGE}[difference.verdict]
        picture.text(190, picture.y(row) + 4, label, anchor="end")
        picture.line([difference.low, difference.high], [row, row], colour)
        picture.dot(difference.value, row, colour)
    for row, (name, detail, colour) in enumerate(
        (("better", "by more than noise", BLUE), ("worse", "by more than noise", ORANGE))
    ):
        picture.legend(row, name, detail, colour)
    picture.legend(2, "inside the noise", "p is above 0.05", GREY)
    picture.save("differences.svg")


if __name__ == "__main__":
    psd_roc()
    tuning()
    differences()
