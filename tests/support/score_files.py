"""Scores to write to a file of each format and to read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

import sedscope as sed
from sedscope.io.scores.files import SCORE_FORMATS, recognise_score_format

# what is written, by the name of the format
TARGETS = {name: "".join(["out", *format.suffixes[:1]]) for name, format in SCORE_FORMATS.items()}
VALUES = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], np.float32)
CLASSES = ["Dog", "Cat"]


@st.composite
def score_sets(draw: st.DrawFn, *, mixed: bool = False) -> sed.Scores:
    """Up to three clips of some frames, of float32 or float64, with gaps and any boundaries."""
    names = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=4)
    classes = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    kind = draw(st.sampled_from([np.float32, np.float64]))
    clips = {}
    for clip in draw(st.lists(st.sampled_from(["a", "b_1.5", "Ü x"]), unique=True, min_size=1)):
        kind = draw(st.sampled_from([np.float32, np.float64])) if mixed else kind
        frames = draw(st.integers(0, 4))
        elements = st.floats(allow_nan=False, width=32 if kind == np.float32 else 64)
        values = draw(numpy_st.arrays(kind, (frames, len(classes)), elements=elements))
        lengths = draw(st.lists(st.integers(1, 10**9), min_size=frames, max_size=frames))
        start = draw(st.integers(0, 10**9)) if frames else 0
        clips[clip] = sed.ClipScores.from_ticks(values, np.cumsum([start, *lengths]))
    return sed.Scores(sorted(clips), clips.__getitem__, classes=classes, in_memory=True)


def write_and_read(scores: sed.Scores, folder: Path, name: str, **options: Any) -> sed.Scores:
    """Write the scores in the format of this name, and read them back."""
    sed.write_scores(scores, folder / TARGETS[name], format=name, **options)
    assert recognise_score_format(folder / TARGETS[name]) is SCORE_FORMATS[name]
    return sed.read_scores(folder / TARGETS[name])
