"""Metrics with established parameters, under the name of the task or paper that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..criteria import Intersection
from ..metrics import PSDS, Metric
from ..metrics.names import parse_metric

__all__ = ["PRESETS", "PSDS1", "PSDS2", "Preset"]

PSDS1 = PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1.0)
"""PSDS scenario 1 of DCASE Task 4, 2021 to 2023: the system must localise well in time."""

PSDS2 = PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1.0)
"""PSDS scenario 2 of DCASE Task 4, 2021 to 2023: the system must not confuse classes."""


@dataclass(frozen=True)
class Preset:
    """Metrics that belong together, what they are, and where they come from."""

    name: str
    about: str
    source: str
    metrics: tuple[Metric[Any], ...]
    caution: str = ""
    """Why the metrics alone are not the task, and what to use instead."""

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter(self.metrics)


@cache
def _presets() -> dict[str, Preset]:
    """Return all presets, by name. They load more than PSDS1 and PSDS2 do."""
    onset = "Collar(onset=0.5, offset=None)"
    presets = (
        Preset(
            "dcase2016_task3",
            "segment error rate and F-score, 1 s, of all classes together",
            "DCASE 2016 Task 3, sound event detection in real life audio",
            _metrics("segment_er", "segment_f1_micro"),
        ),
        Preset(
            "dcase2017_task2",
            "event error rate and F-score, onset only, 0.5 s, mean over classes",
            "DCASE 2017 Task 2, detection of rare sound events",
            _metrics(f"ErrorRate({onset})", f"FScore({onset})"),
        ),
        Preset(
            "dcase2017_task3",
            "segment error rate and F-score, 1 s, of all classes together",
            "DCASE 2017 Task 3, sound event detection in real life audio",
            _metrics("segment_er", "segment_f1_micro"),
        ),
        Preset(
            "dcase2018_task4",
            "collar F-score, 0.2 s and 20 % of the length, mean over classes",
            "DCASE 2018 Task 4, weakly labelled semi-supervised detection",
            _metrics("collar_f1"),
        ),
        Preset(
            "dcase2019_task4",
            "collar F-score, 0.2 s and 20 % of the length, mean over classes",
            "DCASE 2019 Task 4, detection in domestic environments",
            _metrics("collar_f1"),
        ),
        Preset(
            "dcase2020_task4",
            "collar F-score, and PSDS 0.5/0.5/0.3 without and with costs for cross-triggers or instability",
            "DCASE 2020 Task 4, detection and separation in domestic environments",
            _metrics("collar_f1", "psds_2020", "psds_2020_ct", "psds_2020_st"),
        ),
        *(
            Preset(
                f"dcase{year}_task4{part}",
                "PSDS scenarios 1 and 2, intersection F-score and collar F-score at 0.5",
                f"DCASE {year} Task 4{part.upper()}, detection in domestic environments",
                _metrics("psds1", "psds2", "intersection_f1", "collar_f1"),
            )
            for year, part in ((2021, ""), (2022, ""), (2023, "a"))
        ),
        Preset(
            "dcase2023_task4b",
            "segment F-score, 1 s, at the best threshold of each class",
            "DCASE 2023 Task 4B, detection with soft labels",
            _metrics("best_segment_f1"),
        ),
        Preset(
            "dcase2024_task4",
            "PSDS scenario 1, and segment partial AUROC (mpAUC: 1 s, mean score, up to a rate of 0.1)",
            "DCASE 2024 Task 4, detection with heterogeneous training data",
            _metrics("psds1", "mpauc"),
            "The preset dcase2024_task4 measures both metrics on one set, but the challenge takes psds1 on "
            "DESED and mpauc on MAESTRO. Use `task='dcase2024_task4'`.",
        ),
        Preset(
            "audioset_strong",
            "PSDS scenario 1 without cost for instability between classes",
            "papers on AudioSet-Strong (PSDS1 with alpha_st=0)",
            _metrics("psds1_mean"),
        ),
        Preset(
            "few_shot_bioacoustics",
            "F-score by intersection over union of at least 0.3, optimal matching",
            "DCASE Task 5, few-shot bioacoustic event detection",
            _metrics("FScore(IoU(0.3))"),
            "The preset few_shot_bioacoustics does not leave out the five shots of each file, and does not "
            "average over subsets, as the challenge does. Use `task='dcase_task5'`.",
        ),
    )
    return {preset.name: preset for preset in presets}


def _metrics(*texts: str) -> tuple[Metric[Any], ...]:
    return tuple(parse_metric(text) for text in texts)


PRESETS: dict[str, Preset]
"""All presets, by name."""


def __getattr__(name: str) -> Preset:
    if name.startswith("_"):  # every import asks for __path__
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "PRESETS":
        return _presets()  # type: ignore[return-value]  # its type stands above
    if name in _presets():
        return _presets()[name]
    raise AttributeError(f"There is no preset {name!r}. The presets are {', '.join(_presets())}.")


def __dir__() -> list[str]:
    return [*globals(), "PRESETS", *_presets()]
