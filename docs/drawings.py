"""Draw how sedscope works: ``python docs/drawings.py`` writes three pictures for docs/how_it_works.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sedscope as sed

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY, GRID = "#0b62a4", "#c8500a", "#666", "#ddd"
Node = tuple[int, int, float, float]
SHADES = ("#dcebf7", "#b9d6ee", "#8fbde2", "#5f9dd0")


@dataclass
class Panel:
    """A part of a picture with its own axes."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return round(self.left + (value - low) / (high - low) * self.width, 1)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return round(self.top + self.height - (value - low) / (high - low) * self.height, 1)

    def frame(self, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> str:
        bottom = self.top + self.height
        lines = [
            f'<path d="M{self.left} {self.top}V{bottom}H{self.left + self.width}" {stroke(GREY, 1)}/>'
        ]
        lines += [text(self.x(tick), bottom + 16, f"{tick:g}", anchor="middle") for tick in x_ticks]
        for tick in y_ticks:
            lines.append(f'<path d="M{self.left} {self.y(tick)}h{self.width}" {stroke(GRID, 1)}/>')
            lines.append(text(self.left - 6, self.y(tick) + 4, f"{tick:g}", anchor="end"))
        return "".join(lines)

    def steps(self, xs: Sequence[float], ys: Sequence[float], colour: str) -> str:
        """A line that jumps to each y at its x, from zero at the left end to the right end."""
        path = f"M{self.x(self.x_range[0])} {self.y(0)}"
        path += "".join(f"H{self.x(x)}V{self.y(y)}" for x, y in zip(xs, ys, strict=True))
        return f'<path d="{path}H{self.x(self.x_range[1])}" {stroke(colour, 2)}/>'


def stroke(colour: str, width: float, dash: str = "none") -> str:
    return f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"'


def text(
    x: float, y: float, words: str, *, colour: str = "#222", anchor: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}"{weight}>{words}</text>'


def svg(width: int, height: int, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">'
    )
    return "\n".join(
        [head, f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>", ""]
    )


def nodes(scores: Sequence[float], start: int, end: int, parent: float) -> Iterator[Node]:
    """Iterate over the tree: first and last frame, the parent's score, and the score of each detection."""
    score = min(scores[start:end])
    yield start, end, parent, score
    begin = start
    for frame in range(start, end + 1):
        if frame == end or scores[frame] == score:
            if frame > begin:
                yield from nodes(scores, begin, frame, score)
            begin = frame + 1


def component_tree() -> str:
    """Draw the detections of one clip and class at all thresholds."""
    scores = (
        0.1,
        0.3,
        0.3,
        0.6,
        0.9,
        0.9,
        0.6,
        0.45,
        0.45,
        0.75,
        0.75,
        0.45,
        0.2,
        0.2,
        0.5,
        0.35,
        0.1,
        0.1,
    )
    threshold = 0.55
    panel = Panel(56, 20, 560, 240, (0, len(scores)), (0, 1))
    parts = [panel.frame((), (0, 0.2, 0.4, 0.6, 0.8, 1))]
    for start, end, low, high in nodes(scores, 0, len(scores), 0.0):
        active = low <= threshold < high
        x, y = panel.x(start), panel.y(high)
        shade = "#f6c9a8" if active else SHADES[min(int(low * 5), 3)]
        edge = ORANGE if active else BLUE
        parts.append(
            f'<rect x="{x}" y="{y}" width="{panel.x(end) - x:.1f}" height="{panel.y(low) - y:.1f}" '
            f'fill="{shade}" stroke="{edge}"/>'
        )
    y = panel.y(threshold)
    parts.append(f'<path d="M56 {y}h560" {stroke(ORANGE, 1.5, "6 3")}/>')
    parts.append(text(626, y - 2, "threshold 0.55:", colour=ORANGE))
    parts.append(text(626, y + 14, "2 detections", colour=ORANGE))
    parts.append(text(336, 280, "time", anchor="middle"))
    parts.append(f'<g transform="rotate(-90 16 140)">{text(16, 140, "score", anchor="middle")}</g>')
    return svg(740, 292, parts)


def deltas() -> str:
    """Draw the counts of two clips over the threshold, and their sum."""
    scores = sed.Scores.from_arrays(
        {
            "clip 1": np.array([[0.1], [0.8], [0.8], [0.2], [0.5], [0.1]]),
            "clip 2": np.array([[0.6], [0.3], [0.7], [0.9], [0.9], [0.4]]),
        },
        classes=["Dog"],
        frame=1.0,
    )
    truth = sed.GroundTruth.from_dict(
        {"clip 1": [(1, 3, "Dog")], "clip 2": [(3, 5, "Dog")]}, durations={"clip 1": 6.0, "clip 2": 6.0}
    )
    deltas = sed.deltas(scores, truth, sed.Intersection(dtc=0.5, gtc=0.5))
    shown = {
        "clip 1": sed.deltas(scores, truth, deltas.criterion, clips=["clip 1"]),
        "clip 2": sed.deltas(scores, truth, deltas.criterion, clips=["clip 2"]),
        "both, added up": deltas,
    }
    parts = []
    for column, (name, part) in enumerate(shown.items()):
        counts = part.counts()["Dog"]
        panel = Panel(40 + 250 * column, 46, 190, 130, (1, 0), (0, 3))
        parts.append(text(panel.left, 24, name, bold=True))
        parts.append(panel.frame((1, 0.8, 0.6, 0.4, 0.2, 0), (0, 1, 2, 3)))
        for values, colour, lift in ((counts.tp, BLUE, 0.0), (counts.fp, ORANGE, 0.03)):
            shifted = [value + lift for value in values]
            parts.append(panel.steps(counts.scores.tolist(), shifted, colour))
        if column < 2:
            parts.append(text(panel.left + 206, 120, ("+", "=")[column], bold=True))
    parts.append(text(40, 214, "true positives", colour=BLUE))
    parts.append(text(140, 214, "false positives", colour=ORANGE))
    parts.append(text(540, 214, "threshold, from high to low", colour=GREY))
    return svg(750, 226, parts)


def floor() -> str:
    """Draw the false alarms of a class over the threshold, and the floor below which nothing is read."""
    limit, label = 100.0, "Dog"
    truth = sed.simulate.ground_truth(400, seed=1)
    scores = sed.simulate.scores(truth, quality=0.7, seed=1)
    counts = sed.deltas(scores, truth, sed.presets.PSDS1.criterion).counts()[label]
    hours = truth.durations.sum() / 3.6e9  # from microseconds
    column = scores.classes.index(label)
    values = {clip: scores[clip].values[:, column] for clip in truth.clips}
    without = [clip for clip in truth.clips if label not in {event[2] for event in truth.events(clip)}]
    largest = sorted((values[clip].max() for clip in without), reverse=True)
    lowest_read = float(largest[int(limit * hours) + 1])
    below = np.mean(np.concatenate([*values.values()]) < lowest_read)

    panel = Panel(56, 20, 520, 230, (0, 1), (0, 250))
    parts = [
        f'<rect x="{panel.left}" y="{panel.top}" width="{panel.x(lowest_read) - panel.left:.1f}" '
        f'height="{panel.height}" fill="#eee"/>',
        panel.frame((0, 0.2, 0.4, 0.6, 0.8, 1), (0, 50, 100, 150, 200, 250)),
    ]
    keep = counts.fp / hours <= 250
    path = "".join(
        f"{'L' if row else 'M'}{panel.x(score)} {panel.y(rate)}"
        for row, (score, rate) in enumerate(
            zip(counts.scores[keep], counts.fp[keep] / hours, strict=True)
        )
    )
    parts.append(f'<path d="{path}" {stroke(ORANGE, 2)}/>')
    parts.append(f'<path d="M56 {panel.y(limit)}h520" {stroke(BLUE, 1.5, "6 3")}/>')
    parts.append(text(584, panel.y(limit) - 4, "the limit of the metric", colour=BLUE))
    parts.append(text(584, panel.y(limit) + 12, "(max_efpr=100)", colour=BLUE))
    x = panel.x(lowest_read)
    parts.append(f'<path d="M{x} {panel.top}v{panel.height}" {stroke(GREY, 1.5)}/>')
    parts.append(text(x + 44, 34, f"← the floor: {below:.0%} of the frames lie below it", colour=GREY))
    parts.append(text(316, 284, "threshold", anchor="middle"))
    parts.append(
        f'<g transform="rotate(-90 16 135)">{text(16, 135, "false alarms per hour", anchor="middle")}</g>'
    )
    return svg(740, 296, parts)


DRAWINGS = {"component_tree.svg": component_tree, "deltas.svg": deltas, "floor.svg": floor}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
