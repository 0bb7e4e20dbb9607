"""Files at remote addresses: read like local ones, and no more of them than needed."""

from __future__ import annotations

import functools
import gzip
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting.clip_reader import read_each
from sedscope.io.locations import Address, location
from sedscope.io.scores import memmap_folder, npy_files
from sedscope.io.scores.files import SCORE_FORMATS

from ..support.command_line import run
from ..support.files import write_durations

fsspec: Any = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'sedscope[remote]'")

PSDS1 = sed.presets.PSDS1
FORMATS = {
    name: "scores" if name == "tsv" else "".join([name, *format.suffixes[:1]])
    for name, format in SCORE_FORMATS.items()
}
WAYS = ["memory", "file", "zip", "zip in memory", "simplecache", "http", "http with ranges"]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set in files of all formats; a clip has a name with a blank."""
    folder = tmp_path_factory.mktemp("remote") / "set"
    truth = sed.simulate.ground_truth(24, seed=3)
    scores = sed.simulate.scores(truth, frame=0.1, seed=3)
    names = {clip: clip.replace("_", " ") for clip in truth.clips}
    truth = sed.GroundTruth.from_dict(
        {names[clip]: truth.events(clip) for clip in truth.clips},
        durations=dict.fromkeys(names.values(), 10.0),
    )
    scores = sed.Scores.from_arrays(
        {names[clip]: scores[clip].values for clip in names}, classes=scores.classes, frame=0.1
    )
    folder.mkdir()
    for name, file in FORMATS.items():
        sed.write_scores(scores, folder / file, format=name)
    sed.write_ground_truth(truth, folder / "truth.tsv")
    sed.write_ground_truth(truth, folder / "raven", format="raven")
    write_durations(truth, folder / "durations.tsv")
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Ranged(Quiet):
    """A server that gives parts of files, as most do."""

    def do_GET(self) -> None:
        asked, file = self.headers.get("Range"), Path(self.translate_path(self.path))
        if asked is None or not file.is_file():
            super().do_GET()
            return
        content = file.read_bytes()
        first, last = asked.removeprefix("bytes=").split("-")
        part = content[int(first) : int(last) + 1 if last else None]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


@contextmanager
def serving(folder: Path, handler: type[Quiet]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def addresses(here: Path) -> Iterator[dict[str, str]]:
    """The folder of the set by the way to it, with {} for what lies in it."""
    memory = fsspec.filesystem("memory")
    memory.put(str(here), "/remote/set", recursive=True)
    archive = shutil.make_archive(str(here.parent / "set"), "zip", here.parent, "set")
    memory.put_file(archive, "/remote/set.zip")
    patterns = {
        "memory": "memory://remote/set/{}",
        "file": f"{here.as_uri()}/{{}}",
        "zip": f"zip://set/{{}}::{archive}",
        "zip in memory": "zip://set/{}::memory://remote/set.zip",
        "simplecache": "simplecache::memory://remote/set/{}",
    }
    with serving(here.parent, Quiet) as whole, serving(here.parent, Ranged) as ranged:
        yield patterns | {"http": f"{whole}/set/{{}}", "http with ranges": f"{ranged}/set/{{}}"}
    memory.rm("/remote", recursive=True)


def folder_of(way: str, addresses: dict[str, str]) -> str:
    if way.startswith("http"):
        pytest.importorskip("aiohttp", reason="fsspec needs aiohttp for http")
    return addresses[way]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format", FORMATS)
def test_the_same_bits(format: str, way: str, here: Path, addresses: dict[str, str]) -> None:
    there = folder_of(way, addresses)
    truth = sed.read_ground_truth(there.format("truth.tsv"), durations=there.format("durations.tsv"))
    local = sed.read_ground_truth(here / "truth.tsv", durations=here / "durations.tsv")
    scores = sed.read_scores(there.format(FORMATS[format]))
    expected = sed.read_scores(here / FORMATS[format])
    assert list(scores) == list(expected)
    for clip, of_clip in expected.items():
        assert scores[clip].values.dtype == of_clip.values.dtype
        np.testing.assert_array_equal(scores[clip].values, of_clip.values)
        np.testing.assert_array_equal(scores[clip].ticks, of_clip.ticks)
    scalars = sed.evaluate(scores, truth, PSDS1).scalars()
    assert scalars == sed.evaluate(expected, local, PSDS1).scalars()


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_of_events(way: str, here: Path, addresses: dict[str, str]) -> None:
    events = sed.read_events(folder_of(way, addresses).format("raven"))
    assert events == sed.read_events(here / "raven")


@pytest.mark.parametrize("way", ["file", "zip", "http", "http with ranges"])
@pytest.mark.parametrize("format", FORMATS)
def test_workers_open_addresses(
    format: str, way: str, here: Path, addresses: dict[str, str], workers: Any
) -> None:
    """They are sent, not what lies there."""
    there = folder_of(way, addresses)
    truth = sed.read_ground_truth(here / "truth.tsv", durations=here / "durations.tsv")
    scores = sed.read_scores(there.format(FORMATS[format]))
    result = sed.evaluate(scores, truth, PSDS1, run=sed.Run(engine="dask", scheduler=workers))
    expected = sed.evaluate(sed.read_scores(here / FORMATS[format]), truth, PSDS1)
    assert result.scalars() == expected.scalars()


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with made, distributed.Client(made) as client:
        yield client


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("way", ["here", "memory"])
def test_scores_travel_as_where_they_are(
    format: str, way: str, here: Path, addresses: dict[str, str]
) -> None:
    cloudpickle = pytest.importorskip("cloudpickle", reason="needs dask: pip install 'sedscope[dask]'")
    folder = f"{here}/{{}}" if way == "here" else addresses[way]
    scores = sed.read_scores(folder.format(FORMATS[format]))
    sent = cloudpickle.dumps(scores.only(["clip 03"]))
    assert len(sent) < 2000
    arrived = pickle.loads(sent)
    assert list(arrived) == ["clip 03"]
    np.testing.assert_array_equal(arrived["clip 03"].values, scores["clip 03"].values)


def test_what_was_written_anew_is_read_anew(here: Path, tmp_path: Path) -> None:
    """Though workers live on, and keep open what they have read."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="needs dask: pip install 'sedscope[dask]'")
    for value in (1.0, 2.0):
        made = sed.Scores.from_arrays({"a": [[value]]}, classes=["Dog"], frame=1.0)
        sed.write_scores(made, tmp_path / "s.npz")
        arrived = pickle.loads(cloudpickle.dumps(sed.read_scores(tmp_path / "s.npz")))
        assert arrived["a"].values.tolist() == [[value]]


class Counted:
    """Counts what is asked of the file system in memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, Any]] = []
        files = type(fsspec.filesystem("memory"))
        for method in ("ls", "cat_file"):
            monkeypatch.setattr(files, method, self._noting(method, getattr(files, method)))

    def _noting(self, method: str, original: Any) -> Any:
        def ask(files: Any, path: str, *rest: Any, **options: Any) -> Any:
            self.asked.append((method, Path(path).name))
            return original(files, path, *rest, **options)

        return ask

    def names(self, method: str) -> list[str]:
        return [name for asked, name in self.asked if asked == method]


def test_only_what_is_needed_is_read(addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    scores = sed.read_scores(addresses["memory"].format("scores"))
    assert counted.names("ls") == ["scores"]
    counted.asked.clear()
    assert len(scores["clip 05"].values)
    assert counted.asked == [("cat_file", "clip 05.tsv")]


def test_only_the_rows_of_a_clip_are_read(
    addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = sed.read_scores(addresses["memory"].format("store"))
    read: list[int] = []
    original = Address.read_range

    def noting(self: Address, first: int, last: int) -> bytes:
        read.append(last - first)
        return original(self, first, last)

    monkeypatch.setattr(Address, "read_range", noting)
    clip = scores["clip 05"]
    assert read == [npy_files._LONGEST_HEADER, clip.values.nbytes]
    read.clear()
    assert len(scores["clip 07"].values)
    assert len(read) == 1


@pytest.mark.parametrize("threads", [1, 4])
def test_the_clips_of_a_store_take_few_requests(
    here: Path, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    where = addresses["memory"].format("store")
    expected = sed.read_scores(here / FORMATS["store"])
    size = sum(clip.values.nbytes for clip in expected.values())
    monkeypatch.setattr(npy_files, "_REQUEST", size // 3)
    scores = sed.read_scores(where)
    read: list[int] = []
    original = Address.read_range

    def noting(self: Address, first: int, last: int) -> bytes:
        read.append(last - first)
        return original(self, first, last)

    monkeypatch.setattr(Address, "read_range", noting)
    for clip, opened in zip(scores, read_each(scores, [*scores], threads), strict=True):
        assert isinstance(opened, sed.ClipScores)
        np.testing.assert_array_equal(opened.values, expected[clip].values)
        base = opened.values.base
        assert base is None or base.nbytes == opened.values.nbytes
    assert len(read) <= 10 < len(scores)
    assert sum(read) < 2 * size


@pytest.mark.parametrize("way", ["memory", "http with ranges"])
@pytest.mark.parametrize("threads", [1, 4])
def test_shards_are_opened_when_they_are_needed(
    way: str, threads: int, here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memmap_folder, "_SHARD_BYTES", 30_000)  # eight clips
    monkeypatch.setattr(npy_files, "_LONGEST_HEADER", 200)
    scores = sed.read_scores(here / FORMATS["npz"])
    sed.write_scores(scores, tmp_path / "out.store")
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path / "out.store"), "/shards", recursive=True)
    with serving(tmp_path, Ranged) as url:
        there = sed.read_scores("memory://shards" if way == "memory" else f"{url}/out.store")
        read: list[str] = []
        original = Address.read_range

        def noting(self: Address, first: int, last: int) -> bytes:
            read.append(self.name)
            return original(self, first, last)

        monkeypatch.setattr(Address, "read_range", noting)
        assert len(there["clip 12"].values)
        assert read == ["scores-1.npy"] * 2  # where the rows begin, and the rows
        for clip, opened in zip(there, read_each(there, [*there], threads), strict=True):
            assert isinstance(opened, sed.ClipScores)
            np.testing.assert_array_equal(opened.values, scores[clip].values)
    memory.rm("/shards", recursive=True)
    names = [file.name for file in (tmp_path / "out.store").glob("scores-*.npy")]
    assert len(names) == 3
    assert {*read} == {*names}
    assert len(read) <= 9 + 2 * (
        threads - 1
    )  # threads may each ask for rows of a shard that nobody has read


def test_an_hdf5_file_is_read_in_parts(
    here: Path, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("h5py", reason="needs h5py: pip install 'sedscope[hdf5]'")
    there = folder_of("http with ranges", addresses)

    def copy(self: Address) -> Path:
        raise AssertionError(f"{self} was copied")

    monkeypatch.setattr(Address, "copy", property(copy))
    scores, expected = (
        sed.read_scores(path) for path in (there.format(FORMATS["hdf5"]), here / FORMATS["hdf5"])
    )
    np.testing.assert_array_equal(scores["clip 07"].values, expected["clip 07"].values)


def test_deltas_and_results_are_written_to_addresses(here: Path) -> None:
    truth = sed.read_ground_truth(here / "truth.tsv", durations=here / "durations.tsv")
    deltas = sed.deltas(sed.read_scores(here / "scores"), truth, PSDS1.criterion)
    sed.save_deltas(deltas, "memory://written/one.deltas")
    (loaded,) = sed.load_deltas("memory://written/one.deltas")
    result = sed.evaluate_deltas(loaded, PSDS1)
    text = result.to_json("memory://written/result.json")
    assert fsspec.filesystem("memory").cat_file("/written/result.json").decode() == text


def test_damaged_deltas_at_an_address(here: Path) -> None:
    fsspec.filesystem("memory").pipe_file("/written/cut.deltas", b"sedscope-deltas 2 99 abc\n")
    with pytest.raises(sed.SedscopeError, match=r"memory://written/cut\.deltas is damaged"):
        sed.load_deltas("memory://written/cut.deltas")


def test_on_the_command_line(here: Path, addresses: dict[str, str]) -> None:
    options = [str(here / name) for name in ("scores", "truth.tsv")]
    expected = run("evaluate", *options, "--durations", str(here / "durations.tsv"), "--json", "-")
    there = addresses["zip"]
    options = [there.format(name) for name in ("scores", "truth.tsv")]
    durations = there.format("durations.tsv")
    outcome = run("evaluate", *options, "--durations", durations, "--json", "-")
    assert outcome.code == 0, outcome
    assert outcome.out == expected.out
    kept = "memory://written/cli.deltas"
    assert run("deltas", *options, "--durations", durations, "-o", kept).code == 0
    of_deltas = json.loads(run("evaluate", "--deltas", kept, "--json", "-").out)
    assert {**of_deltas, "signature": None} == {**json.loads(expected.out), "signature": None}


def test_what_the_command_line_writes_to_an_address_or_refuses(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("convert", here / "scores", "memory://written/scores.npz")
    assert refused.code == 2
    assert "Cannot write memory://written/scores.npz: only deltas and results" in refused.err
    paths = (here / "scores", here / "truth.tsv", "--durations", here / "durations.tsv")
    refused = run("evaluate", *paths, "--checkpoint", "memory://written/kept")
    assert refused.code == 2
    assert "Cannot write memory://written/kept" in refused.err
    done = run("tune", *paths, "-o", "memory://written/points.toml")
    assert done.code == 0, done.err
    assert run("evaluate", *paths, "--points", "memory://written/points.toml").code == 0
    assert run("report", *paths, "-o", "memory://written/report.html").code == 0
    assert fsspec.filesystem("memory").cat_file("/written/report.html").startswith(b"<!DOCTYPE html>")
    assert [*tmp_path.iterdir()] == []


def test_anything_that_is_a_path(here: Path) -> None:
    class Somewhere:
        def __fspath__(self) -> str:
            return str(here / "scores")

    expected = [*sed.read_scores(here / "scores")]
    paths: list[Any] = [Somewhere(), PurePath(here / "scores")]
    for path in paths:
        assert [*sed.read_scores(path)] == expected


def test_names_with_colons_are_listed() -> None:
    table = b"onset\toffset\tDog\n0\t1\t.5\n"
    for name in ("a.tsv", "b::c.tsv"):
        fsspec.filesystem("memory").pipe_file(f"/colons/{name}", table)
    assert [*sed.read_scores("memory://colons")] == ["a", "b::c"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://nothing/here", "Cannot read memory://nothing/here: there is no such file or folder"),
        ("nothing://here", "Cannot open nothing://here: Protocol not known"),
        ("zip://scores::memory://nothing.zip", r"Cannot open zip://scores::memory://nothing\.zip: "),
        ("http://127.0.0.1:9/scores", "http://127.0.0.1:9/scores"),
    ],
)
def test_an_error_names_the_address(url: str, message: str) -> None:
    if url.startswith("http"):
        pytest.importorskip("aiohttp", reason="fsspec needs aiohttp for http")
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_scores(url)


@pytest.mark.parametrize("file", ["bad.npz", "bad.h5", "bad.parquet"])
def test_a_broken_file_is_named_by_its_address(file: str) -> None:
    mark = {".npz": b"PK\x03\x04", ".h5": b"\x89HDF\r\n\x1a\n", ".parquet": b"PAR1"}
    content = mark[Path(file).suffix] + b"nonsense" * 20
    fsspec.filesystem("memory").pipe_file(f"/written/{file}", content)
    with pytest.raises(sed.SedscopeError, match=f"^memory://written/{file}"):
        sed.read_scores(f"memory://written/{file}")


def test_a_clip_that_cannot_be_read_is_named() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/written/s/a.tsv", b"onset\toffset\tDog\n0\t1\t.5\n")
    memory.pipe_file("/written/s/b.tsv", b"onset\toffset\tDog\n0\tx\t.5\n")
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": []}, durations={"a": 1, "b": 1})
    with pytest.raises(sed.SedscopeError, match=r"memory://written/s/b\.tsv: 1 cell is not a number"):
        sed.evaluate(sed.read_scores("memory://written/s"), truth, PSDS1)


def test_scores_are_written_to_this_machine_only(here: Path) -> None:
    scores = sed.read_scores(here / "scores")
    for target in ("memory://written/scores", "memory://written/s.npz"):
        with pytest.raises(sed.SedscopeError, match="only deltas and results"):
            sed.write_scores(scores, target)


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(sed.SedscopeError, match=r"s3://a/b needs fsspec\. .*pip install 'sedscope"):
        sed.read_scores("s3://a/b")


def test_paths_need_no_fsspec(here: Path) -> None:
    program = (
        "import sys, sedscope as sed\n"
        f"sed.read_scores({str(here / 'scores')!r})['clip 01']\n"
        "sys.exit('fsspec' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize("text", ["scores", "a::b", "C://x", "a:b/c", "/x/y://z", "take::2.tsv"])
def test_what_is_a_path(text: str) -> None:
    assert location(text) == Path(text)


@pytest.mark.parametrize(
    ("url", "name", "below"),
    [
        ("s3://bucket/set/", "set", "s3://bucket/set/a.tsv"),
        ("zip://set::s3://b/x.zip", "set", "zip://set/a.tsv::s3://b/x.zip"),
        ("simplecache::s3://b/set", "set", "simplecache::s3://b/set/a.tsv"),
        ("http://host/a%20b", "a b", "http://host/a%20b/a.tsv"),
    ],
)
def test_addresses(url: str, name: str, below: str) -> None:
    address = Address(url, (None, "path"))
    assert (str(address), address.name, (address / "a.tsv").url) == (url, name, below)


SENT = 2**26
"""What a server without a limit sends in these tests before it gives up."""
LIMIT = 2**22


class Endless(Quiet):
    """A server that sends more than anyone asked for, or says so."""

    sent = 0

    def do_HEAD(self) -> None:
        self.send_error(405)

    def do_GET(self) -> None:
        if self.path.startswith("/packed"):
            self._answer({"Content-Encoding": "gzip", "Content-Type": "text/plain"})
            self.wfile.write(gzip.compress(bytes(SENT)))
            return
        part = self.headers.get("Range") and "parts" in self.path
        length = {"Content-Length": str(10**15)} if "stated" in self.path else {}
        kind = {} if "page" in self.path else {"Content-Type": "application/octet-stream"}
        self._answer(
            length | kind | ({"Content-Range": "bytes 0-9/10"} if part else {}), 206 if part else 200
        )
        with suppress(OSError):  # the client has closed the connection
            for _ in range(SENT // 2**16):
                self.wfile.write(b"http://a/b\tb\n\n\n" * 2**12)
                type(self).sent += 2**16

    def _answer(self, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("aiohttp", reason="fsspec needs aiohttp for http")
    monkeypatch.setenv("SEDSCOPE_MAX_DOWNLOAD", str(LIMIT))
    monkeypatch.setattr(Endless, "sent", 0)
    with serving(tmp_path, Endless) as url:
        yield url


@pytest.mark.parametrize("chain", ["", "simplecache::"])
@pytest.mark.parametrize("name", ["endless", "packed", "stated"])
@pytest.mark.parametrize("read", [sed.read_events, sed.read_scores])
def test_a_body_beyond_the_limit(read: Any, name: str, chain: str, endless: str) -> None:
    url = f"{chain}{endless}/{name}.npz"
    with pytest.raises(
        sed.SedscopeError, match=r"Cannot read .*limit is 0\.00419 GB.*MAX_DOWNLOAD"
    ) as refused:
        read(url)
    assert url in str(refused.value)
    assert ("1e+06 GB" in str(refused.value)) == (name == "stated")
    assert Endless.sent < SENT


def test_the_limit_is_2_gigabytes_unless_given(endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEDSCOPE_MAX_DOWNLOAD")
    with pytest.raises(sed.SedscopeError, match=r"has 1e\+06 GB or more, and the limit is 2 GB"):
        sed.read_events(f"{endless}/stated.tsv")
    with pytest.raises(sed.SedscopeError, match=r"has 3e\+03 GB or more, and the limit is 2 GB"):
        Address(f"{endless}/parts").read_range(0, 3 * 10**12)
    assert Endless.sent < SENT


@pytest.mark.parametrize("name", ["parts", "endless"])
def test_a_part_is_no_longer_than_requested(name: str, endless: str) -> None:
    assert len(Address(f"{endless}/{name}").read_range(100, 1100)) == 1000
    assert Endless.sent < SENT


def test_a_listing_without_end_is_not_one_of_a_folder(endless: str) -> None:
    assert not Address(f"{endless}/page").is_dir()
    assert Endless.sent < SENT


def test_a_file_in_an_archive_beyond_the_limit(
    addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = addresses["zip"]
    monkeypatch.setenv("SEDSCOPE_MAX_DOWNLOAD", "70kB")
    with pytest.raises(sed.SedscopeError, match=r"Cannot read zip://.*limit is 7e-05 GB"):
        sed.read_scores(there.format(FORMATS["npz"]))
    assert dict(sed.read_scores(there.format(FORMATS["store"])))  # is read in parts
    monkeypatch.setenv("SEDSCOPE_MAX_DOWNLOAD", "1kB")
    with pytest.raises(sed.SedscopeError, match=r"^Cannot read zip://[^ ]*: it has .*limit is 1e-06 GB"):
        sed.read_events(there.format("truth.tsv"))


def test_the_command_line_raises_the_limit(
    addresses: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEDSCOPE_MAX_DOWNLOAD", "1kB")  # and sets it back afterwards
    command = ("convert", addresses["zip"].format("truth.tsv"), tmp_path / "converted.tsv")
    assert "raise the limit, for example to 10GB, with sedscope --max-download" in run(*command).err
    assert run("--max-download", "1MB", *command).code == 0
    assert (
        "--max-download='much' is not a number of bytes" in run("--max-download", "much", *command).err
    )


@pytest.mark.parametrize(
    "name", ["..%2F..%2Fwritten.npz", "%2Ftmp%2Fwritten.npz", "..%5Cwritten.npz", "a%00b.npz"]
)
def test_a_copy_has_a_name_of_ours(
    name: str, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("aiohttp", reason="fsspec needs aiohttp for http")
    folder = tmp_path / "one" / "temporary"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    class OneFile(Quiet):
        def translate_path(self, path: str) -> str:
            return str(here / FORMATS["npz"])

    with serving(here, OneFile) as url:
        address = Address(f"{url}/t/{name}")
        assert "/" not in address.name
        assert address.copy.read_bytes() == (here / FORMATS["npz"]).read_bytes()
        assert [file for file in tmp_path.rglob("*") if file.is_file()] == [address.copy]
        assert address.copy.parent.parent == folder
        assert address.copy.name == "copy"
