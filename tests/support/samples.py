"""Small files in the exact layouts that other tools write, and the events that they hold."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

Events = dict[str, list[tuple[Any, ...]]]

#      0   1   2   3   4   5   6 s
# a        [ Great Tit )
#          [ Wren )
# b    [Wren)
PLAIN: Events = {"a": [(1.0, 3.5, "Great Tit"), (1.0, 2.0, "Wren")], "b": [(0.0, 1.25, "Wren")]}
SCORED: Events = {
    "a": [(0.0, 3.0, "Great Tit", 0.8123), (3.0, 6.0, "Wren", 0.4411)],
    "b": [(0.0, 3.0, "Wren", 0.9101)],
}


@dataclass(frozen=True)
class Sample:
    """Files by name, as a tool leaves them, and what is in them. One file or a folder of them."""

    format: str
    files: dict[str, str | bytes]
    events: Events
    options: dict[str, Any] = field(default_factory=dict)
    durations: dict[str, float] | None = None

    def write(self, folder: Path) -> Path:
        """Write the files; where to read them."""
        for name, content in self.files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(data)
        return folder if len(self.files) > 1 else folder / next(iter(self.files))


def tabs(*lines: str) -> str:
    """Lines whose cells are separated by ``|`` here and by tabs in the file."""
    return "".join(line.replace("|", "\t") + "\n" for line in lines)


def lines(*texts: str) -> str:
    return "".join(text + "\n" for text in texts)


def parquet(columns: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    polars.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def jams(duration: float, *annotations: dict[str, Any]) -> str:
    """A file as the jams library writes it."""
    metadata = {
        "title": "",
        "artist": "",
        "release": "",
        "duration": duration,
        "identifiers": {},
        "jams_version": "0.3.4",
    }
    whole = {"annotations": list(annotations), "file_metadata": metadata, "sandbox": {}}
    return json.dumps(whole, indent=2)


def annotation(namespace: str, data: Any) -> dict[str, Any]:
    curator = {"name": "", "email": ""}
    return {
        "annotation_metadata": {"curator": curator, "annotator": {}, "data_source": ""},
        "namespace": namespace,
        "data": data,
        "sandbox": {},
        "time": 0,
        "duration": 10.0,
    }


def observation(time: float, duration: float, value: Any, confidence: float | None) -> dict[str, Any]:
    return {"time": time, "duration": duration, "value": value, "confidence": confidence}


def soundscape_event(label: str, role: str, time: float, duration: float) -> dict[str, Any]:
    """An observation as scaper makes it."""
    value = {
        "label": label,
        "source_file": f"{role}/{label}/1.wav",
        "source_time": 0.0,
        "event_time": time,
        "event_duration": duration,
        "snr": 6.0,
        "role": role,
        "pitch_shift": None,
        "time_stretch": None,
    }
    return observation(time, duration, value, 1.0)


RAVEN = "Selection|View|Channel|Begin Time (s)|End Time (s)|Low Freq (Hz)|High Freq (Hz)"
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
    "Audacity": Sample(
        "audacity",
        {
            "a.txt": tabs("1.000000|3.500000|Great Tit", "1.000000|2.000000|Wren"),
            "b.txt": tabs("0.000000|1.250000|Wren"),
            "c.txt": "",
        },
        {**PLAIN, "c": []},
    ),
    "Audacity with spectral lines": Sample(
        "audacity",
        {
            "a.txt": tabs(
                "1.000000|3.500000|Great Tit",
                "\\|1484.669312|2969.338523",
                '1.000000|2.000000|the "Wren"',
                "\\|-1.000000|6334.588867",
            )
        },
        {"a": [(1.0, 3.5, "Great Tit"), (1.0, 2.0, 'the "Wren"')]},
    ),
    "Raven, one recording": Sample(
        "raven",
        {
            "a.Table.1.selections.txt": tabs(
                f"{RAVEN}|Delta Time (s)|Species|Notes",
                "1|Spectrogram 1|1|1.0|3.5|2000.0|6000.0|2.5|Great Tit|clear",
                "1|Waveform 1|1|1.0|3.5|||2.5|Great Tit|clear",
                "2|Spectrogram 1|1|1.0|2.0|1000.0|4000.0|1.0|Wren|",
            )
        },
        {"a": PLAIN["a"]},
    ),
    "Raven, several recordings": Sample(
        "raven",
        {
            "site.Table.1.selections.txt": tabs(
                f"{RAVEN}|Begin File|File Offset (s)|Call",
                "1|Spectrogram 1|1|1.0|3.5|1000|3000|a.wav|1.0|Great Tit",
                "2|Spectrogram 1|1|1.0|2.0|1000|3000|a.wav|1.0|Wren",
                "3|Spectrogram 1|1|60.0|61.25|1000|3000|b.wav|0.0|Wren",
            )
        },
        {"a.wav": PLAIN["a"], "b.wav": PLAIN["b"]},
    ),
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
    "JAMS, scaper": Sample(
        "jams",
        {
            "a.jams": jams(
                10.0,
                annotation(
                    "scaper",
                    [
                        soundscape_event("park", "background", 0.0, 10.0),
                        soundscape_event("Great Tit", "foreground", 1.0, 2.5),
                        soundscape_event("Wren", "foreground", 1.0, 1.0),
                    ],
                ),
            ),
            "b.jams": jams(
                5.0, annotation("scaper", [soundscape_event("Wren", "foreground", 0.0, 1.25)])
            ),
        },
        PLAIN,
        durations={"a": 10.0, "b": 5.0},
    ),
    "JAMS, tags with confidences": Sample(
        "jams",
        {
            "a.jams": jams(
                10.0,
                annotation("beat", [observation(0.5, 0.0, 1.0, None)]),
                annotation(
                    "tag_open",
                    [observation(0.0, 3.0, "Great Tit", 0.8123), observation(3.0, 3.0, "Wren", 0.4411)],
                ),
            )
        },
        {"a": SCORED["a"]},
        durations={"a": 10.0},
    ),
    "JAMS, segments, as columns": Sample(
        "jams",
        {
            "b.jams": jams(
                5.0,
                annotation(
                    "segment_open",
                    {"time": [0.0], "duration": [1.25], "value": ["Wren"], "confidence": [None]},
                ),
            ),
            "c.jams": jams(5.0, annotation("segment_open", [])),
        },
        {"b": PLAIN["b"], "c": []},
        durations={"b": 5.0, "c": 5.0},
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
