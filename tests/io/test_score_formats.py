"""Files of scores: what is written is read back bit by bit, whatever the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings

import sedscope as sed
from sedscope.io.scores.files import SCORE_FORMATS

from ..support.equality import assert_equal_scores
from ..support.score_files import CLASSES, TARGETS, VALUES, score_sets, write_and_read
from ..support.strategies import clip_lists, to_scores, to_truth

formats = pytest.mark.parametrize("name", SCORE_FORMATS)


@formats
@settings(max_examples=30)
@given(scores=score_sets())
def test_scores_are_read_back_bit_by_bit(
    name: str, scores: sed.Scores, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if name in ("tsv", "parquet") and {"onset", "offset", "clip"} & set(scores.classes):
        return
    if name == "tsv" and not all(len(clip.values) for clip in scores.values()):
        return
    got = write_and_read(scores, tmp_path_factory.mktemp("written"), name)
    assert_equal_scores(got, scores)
    assert [got[clip].values.dtype for clip in got] == [scores[clip].values.dtype for clip in scores]


@formats
def test_names_of_classes_are_no_patterns(name: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1, 0.2, 0.3]]}, classes=["*", "^0$", "0"], frame=1.0)
    assert_equal_scores(write_and_read(scores, tmp_path, name), scores)


@formats
@settings(max_examples=20)
@given(case=clip_lists)
def test_every_format_evaluates_alike(
    name: str, case: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    metric = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=10, unit="second")
    got = write_and_read(scores, tmp_path_factory.mktemp("written"), name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        expected = sed.evaluate(scores, truth, metric).to_json()
        assert sed.evaluate(got, truth, metric, run=sed.Run(threads=2)).to_json() == expected


@settings(max_examples=30)
@given(scores=score_sets(mixed=True))
def test_the_store_keeps_the_type_of_each_clip(
    scores: sed.Scores, tmp_path_factory: pytest.TempPathFactory
) -> None:
    got = write_and_read(scores, tmp_path_factory.mktemp("written"), "store")
    assert_equal_scores(got, scores)
    assert [got[clip].values.dtype for clip in got] == [scores[clip].values.dtype for clip in scores]


@formats
def test_types_that_differ_are_kept_or_refused(name: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a": VALUES, "b": VALUES.astype(np.float64) + 1e-12}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.5)
    if "types that differ" in SCORE_FORMATS[name].holds:
        write_and_read(scores, tmp_path, name)
        return
    with pytest.raises(
        sed.SedscopeError, match=r"clip b: .* cannot hold that some clips are float32.*`lossy=True`"
    ):
        write_and_read(scores, tmp_path, name)
    assert not list(tmp_path.iterdir())
    got = write_and_read(scores, tmp_path, name, lossy=True)
    assert_equal_scores(got, scores)
    assert got["a"].values.dtype == np.float64


@formats
def test_scored_events_are_kept_or_refused(name: str, tmp_path: Path) -> None:
    #      0   1   2 s
    #      [.9 )[.4)     two detections that touch
    scores = sed.Scores.from_events({"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4)], "b": []})
    if SCORE_FORMATS[name].holds >= {"frames of no length", "unknown ends"}:
        got = write_and_read(scores, tmp_path, name)
        assert_equal_scores(got, scores)
        assert not got.whole_clips
        return
    with pytest.raises(sed.SedscopeError, match=r"cannot hold .*`lossy=True`"):
        write_and_read(scores, tmp_path, name)
    got = write_and_read(scores, tmp_path, name, lossy=True)
    assert got["a"].values.ravel().tolist() == [0.9, 0.4]
    assert got["a"].edges.tolist() == [0, 1, 2]
    assert list(got) == (["a"] if name == "tsv" else ["a", "b"])  # a table has frames


@formats
def test_writing_is_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    def load(clip: str) -> Any:
        return [[0.1]] if clip < "c" else [[0.1, 0.2]]

    scores = sed.Scores.from_function("abcd", load, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="clip c"):
        sed.write_scores(scores, tmp_path / TARGETS[name], format=name)
    assert not list(tmp_path.iterdir())


def test_a_long_table(tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {
            "filename": ["a", "a", "b"],
            "onset": [0.0, 2.0, 0.0],
            "offset": [1.0, 3.0, 1.0],
            "Dog": polars.Series([0.1, 0.2, 0.3], dtype=polars.Float32),
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(sed.SedscopeError, match="clip a: There is 1 gap between frames: before frame 1"):
        sed.read_scores(tmp_path / "x.parquet")["a"]
    scores = sed.read_scores(tmp_path / "x.parquet", gaps="silent")
    assert scores["a"].values.ravel().tolist() == pytest.approx([0.1, -np.inf, 0.2])
    assert scores["a"].values.dtype == np.float32
    frame[[1, 2, 0]].write_parquet(tmp_path / "x.parquet")
    assert_equal_scores(sed.read_scores(tmp_path / "x.parquet", gaps="silent"), scores)
    frame.with_columns(Dog=polars.lit(None, polars.Float32)).write_parquet(tmp_path / "x.parquet")
    assert np.isnan(sed.read_scores(tmp_path / "x.parquet")["b"].values).all()
