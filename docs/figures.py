"""Draw the figures that show what plots look like: ``python docs/figures.py``, or ``make figures``.

They are in ``docs/figures``, and without text in ``tests/plots/figures``, where the tests compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Text
from PIL import Image

import sedscope as sed

FOLDER = Path(__file__).with_name("figures")
COMPARED = Path(__file__).parent.parent / "tests" / "plots" / "figures"
METRICS = ("psds1", "best_collar_f1")


def simulated(classes: int) -> tuple[sed.GroundTruth, dict[str, sed.Scores]]:
    truth = sed.simulate.ground_truth(150, classes=classes, seed=1)
    return truth, {
        "baseline": sed.simulate.scores(truth, quality=0.65, seed=1),
        "proposed": sed.simulate.scores(truth, quality=0.8, seed=2),
    }


@cache
def evaluations(classes: int = 10) -> dict[str, sed.Evaluation]:
    truth, systems = simulated(classes)
    return {name: sed.evaluate(scores, truth, METRICS) for name, scores in systems.items()}


def counts(criterion: sed.Intersection | sed.Segment) -> sed.Counts:
    truth, systems = simulated(10)
    return sed.deltas(systems["baseline"], truth, criterion).counts()


def psd_roc() -> Axes:
    return evaluations()["baseline"]["psds1"].plot()


def psd_roc_of_systems() -> Axes:
    return sed.plot(evaluations(), "psds1")


def psd_roc_of_25_classes() -> Axes:
    return sed.plot(evaluations(25)["baseline"], "psds1")


def fscore_over_threshold() -> Axes:
    return sed.plot(evaluations(), "best_collar_f1", label="Speech")


def det() -> Axes:
    of_segments = counts(sed.Segment(1.0))
    axes = sed.curves.det_curve(of_segments["Speech"]).plot(label="Speech")
    sed.curves.det_curve(of_segments["Dishes"]).plot(axes, label="Dishes", linestyle="--")
    axes.legend(fontsize=7)
    return axes


def cross_triggers() -> Axes:
    return counts(sed.presets.PSDS2.criterion).plot_cross_triggers(0.3)


def groups() -> Axes:
    truth, systems = simulated(10)
    sites = {clip: f"site {number % 12 + 1}" for number, clip in enumerate(truth.clips)}
    by = sed.Groups(sites, average="mean")
    result = sed.evaluate(systems["baseline"], truth, "collar_f1", by=by, resampling=200)
    return sed.plots.plot_groups(result, "collar_f1")


FIGURES: dict[str, Callable[[], Axes]] = {
    figure.__name__: figure
    for figure in (
        *(psd_roc, psd_roc_of_systems, psd_roc_of_25_classes),
        *(fscore_over_threshold, det, cross_triggers, groups),
    )
}


def draw(name: str, path: Path) -> None:
    """Draw a figure for the documentation, with matplotlib as it is by default."""
    save(FIGURES[name](), path, dpi=130)


def draw_without_text(name: str, path: Path) -> None:
    """Draw a figure for the tests. It has no text, which looks different with every version of matplotlib."""
    axes = FIGURES[name]()
    figure = axes.figure
    figure.set_layout_engine("none")
    for text in figure.findobj(Text):
        text.set_visible(False)
    for legend in (*figure.legends, *figure.findobj(Legend)):
        legend.set_visible(False)
    figure.set_size_inches(3, 2)
    for number, part in enumerate(figure.axes):  # the colour bar is the second
        part.set_position((0.9 * number + 0.04, 0.04, 0.84, 0.92))
    save(axes, path, dpi=100)


def save(axes: Axes, path: Path, dpi: int) -> None:
    """Save a figure with few colours, so that the file is small."""
    with BytesIO() as file:
        axes.figure.savefig(file, dpi=dpi)
        picture = Image.open(file).convert("RGB").quantize(256)
    picture.save(path, optimize=True)


def draw_all() -> None:
    for folder, drawing in ((FOLDER, draw), (COMPARED, draw_without_text)):
        folder.mkdir(exist_ok=True)
        for name in FIGURES:
            drawing(name, folder / f"{name}.png")


if __name__ == "__main__":
    matplotlib.rcdefaults()
    matplotlib.use("agg")
    draw_all()
