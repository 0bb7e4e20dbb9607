"""Mutated files of every format: the only outcomes are a result or a clear refusal."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope._native import number_table, number_table_of_file
from sedscope.io.scores.files import SCORE_FORMATS

from ..support.event_files import SAMPLES
from ..support.event_files.sample import Sample
from ..support.score_files import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

# what a broken disk, editor, transfer or script may leave behind
PIECES = [bytes([byte]) for byte in b"\t\n\r\0\xff\x7f ,;-_.ex9#\"'\\{}[]:"]
PIECES += [
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"nan",
    b"-inf",
    b"1e400",
    b"9" * 40,
    b"../",
    b"\xe2\x80\xa8",
]
PIECES += [
    b"null",
    b"true",
    b"1e-9",
    b"\x00" * 8,
    b"\xff" * 8,
    b"\x7f\xff\xff\xff",
    b"PK\x03\x04",
    b"PAR1",
]
fuzzed = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@st.composite
def mutations(draw: st.DrawFn, content: bytes) -> bytes:
    """Up to four edits: a piece put in, bytes taken out, changed, doubled, or the end cut off."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(0, 12))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + length] = draw(st.sampled_from(PIECES))
            case 1:
                del data[at : at + length]
            case 2:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 3:
                data[at:at] = data[at : at + 8 * length]
            case _:
                del data[at:]
    return bytes(data)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
@fuzzed
@given(data=st.data())
def test_files_of_events(
    sample: Sample, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzzed")
    name = data.draw(st.sampled_from(sorted(sample.files)))
    content = sample.files[name]
    whole = content if isinstance(content, bytes) else content.encode()
    changed = Sample(sample.format, {**sample.files, name: data.draw(mutations(whole))}, sample.events)
    where = changed.write(folder)
    format = data.draw(st.sampled_from([None, sample.format]))
    ends = sample.options.get("durations")
    options = {key: value for key, value in sample.options.items() if key != "durations"}
    try:
        events = sed.read_events(where, format=format, durations=ends, **options)
        truth = sed.read_ground_truth(where, format=format, durations=ends, **options)
    except sed.SedscopeError:
        return
    assert len(truth) <= sum(map(len, events.values()))
    assert all(isinstance(event[2], str) for of_clip in events.values() for event in of_clip)


VALUES = np.linspace(0, 1, 12, dtype=np.float32).reshape(6, 2)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """A small set in every format: the content of its files."""
    scores = sed.Scores.from_arrays({"a": VALUES, "b": VALUES[:4]}, classes=["Dog", "Cat"], frame=0.5)
    contents = {}
    for name, target in TARGETS.items():
        folder = tmp_path_factory.mktemp(name)
        sed.write_scores(scores, folder / target, format=name)
        files = [file for file in folder.rglob("*") if file.is_file()]
        contents[name] = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    return contents


def read_all(path: Path, format: str | None) -> None:
    """Read all clips, and evaluate them."""
    scores = sed.read_scores(path, format=format)
    truth = sed.GroundTruth.from_dict({clip: [] for clip in scores})
    psds = sed.PSDS(sed.Intersection(0.5, 0.5))
    sed.evaluate(scores, truth, psds, run=sed.Run(threads=1))
    for clip in scores.values():
        assert clip.values.shape == (len(clip.ticks) - 1, len(scores.classes))


@pytest.mark.parametrize("name", SCORE_FORMATS)
@fuzzed
@given(data=st.data())
def test_files_of_scores(
    name: str,
    data: st.DataObject,
    stored: dict[str, dict[str, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("fuzzed")
    changed = data.draw(st.sampled_from(sorted(stored[name])))
    for file, content in stored[name].items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(data.draw(mutations(content)) if file == changed else content)
    with contextlib.suppress(sed.SedscopeError):
        read_all(folder / TARGETS[name], data.draw(st.sampled_from([None, name])))


cells = st.floats().map(repr) | st.text("0123456789.eE+-infa \t", max_size=25) | st.integers().map(str)
cells |= st.floats(width=32).map(lambda value: repr(float(np.float32(value))))
cells |= st.decimals(allow_nan=False, allow_infinity=False).map(str)


@settings(max_examples=500)
@given(st.lists(cells, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_numbers_are_what_python_reads(texts: list[str], end: str) -> None:
    """The core reads a number exactly as Python does, or leaves it to Python."""
    content = "\t".join(texts) + end
    table = number_table(content.encode(), 0, len(texts))
    if table is None:
        return
    assert table.shape == (1, len(texts))
    for got, text in zip(table[0].tolist(), texts, strict=True):
        expected = float(text)
        assert math.isnan(got) if math.isnan(expected) else got == expected
        assert math.copysign(1, got) == math.copysign(1, expected) or math.isnan(got)


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), max_size=5))
def test_tables_of_ordinary_numbers_are_left_to_nobody(rows: list[list[float]]) -> None:
    content = "".join("\t".join(map(repr, row)) + "\n" for row in rows).encode()
    table = number_table(b"head" + content, 4, 3)
    assert table is not None
    assert table.tolist() == rows


@pytest.mark.parametrize(
    "text",
    ["1\t2\n3", "1\t2\t3\n", "1", "\n", "1\t\n", "\t1\n", " 1\t2\n", "1\t2\n\n", "1\t2\rx", "+1\t2\n"],
)
def test_tables_out_of_the_ordinary_are_left_to_python(text: str) -> None:
    assert number_table(text.encode(), 0, 2) is None


def test_the_table_must_lie_in_the_text() -> None:
    bad: list[tuple[Any, ...]] = [(b"1", 2, 1), (b"1", 0, 0)]
    for arguments in bad:
        with pytest.raises(ValueError, match="must lie in the text"):
            number_table(*arguments)


@settings(max_examples=500)
@given(st.integers(0, 10**18), st.integers(0, 18), st.text("0123456789\t\n .-e", max_size=20))
def test_digits_are_read_whatever_follows(number: int, decimals: int, rest: str) -> None:
    """Digits are read several at a time: what stands behind them must not matter."""
    digits = str(number).rjust(decimals + 1, "0")
    text = f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]}0"
    table = number_table(f"{text}\n{rest}".encode()[: len(text) + 1], 0, 1)
    assert table is not None
    assert table.tolist() == [[float(text)]]
    followed = number_table(f"{text}\t{rest}".encode(), 0, 2)
    if followed is not None:
        assert followed[0, 0] == float(text)


@pytest.mark.parametrize(
    "content",
    [
        b"a\tb\n1\t2\n3\t4\n",
        b"a\tb\n1\t2\n3\t4",
        b"a\tb\n",
        b"a\tc\n1\t2\n",
        b"a\tb\n1\tx\n",
        b"a\t",
        b"",
    ],
)
def test_a_file_is_read_like_its_content(content: bytes, tmp_path: Path) -> None:
    file, first_line = tmp_path / "é.tsv", b"a\tb\n"
    file.write_bytes(content)
    expected = number_table(content, 4, 2) if content.startswith(first_line) else None

    read = number_table_of_file(file, first_line, 2, 100)

    assert (read is None) == (expected is None)
    if read is not None and expected is not None:
        assert read[0].tolist() == expected.tolist()
        assert read[1] == content.endswith(b"\n")
    assert number_table_of_file(file, first_line, 2, max(len(content) - 1, 0)) is None
    assert number_table_of_file(tmp_path, first_line, 2, 100) is None
    assert number_table_of_file(tmp_path / "nowhere", first_line, 2, 100) is None
