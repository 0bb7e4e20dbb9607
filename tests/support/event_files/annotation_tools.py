"""Annotations in the layouts of Audacity, Raven and JAMS."""

from __future__ import annotations

import json
from typing import Any

from .sample import PLAIN, SCORED, Sample, tabs


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

SAMPLES: dict[str, Sample] = {
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
}
