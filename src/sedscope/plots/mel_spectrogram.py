"""Mel spectrograms."""

from __future__ import annotations

import numpy as np

from ..data.arrays import FloatArray
from ..data.size_limits import refuse_beyond_memory

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
        f"A spectrogram of audio with {rate:,.10g} samples per second needs",
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
    levels: FloatArray = 10 * np.log10(np.maximum(largest, _LEAST_POWER))
    return levels


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
    normalised: FloatArray = weights / weights.sum(axis=0)
    return normalised


def band_edges(rate: float) -> FloatArray:
    """Return the frequencies between which bands are drawn, in hertz, one more than there are bands."""
    return from_mel((np.arange(BANDS + 1) + 0.5) * mel(rate / 2) / (BANDS + 1))


def mel(hertz: FloatArray | float) -> FloatArray:
    """Return frequencies in mel."""
    mels: FloatArray = 2595 * np.log10(1 + np.asarray(hertz, np.float64) / 700)
    return mels


def from_mel(mels: FloatArray | float) -> FloatArray:
    """Return frequencies in hertz."""
    hertz: FloatArray = 700 * (10 ** (np.asarray(mels, np.float64) / 2595) - 1)
    return hertz
