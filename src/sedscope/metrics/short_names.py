"""Metrics that have a short name, as text: only those that are used are loaded."""

SHORT_NAMES = {
    "psds1": (
        "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1.0)",
        "PSDS of DCASE scenario 1: react fast and localise well",
    ),
    "psds2": (
        "PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5, alpha_st=1.0)",
        "PSDS of DCASE scenario 2: do not confuse classes",
    ),
    "psds1_mean": (
        "PSDS(Intersection(dtc=0.7, gtc=0.7))",
        "psds1 without cost for differences between classes (AudioSet-Strong)",
    ),
    "psds_2020": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3))",
        "PSDS of DCASE 2020: no further costs",
    ),
    "psds_2020_ct": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3), alpha_ct=1.0)",
        "the same with a cost for cross-triggers",
    ),
    "psds_2020_st": (
        "PSDS(Intersection(dtc=0.5, gtc=0.5, cttc=0.3), alpha_st=1.0)",
        "the same with a cost for differences between classes",
    ),
    "collar_f1": (
        "FScore(Collar())",
        "event F-score at 0.5, onset and offset within 0.2 s or 20 % of the length",
    ),
    "best_collar_f1": ("BestFScore(Collar())", "the same at the best threshold of each class"),
    "collar_precision": ("Precision(Collar())", "event precision at 0.5, with the same collars"),
    "collar_recall": ("Recall(Collar())", "event recall at 0.5, with the same collars"),
    "collar_er": ("ErrorRate(Collar())", "event error rate at 0.5, with the same collars"),
    "collar_false_alarms": (
        "FalseAlarmRate(Collar())",
        "event false alarms per hour at 0.5, with the same collars",
    ),
    "onset_f1": ("FScore(Collar(offset=None))", "event F-score at 0.5, onset within 0.2 s, any offset"),
    "best_onset_f1": ("BestFScore(Collar(offset=None))", "the same at the best threshold of each class"),
    "intersection_f1": (
        "FScore(Intersection(dtc=0.5, gtc=0.5))",
        "event F-score at 0.5, events overlap by at least a half",
    ),
    "best_intersection_f1": (
        "BestFScore(Intersection(dtc=0.5, gtc=0.5))",
        "the same at the best threshold of each class",
    ),
    "iou_f1": ("FScore(IoU(0.5))", "event F-score at 0.5, one-to-one pairs with an IoU of 0.5"),
    "best_iou_f1": ("BestFScore(IoU(0.5))", "the same at the best threshold of each class"),
    "iou_map": ("AveragePrecision(IoU(0.5))", "mean average precision of events, IoU 0.5"),
    "segment_f1": ("FScore(Segment(1.0))", "F-score of 1 s segments at 0.5, mean over classes"),
    "best_segment_f1": ("BestFScore(Segment(1.0))", "the same at the best threshold of each class"),
    "segment_f1_micro": (
        "FScore(Segment(1.0), average='micro')",
        "F-score of 1 s segments at 0.5, all classes together",
    ),
    "segment_er": (
        "ErrorRate(Segment(1.0), average='micro')",
        "error rate of 1 s segments at 0.5, all classes together",
    ),
    "segment_map": ("AveragePrecision(Segment(1.0))", "mean average precision of 1 s segments"),
    "mpauc": (
        "AUROC(Segment(1.0, aggregation='mean'), max_fpr=0.1)",
        "partial AUROC of 1 s segments up to a false positive rate of 0.1 (DCASE 2024)",
    ),
    "time_f1": ("FScore(Time())", "F-score of active time at 0.5"),
    "best_time_f1": ("BestFScore(Time())", "the same at the best threshold of each class"),
    "detection_error_rate": (
        "DetectionErrorRate(Time())",
        "time of false alarms and misses per time of references, at 0.5 (voice activity detection)",
    ),
    "detection_cost": (
        "DetectionCost(Time())",
        "0.75 · miss rate + 0.25 · false positive rate of time, at 0.5 (speech activity detection)",
    ),
    "map": ("AveragePrecision(Clip())", "mean average precision of clips (audio tagging)"),
    "auroc": ("AUROC(Clip())", "area under the ROC of clips (audio tagging)"),
    "dprime": ("DPrime(Clip())", "d-prime of clips (audio tagging)"),
    "tagging_f1": ("FScore(Clip())", "F-score of clips at 0.5 (audio tagging)"),
    "detection_map": (
        "MeanAveragePrecision()",
        "mean average precision of scored events, IoU 0.5 to 0.95 (ActivityNet)",
    ),
    "moment_map": (
        "MeanAveragePrecision(over='clip', top=10)",
        "mean average precision of queries, IoU 0.5 to 0.95 (moment retrieval)",
    ),
    "moment_map_50": ("MeanAveragePrecision(0.5, over='clip', top=10)", "the same, IoU 0.5"),
    "moment_map_75": ("MeanAveragePrecision(0.75, over='clip', top=10)", "the same, IoU 0.75"),
    "r1_50": ("RecallAt(1, 0.5)", "share of queries whose first answer has an IoU of 0.5"),
    "r1_70": ("RecallAt(1, 0.7)", "share of queries whose first answer has an IoU of 0.7"),
    "mean_iou": ("MeanIoU()", "mean IoU of the first answers"),
}
"""The definition of each metric that has a short name, and what it says, in one line."""
