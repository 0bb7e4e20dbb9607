"""Folders that are written: what others put there in the meantime is kept, and so is the old folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.io.atomic_write import filling

from ..support.command_line import run
from ..support.files import write_files

OTHERS = "another process has written to it in the meantime"


def scores_that(act: Callable[[], object]) -> sed.Scores:
    """Scores of two clips. Something happens while the second one is written."""
    made = sed.Scores.from_arrays({"a": [[0.5]], "b": [[0.25]]}, classes=["Dog"], frame=1.0)

    def load(clip: str) -> sed.ClipScores:
        if clip == "b":
            act()
        return made[clip]

    return sed.Scores(["a", "b"], load, classes=["Dog"])


def is_site(folder: Path) -> bool:
    return {path.name for path in folder.iterdir()} == {"index.html"}


def write_site(folder: Path, text: str) -> None:
    with filling(folder, replaces=is_site) as target:
        (target / "index.html").write_text(text)


@pytest.mark.parametrize("format", ["store", "tsv"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_file_put_into_the_folder_meanwhile_is_kept(exists: bool, format: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if exists:
        out.mkdir()

    def put() -> None:
        out.mkdir(exist_ok=True)
        (out / "precious.txt").write_text("mine")

    with pytest.raises(sed.SedscopeError, match=OTHERS):
        sed.write_scores(scores_that(put), out, format=format)
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("precious.txt", "mine")]
    assert [*tmp_path.iterdir()] == [out]


def test_of_two_conversions_into_one_store_the_second_is_refused(tmp_path: Path) -> None:
    other = sed.Scores.from_arrays({"other": [[0.75]]}, classes=["Cat"], frame=1.0)
    slow = scores_that(lambda: sed.write_scores(other, tmp_path / "out", format="store"))
    with pytest.raises(sed.SedscopeError, match=OTHERS):
        sed.write_scores(slow, tmp_path / "out", format="store")
    assert np.array_equal(sed.read_scores(tmp_path / "out")["other"].values, [[0.75]])


@pytest.mark.parametrize("name", ["precious.txt", "reports/notes.txt", "index.html"])
def test_a_leaderboard_that_changes_meanwhile_is_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, site = write_files(tmp_path), tmp_path / "site"
    sed.write_scores(sed.read_scores(files.scores), tmp_path / "copy.store")
    systems = (files.scores, tmp_path / "copy.store")
    options = ("--durations", files.durations, "--metric", "psds1", "--bootstrap", 10)
    command = ("rank", *systems, files.truth, *options, "-o", site)
    done = run(*command)
    assert done.code == 0, done.err
    write = sed.Ranking.to_latex

    def slowly(*arguments: object) -> object:
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text("mine")
        return write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setitem(sys.modules["sedscope.report.leaderboard"]._TABLES, "ranking.tex", slowly)
    outcome = run(*command)
    assert outcome.code == 2
    assert OTHERS in outcome.err
    assert (site / name).read_text() == "mine"
    assert (site / "ranking.csv").exists()


def test_a_file_that_arrives_with_the_last_rename_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write_site(site, "old")
    replace = Path.replace

    def late(self: Path, target: Path) -> Path:
        if self == site:
            (site / "precious.txt").write_text("mine")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", late)
    with pytest.raises(sed.SedscopeError, match=OTHERS):
        write_site(site, "new")
    assert {path.name: path.read_text() for path in site.iterdir()} == {
        "index.html": "old",
        "precious.txt": "mine",
    }
    assert [*tmp_path.iterdir()] == [site]


KILLED = """
import os, sys
from pathlib import Path
from sedscope.io.atomic_write import filling

replace, renames = Path.replace, []

def killed(self, target):
    replace(self, target)
    renames.append(target)
    if len(renames) == int(sys.argv[2]):
        os._exit(9)

Path.replace = killed
with filling(sys.argv[1], replaces=lambda folder: True) as target:
    (target / "index.html").write_text("new")
"""


@pytest.mark.parametrize(("renames", "left"), [(1, "old"), (2, "new"), (3, "new")])
@pytest.mark.parametrize("empty", [False, True])
def test_a_site_survives_a_kill_between_renames(
    empty: bool, renames: int, left: str, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    write_site(site, "old")
    command = [sys.executable, "-c", KILLED, str(site), str(renames)]
    assert subprocess.run(command, check=False).returncode == 9
    if empty:
        site.mkdir(exist_ok=True)  # by someone who misses it
    with pytest.raises(KeyboardInterrupt), filling(site, replaces=is_site):
        raise KeyboardInterrupt
    assert (site / "index.html").read_text() == left
    write_site(site, "newer")
    assert (site / "index.html").read_text() == "newer"
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".part")] == ["site"]


def test_a_folder_with_the_name_of_one_moved_aside_is_kept(tmp_path: Path) -> None:
    site, other = tmp_path / "site", tmp_path / ".site.replaced"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    with pytest.raises(sed.SedscopeError, match=r"\.site\.replaced holds what a run"):
        write_site(site, "new")
    assert not site.exists()
    assert (other / "precious.txt").read_text() == "mine"


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    write_site(tmp_path / "site", "old")
    (tmp_path / "link").symlink_to(tmp_path / "site")
    write_site(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "site" / "index.html").read_text() == "new"


def test_a_demo_that_fails_removes_only_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "demo"

    def fail(*_: object, **_options: object) -> None:
        folder.mkdir()
        (folder / "precious.txt").write_text("mine")
        raise sed.SedscopeError("The disk is full.")

    monkeypatch.setattr(sed.Evaluation, "report", fail)
    assert run("demo", folder, "--clips", 2).code == 2
    assert [path.name for path in folder.iterdir()] == ["precious.txt"]
