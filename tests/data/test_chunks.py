"""Chunks of recordings, joined to clips."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed

from ..support.equality import assert_equal_scores


def at(clip: sed.ClipScores, tick: int) -> np.ndarray[Any, Any] | None:
    """The scores of the frame that holds an instant."""
    row = int(np.searchsorted(clip.ticks, tick, side="right")) - 1
    return clip.values[row].astype(np.float64) if 0 <= row < len(clip.values) else None


@st.composite
def chunk_lists(draw: st.DrawFn) -> list[tuple[int, list[int], list[float]]]:
    """Where chunks begin, the lengths of their frames, and their scores."""
    chunks = []
    for _ in range(draw(st.integers(1, 4))):
        lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
        values = draw(st.lists(st.floats(-5, 5), min_size=len(lengths), max_size=len(lengths)))
        chunks.append((draw(st.integers(0, 12)), lengths, values))
    return chunks


@given(chunk_lists())
def test_stitching_is_the_mean_of_all_chunks_at_each_instant(
    chunks: Sequence[tuple[int, list[int], list[float]]],
) -> None:
    made = {
        f"chunk{i}": sed.ClipScores.from_ticks(np.array(values)[:, None], np.cumsum([0, *lengths]))
        for i, (_, lengths, values) in enumerate(chunks)
    }
    places = {f"chunk{i}": ("rec", start / 1e6) for i, (start, _, _) in enumerate(chunks)}
    joined = sed.Scores(made, made.__getitem__, classes=["Dog"]).stitch(places)
    assert list(joined) == ["rec"]
    clip = joined["rec"]
    first = min(start for start, _, _ in chunks)
    last = max(start + sum(lengths) for start, lengths, _ in chunks)
    assert (clip.ticks[0], clip.ticks[-1]) == (first, last)
    for tick in range(first, last):
        there = [at(made[f"chunk{i}"], tick - start) for i, (start, _, _) in enumerate(chunks)]
        covering = [values for values in there if values is not None]
        expected = np.mean(covering, axis=0) if covering else np.array([-np.inf])
        got = at(clip, tick)
        assert got is not None
        assert got == pytest.approx(expected)


def test_chunks_as_maestro_names_them(tmp_path: Path) -> None:
    #  cafe_00   0    1    2    3 s
    #            [.2  |.4  )
    #                 [.8  |.6  )
    arrays = {
        "cafe_00-0-200": [[0.2], [0.4]],
        "cafe_00-100-300": [[0.8], [0.6]],
        "park-0-200": [[1], [0]],
    }
    scores = sed.Scores.from_arrays(
        {name: np.array(array, np.float32) for name, array in arrays.items()}, classes=["Dog"], frame=1.0
    )
    joined = scores.stitch(unit="centiseconds")
    assert joined["cafe_00"].values.ravel() == pytest.approx([0.2, 0.6, 0.6])
    assert joined["cafe_00"].values.dtype == np.float64
    assert joined["park"].values.dtype == np.float32  # nothing to average
    table = "filename\trecording\tstart\n" + "".join(
        f"{name}.wav\t{name.split('-')[0]}\t{int(name.split('-')[1]) / 100}\n" for name in arrays
    )
    (tmp_path / "chunks.tsv").write_text(table)
    assert_equal_scores(scores.stitch(tmp_path / "chunks.tsv"), joined)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a-10", ("a", 10)),
        ("a_10", ("a", 10)),
        ("a_10_20", ("a", 10)),
        ("a_10.500_20.500", ("a", 10.5)),
        ("a_20_10", ("a_20", 10)),
        ("cafe_00-1000", ("cafe_00", 1000)),
        ("park-1-1200-2200", ("park-1", 1200)),
    ],
)
def test_names_of_chunks(name: str, place: tuple[str, float]) -> None:
    scores = sed.Scores.from_arrays({name: [[0.5]]}, classes=["Dog"], frame=1.0)
    joined = scores.stitch()
    assert (list(joined), joined[place[0]].edges[0]) == ([place[0]], place[1])


def test_chunks_without_a_start() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]], "b": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"2 chunks are not named RECORDING-START.*a, b"):
        scores.stitch()
    with pytest.raises(sed.SedscopeError, match="1 chunk has scores but no recording and start: b"):
        scores.stitch({"a.wav": ("rec", 0)})
    with pytest.raises(sed.SedscopeError, match="1 chunk has no recording and start"):
        scores.stitch({"a": ("rec", float("nan"))})
    bad: Any = "hours"
    with pytest.raises(sed.SedscopeError, match="unit='hours'"):
        scores.stitch(unit=bad)
