"""Detections in the layouts of BirdNET."""

from __future__ import annotations

from .annotation_tools import RAVEN
from .sample import SCORED, Sample, lines, parquet, tabs

BIRDNET_RAVEN = f"{RAVEN}|Common Name|Species Code|Confidence|Begin Path|File Offset (s)"
NEWER_RAVEN = (
    "Selection|Begin Time (s)|End Time (s)|Common Name|Scientific Name|Species Code|Confidence|View|"
    "Channel|File Offset (s)|Low Freq (Hz)|High Freq (Hz)|Begin Path"
)
BIRDNET_CSV = "Start (s),End (s),Scientific name,Common name,Confidence,File"
KALEIDOSCOPE = (
    "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence,lat,lon,week,overlap,"
    "sensitivity"
)
R_TABLE = (
    "filepath,start,end,scientific_name,common_name,confidence,lat,lon,week,overlap,sensitivity,min_conf,"
    "species_list,model"
)

SAMPLES: dict[str, Sample] = {
    "BirdNET, csv": Sample(
        "birdnet",
        {
            "BirdNET_CombinedTable.csv": lines(
                BIRDNET_CSV,
                "0.0,3.0,Parus major,Great Tit,0.8123,/data/site/a.wav",
                "3.0,6.0,Troglodytes troglodytes,Wren,0.4411,/data/site/a.wav",
                "0.0,3.0,Troglodytes troglodytes,Wren,0.9101,/data/site/b.wav",
            )
        },
        {"/data/site/a.wav": SCORED["a"], "/data/site/b.wav": SCORED["b"]},
    ),
    "BirdNET, csv, a file a clip, with parameters beside": Sample(
        "birdnet",
        {
            "a.BirdNET.results.csv": lines(
                f"{BIRDNET_CSV},lat,lon",
                "0.0,3.0,Parus major,Great Tit,0.8123,/data/a.wav,42.5,-76.45",
                "3.0,6.0,Troglodytes troglodytes,Wren,0.4411,/data/a.wav,42.5,-76.45",
            ),
            "b.BirdNET.results.csv": lines(
                f"{BIRDNET_CSV},lat,lon",
                "0.0,3.0,Troglodytes troglodytes,Wren,0.9101,/data/b.wav,42.5,-76.45",
            ),
            "birdnet.analyze-params.csv": lines("Parameter,Value", "Model,BirdNET_GLOBAL_6K_V2.4"),
        },
        {"/data/a.wav": SCORED["a"], "/data/b.wav": SCORED["b"]},
    ),
    "BirdNET, R table": Sample(
        "birdnet",
        {
            "BirdNET_RTable.csv": lines(
                R_TABLE,
                "a.wav,0.0,3.0,Parus major,Great Tit,0.8123,-1,-1,-1,0.0,1.0,0.1,,BirdNET_V2.4",
                "a.wav,3.0,6.0,Troglodytes troglodytes,Wren,0.4411,-1,-1,-1,0.0,1.0,0.1,,BirdNET_V2.4",
            )
        },
        {"a.wav": SCORED["a"]},
    ),
    "BirdNET, scientific names": Sample(
        "birdnet",
        {"a.csv": lines(BIRDNET_CSV, "0.0,3.0,Parus major,Great Tit,0.8123,a.wav")},
        {"a.wav": [(0.0, 3.0, "Parus major", 0.8123)]},
        {"columns": {"label": "Scientific name"}},
    ),
    "BirdNET, Parquet": Sample(
        "birdnet_parquet",
        {
            "BirdNET_CombinedTable.parquet": parquet(
                {
                    "Start (s)": [0.0, 3.0],
                    "End (s)": [3.0, 6.0],
                    "Scientific name": ["Parus major", "Troglodytes troglodytes"],
                    "Common name": ["Great Tit", "Wren"],
                    "Confidence": [0.8123, 0.4411],
                    "File": ["/data/a.wav"] * 2,
                }
            )
        },
        {"/data/a.wav": SCORED["a"]},
    ),
    "BirdNET, Raven": Sample(
        "birdnet_raven",
        {
            "BirdNET_SelectionTable.txt": tabs(
                BIRDNET_RAVEN,
                "1|Spectrogram 1|1|0.0|3.0|0|15000|Great Tit|gretit1|0.8123|/data/a.wav|0.0",
                "2|Spectrogram 1|1|3.0|6.0|0|15000|Wren|winwre4|0.4411|/data/a.wav|3.0",
                "3|Spectrogram 1|1|60.0|63.0|0|15000|Wren|winwre4|0.9101|/data/b.wav|0.0",
            )
        },
        {"/data/a.wav": SCORED["a"], "/data/b.wav": SCORED["b"]},
    ),
    "BirdNET, Raven, newer, and nothing": Sample(
        "birdnet_raven",
        {
            "a.BirdNET.selection.table.txt": tabs(
                NEWER_RAVEN,
                "1|0.0|3.0|Great Tit|Parus major|gretit1|0.8123|Spectrogram 1|1|0.0|0|15000|a.wav",
                "2|3.0|6.0|Wren|Troglodytes|winwre4|0.4411|Spectrogram 1|1|3.0|0|15000|a.wav",
            ),
            "c.BirdNET.selection.table.txt": tabs(
                BIRDNET_RAVEN, "1|Spectrogram 1|1|0|3|0|15000|nocall|nocall|1.0|c.wav|0"
            ),
        },
        {"a.wav": SCORED["a"], "c.wav": []},
    ),
    "BirdNET, Audacity": Sample(
        "birdnet_audacity",
        {
            "a.BirdNET.results.txt": tabs(
                "0.0|3.0|Parus major, Great Tit|0.8123", "3.0|6.0|Troglodytes, Wren|0.4411"
            ),
            "c.BirdNET.results.txt": "",
        },
        {
            "a": [(0.0, 3.0, "Parus major, Great Tit", 0.8123), (3.0, 6.0, "Troglodytes, Wren", 0.4411)],
            "c": [],
        },
    ),
    "BirdNET, Kaleidoscope": Sample(
        "birdnet_kaleidoscope",
        {
            "BirdNET_Kaleidoscope.csv": lines(
                KALEIDOSCOPE,
                "/data,site,a.wav,0.0,3.0,Parus major,Great Tit,0.8123,-1.0000,-1.0000,-1,0.0,1.0",
                "/data,site,a.wav,3.0,3.0,Troglodytes,Wren,0.4411,-1.0000,-1.0000,-1,0.0,1.0",
            )
        },
        {"a.wav": SCORED["a"]},
    ),
    "BirdNET, Kaleidoscope, newer": Sample(
        "birdnet_kaleidoscope",
        {
            "k.csv": lines(
                "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,TOP1MATCH,TOP1DIST",
                "/data,site,b.wav,0.0,3.0,Troglodytes,Wren,0.9101",
            )
        },
        {"b.wav": SCORED["b"]},
    ),
}
