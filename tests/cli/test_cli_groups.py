"""Groups on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sedscope as sed
from sedscope.io.side_tables import read_groups

from ..support.command_line import run
from ..support.files import write_durations

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("groups")
    truth = sed.simulate.ground_truth(12, classes=2, seed=1)
    sed.write_scores(sed.simulate.scores(truth, frame=0.1, seed=2), place / "scores")
    sed.write_ground_truth(truth, place / "truth.tsv")
    write_durations(truth, place / "durations.tsv")
    lines = [f"{clip}.wav,site{number % 3}" for number, clip in enumerate(truth.clips)]
    (place / "sites.csv").write_text("\n".join(["clip,group", *lines, "elsewhere,site9", ""]))
    labels = truth.labels
    kinds = [f"{labels[0]}\tcommon\tx", f"{labels[1]}\trare\ty", ""]
    (place / "kinds.tsv").write_text("\n".join(["label\tgroup\tremark", *kinds]))
    return place


def test_groups_have_the_values_of_the_library(folder: Path) -> None:
    files = ["scores", "truth.tsv", "--durations", "durations.tsv", "--metric", "collar_f1"]
    arguments = [folder / word if "." in word or word == "scores" else word for word in files]
    options = ["--by", folder / "sites.csv", "--by-class", folder / "kinds.tsv", "--by-length", "1,5"]
    done = run("evaluate", *arguments, *options, "--group-average", "harmonic", "--json", "-")
    assert done.code == 0, done.err
    groups = json.loads(done.out)["groups"]
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    expected = sed.evaluate(
        sed.read_scores(folder / "scores"),
        truth,
        "collar_f1",
        by=sed.By(
            clips=sed.Groups(read_groups(folder / "sites.csv"), "harmonic"),
            classes=sed.Groups(read_groups(folder / "kinds.tsv"), "harmonic"),
            lengths=(1, 5),
        ),
    )
    assert groups == json.loads(expected.to_json())["groups"]
    assert [*groups["clips"]["groups"]] == ["site0", "site1", "site2"]


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("--by", "filename\tsite\na\tb\n", "must name the columns 'filename'"),
        ("--by", "filename\tgroup\na\t\nb\tc\n", "line 2: there is no group"),
        ("--by", "clip,group\na,b\na,c\n", "line 3: 'a' is in the group 'b' as well"),
        ("--by", "clip,group\na,b\n", "12 clips have no group"),
        ("--by-class", "label,group\nCow,b\n", "2 classes have no group"),
        ("--by-class", "class;kind\nCow;b\n", "must name the columns 'filename'"),
    ],
)
def test_files_that_are_no_groups(
    folder: Path, tmp_path: Path, option: str, content: str, message: str
) -> None:
    file = tmp_path / "groups.txt"
    file.write_text(content)
    inputs = [folder / "scores", folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    done = run("evaluate", *inputs, option, file)
    assert done.code == 2
    assert message in done.err


def test_options_that_do_not_fit_together(folder: Path) -> None:
    inputs = [folder / "scores", folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    for options, message in (
        (["--group-average", "mean"], "--group-average needs groups"),
        (["--by-length", "short"], "--by-length 'short' is not valid"),
    ):
        done = run("evaluate", *inputs, *options)
        assert done.code == 2
        assert message in done.err
