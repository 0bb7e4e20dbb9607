"""The picture of one clip: exact events and scores over a common time axis, and a true spectrogram."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.plots.clip_picture import BANDS, band_edges, from_mel, mel, mel_spectrogram

pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib")

EVENTS = [(0.25, 1.0, "Dog"), (0.5, 1.25, "Cat"), (1.5, 1.75, "Dog")]
#          frames of 0.5 s:  0    1    2    3
SCORES = np.array([[0.9, 0.8, 0.1, 0.6], [0.1, 0.2, 0.1, -np.inf], [0.0, 0.1, 0.2, 0.3]]).T
CLASSES = ["Dog", "Bird", "Frog"]


@pytest.fixture(autouse=True)
def without_screen() -> None:
    pyplot.switch_backend("agg")


@pytest.fixture
def case() -> tuple[sed.Scores, sed.GroundTruth]:
    scores = sed.Scores.from_arrays({"a": SCORES}, classes=CLASSES, frame=0.5)
    return scores, sed.GroundTruth.from_dict({"a": EVENTS}, durations={"a": 2.0})


def plot_clip(*arguments: Any, **options: Any) -> Any:
    """The same without the types of matplotlib, which know little of what was drawn."""
    return sed.plots.plot_clip(*arguments, **options)


def tone(rate: int = 8000, hertz: float = 1000, seconds: float = 2.0) -> Any:
    return np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)


def bars(axes: Any) -> list[tuple[float, float, float]]:
    """The bars as (left, right, top), of rows from top to bottom, references first."""
    boxes = [path.get_extents() for bars in axes.collections for path in bars.get_paths()]
    return [(float(box.x0), float(box.x1), round(float(box.y0), 2)) for box in boxes]


def test_it_draws_what_there_is(case: tuple[sed.Scores, sed.GroundTruth]) -> None:
    spectrogram, scores, events = plot_clip(*case, "a", audio=(tone(), 8000))
    assert events.get_xlim() == scores.get_xlim() == spectrogram.get_xlim() == (0, 2)
    assert [text.get_text() for text in events.get_yticklabels()] == ["Dog", "Cat"]
    assert bars(events) == [
        (0.25, 1.0, -0.4),
        (1.5, 1.75, -0.4),
        (0.0, 1.0, 0.02),
        (1.5, 2.0, 0.02),
        (0.5, 1.25, 0.6),
    ]
    (curve,) = scores.patches
    assert curve.get_data().values.tolist() == SCORES[:, 0].tolist()
    assert curve.get_data().edges.tolist() == [0, 0.5, 1, 1.5, 2]
    assert [line.get_ydata()[0] for line in scores.lines] == [0.5]
    levels = spectrogram.collections[0].get_array().reshape(BANDS, -1)
    loudest = levels[:, 500].argmax()
    assert band_edges(8000)[loudest] < 1000 < band_edges(8000)[loudest + 1]
    assert spectrogram.get_ylim() == pytest.approx(tuple(band_edges(8000)[[0, -1]]))


def test_classes_thresholds_and_stretch_can_be_chosen(case: tuple[sed.Scores, sed.GroundTruth]) -> None:
    points = sed.OperatingPoints({"Dog": 0.7, "Bird": 0.15})
    figure = pyplot.figure()
    scores, events = plot_clip(
        *case, "a", points, classes=["Bird", "Dog"], start=0.5, end=1.5, figure=figure
    )
    assert scores.figure is figure
    assert events.get_xlim() == (0.5, 1.5)
    assert [text.get_text() for text in events.get_yticklabels()] == ["Dog", "Bird"]
    assert bars(events)[2:] == [(0.0, 1.0, 0.02), (0.5, 1.0, 1.02)]
    assert sorted(line.get_ydata()[0] for line in scores.lines) == [0.15, 0.7]
    silent = sed.GroundTruth.from_dict({"a": []}, durations={"a": 2.0})
    _, events = plot_clip(case[0], silent, "a", 0.95)
    assert [text.get_text() for text in events.get_yticklabels()] == ["Dog"]


def test_peaks_are_points_beside_the_scores(case: tuple[sed.Scores, sed.GroundTruth]) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0.25, 0.25, "Dog")]}, durations={"a": 2.0})
    points = sed.OperatingPoints({"Dog": 0.5}, postprocessing={"Dog": sed.postprocessing.Peaks(1)})
    scores, events = plot_clip(case[0], truth, "a", points)
    (curve,) = scores.patches
    assert curve.get_data().values.tolist() == SCORES[:, 0].tolist()
    lines = bars(events)
    assert lines[0] == (0.25, 0.25, -0.4)
    assert all(left == right for left, right, _ in lines)
    assert len(lines) == 3


def test_audio_files(case: tuple[sed.Scores, sed.GroundTruth], tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile", reason="needs soundfile: pip install 'sedscope[audio]'")
    stereo = np.stack([0.5 * tone(), np.zeros(16000)], axis=1)
    soundfile.write(tmp_path / "a.wav", stereo, 8000, subtype="FLOAT")
    (tmp_path / "b.wav").write_bytes(b"RIFF")
    from_file = plot_clip(*case, "a", audio=tmp_path / "a.wav")[0]
    from_array = plot_clip(*case, "a", audio=(stereo, 8000))[0]
    drawn = [np.asarray(axes.collections[0].get_array()) for axes in (from_file, from_array)]
    assert np.abs(drawn[0] - drawn[1]).max() < 0.01
    with pytest.raises(sed.SedscopeError, match=r"b\.wav: soundfile cannot decode this file"):
        plot_clip(*case, "a", audio=tmp_path / "b.wav")


def test_without_soundfile_it_says_what_to_install(
    case: tuple[sed.Scores, sed.GroundTruth], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(sed.SedscopeError, match=r"pip install 'sedscope\[audio\]'"):
        plot_clip(*case, "a", audio="a.wav")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": "b"}, "There are no scores of b"),
        ({"classes": ["Dogs"]}, r"no scores or events of Dogs \(did you mean Dog\?\)"),
        ({"start": 2.0}, "start=2 must be less than end=2"),
        ({"audio": ([np.nan], 8000)}, "needs finite samples"),
        ({"audio": (np.zeros((2, 2, 2)), 8000)}, r"shape \(2, 2, 2\)"),
        ({"audio": (np.zeros(9), 0)}, "samples per second"),
        ({"audio": (np.zeros(8), 8000), "start": 1.0}, r"The audio ends at 0\.001 s"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    case: tuple[sed.Scores, sed.GroundTruth], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        plot_clip(*case, **{"clip": "a", **options})


def test_levels_follow_their_definition() -> None:
    """By a Fourier transform of every window and bin, written as a sum."""
    rate, start, end, columns = 1000, 0.1, 0.9, 3
    samples = np.random.default_rng(1).normal(size=600)  # the last window lies behind them
    size = 64  # the power of two next to 46 ms
    width, number = (end - start) / columns, 5
    times = np.arange(size)
    window = np.sin(np.pi * times / size) ** 2
    expected = np.full((columns, BANDS), 1e-12)
    padded = np.concatenate([samples, np.zeros(1000)])
    for column in range(columns):
        for i in range(number):
            centre = round((start + (column + (i + 0.5) / number) * width) * rate)
            part = padded[centre - size // 2 : centre + size // 2] * window
            for band in range(BANDS):
                low, middle, high = from_mel((band + np.arange(3)) * mel(500) / (BANDS + 1))
                low, high = min(low, middle - rate / size), max(high, middle + rate / size)
                total = power = 0.0
                for k in range(size // 2 + 1):
                    hertz = k * rate / size
                    side = (hertz - low) / (middle - low), (high - hertz) / (high - middle)
                    weight = max(0.0, min(side))
                    total += weight
                    if weight:
                        wave = np.exp(-2j * np.pi * k * times / size)
                        power += weight * abs(part @ wave) ** 2 / (window.sum() / 2) ** 2
                expected[column, band] = max(expected[column, band], power / total)
    levels = mel_spectrogram(samples, rate, start, end, columns)
    assert levels == pytest.approx(10 * np.log10(expected), abs=1e-6)
    skipping = mel_spectrogram(samples, rate, start, end, columns, most_spectra=1)
    assert skipping.sum() < levels.sum()


def test_a_full_sine_has_about_0_decibels() -> None:
    edges = band_edges(16000)
    centre = float(from_mel(41 * mel(8000) / (BANDS + 1)))
    levels = mel_spectrogram(tone(16000, centre), 16000, 0.5, 1.5, 4)
    assert edges[40] < centre < edges[41]
    assert levels[:, 40] == pytest.approx(0, abs=6)
    assert levels[:, :30].max() < -60
