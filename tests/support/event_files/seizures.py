"""Seizures in the layouts of the Temple University EEG corpora and of SzCORE."""

from __future__ import annotations

from .sample import Sample, lines, tabs

HED_SCORE = "onset|duration|eventType|confidence|channels|dateTime|recordingDuration"
CSV_BI = "channel,start_time,stop_time,label,confidence"


def csv_bi(name: str, seconds: str, *rows: str) -> str:
    """A file as the tools of the corpus write it."""
    return lines(
        "# version = csv_v1.0.0",
        f"# bname = {name}",
        f"# duration = {seconds} secs",
        "# montage_file = $NEDC_NFC/lib/nedc_eas_default_montage.txt",
        "#",
        CSV_BI,
        *rows,
    )


SAMPLES: dict[str, Sample] = {
    "csv_bi": Sample(
        "csv_bi",
        {
            "aaaaaajy_s001_t000.csv_bi": csv_bi(
                "aaaaaajy_s001_t000",
                "1750.0000",
                "TERM,0.0000,36.8868,bckg,1.0000",
                "TERM,36.8868,183.3055,seiz,1.0000",
                "TERM,183.3055,1750.0000,bckg,1.0000",
            ),
            "aaaaaajy_s002_t001.csv_bi": csv_bi(
                "aaaaaajy_s002_t001", "301.0000", "TERM,0.0000,301.0000,bckg,1.0000"
            ),
        },
        {"aaaaaajy_s001_t000": [(36.8868, 183.3055, "seiz", 1.0)], "aaaaaajy_s002_t001": []},
        durations={"aaaaaajy_s001_t000": 1750.0, "aaaaaajy_s002_t001": 301.0},
    ),
    "csv_bi without rows": Sample(
        "csv_bi", {"a.csv_bi": csv_bi("a", "301.0000")}, {"a": []}, durations={"a": 301.0}
    ),
    "csv of the same corpus": Sample(
        "csv_bi",
        {"a.csv": csv_bi("a", "60.0000", "FP1-F7,1.0000,3.5000,fnsz,0.8123")},
        {"a": [(1.0, 3.5, "fnsz", 0.8123)]},
        durations={"a": 60.0},
    ),
    "HED-SCORE, annotations": Sample(
        "hed_score",
        {
            "sub-00_run-00_events.tsv": tabs(
                HED_SCORE,
                "296.0|40.0|sz_foc_ia|n/a|n/a|2016-11-06 13:43:04|3600.00",
                "1800.5|30.25|sz|n/a|n/a|2016-11-06 13:43:04|3600.00",
            ),
            "sub-00_run-01_events.tsv": tabs(
                HED_SCORE, "0.0|3600.0|bckg|n/a|n/a|2016-11-06 14:43:04|3600.00"
            ),
        },
        {"sub-00_run-00": [(296.0, 336.0, "sz"), (1800.5, 1830.75, "sz")], "sub-00_run-01": []},
        durations={"sub-00_run-00": 3600.0, "sub-00_run-01": 3600.0},
    ),
    "HED-SCORE, types of seizures and confidences": Sample(
        "hed_score",
        {"a.tsv": tabs(HED_SCORE, "1.0|2.5|sz_gen|0.8|n/a|n/a|n/a", "9.0|1.0|bckg|n/a|n/a|n/a|n/a")},
        {"a": [(1.0, 3.5, "sz_gen", 0.8)]},
        {"columns": {"label": "eventType"}},
    ),
}
