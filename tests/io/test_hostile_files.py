"""Files made to harm: bounded memory, no access to other files, and a clear message."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import polars
import pyarrow.parquet
import pytest

import sedscope as sed
from sedscope.io.scores import hdf5

from ..support.event_files import SAMPLES
from ..support.event_files.sample import lines, tabs
from ..support.files import SCORES, TRUTH, table, write_files
from ..support.score_files import CLASSES, VALUES
from ..support.systems import posix_only

EVENTS = "filename onset offset event_label"
MEGABYTES = 400
"""What a reader may take beside what it takes to import everything."""


def refusal(folder: Path, expression: str, megabytes: int = MEGABYTES) -> str:
    """What is said of a file, by a process with little memory."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc to bound memory")
    code = (
        "import resource, sys, sedscope as sed, polars, h5py, narwhals\n"
        "sed.read_scores, sed.read_events, sed.evaluate\n"
        "polars.DataFrame({'a': [1]}).write_csv()\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"limit = used + {megabytes} * 2**20\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        f"    {expression}\n"
        "except sed.SedscopeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def sparse(path: Path, head: bytes, size: int, fill: bytes = b"") -> None:
    """A file of some size that takes no room on the disk."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)
        file.seek(size - len(fill))
        file.write(fill)


@posix_only
@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("truth.tsv", "sed.read_ground_truth('truth.tsv')"),
        ("truth.tsv", "sed.read_events('truth.tsv', format='sed_eval')"),
        ("scores/a.tsv", "dict(sed.read_scores('scores'))"),
        ("scores/b.tsv", "dict(sed.read_scores('scores'))"),
    ],
)
def test_a_cell_of_a_gigabyte(name: str, expression: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    head = (SCORES["a"] if name.startswith("scores") else TRUTH).encode()
    sparse(tmp_path / name, head, 2**30)
    message = refusal(tmp_path, expression)
    assert Path(name).name in message
    assert "longer than 16 MB" in message


@posix_only
def test_a_million_columns(tmp_path: Path) -> None:
    header = "onset\toffset\t" + "\t".join(f"class{i}" for i in range(10**6))
    write_files(tmp_path, {"scores/a.tsv": header + "\n", "truth.tsv": header + "\n"})
    assert "more than 100000 columns" in refusal(tmp_path, "sed.read_scores('scores')")
    message = refusal(tmp_path, "sed.read_ground_truth('truth.tsv')")
    assert "truth.tsv: line 1 has more than 100000 columns" in message


def test_many_columns_are_fine(tmp_path: Path) -> None:
    classes = [f"class{i}" for i in range(20_000)]
    scores = sed.Scores.from_arrays({"a": np.zeros((2, 20_000))}, classes=classes, frame=1.0)
    sed.write_scores(scores, tmp_path / "scores")
    got = sed.read_scores(tmp_path / "scores")
    assert got["a"].values.shape == (2, 20_000)


@posix_only
def test_zip_bombs(tmp_path: Path) -> None:
    array = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (2**27, 1)}
    np.lib.format.write_array_header_1_0(array, header)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("scores.npy", "w", force_zip64=True) as member:
            member.write(array.getvalue())
            for _ in range(2**29 // 2**20):
                member.write(bytes(2**20))
        for name, small in (("clips", ["a"]), ("classes", ["Dog"]), ("frame", 1.0)):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.array(small))
    assert (tmp_path / "bomb.npz").stat().st_size < 2**21
    message = refusal(tmp_path, "dict(sed.read_scores('bomb.npz'))")
    assert "array 'scores'" in message
    assert "MB in memory, so it is not read" in message


@posix_only
def test_arrays_that_claim_more_than_there_is(tmp_path: Path) -> None:
    array = io.BytesIO()
    np.save(array, VALUES[None])
    lying = array.getvalue().replace(b"(1, 3, 2)", b"(9, 9, 2)")
    for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", kind) as archive:
            archive.writestr("scores.npy", lying)
        assert "cut short" in refusal(tmp_path, "dict(sed.read_scores('x.npz'))")
    sed.write_scores(
        sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5), tmp_path / "s", format="store"
    )
    file = tmp_path / "s" / "scores-0.npy"
    file.write_bytes(file.read_bytes().replace(b"(3, 2)", b"(9000000000000, 2)"))
    assert "scores-0.npy" in refusal(tmp_path, "dict(sed.read_scores('s'))")


def test_hdf5_that_leads_elsewhere(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["scores"] = VALUES
    (tmp_path / "raw.bin").write_bytes(VALUES.tobytes())

    def with_link(file: h5py.File) -> None:
        file["a"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/scores")

    def with_soft_link(file: h5py.File) -> None:
        file["a"] = h5py.SoftLink("/nowhere")

    def with_external_storage(file: h5py.File) -> None:
        file.create_dataset("a", (3, 2), "f4", external=[(str(tmp_path / "raw.bin"), 0, 24)])

    def with_virtual_set(file: h5py.File) -> None:
        layout = h5py.VirtualLayout((3, 2), "f4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "scores", (3, 2))
        file.create_virtual_dataset("a", layout)

    cases: list[tuple[Callable[[h5py.File], None], str]] = [
        (with_link, "is a link, and links are not followed"),
        (with_soft_link, "is a link, and links are not followed"),
        (with_external_storage, "is in other files, which are not read"),
        (with_virtual_set, "is in other files, which are not read"),
    ]
    for number, (make, message) in enumerate(cases):
        path = tmp_path / f"x{number}.h5"
        with h5py.File(path, "w") as file:
            file.attrs["classes"], file.attrs["frame"] = CLASSES, 0.5
            make(file)
        with pytest.raises(sed.SedscopeError, match=message):
            dict(sed.read_scores(path))


@posix_only
def test_hdf5_that_claims_more_than_there_is(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["classes"], file.attrs["frame"] = ["Dog"], 0.5
        file.create_dataset("a", (2**34, 1), "f4", chunks=(2**16, 1))
    assert "in memory, so it is not read" in refusal(tmp_path, "dict(sed.read_scores('x.h5'))")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            "is damaged: the HDF5 library crashes",
        ),
        ("while True: pass", "going through it takes longer than 2 s"),
        ("raise ImportError('no such module')", "checks the file failed: ImportError: no such module"),
    ],
)
def test_hdf5_on_which_the_library_fails(
    fault: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["classes"], file.attrs["frame"] = CLASSES, 0.5
        file["a"] = VALUES
    monkeypatch.setattr(hdf5, "_CODE", fault)
    monkeypatch.setattr(hdf5, "SECONDS", 2)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_scores(tmp_path / "x.h5")


def test_hdf5_is_checked_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.attrs["classes"], file.attrs["frame"] = CLASSES, 0.5
        file["a"] = VALUES
    sed.read_scores(path)
    monkeypatch.setattr(hdf5, "_CODE", "import os; os.abort()")
    assert list(sed.read_scores(path)) == ["a"]  # known to be sound
    with h5py.File(path, "a") as file:
        file["b"] = VALUES
    with pytest.raises(sed.SedscopeError, match="is damaged"):
        sed.read_scores(path)


def test_hdf5_that_changes_while_it_is_open(tmp_path: Path) -> None:
    """The library would go on with what it knows of the old content, also for whoever opens the file."""
    path = tmp_path / "x.h5"
    for name, classes in (("old.h5", CLASSES), ("new.h5", CLASSES[::-1])):
        scores = sed.Scores.from_arrays({"a": VALUES}, classes=classes, frame=0.5)
        sed.write_scores(scores, tmp_path / name)
    path.write_bytes((tmp_path / "old.h5").read_bytes())
    opened = sed.read_scores(path)
    path.write_bytes((tmp_path / "new.h5").read_bytes())
    changed = r"x\.h5.*: The file has changed since it was opened"
    with pytest.raises(sed.SedscopeError, match=changed):
        sed.read_scores(path)
    with pytest.raises(sed.SedscopeError, match=changed):
        opened["a"]
    del opened
    assert sed.read_scores(path).classes == tuple(CLASSES[::-1])


def test_groups_without_end(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["classes"], file.attrs["frame"] = ["Dog"], 0.5
        group = file.create_group("g")
        group["again"] = group  # a loop
    with pytest.raises(sed.SedscopeError, match="groups are nested too deeply"):
        sed.read_scores(tmp_path / "x.h5")


@posix_only
def test_parquet_of_endless_repetition(tmp_path: Path) -> None:
    rows = 3 * 10**7
    frame = polars.select(clip=polars.repeat("a", rows), onset=polars.repeat(0.0, rows))
    frame = frame.with_columns(offset=polars.col("onset"), Dog=polars.col("onset"))
    frame.write_parquet(tmp_path / "x.parquet")
    del frame
    assert (tmp_path / "x.parquet").stat().st_size < 2**21
    message = refusal(tmp_path, "dict(sed.read_scores('x.parquet'))")
    assert "in memory, so it is not read" in message


def test_parquet_of_other_writers(tmp_path: Path) -> None:
    frame = polars.DataFrame({"clip": ["a"] * 5000, "onset": np.arange(5000.0)})
    frame = frame.with_columns(offset=polars.col("onset") + 1, Dog=polars.col("onset").sin())
    files = [tmp_path / f"{name}.parquet" for name in ("pandas", "arrow", "newer", "plain", "polars")]
    frame.to_pandas().to_parquet(files[0])
    arrow = frame.to_arrow()
    pyarrow.parquet.write_table(arrow, files[1], compression="gzip", row_group_size=700)
    pyarrow.parquet.write_table(arrow, files[2], data_page_version="2.0", data_page_size=1000)
    pyarrow.parquet.write_table(arrow, files[3], use_dictionary=False, compression="none")
    frame.write_parquet(files[4], compression="lz4", data_page_size=1000)
    for file in files:
        assert np.array_equal(sed.read_scores(file)["a"].values[:, 0], np.sin(np.arange(5000.0)))


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..\\evil", "a/../evil", "..", "."])
def test_names_with_paths_stay_in_their_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    scores = sed.Scores.from_arrays({f"{name}.wav": [[0.5]]}, classes=["Dog"], frame=1.0)
    sed.write_scores(scores, folder / "scores")
    sed.write_scores(scores, folder / "store", format="store")
    for format in ("audacity", "jams"):
        sed.write_events({name: [(0, 1, "Dog")]}, folder / format, format=format)
    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert written
    assert all(path.is_relative_to(folder) for path in written)
    (folder / "truth.tsv").write_text(table(EVENTS, f"{name}.wav 0 1 Dog"))
    truth = sed.read_ground_truth(folder / "truth.tsv")
    assert set(truth.clips) == set(scores)


ODD_SPELLINGS: dict[str, Callable[[str], bytes]] = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n").encode(),
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "both": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "no last line end": lambda text: text.rstrip("\n").encode(),
    "blank lines": lambda text: text.replace("\n", "\n\n").encode(),
}


@pytest.mark.parametrize("change", ODD_SPELLINGS.values(), ids=ODD_SPELLINGS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_odd_spellings_of_samples(sample: str, change: Callable[[str], bytes], tmp_path: Path) -> None:
    case = SAMPLES[sample]
    (tmp_path / "in").mkdir()
    where = case.write(tmp_path / "in")
    for name, content in case.files.items():
        if isinstance(content, str) and content:
            (tmp_path / "in" / name).write_bytes(change(content))
    assert sed.read_events(where, **case.options) == case.events


@pytest.mark.parametrize(
    "sample", [name for name, case in SAMPLES.items() if "Parquet" not in name and len(case.files) == 1]
)
def test_utf_16_is_named(sample: str, tmp_path: Path) -> None:
    where = SAMPLES[sample].write(tmp_path)
    where.write_bytes(where.read_text().encode("utf-16"))
    with pytest.raises(
        sed.SedscopeError, match=r"line 1 is not UTF-8 text\. It is UTF-16\. Save it as UTF-8"
    ):
        sed.read_events(where, **SAMPLES[sample].options)


def test_decimal_commas_are_named(tmp_path: Path) -> None:
    tab_table = tabs("filename|onset|offset|event_label", "a|0,5|1,0|Dog")
    semicolons = lines("a;0,5;1,0;Dog")
    scores = {"scores/a.tsv": table("onset offset Dog Cat", "0 1 0,5 0,1")}
    files = write_files(tmp_path, {"truth.tsv": tab_table, "list.txt": semicolons, **scores})
    for path, format in ((files.truth, None), (tmp_path / "list.txt", "sed_eval")):
        with pytest.raises(sed.SedscopeError, match=r"'0,5' \(write decimals with a point\)"):
            sed.read_events(path, format=format)
    with pytest.raises(sed.SedscopeError, match=r"column Dog: '0,5' \(write decimals with a point\)"):
        sed.read_scores(files.scores)["a"]


def test_deeply_nested_json(tmp_path: Path) -> None:
    (tmp_path / "a.jams").write_text('{"annotations": ' + "[" * 100_000)
    with pytest.raises(sed.SedscopeError, match="not a JSON file"):
        sed.read_events(tmp_path / "a.jams")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "index.json").write_text("[" * 100_000)
    with pytest.raises(sed.SedscopeError, match="not the index of a store"):
        sed.read_scores(tmp_path / "s")


PROGRAM = [str(shutil.which("sedscope", path=sysconfig.get_path("scripts")))]
SCRIPT = "import sedscope as sed; print(*sed.read_scores('scores.h5'))\n"
EVALUATE = ["evaluate", "scores.h5", "truth.tsv", "--durations", "durations.tsv"]


def run_among_modules(folder: Path, command: list[str], names: set[str]) -> tuple[str, list[str]]:
    """Run a command in a folder with files that have the names of modules.

    Return what it prints, and which of the modules ran.
    """
    write_files(folder)
    sed.write_scores(sed.read_scores(folder / "scores"), folder / "scores.h5")
    for name in names:
        note = f"import os\nopen({str(folder / 'ran')!r}, 'a').write('{name} ')\nos._exit(0)\n"
        (folder / f"{name}.py").write_text(note)
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=120)
    ran = folder / "ran"
    return done.stdout + done.stderr, ran.read_text().split() if ran.exists() else []


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([*PROGRAM, *EVALUATE], id="program"),
        pytest.param([sys.executable, "-m", "sedscope", *EVALUATE], id="module"),
        pytest.param([sys.executable, "../script.py"], id="script"),
        pytest.param([sys.executable, "-m", "sedscope.compat", "../script.py"], id="compat"),
        pytest.param(
            [*PROGRAM, *EVALUATE, "--engine", "dask", "--threads", "1"],
            id="dask",
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot do that"),
        ),
    ],
)
def test_modules_beside_the_data_do_not_run(command: list[str], tmp_path: Path) -> None:
    if "dask" in command:
        pytest.importorskip("distributed", reason="needs Dask: pip install 'sedscope[dask]'")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "data").mkdir()
    names = {"sedscope", "numpy", "h5py", "polars", "distributed", "typer", *sys.stdlib_module_names}
    if "-m" in command:  # Python itself imports some from the current folder before it comes to us
        (tmp_path / "nothing.py").write_text("import sys; print(*sys.modules)")
        start = [sys.executable, "-m", "nothing"]
        names -= {"sedscope", *subprocess.check_output(start, cwd=tmp_path, text=True).split()}
    output, ran = run_among_modules(tmp_path / "data", command, names)
    assert ran == []
    assert "a b" in output or "overall" in output, output


@pytest.mark.parametrize(
    "expression",
    [
        "sed.GroundTruth.from_dict({'.wav' * 100_000 + 'x': []})",
        "sed.LabelMap.propose(['b' * 50_000], ['c' * 50_000])",
        "sed.LabelMap.propose(['a ' + '_' * 200_000 + chr(10) + ' '], ['c'])",
        "errors.near_names(WORD, [WORD[::-1]])",
        "escaping.csv_cell('+' + '1' * 10**5 + 'x')",
        "sed.read_events('spaces.csv', format='csv_bi')",
        "sed.read_events('brackets.txt', format='raven')",
    ],
)
def test_long_names_take_linear_time(expression: str, tmp_path: Path) -> None:
    spaces = f"# duration = 1{' ' * 200_000}x\nchannel,start_time,stop_time,label,confidence\n"
    (tmp_path / "spaces.csv").write_text(spaces)
    header = f"Selection\tBegin Time (s)\tEnd Time (s)\t{'(' * 10**6}\n"
    (tmp_path / "brackets.txt").write_text(f"{header}1\t0\t1\tDog\n")
    word = "''.join(chr(20000 + i**3 % 2003) for i in range(10**6))"
    modules = "from sedscope import errors, escaping"
    assert "Error" not in refusal(tmp_path, f"{modules}; WORD = {word}; {expression}")
