"""Submissions in archives: what is read, and what is refused without a trace."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io import archives
from sedscope.io.archives import unpacked, unpacked_meanwhile

SUFFIXES = ("zip", "tar.gz", "tgz", "tar")


def pack(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive of the kind that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def special_member(path: Path, kind: bytes, name: str = "link") -> Path:
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "../../truth.tsv"
        tar.addfile(member)
    return path


def zipped_link(path: Path) -> Path:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return path


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_archive_holds_what_was_packed(suffix: str, tmp_path: Path) -> None:
    files = {"home/a.tsv": b"a", "home/b.tsv": b"b" * 3_000_000, "street.tsv": b""}
    folder = unpacked(pack(tmp_path / f"ours.{suffix}", files), [])
    assert isinstance(folder, Path)
    assert files_below(folder) == files


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_folder_around_everything_is_left_out(suffix: str, tmp_path: Path) -> None:
    files = {"ours/home/a.tsv": b"a", "__MACOSX/._x": b"", "ours/.DS_Store": b""}
    packed = pack(tmp_path / f"ours.{suffix}", files)
    inner, whole = unpacked(packed, ["home"]), unpacked(packed)
    assert isinstance(inner, Path)
    assert files_below(inner) == {"home/a.tsv": b"a"}
    assert isinstance(whole, Path)
    assert whole.name == "a.tsv"  # the only file


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "/etc/x", "..", "C:/x", "C:x", "..\\x"])
def test_names_that_lead_out_are_refused(name: str, suffix: str, tmp_path: Path) -> None:
    packed = pack(tmp_path / f"ours.{suffix}", {name: b"x"})
    with pytest.raises(sed.SedscopeError, match="could lead out of the archive"):
        unpacked(packed)
    assert [file.name for file in tmp_path.iterdir()] == [f"ours.{suffix}"]


LINKS: dict[str, Callable[[Path], Path]] = {
    "symbolic": lambda folder: special_member(folder / "ours.tar.gz", tarfile.SYMTYPE),
    "hard": lambda folder: special_member(folder / "ours.tar.gz", tarfile.LNKTYPE),
    "zip": lambda folder: zipped_link(folder / "ours.zip"),
}


@pytest.mark.parametrize("make", LINKS.values(), ids=LINKS)
def test_links_are_refused(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(sed.SedscopeError, match="'link' is a link, which is not unpacked"):
        unpacked(make(tmp_path))


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_devices_are_refused(kind: bytes, tmp_path: Path) -> None:
    with pytest.raises(sed.SedscopeError, match="is a device or a sparse file"):
        unpacked(special_member(tmp_path / "ours.tgz", kind))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_large_archives_are_refused(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 2**20)
    fits = pack(tmp_path / f"fits.{suffix}", {"a": bytes(2**20)})
    unpacked(fits)
    for number, files in enumerate([{"a": bytes(2**20 + 1)}, {"a": bytes(2**19), "b": bytes(2**20)}]):
        packed = pack(tmp_path / f"large{number}.{suffix}", files)
        with pytest.raises(sed.SedscopeError, match="holds more than"):
            unpacked(packed)


def test_a_file_that_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(tmp_path / "ours.zip", {"a": bytes(2**20 + 1)})
    monkeypatch.setattr(archives, "MOST_BYTES", 2**20)
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda *_: pytest.fail("it is unpacked"))
    with pytest.raises(sed.SedscopeError, match="holds more than"):
        unpacked(packed)


def test_a_size_that_is_a_lie_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 2**20)
    packed = tmp_path / "ours.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(2**23))
    packed.write_bytes(
        packed.read_bytes().replace((2**23).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    )
    with pytest.raises(sed.SedscopeError, match="Cannot unpack"):
        unpacked(packed)


def test_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_FILES", 3)
    packed = pack(tmp_path / "ours.zip", {str(number): b"" for number in range(4)})
    with pytest.raises(sed.SedscopeError, match="more than 3 files"):
        unpacked(packed)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_name_that_is_in_it_twice(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"ours.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/b", b"1")
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("a/b", b"2")
    else:
        with tarfile.open(path, "w" if suffix == "tar" else "w:gz") as tar:
            for _ in range(2):
                tar.addfile(tarfile.TarInfo("a/b"))
    with pytest.raises(sed.SedscopeError, match="'a/b' is in it twice"):
        unpacked(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_where_a_folder_should_be(suffix: str, tmp_path: Path) -> None:
    packed = pack(tmp_path / f"ours.{suffix}", {"a": b"1", "a/b": b"2"})
    with pytest.raises(sed.SedscopeError, match="Cannot unpack"):
        unpacked(packed)


@given(content=st.binary(max_size=2000), suffix=st.sampled_from(SUFFIXES))
def test_what_is_no_archive_is_refused_or_empty(
    content: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("broken") / f"ours.{suffix}"
    path.write_bytes(content)
    try:
        folder = unpacked(path, [])
    except sed.SedscopeError:
        return
    assert isinstance(folder, Path)
    assert not files_below(folder)  # an archive of nothing


@given(cut=st.integers(1, 400), suffix=st.sampled_from(["zip", "tar.gz"]))
def test_a_cut_archive_is_refused(
    cut: int, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = pack(tmp_path_factory.mktemp("cut") / f"ours.{suffix}", {"a": bytes(range(256)) * 9})
    content = path.read_bytes()
    path.write_bytes(content[: max(1, len(content) - cut)])
    try:
        folder = unpacked(path, [])
    except sed.SedscopeError:
        return
    assert isinstance(folder, Path)
    assert files_below(folder) in ({}, {"a": bytes(range(256)) * 9})  # its end alone is missing


def test_what_is_unpacked_is_removed(tmp_path: Path) -> None:
    packed = pack(tmp_path / "ours.zip", {"a": b"a", "b": b"b"})
    with unpacked_meanwhile():
        folder = unpacked(packed)
        assert isinstance(folder, Path)
        assert unpacked(packed) == folder  # it is not unpacked again
        assert folder.name == "ours.zip"
    assert not folder.exists()
    assert not folder.parent.exists()


def test_a_changed_archive_is_unpacked_again(tmp_path: Path) -> None:
    for text in (b"1", b"22"):
        folder = unpacked(pack(tmp_path / "ours.zip", {"a": text, "b": b""}), [])
        assert isinstance(folder, Path)
        assert files_below(folder)["a"] == text


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "scores.npz"
    file.write_bytes(b"")
    assert unpacked(file) == file
    assert unpacked(tmp_path / "absent.zip") == tmp_path / "absent.zip"
