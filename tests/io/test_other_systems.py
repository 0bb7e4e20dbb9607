"""What other systems lack or do differently: no module of POSIX alone, no folder that replaces another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import sedscope as sed
from sedscope.cli.options.engines import MemoryOptions
from sedscope.counting.clip_reader import thread_count
from sedscope.data.choices import machine_memory
from sedscope.io import atomic_write
from sedscope.io.atomic_write import filling
from sedscope.io.scores import hdf5

POSIX_MODULES = ("fcntl", "grp", "posix", "pwd", "resource", "termios")


@pytest.fixture
def _without_posix_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in POSIX_MODULES:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.usefixtures("_without_posix_modules")
def test_the_peak_of_the_memory_may_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    MemoryOptions(verbose=True).print_peak()
    assert capsys.readouterr().err == "memory: this system does not tell how much was used at the peak\n"


@pytest.mark.usefixtures("_without_posix_modules")
def test_hdf5_files_are_checked_without_limits() -> None:
    hdf5._limit(1.0)


def test_the_memory_of_the_machine_may_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert machine_memory() == float("inf")


def test_the_cores_of_this_process_may_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert thread_count(None) == (os.cpu_count() or 1)


def test_a_file_is_locked_with_the_means_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Locks:
        LK_NBLCK = 2
        calls: list[tuple[int, int]] = []  # noqa: RUF012

        @classmethod
        def locking(cls, handle: int, mode: int, size: int) -> None:
            cls.calls.append((mode, size))

    monkeypatch.setattr(atomic_write, "_ON_WINDOWS", True)
    monkeypatch.setitem(sys.modules, "msvcrt", Locks)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with atomic_write.locked(tmp_path / "results.json"):
        assert Locks.calls == [(2, 1)]


def test_a_folder_is_replaced_where_no_folder_may_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def strict_replace(self: Path, target: Path) -> Path:
        if target.is_dir():
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", strict_replace)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").touch()
    with filling(tmp_path / "site", replaces=lambda _: True) as folder:
        (folder / "new.html").touch()
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["new.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_cannot_be_replaced_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def denied(self: Path, target: Path) -> Path:
        if (self / "new.html").exists():
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", denied)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").touch()
    with (
        pytest.raises(sed.SedscopeError, match="Access is denied"),
        filling(tmp_path / "site", replaces=lambda _: True) as folder,
    ):
        (folder / "new.html").touch()
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["old.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["12:30", "a?", "a.", 'say "hi"'])
def test_clips_that_windows_cannot_name_a_file_after_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sedscope.io.atomic_write._WINDOWS", True)
    scores = sed.Scores.from_arrays({name: [[0.5]], "fit": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"no file can be named after 1 clip: .*scores\.npz"):
        sed.write_scores(scores, tmp_path / "scores")
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_posix_is_needed_to_load_sedscope() -> None:
    script = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({[m for m in POSIX_MODULES if m not in ('posix', 'pwd')]}))\n"
        "import sedscope as sed, sedscope.cli\n"
        "[getattr(sed, name) for name in sed.__all__]\n"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", script], check=True)
