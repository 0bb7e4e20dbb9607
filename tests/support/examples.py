"""Examples of every metric, criterion and post-processing: what must hold for all is tested over them.

``tests/test_registries.py`` checks that nothing that the package registers is missing.
"""

from __future__ import annotations

from typing import Any

import sedscope as sed
from sedscope.metrics import BrierScore, CalibrationError, FalseAnswerRate, Metric
from sedscope.postprocessing import (
    Chain,
    EventBoxes,
    Hysteresis,
    IsotonicMap,
    LogisticMap,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    Peaks,
    PerClass,
    PostProcessing,
)

COLLAR = sed.Collar(onset=0.02, offset=None)
SEGMENT = sed.Segment(0.05, cross_triggers=True)
TIME = sed.Time(collar=3e-6)

OF_LENGTH: Any = sed.OfLength(sed.Intersection(0.3, 0.3), 2e-6)  # stands for an Intersection

# rates are per second and allowed to be high, because random clips are short
METRICS: list[Metric[Any]] = [
    sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=1e5, unit="second"),
    sed.PSDS(sed.Intersection(0.5, 0.3), alpha_st=1, max_efpr=1e3, unit="second", oracle=False),
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=1e5, unit="second"),
    sed.PiPSDS(
        sed.Intersection(0.5, 0.5, 0.3),
        alpha_ct=1,
        max_efpr=1e5,
        unit="second",
        postprocessing="MedianFilter(0|2e-6|1e-5)",
    ),
    sed.FScore(COLLAR, threshold=0.3),
    sed.FScore(sed.Intersection(0.5, 0.5), threshold=0.0, beta=2, average="micro"),
    sed.BestFScore(sed.Collar(1e-5, 1e-5, 0.5, cross_triggers=True)),
    sed.BestFScore(sed.IoU(0.3), average="micro"),
    sed.BestFScore(sed.IoU(0.3), beta=0.5, average="micro_tuned"),
    sed.AveragePrecision(sed.IoU(0.7, cross_triggers=True)),
    sed.AveragePrecision(sed.IoU(0.3, strict=True)),
    sed.PSDS(OF_LENGTH, max_efpr=1e5, unit="second"),
    sed.BestFScore(sed.OfLength(sed.Collar(1e-5), 1e-6, 0.05)),
    sed.AUROC(sed.OfLength(SEGMENT, longest=0.05)),
    sed.AveragePrecision(SEGMENT, average="weighted"),
    sed.AUROC(SEGMENT),
    sed.AUROC(sed.Clip(), max_fpr=0.5, mcclish=True),
    sed.AUROC(sed.Segment(0.05, aggregation="mean"), max_fpr=0.1, average="micro"),
    sed.DPrime(sed.Clip()),
    sed.ErrorRate(COLLAR, threshold=0.3),
    sed.ErrorRate(SEGMENT, threshold=0.3, average="micro"),
    sed.BestErrorRate(sed.Collar(1e-5), average="micro"),
    sed.BestErrorRate(sed.Clip("mean"), average="weighted"),
    sed.Precision(COLLAR, threshold=0.3),
    sed.Recall(sed.Collar(None, 0.01), threshold=0.3),
    sed.MissRate(sed.IoU(0.3), threshold=0.3, average="weighted"),
    sed.MissRateAtFalseAlarms(COLLAR, false_alarms=8.64e7, per="day"),
    sed.Specificity(SEGMENT, threshold=0.3),
    sed.BalancedAccuracy(sed.Clip(), threshold=0.3),
    sed.PrecisionAtRecall(sed.IoU(0.5), recall=0.5),
    sed.RecallAtPrecision(COLLAR, precision=0.5),
    sed.RecallAtFalseAlarms(COLLAR, false_alarms=3.6e6),
    sed.FalseAlarmRate(COLLAR, threshold=0.3),
    sed.FalseAlarmRate(SEGMENT, threshold=0.1, average="macro"),
    sed.BestFScore(TIME),
    sed.AUROC(sed.OfLength(TIME, 2e-6)),
    sed.Accuracy(sed.Time(), threshold=0.3, average="micro"),
    sed.ErrorRate(TIME, threshold=0.3, average="micro"),
    sed.BestErrorRate(sed.Time(), average="weighted"),
    sed.DetectionCost(TIME, threshold=0.3),
    sed.BestDetectionCost(SEGMENT, miss_cost=1, average="micro_tuned"),
    sed.EqualErrorRate(TIME),
    sed.EqualErrorRate(sed.Clip(), average="micro"),
    FalseAnswerRate(0.3),
    FalseAnswerRate(0.1, average="macro"),
    sed.BestFScore(sed.AnyOverlap(before=3e-6, after=1e-5, merge_gap=2e-6)),
    sed.AveragePrecision(sed.AnyOverlap()),
    sed.FalseAlarmRate(sed.AnyOverlap(split=1), threshold=0.3, per="day"),
    sed.BestFScore(sed.Alarm(cooldown=2e-5, before=3e-6, after=1e-5)),
    sed.RecallAtFalseAlarms(sed.Alarm(cooldown=0, within=1e-5), false_alarms=3.6e6),
    sed.Latency(sed.Alarm(cooldown=2e-5, before=3e-6, after=1e-5), 0.5, threshold=0.3),
    sed.Latency(sed.OfLength(sed.Alarm(cooldown=0), 2e-6), threshold=0.0, average="macro"),
    sed.DetectionPrecision(sed.Intersection(0.3, 0.3), threshold=0.3),
    sed.BestFScore(sed.AnyOverlap(before=3e-6), precision="detections"),
    sed.AveragePrecision(sed.PerDetection(sed.Alarm(cooldown=2e-5)), average="micro"),
    sed.BestFScore(sed.Onset(0.02, cross_triggers=True), average="weighted"),
]

# of scored events that are kept as they are
EVENT_METRICS: list[Metric[Any]] = [
    sed.AveragePrecision(sed.IoU(0.5, matching="greedy"), interpolation="voc"),
    sed.AveragePrecision(sed.BestAnswers(sed.IoU(0.3), 2), average="micro"),
    sed.MeanAveragePrecision((0.3, 0.5, 0.8)),
    sed.MeanAveragePrecision("0.2..0.8/0.2", over="clip", top=3),
    sed.BestFScore(sed.Window(0.3)),
    sed.RecallAt(2, 0.4),
    sed.MeanIoU(average="macro"),
    sed.QueryMean(sed.QueryIoU()),
    sed.QueryMean(sed.QueryPrecision(sed.Collar(1e-5)), average="weighted"),
]

# of scores that are probabilities, whose values change with any transform of the scores
PROBABILITY_METRICS: list[Metric[Any]] = [
    CalibrationError(sed.Segment(0.05)),
    CalibrationError(sed.Clip(), bins=4, norm="max", average="micro"),
    BrierScore(sed.Segment(0.05), average="weighted"),
    BrierScore(sed.Time()),
]

POSTPROCESSINGS: list[PostProcessing] = [
    MedianFilter(0.48),
    MovingAverage(0.5),
    MinimumDuration(0.25),
    MaximumGap(1),
    Hysteresis(difference=0.1),
    Hysteresis(ratio=0.5),
    EventBoxes(),
    EventBoxes(0.64, absolute=0.3, relative=1.5),
    Chain(),
    Chain(MedianFilter(0.48), PerClass({"Dog": MedianFilter(1)})),
    PerClass({"it's": Chain(MedianFilter(2), MedianFilter(0.1)), "Cat": MedianFilter(0)}),
    Peaks(0.1),
    Chain(MedianFilter(0.06), Peaks()),
    LogisticMap(slope=4, intercept=-2),
    IsotonicMap((0.2, 0.4, 0.8), (0.1, 0.1, 0.9)),
]
