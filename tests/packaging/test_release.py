"""Versions agree, archives are complete, and workflows run what contributors run."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

import sedscope as sed
from release import wheels
from release.check import problems
from release.smoke import check_bill_of_materials
from release.wheels import require_data_files, require_size, runs_on

from ..support.project import ROOT

DATED = "Name the section|date-released"  # what the day of the release brings
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
PINNED = re.compile(
    r"uses: (?P<action>[\w.-]+/[\w./-]+)@(?P<commit>[0-9a-f]{40}) # (?P<version>v\d+\.\d+\.\d+)"
)


def test_this_version_lacks_nothing_but_a_date() -> None:
    assert [problem for problem in problems(ROOT) if not re.search(DATED, problem)] == []
    heading = re.search(
        r"^## (\S+) \((.+)\)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert heading is not None
    assert heading[1] == sed.__version__


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that can be released."""
    for name, text in {
        "src/sedscope/__init__.py": '__version__ = "0.2.0"\n',
        "CHANGELOG.md": "# Changes\n\n## 0.2.0 (2027-01-31)\n\n## 0.1.0 (2026-12-01)\n",
        "CITATION.cff": 'cff-version: 1.2.0\nversion: 0.2.0\ndate-released: "2027-01-31"\n',
        "conda/recipe.yaml": 'context:\n  version: "0.2.0"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_version_that_can_be_released(project: Path) -> None:
    assert problems(project) == problems(project, "v0.2.0") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("src/sedscope/__init__.py", "0.2.0", "0.2.1", "The tag is v0.2.0, but .* has version 0.2.1"),
        ("CHANGELOG.md", "2027-01-31", "unreleased", r"begins with '0.2.0 \(unreleased\)'"),
        ("CHANGELOG.md", "## 0.2.0 (2027-01-31)", "## Unreleased", "begins with 'Unreleased'"),
        (
            "CITATION.cff",
            "version: 0.2.0",
            "version: 0.1.0",
            "CITATION.cff has version 0.1.0 instead of 0.2.0",
        ),
        ("CITATION.cff", "2027-01-31", "2027-01-30", "needs 'date-released: 2027-01-31'"),
        ("conda/recipe.yaml", "0.2.0", "0.1.0", "recipe.yaml has version 0.1.0 instead of 0.2.0"),
    ],
)
def test_a_version_that_cannot_be_released(
    project: Path, file: str, old: str, new: str, problem: str
) -> None:
    text = (project / file).read_text(encoding="utf-8")
    (project / file).write_text(text.replace(old, new), encoding="utf-8")
    assert any(re.search(problem, line) for line in problems(project, "v0.2.0"))


@pytest.mark.parametrize(
    ("tags", "versions"),
    [
        ("cp310-cp310-win_amd64", [10]),
        ("cp311-cp311-macosx_11_0_arm64", [11]),
        ("cp312-abi3-linux", [12, 13, 14]),
    ],
)
def test_which_versions_a_wheel_is_for(tags: str, versions: list[int]) -> None:
    wheel = Path(f"sedscope-0.1.0-{tags}.whl")
    assert [minor for minor in range(10, 15) if runs_on(wheel, (3, minor))] == versions


def test_a_wheel_without_the_tasks_is_refused(tmp_path: Path) -> None:
    package = ROOT / "src/sedscope"
    kept = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".toml"]
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as wheel:
        for path in kept:
            wheel.writestr(path.relative_to(package.parent).as_posix(), "")
    with pytest.raises(
        SystemExit, match=r"x\.whl lacks \d+ files of the package: sedscope/tasks/built_in/"
    ):
        require_data_files(tmp_path / "x.whl")


def test_a_wheel_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sedscope/core.so", bytes(30_000))
        archive.writestr("sedscope/__init__.py", "")
    require_size(wheel)
    monkeypatch.setattr(wheels, "LARGEST", 10_000)
    message = r"x\.whl has 0\.03 MB, more than 0\.01 MB\..*: sedscope/core\.so \(30 kB\), "
    with pytest.raises(SystemExit, match=message):
        require_size(wheel)


def test_the_bill_of_materials_names_what_is_compiled_in() -> None:
    check_bill_of_materials(distribution("sedscope"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version": "3', '"version": "'),  # a version that the build did not find
        ('"nanobind"', '"pybind11"'),
        ("pkg:pypi/nanobind@", "pkg:pypi/nanobind"),
        ('"CycloneDX"', '"SPDX"'),
    ],
)
def test_a_wrong_bill_of_materials_is_refused(tmp_path: Path, old: str, new: str) -> None:
    place = f"sedscope-{sed.__version__}.dist-info"
    written = distribution("sedscope").read_text("sboms/sedscope.cdx.json") or ""
    (tmp_path / place / "sboms").mkdir(parents=True)
    (tmp_path / place / "METADATA").write_text(f"Version: {sed.__version__}\n", encoding="utf-8")
    (tmp_path / place / "RECORD").write_text(f"{place}/sboms/sedscope.cdx.json,,\n", encoding="utf-8")
    bill = tmp_path / place / "sboms/sedscope.cdx.json"
    bill.write_text(written, encoding="utf-8")
    check_bill_of_materials(Distribution.at(tmp_path / place))
    bill.write_text(written.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AssertionError):
        check_bill_of_materials(Distribution.at(tmp_path / place))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(workflow: Path) -> None:
    assert not_pinned(workflow.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "reference",
    [
        "actions/checkout@v5",
        "actions/checkout@v5.0.0",
        "pypa/gh-action-pypi-publish@release/v1",
        "actions/checkout@08c6903 # v5.0.0",
        "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8",
        "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5",
    ],
)
def test_an_action_that_is_not_pinned_by_commit_is_noticed(reference: str) -> None:
    assert not_pinned(f"steps:\n  - uses: {reference}\n") == [f"- uses: {reference}"]


def not_pinned(workflow: str) -> list[str]:
    """Return the lines that use something else than a commit of known version, or a file of this project."""
    uses = [line.strip() for line in workflow.splitlines() if re.match(r"[\s-]*uses:", line)]
    return [line for line in uses if not re.fullmatch(rf"(- )?({PINNED.pattern}|uses: \./\S+)", line)]


def test_an_action_has_one_version() -> None:
    used = [pin for path in WORKFLOWS for pin in PINNED.findall(path.read_text(encoding="utf-8"))]
    assert used
    assert len(set(used)) == len({action for action, _, _ in used})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(workflow: Path) -> None:
    used = set(re.findall(r"run: make ([a-z-]+)", workflow.read_text(encoding="utf-8")))
    assert used
    assert used <= TARGETS


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        *((workflow, "github-workflows") for workflow in WORKFLOWS),
        (ROOT / ".github/ISSUE_TEMPLATE/bug_report.yml", "github-issue-forms"),
        (ROOT / ".github/ISSUE_TEMPLATE/feature_request.yml", "github-issue-forms"),
        (ROOT / ".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
        (ROOT / ".github/dependabot.yml", "dependabot"),
        (ROOT / "CITATION.cff", "citation-file-format"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_files_that_others_read_follow_their_schemas(file: Path, schema: str) -> None:
    checked = check_schema(file, schema)
    assert checked.returncode == 0, checked.stdout


def test_a_workflow_with_a_misspelt_key_breaks_the_schema(tmp_path: Path) -> None:
    broken = tmp_path / "tests.yml"
    workflow = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    broken.write_text(workflow.replace("runs-on:", "run-on:", 1), encoding="utf-8")
    assert "run-on" in check_schema(broken, "github-workflows").stdout


def check_schema(file: Path, schema: str) -> subprocess.CompletedProcess[str]:
    """Check a file against a schema that comes with check-jsonschema."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{schema}",
        str(file),
    ]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
