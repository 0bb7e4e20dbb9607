"""Draws ``psd_roc.svg``: the PSD-ROC of a simulated system with all thresholds and with 50."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.psd_roc import PSDROC

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 56, 48, 20, 150


def step_path(efpr: NDArray[np.float64], etpr: NDArray[np.float64], end: float) -> str:
    """The steps of a curve as an SVG path."""

    def x(rate: float) -> float:
        return LEFT + rate / end * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value * (HEIGHT - BOTTOM - TOP)

    steps = [f"M{x(0):.1f} {y(etpr[0]):.1f}"]
    steps += [f"H{x(rate):.1f}V{y(value):.1f}" for rate, value in zip(efpr, etpr, strict=True)]
    return " ".join([*steps, f"H{x(end):.1f}"])


def draw(curves: dict[str, tuple[PSDROC, float, str]], end: float) -> str:
    """Curves with their score and colour, as an SVG picture."""
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM - TOP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for tick in range(6):
        x, y = LEFT + across * tick / 5, HEIGHT - BOTTOM - up * tick / 5
        parts += [
            f'<path d="M{LEFT} {y}h{across}M{x} {TOP}v{up}" stroke="#ddd"/>',
            f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{tick / 5:.1f}</text>',
            f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{end * tick / 5:g}</text>',
        ]
    middle = TOP + up / 2
    parts += [
        f'<text x="{LEFT + across / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
        "effective false positives per hour</text>",
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        "effective true positive rate</text>",
    ]
    for i, (name, (curve, value, colour)) in enumerate(curves.items()):
        path = step_path(curve.efpr, curve.etpr, end)
        y = TOP + 20 + 40 * i
        parts += [
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{WIDTH - RIGHT + 12}" y="{y}" fill="{colour}" font-weight="bold">{name}</text>',
            f'<text x="{WIDTH - RIGHT + 12}" y="{y + 16}" fill="{colour}">PSDS {value:.3f}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    """Evaluate the demo's first system, and draw."""
    truth = sed.simulate.ground_truth()
    scores = sed.simulate.scores(truth, quality=0.75, seed=1)
    psds = sed.presets.PSDS1
    counts = sed.deltas(scores, truth, psds.criterion).counts()
    every = psds.measure(counts)
    some = psds.measure(counts.at((np.arange(50) + 0.5) / 50))
    picture = draw(
        {
            "every threshold": (every.curve, every.value, "#0b62a4"),
            "50 thresholds": (some.curve, some.value, "#c8500a"),
        },
        psds.max_efpr,
    )
    Path(__file__).with_suffix(".svg").write_text(picture)


if __name__ == "__main__":
    main()
