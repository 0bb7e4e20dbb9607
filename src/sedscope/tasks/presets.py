"""Metrics with established parameters, under the name of the task or paper that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..criteria import Collar, Intersection, IoU, Segment
from ..metrics import AUROC, PSDS, BestFScore, ErrorRate, FScore, Metric
from ..metrics.names import PSDS1 as PSDS1
from ..metrics.names import PSDS2 as PSDS2

_LOOSE = Intersection(dtc=0.5, gtc=0.5, cttc=0.3)
_ONSET = Collar(onset=0.5, offset=None)


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


_PRESETS = (
    Preset(
        "dcase2016_task3",
        "segment error rate and F-score, 1 s, of all classes together",
        "DCASE 2016 Task 3, sound event detection in real life audio",
        (ErrorRate(Segment(1.0), average="micro"), FScore(Segment(1.0), average="micro")),
    ),
    Preset(
        "dcase2017_task2",
        "event error rate and F-score, onset only, 0.5 s, mean over classes",
        "DCASE 2017 Task 2, detection of rare sound events",
        (ErrorRate(_ONSET), FScore(_ONSET)),
    ),
    Preset(
        "dcase2017_task3",
        "segment error rate and F-score, 1 s, of all classes together",
        "DCASE 2017 Task 3, sound event detection in real life audio",
        (ErrorRate(Segment(1.0), average="micro"), FScore(Segment(1.0), average="micro")),
    ),
    Preset(
        "dcase2018_task4",
        "collar F-score, 0.2 s and 20 % of the length, mean over classes",
        "DCASE 2018 Task 4, weakly labelled semi-supervised detection",
        (FScore(Collar()),),
    ),
    Preset(
        "dcase2019_task4",
        "collar F-score, 0.2 s and 20 % of the length, mean over classes",
        "DCASE 2019 Task 4, detection in domestic environments",
        (FScore(Collar()),),
    ),
    Preset(
        "dcase2020_task4",
        "collar F-score, and PSDS 0.5/0.5/0.3 without and with costs for cross-triggers or instability",
        "DCASE 2020 Task 4, detection and separation in domestic environments",
        (
            FScore(Collar()),
            PSDS(_LOOSE),
            PSDS(_LOOSE, alpha_ct=1.0),
            PSDS(_LOOSE, alpha_st=1.0),
        ),
    ),
    *(
        Preset(
            f"dcase{year}_task4{part}",
            "PSDS scenarios 1 and 2, intersection F-score and collar F-score at 0.5",
            f"DCASE {year} Task 4{part.upper()}, detection in domestic environments",
            (PSDS1, PSDS2, FScore(Intersection(dtc=0.5, gtc=0.5)), FScore(Collar())),
        )
        for year, part in ((2021, ""), (2022, ""), (2023, "a"))
    ),
    Preset(
        "dcase2023_task4b",
        "segment F-score, 1 s, at the best threshold of each class",
        "DCASE 2023 Task 4B, detection with soft labels",
        (BestFScore(Segment(1.0)),),
    ),
    Preset(
        "dcase2024_task4",
        "PSDS scenario 1, and segment partial AUROC (mpAUC: 1 s, mean score, up to a rate of 0.1)",
        "DCASE 2024 Task 4, detection with heterogeneous training data",
        (PSDS1, AUROC(Segment(1.0, aggregation="mean"), max_fpr=0.1)),
        "The preset dcase2024_task4 measures both metrics on one set, but the challenge takes psds1 on DESED "
        "and mpauc on MAESTRO. Use --task dcase2024_task4.",
    ),
    Preset(
        "audioset_strong",
        "PSDS scenario 1 without cost for instability between classes",
        "papers on AudioSet-Strong (PSDS1 with alpha_st=0)",
        (PSDS(Intersection(dtc=0.7, gtc=0.7)),),
    ),
    Preset(
        "few_shot_bioacoustics",
        "F-score by intersection over union of at least 0.3, optimal matching",
        "DCASE Task 5, few-shot bioacoustic event detection",
        (FScore(IoU(0.3)),),
        "The preset few_shot_bioacoustics does not leave out the five shots of each file, and does not "
        "average over subsets, as the challenge does. Use --task dcase_task5.",
    ),
)

PRESETS: dict[str, Preset] = {preset.name: preset for preset in _PRESETS}
globals().update(PRESETS)


def __getattr__(name: str) -> Preset:
    raise AttributeError(f"There is no preset {name!r}. The presets are {', '.join(PRESETS)}.")
