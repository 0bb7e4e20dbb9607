"""Score tables in text files: what is written is read back, whatever its spelling."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

import sedscope as sed
from sedscope.escaping import one_line

from ..support.equality import assert_equal_scores
from ..support.files import ARRAYS, SCORES, events, table, write_files

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

INF = float("inf")
PSDS = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=10, unit="minute")
HEADER = "onset offset Dog Cat"

# names that a careless program would trip over
ODD_NAMES = ["a\tb", 'say "hi"', '"', "'x'", "a,b;c", "Schön ☃ 犬", "overall", "class", "filename", "#1"]
ODD_NAMES += ["[red]", "%s {0}", "a\\b", "x" * 200, "-inf", "0", "=1+1", "Dog\u2028Cat", "\u202edog"]


def read_clip(tmp_path: Path, text: str | bytes) -> sed.ClipScores:
    files = write_files(tmp_path, {"scores/a.tsv": text})
    return sed.read_scores(files.scores)["a"]


def written_and_read(scores: sed.Scores, folder: Path) -> sed.Scores:
    sed.write_scores(scores, folder)
    return sed.read_scores(folder)


# Scores from files


def test_a_folder_of_score_tables(tmp_path: Path) -> None:
    scores = sed.read_scores(write_files(tmp_path).scores)
    assert repr(scores) == "<Scores: 2 clips, 2 classes>"
    assert scores.classes == ("Dog", "Cat")
    assert list(scores) == ["a", "b"]
    assert scores["b"].values.tolist() == ARRAYS["b"]
    assert scores["b"].values.dtype == np.float64
    assert scores["b"].edges.tolist() == [0, 1, 2, 3, 4]


def test_other_files_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/readme.txt": "x", "scores/c.tsv.part": "x"})
    (files.scores / "d.tsv").mkdir()
    assert list(sed.read_scores(str(files.scores))) == ["a", "b"]


@pytest.mark.parametrize("name", ["a", "a.wav", "a.WAV", "eval/x/a.flac", r"c:\x\a.mp3"])
def test_a_clip_has_many_names(name: str, tmp_path: Path) -> None:
    scores = sed.read_scores(write_files(tmp_path).scores)
    assert name in scores
    assert scores[name].values.tolist() == ARRAYS["a"]
    given_names = sed.Scores.from_arrays({name: ARRAYS["a"]}, classes=["Dog", "Cat"], frame=1.0)
    assert list(given_names) == ["a"]
    assert list(sed.GroundTruth.from_dict({name: []}, durations={"x/a.ogg": 4}).clips) == ["a"]
    assert sed.evaluate(scores, sed.GroundTruth.from_dict({"a": []}), PSDS, clips=[name]).clips == 1


def test_names_that_only_look_alike_are_other_clips() -> None:
    names = ["a", "A", "a.b", "a.wave", "a b", "a_0.000_10.000", "wav"]
    scores = sed.Scores.from_arrays({name: [[0.5]] for name in names}, classes=["Dog"], frame=1.0)
    assert list(scores) == names
    absent: list[Any] = ["b", "", 0, None]
    assert not [name for name in absent if name in scores]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: text + "\r\n \n".replace(" ", ""),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("\t.", "\t ."),
        lambda text: text.replace("\t.", "\t+0."),
        lambda text: text.replace(".9", '"0.9"'),
        lambda text: text.replace(".9", "9e-1"),
    ],
    ids=[
        "plain", "Windows", "BOM", "BOM and Windows", "no last line end", "blank lines at the end",
        "mixed line ends", "blank lines", "spaces", "signs", "quotes", "exponents",
    ],
)  # fmt: skip
def test_spellings_of_a_table(change: Callable[[str], str], tmp_path: Path) -> None:
    clip = read_clip(tmp_path, change(SCORES["a"]))
    assert clip.values.tolist() == ARRAYS["a"]
    assert clip.edges.tolist() == [0, 1, 2, 3, 4]


def test_line_ends_of_old_are_read_or_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/a.tsv": SCORES["a"].replace("\n", "\r")})
    try:
        values = sed.read_scores(files.scores)["a"].values.tolist()
    except sed.SedscopeError as error:
        message = str(error)
        assert "a.tsv" in message
    else:
        assert values == ARRAYS["a"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("1 0", [1, 0]),
        ("-3 70000000000", [-3, 70_000_000_000]),
        ("inf -inf", [INF, -INF]),
        ("Infinity -Inf", [INF, -INF]),
        ("1e400 -1e400", [INF, -INF]),
        ("5e-324 1.7976931348623157e308", [5e-324, 1.7976931348623157e308]),
        ("0.1000000000000000055511151231257827 1e-400", [0.1, 0]),
    ],
)
def test_numbers(cells: str, values: list[float], tmp_path: Path) -> None:
    assert read_clip(tmp_path, table(HEADER, f"0 1 {cells}")).values.tolist() == [values]


def test_columns_in_another_order(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/b.tsv": table("onset offset Cat Dog", "0 1 .7 .1")})
    scores = sed.read_scores(files.scores)
    assert scores.classes == ("Dog", "Cat")
    assert scores["b"].values.tolist() == [[0.1, 0.7]]


def test_tables_share_the_boundaries_of_their_frames(tmp_path: Path) -> None:
    whole, later, gap = (
        ["0 1 0.1 0.2", "1 2 0.3 0.4"],
        ["0 1 0.5 0.6", "1 3 0 0"],
        ["0 1 0.7 0.8", "3 4 0 0"],
    )
    tables = {
        "scores/a.tsv": table(HEADER, *whole),
        "scores/b.tsv": table("onset offset Cat Dog", *whole),
        "scores/c.tsv": table(HEADER, *later),
        "scores/d.tsv": table(HEADER, *gap),
    }
    scores = sed.read_scores(write_files(tmp_path, tables).scores, gaps="silent")
    clips = {name: scores[name] for name in "abcd"}
    assert clips["a"].ticks is clips["b"].ticks
    assert not clips["a"].ticks.flags.writeable
    assert [clip.edges.tolist() for clip in clips.values()] == [
        [0, 1, 2],
        [0, 1, 2],
        [0, 1, 3],
        [0, 1, 3, 4],
    ]
    assert clips["a"].values.tolist() == [[0.1, 0.2], [0.3, 0.4]]
    assert clips["b"].values.tolist() == [[0.2, 0.1], [0.4, 0.3]]


@pytest.mark.parametrize(
    ("rows", "edges", "dog"),
    [
        (["0 4 .5 .5"], [0, 4], [0.5]),
        (["0 1 .1 0", "1 1.5 .2 0", "1.5 9 .3 0"], [0, 1, 1.5, 9], [0.1, 0.2, 0.3]),
        (["2 3 .1 0", "3 4 .2 0"], [2, 3, 4], [0.1, 0.2]),
        # frames:  0–1   (gap)   2–3  3–4  (gap)  4.5–5
        (
            ["0 1 .1 0", "2 3 .2 0", "3 4 .3 0", "4.5 5 .4 0"],
            [0, 1, 2, 3, 4, 4.5, 5],
            [0.1, -INF, 0.2, 0.3, -INF, 0.4],
        ),
        # touching to the microsecond
        (["0 .3333333 .1 0", ".33333329 1 .2 0"], [0, 0.333333, 1], [0.1, 0.2]),
    ],
    ids=["single frame", "varying length", "late start", "gaps", "rounding"],
)
def test_frames(rows: list[str], edges: list[float], dog: list[float], tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/a.tsv": table(HEADER, *rows)})
    clip = sed.read_scores(files.scores, gaps="silent")["a"]
    assert clip.edges.tolist() == edges
    assert clip.values[:, 0].tolist() == dog
    assert clip.values.shape == (len(dog), 2)


BAD_ROWS = {
    "missing row": (["0 1 .1 0", "1 2 .1 0", "3 4 .1 0"], r"There is 1 gap .*before line 4 \(2–3 s\)"),
    "swapped rows": (["1 2 .1 0", "0 1 .1 0"], r"1 frame is not in order of time: line 3 \(0–1 s\)"),
    "row twice": (["0 1 .1 0", "0 1 .1 0"], r"1 frame overlaps .*: line 3 \(0–1 s\)"),
    "overlap": (["0 1 .1 0", ".5 1.5 .1 0"], r"1 frame overlaps .*: line 3 \(0.5–1.5 s\)"),
    "no length": (["0 1 .1 0", "1 1 .1 0"], r"1 frame ends .*: line 3 \(1–1 s\)"),
    "no time": (["0 1 .1 0", "1 inf .1 0"], r"1 frame has no finite time: line 3"),
    "beyond ten years": (["0 1 .1 0", "1 9e9 .1 0"], r"within ten years"),
}


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_frames_that_do_not_follow_each_other(rows: list[str], message: str, tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/a.tsv": table(HEADER, *rows)})
    with pytest.raises(sed.SedscopeError, match=rf"a\.tsv: .*{message}"):
        sed.read_scores(files.scores)["a"]
    text = table(HEADER, *rows).replace("\n", "\n\n", 1)  # a blank line: rows are one line further down
    (files.scores / "a.tsv").write_text(text)
    moved = message.replace("line 4", "line 5").replace("line 3", "line 4")
    with pytest.raises(sed.SedscopeError, match=rf"a\.tsv: .*{moved}"):
        sed.read_scores(files.scores)["a"]


def test_a_choice_for_gaps_that_does_not_exist(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    bad: Any = "ignore"
    with pytest.raises(sed.SedscopeError, match="gaps='ignore' is not valid"):
        sed.read_scores(files.scores, gaps=bad)


@pytest.mark.parametrize("rows", ["", "\n", "\n\n"])
def test_a_table_without_rows(rows: str, tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/b.tsv": table(HEADER) + rows})
    with pytest.raises(sed.SedscopeError, match=r"b\.tsv: the score table has no rows"):
        sed.read_scores(files.scores)["b"]


def test_a_table_that_is_cut_in_its_last_number(tmp_path: Path) -> None:
    text = table(HEADER, "0 1 .1 .12", "1 2 .3 .98")
    files = write_files(tmp_path, {"scores/b.tsv": text[:-2]})
    with pytest.raises(sed.SedscopeError, match=r"b\.tsv: line 3, the last one, does not end"):
        sed.read_scores(files.scores)["b"]
    (files.scores / "a.tsv").write_text(text[:-2])  # the first one
    (files.scores / "b.tsv").write_text(text)
    with pytest.warns(sed.SedscopeWarning, match=r"a\.tsv does not end with a line break"):
        scores = sed.read_scores(files.scores)
    with pytest.raises(sed.SedscopeError, match=r"b\.tsv ends with a line break, but the first table"):
        scores["b"]


@pytest.mark.parametrize("start", [0, 100, 10_000])
@pytest.mark.parametrize("digits", [None, 6])
def test_times_that_were_float32_leave_no_gaps(start: int, digits: int | None, tmp_path: Path) -> None:
    #  onset and offset of a frame, each rounded to float32: they differ by up to two steps
    onsets = (start + np.arange(500) * 0.016).astype(np.float32)
    offsets = onsets + np.float32(0.016)
    assert np.any(offsets[:-1] != onsets[1:])
    rows = [
        f"{a:.{digits}f} {b:.{digits}f} .5 .5" if digits else f"{float(a)!r} {float(b)!r} .5 .5"
        for a, b in zip(onsets.tolist(), offsets.tolist(), strict=True)
    ]
    clip = read_clip(tmp_path, table(HEADER, *rows))
    assert clip.values.shape == (500, 2)
    assert np.array_equal(clip.ticks[:-1], np.rint(onsets.astype(np.float64) * 1e6))
    with pytest.raises(sed.SedscopeError, match="There are 49 gaps"):
        sed.ClipScores.from_frames(
            *(np.delete(array, np.s_[10::10], axis=0) for array in (clip.values, onsets, offsets))
        )


def test_rounding_errors_do_not_hide_short_frames() -> None:
    #             0–3    4–7 µs: a gap of a third of a frame
    with pytest.raises(sed.SedscopeError, match="1 gap"):
        sed.ClipScores.from_frames([[0.1], [0.2]], [0, 4e-6], [3e-6, 7e-6])
    # 1 % of a frame of 1 s is no gap, 2 % is one
    clip = sed.ClipScores.from_frames([[0.1], [0.2]], [0, 1.01], [1, 2.01])
    assert clip.edges.tolist() == [0, 1.01, 2.01]
    with pytest.raises(sed.SedscopeError, match="1 gap"):
        sed.ClipScores.from_frames([[0.1], [0.2]], [0, 1.02], [1, 2.02])
    with pytest.raises(sed.SedscopeError, match="overlaps"):
        sed.ClipScores.from_frames([[0.1], [0.2]], [0, 0.98], [1, 1.98])


def test_scores_beyond_single_precision_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('onset\t"offset"\tDog\n0\t1\t0.5\n1\t2\t1e39\n')
    with pytest.raises(sed.SedscopeError, match=r"a\.tsv: .*single precision, but 1e\+39 is too large"):
        sed.read_scores(tmp_path)["a"]


def test_float32_scores_are_read_back_as_float32(tmp_path: Path) -> None:
    #          0     1     2     3 s: 0.4 as float32 is above 0.4
    values = np.array([[0.1], [0.4], [0.1]], np.float32)
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    got = written_and_read(scores, tmp_path / "scores")
    assert (
        (tmp_path / "scores" / "a.tsv").read_text().startswith('onset\t"offset"\tDog\n0.0\t1.0\t0.1\n')
    )
    assert got["a"].values.dtype == np.float32
    assert sed.detect(scores, 0.4) == sed.detect(got, 0.4) == {"a": [(1.0, 2.0, "Dog")]}
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    best = sed.BestFScore(sed.Collar())
    assert sed.evaluate(got, truth, best).to_json() == sed.evaluate(scores, truth, best).to_json()
    # other programs read the same columns
    assert polars.read_csv(tmp_path / "scores" / "a.tsv", separator="\t").columns == [
        "onset", "offset", "Dog",
    ]  # fmt: skip


def test_a_clip_without_frames_cannot_be_a_table(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a": [[0.5]], "b": np.empty((0, 1))}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    with pytest.raises(
        sed.SedscopeError, match="clip b: the format tsv cannot hold clips without frames"
    ):
        sed.write_scores(scores, tmp_path / "scores")
    sed.write_scores(scores, tmp_path / "scores", lossy=True)
    assert list(sed.read_scores(tmp_path / "scores")) == ["a"]


def test_clips_are_read_when_they_are_needed(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"scores/b.tsv": "broken", "scores/c.tsv": SCORES["a"]})
    scores = sed.read_scores(files.scores)
    assert len(scores) == 3
    assert scores["a"].values.tolist() == ARRAYS["a"]
    with pytest.raises(sed.SedscopeError, match=r"b\.tsv"):
        scores["b"]
    (files.scores / "c.tsv").unlink()
    with pytest.raises(sed.SedscopeError, match=r"Cannot read .*c\.tsv"):
        scores["c"]
    truth = sed.GroundTruth.from_dict({"a": [], "b": [], "c": []})
    assert sed.evaluate(scores, truth, PSDS, clips=["a"]).clips == 1
    with pytest.raises(sed.SedscopeError, match=r"(?s)2 problems.*b\.tsv.*c\.tsv"):
        sed.evaluate(scores, truth, PSDS)


def test_all_sources_give_the_same_result(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    tables = {clip: polars.read_csv(files.scores / f"{clip}.tsv", separator="\t") for clip in ARRAYS}
    sources = [
        sed.read_scores(files.scores),
        sed.Scores.from_arrays(ARRAYS, classes=["Dog", "Cat"], frame=1.0),
        sed.Scores.from_function(ARRAYS, lambda clip: ARRAYS[clip], classes=["Dog", "Cat"], frame=1.0),
        sed.Scores.from_tables(tables),
        sed.Scores.from_tables({clip: frame.to_pandas() for clip, frame in tables.items()}),
    ]
    truth = sed.read_ground_truth(files.truth, durations=files.durations)
    events_frame = polars.read_csv(files.truth, separator="\t")
    durations_frame = polars.read_csv(files.durations, separator="\t")
    truths = [
        truth,
        sed.GroundTruth.from_table(events_frame, durations=durations_frame),
        sed.GroundTruth.from_table(events_frame.to_pandas(), durations=durations_frame.to_pandas()),
        sed.GroundTruth.from_dict(events(truth), durations={"a": 4, "b": 4}),
        sed.read_ground_truth(files.truth, durations={"a.wav": 4.0, "b.wav": 4.0}),
    ]
    results = [
        sed.evaluate(scores, of_source, [PSDS, sed.presets.PSDS2]).to_json()
        for scores, of_source in zip(sources, truths, strict=True)
    ]
    assert set(results) == {results[0]}
    for scores in sources[1:]:
        assert_equal_scores(scores, sources[0])


# Scores to files


def test_scores_are_read_back_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((50, 2))
    values[0] = INF, -INF
    scores = sed.Scores.from_arrays(
        {"a": values, "Y1_30.000_40.000.wav": values[:1], "ü x": values[:2], "c:d": -values},
        classes=["Dog", "Cat"],
        frame=1 / 3,
    )
    steps: list[tuple[int, int]] = []
    sed.write_scores(scores, tmp_path / "new" / "folder", progress=lambda *step: steps.append(step))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    got = sed.read_scores(tmp_path / "new" / "folder")
    assert_equal_scores(got, sed.Scores(sorted(scores), scores.__getitem__, classes=scores.classes))


@given(
    numpy_st.arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False))
    | numpy_st.arrays(np.float32, (3, 2), elements=st.floats(allow_nan=False, width=32)),
    st.lists(st.integers(1, 10**12), min_size=3, max_size=3),
)
def test_numbers_are_written_in_full(
    tmp_path_factory: pytest.TempPathFactory, values: Any, lengths: list[int]
) -> None:
    clip = sed.ClipScores.from_ticks(values, np.cumsum([0, *lengths]))
    scores = sed.Scores.from_function(["a"], lambda _: clip, classes=["Dog", "Cat"])
    got = written_and_read(scores, tmp_path_factory.mktemp("written"))["a"]
    assert np.array_equal(got.ticks, clip.ticks)
    assert got.values.dtype == values.dtype
    assert np.array_equal(got.values, values)


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_class_names(name: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1, 0.9]]}, classes=[name, "Dog"], frame=1.0)
    got = written_and_read(scores, tmp_path / "scores")
    assert_equal_scores(got, scores)
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, name)], "b": []}, durations={"a": 1, "b": 1})
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    again = sed.read_ground_truth(tmp_path / "truth.tsv")
    assert events(again) == events(truth)
    result = sed.evaluate(got, again, PSDS, clips="scored")
    assert result.references == {name: 1, "Dog": 0}
    assert one_line(name) in result.table()
    assert result.to_dict()["metrics"][0]["per_class"] == {name: 1.0, "Dog": None}


@pytest.mark.parametrize("name", ["onset", "offset", "a\nb", "a\r", " Dog "], ids=ascii)
def test_class_names_that_a_table_cannot_hold_are_kept_or_refused(name: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1], [0.2]]}, classes=[name], frame=1.0)
    try:
        sed.write_scores(scores, tmp_path / "scores")
    except sed.SedscopeError as error:
        message = str(error)
        assert repr(name) in message or name in message
        assert not [file for file in tmp_path.rglob("*") if file.is_file()]
    else:
        assert_equal_scores(sed.read_scores(tmp_path / "scores"), scores)


@pytest.mark.parametrize(
    "clip", ["a\0b", "x" * 300, "\udcff", "a.wav.wav"], ids=lambda clip: ascii(clip)[:9]
)
def test_clips_that_cannot_name_a_file_are_kept_or_refused(clip: str, tmp_path: Path) -> None:
    try:
        scores = sed.Scores.from_arrays({clip: [[0.1]]}, classes=["Dog"], frame=1.0)
        sed.write_scores(scores, tmp_path / "scores")
    except sed.SedscopeError:
        return
    assert_equal_scores(sed.read_scores(tmp_path / "scores"), scores)


def test_scores_go_to_a_new_folder(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    scores = sed.read_scores(files.scores)
    before = files.listing()
    for target, message in (
        (files.scores, "is not empty"),
        (files.truth, "it is not a folder"),
        (files.truth / "scores", "is a file, not a folder"),
    ):
        with pytest.raises(sed.SedscopeError, match=message):
            sed.write_scores(scores, target)
    assert files.listing() == before


def test_scores_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def load(clip: str) -> Any:
        return [[0.1]] if clip < "c" else [[0.1, 0.2]]

    scores = sed.Scores.from_function("abcd", load, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="clip c"):
        sed.write_scores(scores, tmp_path / "scores")
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_files_are_left_as_they_are(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in files.listing()}
    truth = sed.read_ground_truth(files.truth, durations=files.durations)
    sed.evaluate(sed.read_scores(files.scores), truth, PSDS)
    assert {name: (tmp_path / name).read_bytes() for name in files.listing()} == before


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (gzip.compress(b"filename\tonset\n", mtime=0), "compressed with gzip"),
        (b"PK\x03\x04\xff\x00", "ZIP archive"),
    ],
)
def test_files_that_are_not_text(tmp_path: Path, content: bytes, hint: str) -> None:
    file = tmp_path / "truth.tsv"
    file.write_bytes(content)
    with pytest.raises(sed.SedscopeError, match=f"not UTF-8 text.*{hint}"):
        sed.read_ground_truth(file)


@pytest.mark.parametrize(("separator", "name"), [(",", "commas"), (";", "semicolons"), (" ", "spaces")])
def test_score_tables_with_other_separators(tmp_path: Path, separator: str, name: str) -> None:
    table = "onset\toffset\tDog\n0\t1\t0.5\n".replace("\t", separator)
    (tmp_path / "a.tsv").write_text(table)
    with pytest.raises(sed.SedscopeError, match=f"Separate the columns by tabs, not by {name}"):
        sed.read_scores(tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"), [("a.tsv.gz", "Decompress them"), ("a.csv", "ends with .tsv")]
)
def test_folders_of_tables_with_other_names(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(sed.SedscopeError, match=f"holds no score tables.*{hint}"):
        sed.read_scores(tmp_path)


@pytest.mark.filterwarnings("default::sedscope.SedscopeWarning")
def test_tables_in_milliseconds(tmp_path: Path) -> None:
    rows = "".join(f"{64 * i}.0\t{64 * i + 64}.0\t0.5\n" for i in range(30))
    (tmp_path / "a.tsv").write_text(f"onset\toffset\tDog\n{rows}")
    with pytest.warns(sed.SedscopeWarning, match=r"a\.tsv: frames are 64 s long .*milliseconds"):
        sed.read_scores(tmp_path)
