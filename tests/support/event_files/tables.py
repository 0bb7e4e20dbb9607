"""Tables of events, as DCASE tasks, sed_eval and users write them."""

from __future__ import annotations

from .sample import PLAIN, SCORED, Sample, lines, parquet, tabs

SAMPLES: dict[str, Sample] = {
    "DCASE, tabs": Sample(
        "dcase",
        {
            "truth.tsv": tabs(
                "filename|onset|offset|event_label",
                "a.wav|1.000|3.500|Great Tit",
                "a.wav|1.000|2.000|Wren",
                "b.wav|0.000|1.250|Wren",
                "c.wav|||",
            )
        },
        {"a.wav": PLAIN["a"], "b.wav": PLAIN["b"], "c.wav": []},
    ),
    "DCASE, commas": Sample(
        "dcase",
        {
            "truth.csv": lines(
                "filename,onset,offset,event_label,confidence",
                "a,0.0,3.0,Great Tit,0.8123",
                "a,3.0,6.0,Wren,0.4411",
                "b,0.0,3.0,Wren,0.9101",
            )
        },
        SCORED,
    ),
    "DCASE, a file a clip": Sample(
        "dcase",
        {
            "a.tsv": tabs("onset|offset|event_label", "1.0|3.5|Great Tit", "1.0|2.0|Wren"),
            "b.tsv": tabs("onset|offset|event_label", "0|1.25|Wren"),
        },
        PLAIN,
    ),
    "DCASE, without a header": Sample(
        "sed_eval",
        {"truth.tsv": tabs("a|1.0|3.5|Great Tit", "a|1.0|2.0|Wren", "b|0.0|1.25|Wren")},
        PLAIN,
    ),
    "DCASE, weak": Sample(
        "dcase_weak",
        {"weak.tsv": tabs("filename|event_labels", "a.wav|Great Tit,Wren", "b.wav|Wren", "c.wav|")},
        {
            "a.wav": [(0.0, 10.0, "Great Tit"), (0.0, 10.0, "Wren")],
            "b.wav": [(0.0, 5.0, "Wren")],
            "c.wav": [],
        },
        {"durations": {"a": 10.0, "b": 5.0, "c": 5.0}},
    ),
    "DCASE, weak, without a header": Sample(
        "dcase_weak",
        {"weak.tsv": tabs("audio/a.wav|Great Tit,Wren", "audio/c.wav|")},
        {"audio/a.wav": [(0.0, 10.0, "Great Tit"), (0.0, 10.0, "Wren")], "audio/c.wav": []},
        {"durations": {"a": 10.0, "c": 5.0}},
    ),
    "sed_eval, semicolons, with scenes": Sample(
        "sed_eval",
        {
            "list.txt": lines(
                "audio/a.wav;park;1.0;3.5;Great Tit", "audio/a.wav;park;1.0;2.0;Wren", "audio/c.wav"
            )
        },
        {"audio/a.wav": PLAIN["a"], "audio/c.wav": []},
    ),
    "sed_eval, commas, a file a clip": Sample(
        "sed_eval",
        {"a.ann": lines("1.0,3.5,Great Tit", "1.0,2.0,Wren"), "b.ann": lines("0.0,1.25,Wren")},
        PLAIN,
    ),
    "sed_eval, two columns": Sample(
        "sed_eval",
        {"a.ann": lines("1.0;3.5", "4;5")},
        {"a": [(1.0, 3.5, "Bird"), (4.0, 5.0, "Bird")]},
        {"label": "Bird"},
    ),
    "DCASE Task 5, predictions": Sample(
        "few_shot",
        {"predictions.csv": lines("Audiofilename,Starttime,Endtime", "a.wav,1.0,3.5", "b.wav,0,1.25")},
        {"a.wav": [(1.0, 3.5, "Q")], "b.wav": [(0.0, 1.25, "Q")]},
    ),
    "DCASE Task 5, classes": Sample(
        "few_shot",
        {
            "a.csv": lines("Audiofilename,Starttime,Endtime,Tit,Wren", "a.wav,1.0,3.5,POS,NEG"),
            "b.csv": lines("Audiofilename,Starttime,Endtime,Tit,Wren", "b.wav,0,1.25,NEG,POS"),
        },
        {"a.wav": [(1.0, 3.5, "Tit")], "b.wav": [(0.0, 1.25, "Wren")]},
    ),
    "BioDCASE": Sample(
        "biodcase",
        {
            "calls.csv": lines(
                "dataset,filename,annotation,start_datetime,end_datetime",
                "kerguelen2014,2014-02-18T21-00-00_500.wav,bma,2014-02-18T21:00:01.500000+00:00,"
                "2014-02-18T21:00:04.000000+00:00",
                "casey2017,2014-02-18T21-00-00_500.wav,bmz,2014-02-18T21:00:00.500000+00:00,"
                "2014-02-18T21:00:01.750000+00:00",
            )
        },
        {
            "kerguelen2014_2014-02-18T21-00-00_500": [(1.0, 3.5, "bma")],
            "casey2017_2014-02-18T21-00-00_500": [(0.0, 1.25, "bmz")],
        },
    ),
    "RTTM": Sample(
        "rttm",
        {
            "speech.rttm": lines(
                ";; speakers",
                "SPKR-INFO a 1 <NA> <NA> <NA> adult_female anna <NA> <NA>",
                "SPEAKER a 1 1.000 2.500 <NA> <NA> anna <NA> <NA>",
                "SPEAKER  a 1 1.000   1.000 <NA> <NA> ben <NA>",
                "SPEAKER b 1 0 1.25 <NA> <NA> ben <NA> <NA>",
            )
        },
        {"a": [(1.0, 3.5, "anna"), (1.0, 2.0, "ben")], "b": [(0.0, 1.25, "ben")]},
    ),
    "RTTM, confidences, all speakers together": Sample(
        "rttm",
        {
            "speech.rttm": lines(
                "SPEAKER a 1 0.0 3.0 <NA> <NA> anna 0.8123 <NA>",
                "SPEAKER b 1 0.0 3.0 <NA> <NA> ben 0.9101 <NA>",
            )
        },
        {"a": [(0.0, 3.0, "speech", 0.8123)], "b": [(0.0, 3.0, "speech", 0.9101)]},
        {"label": "speech"},
    ),
    "a table of other columns": Sample(
        "table",
        {
            "t.csv": lines(
                "id;recording;Begin (s);Length (s);species", "1;a;1.0;2.5;Great Tit", "2;a;1.0;1.0;Wren"
            )
        },
        {"a": PLAIN["a"]},
        {
            "columns": {
                "filename": "recording",
                "onset": "Begin (s)",
                "duration": "Length (s)",
                "label": "species",
            }
        },
    ),
    "a Parquet table": Sample(
        "dcase",
        {
            "t.parquet": parquet(
                {
                    "filename": ["a", "a", "b", "c"],
                    "onset": [1.0, 1.0, 0.0, None],
                    "offset": [3.5, 2.0, 1.25, None],
                    "event_label": ["Great Tit", "Wren", "Wren", None],
                }
            )
        },
        {**PLAIN, "c": []},
    ),
}
