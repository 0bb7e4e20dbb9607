"""Train a small network to detect sounds, and evaluate it with sedscope in every epoch.

The script generates soundscapes of tones, noises and chirps, so you need only this file and
``pip install 'sedscope[torch]'``. It runs for about a minute on a CPU. It writes the best thresholds
and median filters (``points.toml``), the results (``results.json``) and a report that contains the
audio (``report.html``) to a folder.

    python train_crnn.py --output trained
"""

from __future__ import annotations

import argparse
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.torch import SEDMetrics

CLASSES = ("chirp", "noise", "tone")
RATE = 8000  # samples per second
SECONDS = 4.0
HOP = 160  # samples between the starts of two spectra
POOLED = 2  # spectra per frame of scores
FRAME = HOP * POOLED / RATE
MELS = 32

PSDS = sed.PSDS(sed.Intersection(dtc=0.7, gtc=0.7))
BEST_F1 = sed.BestFScore(sed.Collar())
F1 = sed.FScore(sed.Collar())
VALIDATION_METRICS: dict[str, Metric[Any]] = {"psds": PSDS, "best_f1": BEST_F1}


def sound(label: str, seconds: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Generate the waveform of one event."""
    time = np.arange(int(seconds * RATE)) / RATE
    low, high = np.sort(rng.uniform(300, 3500, 2))
    if label == "tone":
        carrier = np.sin(2 * np.pi * low * time)
    elif label == "chirp":
        carrier = np.sin(2 * np.pi * (low + (high - low) * time / (2 * seconds)) * time)
    else:
        carrier = rng.normal(size=len(time)) / 2
    fade = np.minimum(1, np.minimum(time, seconds - time) / 0.01)
    waveform: NDArray[np.float64] = rng.uniform(0.03, 0.3) * fade * carrier
    return waveform


@dataclass(frozen=True)
class Soundscapes:
    """Clips with their audio and their reference events."""

    clips: list[str]
    audio: NDArray[np.float32]
    truth: sed.GroundTruth

    @staticmethod
    def generate(name: str, number: int, seed: int) -> Soundscapes:
        """Generate clips with up to two events of each class, over quiet noise."""
        rng = np.random.default_rng(seed)
        clips = [f"{name}_{i:04d}" for i in range(number)]
        audio = rng.normal(scale=0.02, size=(number, int(SECONDS * RATE)))
        events: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in clips}
        for clip, samples in zip(clips, audio, strict=True):
            for label in CLASSES:
                for half in range(2):  # one event per half, so that events of a class do not overlap
                    if rng.random() < 0.4:
                        length = rng.uniform(0.25, 1.2)
                        onset = half * SECONDS / 2 + rng.uniform(0.05, SECONDS / 2 - length - 0.05)
                        waveform = sound(label, length, rng)
                        first = int(onset * RATE)
                        samples[first : first + len(waveform)] += waveform
                        events[clip].append((onset, onset + length, label))
        truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, SECONDS))
        return Soundscapes(clips, audio.astype(np.float32), truth)

    def targets(self) -> torch.Tensor:
        """Return (clips × frames × classes): 1 if a class is active at the middle of a frame."""
        middles = (np.arange(int(SECONDS / FRAME)) + 0.5) * FRAME
        active = np.zeros((len(self.clips), len(middles), len(CLASSES)), np.float32)
        for i, clip in enumerate(self.clips):
            for onset, offset, label in self.truth.events(clip):
                active[i, (onset <= middles) & (middles < offset), CLASSES.index(label)] = 1
        return torch.from_numpy(active)

    def write_audio(self, folder: Path) -> None:
        """Write one WAV file per clip."""
        folder.mkdir(parents=True, exist_ok=True)
        for clip, samples in zip(self.clips, self.audio, strict=True):
            with wave.open(str(folder / f"{clip}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def log_mel(audio: NDArray[np.float32]) -> torch.Tensor:
    """Compute the log mel energies (clips × spectra × bands)."""
    size = 512
    spectra = torch.stft(
        torch.from_numpy(audio), size, HOP, window=torch.hann_window(size), return_complex=True
    )
    power = spectra.abs().square()[:, :, :-1].transpose(1, 2)
    mel = np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), MELS + 2)
    corners = 700 * (10 ** (mel / 2595) - 1)
    frequencies = np.linspace(0, RATE / 2, size // 2 + 1)
    rising = (frequencies - corners[:-2, None]) / np.diff(corners)[:-1, None]
    falling = (corners[2:, None] - frequencies) / np.diff(corners)[1:, None]
    bands = np.maximum(0, np.minimum(rising, falling)).T.astype(np.float32)
    return torch.log(power @ torch.from_numpy(bands) + 1e-4)


class CRNN(nn.Module):
    """Two convolutional layers and one recurrent layer, with one score per frame and class."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d((POOLED, 4)),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d((1, 4)),
        )
        self.recurrent = nn.GRU(32 * MELS // 16, 32, batch_first=True, bidirectional=True)
        self.output = nn.Linear(64, len(CLASSES))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Map (clips × spectra × bands) to (clips × frames × classes), before the sigmoid."""
        maps = self.convolutions(features[:, None])
        sequence, _ = self.recurrent(maps.permute(0, 2, 1, 3).flatten(2))
        return self.output(sequence)


def predict(network: CRNN, features: torch.Tensor, clips: Sequence[str]) -> sed.Scores:
    """Compute the scores of all clips."""
    network.eval()
    with torch.no_grad():
        values = torch.sigmoid(network(features)).numpy()
    arrays = dict(zip(clips, values, strict=True))
    return sed.Scores.from_arrays(arrays, classes=CLASSES, frame=FRAME)


def main(arguments: Sequence[str] | None = None) -> None:
    """Generate the data, train the network, tune it and write a report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--output", type=Path, default=Path("trained"), help="folder for the output files"
    )
    parser.add_argument("--clips", type=int, default=240, help="number of training clips")
    parser.add_argument("--epochs", type=int, default=8, help="number of training epochs")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)

    training = Soundscapes.generate("training", options.clips, seed=1)
    validation = Soundscapes.generate("validation", options.clips // 4, seed=2)
    test = Soundscapes.generate("test", options.clips // 4, seed=3)
    features, targets = log_mel(training.audio), training.targets()
    validation_features = log_mel(validation.audio)

    network = CRNN()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    metrics = SEDMetrics(VALIDATION_METRICS, CLASSES, frame=FRAME, truth=validation.truth)
    for epoch in range(options.epochs):
        network.train()
        for rows in torch.randperm(len(features)).split(16):
            loss = functional.binary_cross_entropy_with_logits(network(features[rows]), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        network.eval()
        for first in range(0, len(validation_features), 16):
            batch = slice(first, first + 16)
            with torch.no_grad():
                scores = torch.sigmoid(network(validation_features[batch]))
            metrics.update(scores, validation.clips[batch])
        values = {name: f"{value:.3f}" for name, value in metrics.compute().items()}
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, validation {values}")
        metrics.reset()

    tuned = sed.tune(
        predict(network, validation_features, validation.clips),
        validation.truth,
        BEST_F1,
        "MedianFilter(0..0.4/0.08)",
    )
    test_scores = predict(network, log_mel(test.audio), test.clips)
    at_half = sed.evaluate(test_scores, test.truth, F1)[F1].value
    at_points = sed.evaluate(tuned.points.apply(test_scores), test.truth, F1)[F1].value
    print(f"test: collar F1 {at_half:.3f} at 0.5, {at_points:.3f} with tuned filters and thresholds")

    test.write_audio(options.output / "audio")
    tuned.points.save(options.output / "points.toml")
    result = sed.evaluate(tuned(test_scores), test.truth, [PSDS, BEST_F1])
    result.to_json(options.output / "results.json")
    result.report(options.output / "report.html", name="CRNN", audio=options.output / "audio")
    print(result.table())


if __name__ == "__main__":
    main()
