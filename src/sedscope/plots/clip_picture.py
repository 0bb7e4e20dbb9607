"""The picture of one clip: spectrogram, scores, references and detections over a common time axis."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..data.arrays import FloatArray
from ..data.choices import refuse_beyond_memory
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.thresholds import detect
from ..data.times import to_seconds
from ..errors import SedscopeError, SedscopeWarning, listing, with_guesses
from ..io.audio import read_audio
from ..tuning.operating_points import OperatingPoints
from .axes import drawn_name, figure_or_new, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


BANDS = 96
_WINDOW_SECONDS = 0.046
_LEAST_POWER = 1e-12
_BATCH = 1024  # spectra at once, to bound the memory


def mel_spectrogram(
    samples: FloatArray,
    rate: float,
    start: float,
    end: float,
    columns: int,
    *,
    most_spectra: int | None = None,
) -> FloatArray:
    """Return the levels of a stretch of a signal in decibels, as (columns × bands).

    A column is the largest of several spectra, evenly spread over its time and as many as make their
    windows touch. A sine of amplitude 1 has about 0 dB in its band. The script of the report computes the
    same numbers.

    Parameters
    ----------
    samples : ndarray, shape (samples,)
        The signal. It is silent before its first sample and after its last one.
    rate : float
        Samples per second.
    start, end : float
        The stretch, in seconds.
    columns : int
        How many columns it has.
    most_spectra : int, optional
        The largest number of spectra of a column; if it is reached, parts of the signal are skipped.

    Returns
    -------
    ndarray, shape (columns, 96)
        Levels of bands up to half of the sample rate; see :func:`band_edges`.

    Examples
    --------
    >>> tone = np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    >>> levels = mel_spectrogram(tone, 16000, 0, 1, columns=10)
    >>> levels.shape
    (10, 96)
    >>> edges, loudest = band_edges(16000), int(levels[5].argmax())
    >>> bool(edges[loudest] < 1000 < edges[loudest + 1])
    True
    """
    size = int(2 ** np.round(np.log2(_WINDOW_SECONDS * rate)))
    refuse_beyond_memory(
        size * (_BATCH * 40 + BANDS * 16),
        f"A spectrogram of audio with {rate:.10g} samples per second needs",
        "Check the sample rate of the audio.",
    )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    weights = _band_weights(rate, size)
    width = (end - start) / columns
    number = max(1, int(np.ceil(width * rate / size)))
    if most_spectra is not None:
        number = min(number, most_spectra)
    centres = np.floor((start + (np.arange(columns * number) + 0.5) * width / number) * rate + 0.5)
    firsts = centres.astype(np.int64) - size // 2
    powers = [
        np.abs(np.fft.rfft(_windows(samples, batch, size) * window)) ** 2 @ weights
        for batch in np.array_split(firsts, -(-len(firsts) // _BATCH))
    ]
    largest = (np.concatenate(powers) * (4 / size) ** 2).reshape(columns, number, BANDS).max(axis=1)
    return 10 * np.log10(np.maximum(largest, _LEAST_POWER))


def _windows(samples: FloatArray, firsts: np.ndarray, size: int) -> FloatArray:
    """Return the samples from each first one on, as (firsts × size)."""
    numbers = firsts[:, None] + np.arange(size)
    inside = (numbers >= 0) & (numbers < len(samples))
    return np.where(inside, samples[np.where(inside, numbers, 0)], 0.0)


def _band_weights(rate: float, size: int) -> FloatArray:
    """Return the weights of the bins in each band, as (bins × bands).

    The bands are evenly spaced in mel. The weights of a band form a triangle that reaches to the
    neighbours of its centre, and at least to the next bins. Their sum is 1.
    """
    spaced = from_mel(np.arange(BANDS + 2) * mel(rate / 2) / (BANDS + 1))
    centre, step = spaced[1:-1], rate / size
    low, high = np.minimum(spaced[:-2], centre - step), np.maximum(spaced[2:], centre + step)
    bins = (np.arange(size // 2 + 1) * step)[:, None]
    weights = np.clip(
        np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre)), 0, None
    )
    return weights / weights.sum(axis=0)


def band_edges(rate: float) -> FloatArray:
    """Return the frequencies between which bands are drawn, in hertz, one more than there are bands."""
    return from_mel((np.arange(BANDS + 1) + 0.5) * mel(rate / 2) / (BANDS + 1))


def mel(hertz: FloatArray | float) -> FloatArray:
    """Return frequencies in mel."""
    return 2595 * np.log10(1 + np.asarray(hertz, np.float64) / 700)


def from_mel(mels: FloatArray | float) -> FloatArray:
    """Return frequencies in hertz."""
    return 700 * (10 ** (np.asarray(mels, np.float64) / 2595) - 1)


_Events: TypeAlias = Sequence[tuple[float, float, str]]
_COLUMNS = 1000
_DECIBELS = 70
_LOWEST_RATE = 100  # samples per second
_FREQUENCIES = (100, 200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)  # ticks, in hertz


def plot_clip(
    scores: Scores,
    truth: GroundTruth,
    clip: str,
    thresholds: float | Mapping[str, float] | OperatingPoints = 0.5,
    *,
    audio: str | Path | tuple[ArrayLike, float] | None = None,
    classes: Iterable[str] | None = None,
    start: float = 0.0,
    end: float | None = None,
    figure: Figure | SubFigure | None = None,
) -> tuple[Axes, ...]:
    """Plot one clip: its spectrogram, scores, references and detections over a common time axis.

    The spectrogram is the one of the report: 96 mel bands, Hann windows of about 46 ms, and the 70 dB
    below the loudest level.

    Parameters
    ----------
    scores : Scores
        The scores of a system.
    truth : GroundTruth
        The reference events.
    clip : str
        Name of the clip.
    thresholds : float, mapping of str to float or OperatingPoints, default 0.5
        Where detections begin: one threshold for all classes, or one per class. Operating points also
        post-process the scores.
    audio : str, Path or (array_like, float), optional
        The audio file of the clip, which needs soundfile (``pip install 'sedscope[audio]'``), or samples
        and their number per second. Samples may have a second axis for channels. Without audio there is
        no spectrogram.
    classes : iterable of str, optional
        The classes to draw; by default those with references or detections in the clip. If there are
        none, the class with the highest score.
    start, end : float, optional
        The stretch of the clip to draw, in seconds; by default all of it.
    figure : matplotlib figure, optional
        The figure to draw on; a new one by default.

    Returns
    -------
    tuple of matplotlib axes
        Spectrogram if there is audio, scores, and events.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(3, classes=2)
    >>> scores = sed.simulate.scores(truth)
    >>> noise = np.random.default_rng(0).normal(size=160000)
    >>> axes = sed.plots.plot_clip(scores, truth, truth.clips[0], audio=(noise, 16000))
    >>> [panel.get_ylabel() for panel in axes]
    ['frequency (kHz)', 'score', '']
    >>> axes[-1].get_xlabel()
    'time (s)'
    """
    if clip not in scores:
        raise SedscopeError(f"There are no scores of {with_guesses([clip], scores)[0]}.")
    only = drawn = scores.only([clip])
    if isinstance(thresholds, OperatingPoints):
        only, thresholds = thresholds.process(only), thresholds.thresholds
        drawn = drawn if only.holds_events else only  # points in time, which have no scores of frames
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SedscopeWarning)  # in one clip, a class may well be silent
        (detections,) = detect(only, thresholds).values()
    references = truth.events(clip)
    clip_scores = drawn[clip]
    edges = to_seconds(clip_scores.ticks)
    until = float(edges[-1]) if end is None else end
    if not start < until:
        raise SedscopeError(f"start={start:g} must be less than end={until:g}.")
    labels = _labels(classes, scores.classes, clip_scores.values, references, detections)
    sound = None if audio is None else _samples(audio)

    heights = [*([1.8] if sound else []), 1.2, 0.2 + 0.27 * len(labels)]  # in inches
    figure = figure_or_new(figure, (8, sum(heights) + 0.8))
    axes = figure.subplots(
        len(heights), sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    if sound:
        _draw_spectrogram(axes[0], *sound, start, until)
    colours = {label: str(line_style(i)["color"]) for i, label in enumerate(labels)}
    for label in [label for label in labels if label in scores.classes]:
        values = clip_scores.values[:, scores.classes.index(label)].astype(np.float64)
        values[np.isneginf(values)] = np.nan
        axes[-2].stairs(values, edges, baseline=None, color=colours[label], label=drawn_name(label))
    _draw_thresholds(axes[-2], thresholds, colours)
    axes[-2].set_ylabel("score")
    axes[-2].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", frameon=False)
    _draw_events(axes[-1], references, detections, colours)
    axes[-1].set_xlim(start, until)
    axes[-1].set_xlabel("time (s)")
    return tuple(axes)


def _labels(
    classes: Iterable[str] | None,
    scored: Sequence[str],
    values: np.ndarray,
    references: _Events,
    detections: _Events,
) -> list[str]:
    """Return the classes to draw, in the order of the scores; those without scores come last."""
    present = {label for _, _, label in (*references, *detections)}
    if classes is None:
        chosen = present or {scored[int(np.argmax(values.max(axis=0)))]}
    else:
        chosen = {classes} if isinstance(classes, str) else set(classes)
        unknown = sorted(chosen - present - set(scored))
        if unknown:
            raise SedscopeError(
                f"There are no scores or events of {listing(with_guesses(unknown, scored))}."
            )
    return [*(label for label in scored if label in chosen), *sorted(chosen - set(scored))]


def _samples(audio: str | Path | tuple[ArrayLike, float]) -> tuple[FloatArray, float]:
    """Return the samples of one channel, the mean of all, and how many there are per second."""
    if isinstance(audio, (str, Path)):
        return read_audio(audio)
    samples, rate = np.asarray(audio[0], np.float64), float(audio[1])
    if samples.ndim == 2:
        samples = samples.mean(axis=1)
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise SedscopeError(
            "audio= needs finite samples with one axis, or two: (samples × channels). "
            f"These have the shape {np.shape(audio[0])}."
        )
    if not _LOWEST_RATE <= rate < np.inf:
        raise SedscopeError(
            f"audio= needs the samples per second, at least {_LOWEST_RATE}, after the samples; not {rate:g}."
        )
    return samples, rate


def _draw_spectrogram(axes: Axes, samples: FloatArray, rate: float, start: float, end: float) -> None:
    stop = min(end, len(samples) / rate)
    if stop <= start:
        raise SedscopeError(
            f"The audio ends at {len(samples) / rate:g} s, so there is none from {start:g} s on."
        )
    levels = mel_spectrogram(samples, rate, start, stop, _COLUMNS)
    top = levels.max()
    times = np.linspace(start, stop, _COLUMNS + 1)
    axes.pcolormesh(
        times, band_edges(rate), levels.T, cmap="magma", vmin=top - _DECIBELS, vmax=top, rasterized=True
    )
    axes.set_yscale("function", functions=(mel, from_mel))
    ticks = np.array([tick for tick in _FREQUENCIES if tick < 0.95 * rate / 2])
    ticks = ticks[np.diff(mel(ticks), append=np.inf) > mel(rate / 2) / 16]
    axes.set_yticks(ticks, [f"{tick / 1000:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(*band_edges(rate)[[0, -1]])
    axes.set_ylabel("frequency (kHz)")


def _draw_thresholds(
    axes: Axes, thresholds: float | Mapping[str, float], colours: Mapping[str, str]
) -> None:
    """Draw the thresholds as dashed lines: one, or one per class in its colour."""
    if not isinstance(thresholds, Mapping):
        axes.axhline(float(thresholds), color="black", linestyle="--", linewidth=0.8, label="threshold")
        return
    for label, colour in colours.items():
        if np.isfinite(thresholds.get(label, np.inf)):
            axes.axhline(thresholds[label], color=colour, linestyle="--", linewidth=0.8)


def _draw_events(
    axes: Axes, references: _Events, detections: _Events, colours: Mapping[str, str]
) -> None:
    """Draw events as bars: one row per class, references above detections."""
    from matplotlib.patches import Patch

    for row, (label, colour) in enumerate(colours.items()):
        for events, top, face, hatch in (
            (references, row - 0.4, colour, None),
            (detections, row + 0.02, "none", "/////"),
        ):
            bars = [(onset, offset - onset) for onset, offset, other in events if other == label]
            height = (top, 0.38)
            axes.broken_barh(bars, height, edgecolor=colour, linewidth=1, facecolor=face, hatch=hatch)
    axes.set_yticks(range(len(colours)), [*map(drawn_name, colours)])
    axes.set_ylim(len(colours) - 0.4, -0.6)
    kinds = [
        Patch(facecolor="grey", edgecolor="grey", label="reference"),
        Patch(facecolor="none", edgecolor="grey", hatch="/////", label="detection"),
    ]
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", frameon=False)
