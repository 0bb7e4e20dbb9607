"""Pipes, devices, links and names where a file is expected: one message that names it, and no waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import base_modules
from sedscope.data import choices as size_limits
from sedscope.io.parquet_files import reading_parquet

from ..support.files import write_files
from ..support.systems import posix_only

if os.name == "posix":
    import resource

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")


@pytest.fixture(autouse=True)
def within_seconds() -> Iterator[None]:
    """End a test that waits for a pipe."""

    def give_up(*_: object) -> None:
        raise TimeoutError("A file was waited for.")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


READERS: dict[str, Callable[[Path], object]] = {
    "scores": sed.read_scores,
    **{
        f"scores as {format}": partial(sed.read_scores, format=format)
        for format in ("tsv", "npz", "hdf5", "parquet")
    },
    "ground truth": sed.read_ground_truth,
    "events": sed.read_events,
    "Raven": lambda path: sed.read_events(path, format="raven"),
    "durations": lambda path: sed.read_ground_truth("truth.tsv", durations=path),
    "deltas": sed.load_deltas,
    "points": sed.OperatingPoints.load,
    "a transform": sed.postprocessing.ScoreTransform,
    "chunks": lambda path: sed.read_scores("scores").stitch(path),
    "the old tool's scores": lambda path: base_modules.io.read_sed_scores(path),
    "conversion": lambda path: sed.convert(path, "new.tsv"),
}


@posix_only
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_pipe_as_an_input(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(sed.SedscopeError, match="pipe") as caught:
        read(Path("pipe"))
    assert "pipe. Write the data to a file first" in str(caught.value) or "not a folder" in str(
        caught.value
    )


@posix_only
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_device_as_an_input(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sed.SedscopeError, match="/dev/zero"):
        read(Path("/dev/zero"))


@posix_only
def test_pipes_in_folders(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    os.mkfifo(files.scores / "c.tsv")
    with pytest.raises(sed.SedscopeError, match=r"Cannot read .*c\.tsv: it is a pipe"):
        sed.read_scores(files.scores)
    with pytest.raises(sed.SedscopeError, match=r"Cannot read .*c\.tsv: it is a pipe"):
        sed.read_events(files.scores)


@posix_only
@pytest.mark.parametrize("name", ["scores-0.npy", "ticks.npy", "index.json"])
def test_pipes_in_stores(name: str, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    sed.write_scores(sed.read_scores(files.scores), tmp_path / "s", format="store")
    (tmp_path / "s" / name).unlink()
    os.mkfifo(tmp_path / "s" / name)
    with pytest.raises(sed.SedscopeError, match=f"{name}: it is a pipe"):
        dict(sed.read_scores(tmp_path / "s", format="store"))


@posix_only
def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    (files.scores / "c.tsv").symlink_to(tmp_path / "none")
    with pytest.raises(sed.SedscopeError, match=r"c\.tsv: it is a link to a file that does not exist"):
        sed.read_scores(files.scores)


def test_files_that_claim_no_size(tmp_path: Path) -> None:
    if not Path("/proc/self/mounts").exists():
        pytest.skip("needs /proc")
    with pytest.raises(sed.SedscopeError, match="is empty"):
        sed.read_events(Path("/proc/self/mounts"))


def test_a_text_beyond_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_files(tmp_path)
    with files.truth.open("ab") as file:
        file.truncate(2**29)
    monkeypatch.setattr(size_limits, "machine_memory", lambda: 2.0**28)
    with pytest.raises(sed.SedscopeError, match=r"truth\.tsv has 0\.537 GB, more than the memory"):
        sed.read_ground_truth(files.truth)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
@pytest.mark.parametrize(
    "read",
    [sed.read_scores, sed.read_events, sed.load_deltas, sed.OperatingPoints.load, sed.read_ground_truth],
)
def test_names_that_no_file_can_have(read: Callable[[str], object], name: str) -> None:
    with pytest.raises(sed.SedscopeError, match="Cannot read"):
        read(name)


def test_folders_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_files(tmp_path)

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    for read in (sed.read_scores, sed.read_events):
        with pytest.raises(sed.SedscopeError, match=r"Cannot read the folder .*: Permission denied"):
            read(files.scores)


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    os.rename(os.fsencode(files.scores / "b.tsv"), os.fsencode(files.scores) + b"/caf\xe9.tsv")  # noqa: PTH104
    with pytest.raises(sed.SedscopeError, match="caf\ufffd\\.tsv: the name of the file is not UTF-8"):
        sed.convert(files.scores, tmp_path / "x.parquet")
    odd = sed.Scores.from_arrays({"caf\udce9": [[0.5]]}, classes=["Dog"], frame=1.0)
    for name in ("x.parquet", "x.npz", "x.h5", "x.store", "x"):
        with pytest.raises(sed.SedscopeError, match=r"names of clips must be UTF-8 text: 'caf\\udce9'"):
            sed.write_scores(odd, tmp_path / name)
    assert not [*tmp_path.glob("x*")]


def big_frame() -> polars.DataFrame:
    values = np.random.default_rng(0).random(3_000_000)
    return polars.DataFrame({f"c{i}": values for i in range(6)})


@posix_only
def test_an_interrupted_parquet_file_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "import sedscope\n"
        "from sedscope.io.parquet_files import write_parquet\n"
        "from tests.io.test_irregular_files import big_frame\n"
        "frame = big_frame()\n"
        "folder = Path(sys.argv[1])\n"
        "def interrupt():\n"
        "    while not any(file.stat().st_size for file in folder.iterdir()): pass\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try:\n"
        "    write_parquet(folder / 'x.parquet', lambda: frame, row_group_size=100_000)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', os.listdir(folder), flush=True)\n"
        "    os._exit(0)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=root, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "interrupted []\n", done.stderr


def test_messages_name_the_target(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"x" * 300: [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=rf"Cannot write {tmp_path}/out/xxx.*File name too long"):
        sed.write_scores(scores, tmp_path / "out")
    assert not [*tmp_path.iterdir()]


@posix_only
@pytest.mark.parametrize("name", ["out", "x.npz", "x.h5", "x.parquet", "x.store"])
def test_a_full_disk(name: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays(
        {"a": np.random.default_rng(0).random((60_000, 2))}, classes=["A", "B"], frame=0.01
    )
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(sed.SedscopeError, match=f"Cannot write .*{name}") as caught:
            sed.write_scores(scores, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert ".part" not in str(caught.value)
    assert not [*tmp_path.iterdir()]


def test_a_panic_of_polars_is_an_error_that_names_the_file() -> None:
    refused = pytest.raises(sed.SedscopeError, match="x: not a readable Parquet file: broken")
    with refused, reading_parquet(Path("x")):
        raise polars.exceptions.PanicException("broken")


@posix_only
def test_a_forked_process_says_why_it_cannot_read_parquet(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    sed.write_scores(scores, tmp_path / "x.parquet")
    code = (
        "import os, signal, sys\n"
        "import sedscope as sed\n"
        "scores = sed.read_scores(sys.argv[1])\n"
        "if os.fork() == 0:\n"
        "    signal.alarm(20)\n"
        "    try:\n"
        "        scores['a']\n"
        "    except sed.SedscopeError as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.parquet")],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "this process was forked after polars had started its threads" in done.stdout


@posix_only
def test_a_process_forked_before_reads_parquet(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    sed.write_scores(scores, tmp_path / "x.parquet")
    code = (
        "import os, signal, sys\n"
        "import sedscope as sed\n"
        "import polars\n"
        "sed.read_scores\n"
        "if os.fork() == 0:\n"
        "    signal.alarm(20)\n"
        "    print(sed.read_scores(sys.argv[1])['a'].values.tolist(), flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.parquet")],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "[[0.5]]\n"


def test_parquet_metadata_that_is_no_mapping(tmp_path: Path) -> None:
    # a struct whose field 4, the row groups, is a list of a struct with field 1, the columns: a list of a
    # struct with field 3, the metadata, which is a number
    footer = bytes([0x49, 0x1C, 0x19, 0x1C, 0x35, 0x02, 0x00, 0x00, 0x00])
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(sed.SedscopeError, match=r"x\.parquet: not a readable Parquet file"):
        sed.read_scores(tmp_path / "x.parquet")
    deep = bytes([0x49]) + bytes([0x19]) * 5000
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + deep + len(deep).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(sed.SedscopeError, match="nested too deeply"):
        sed.read_scores(tmp_path / "x.parquet")
