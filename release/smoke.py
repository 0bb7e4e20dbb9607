"""A smoke test of an installed sedscope. It needs nothing but sedscope, and is run outside of the project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import Distribution, distribution
from pathlib import Path

import numpy as np

import sedscope as sed

# One clip of ten frames of 1 s. Each threshold finds what the comments say.
SCORES = [0.1, 0.9, 0.8, 0.1, 0.1, 0.6, 0.1, 0.4, 0.4, 0.1]
REFERENCES = [(1.0, 3.0, "Dog"), (7.0, 9.0, "Dog")]


def main() -> None:
    """Check values that are known, files of the package, and the program."""
    installed = Path(sed.__file__).parent
    assert installed.parent == Path(sysconfig.get_paths()["platlib"]), installed
    assert sed.__version__ == distribution("sedscope").version
    check_bill_of_materials(distribution("sedscope"))

    values = np.array(SCORES, dtype=np.float32)[:, np.newaxis]
    scores = sed.Scores.from_arrays({"clip": values}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"clip": REFERENCES}, durations={"clip": 10.0})
    counts = sed.deltas(scores, truth, sed.Collar()).counts()["Dog"]
    # above 0.8, half of an event is found; at 0.8, all of it; at 0.6, a false one; at 0.4, the second event
    assert counts.at([0.85, 0.75, 0.5, 0.3]).tp.tolist() == [0, 1, 1, 2]
    assert counts.at([0.85, 0.75, 0.5, 0.3]).fp.tolist() == [1, 0, 1, 1]
    result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
    assert next(iter(result.results.values())).value == 0.8, result.table()

    for name in sorted(path.stem for path in (installed / "tasks" / "built_in").glob("*.toml")):
        sed.tasks.read_task(name)
    result.report("report.html")
    assert "<script" in Path("report.html").read_text(encoding="utf-8")

    for arguments in (["--version"], ["metrics"], ["tasks"], ["demo", "demo", "--clips", "40"]):
        subprocess.run([sys.executable, "-m", "sedscope", *arguments], check=True)
    assert Path("demo/report.html").stat().st_size > 100_000


def check_bill_of_materials(installed: Distribution) -> None:
    """Check that it lies where PEP 770 says, and names what is compiled in with versions."""
    place = f"sedscope-{installed.version}.dist-info/sboms/sedscope.cdx.json"
    (file,) = [file for file in installed.files or [] if file.as_posix() == place]
    bill = json.loads(file.read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    components = [bill["metadata"]["component"], *bill["components"]]
    assert [component["name"] for component in components] == ["sedscope", "nanobind", "robin-map"]
    assert components[0]["version"] == installed.version
    for component in components:
        assert component["type"] == "library"
        assert re.fullmatch(r"\d+\.\d+(\.\w+)*", component["version"]), component
        assert re.fullmatch(r"pkg:\w+/.+@v?" + re.escape(component["version"]), component["purl"]), (
            component
        )
        assert component["licenses"][0]["license"]["id"]
    assert [entry["ref"] for entry in bill["dependencies"]] == [entry["bom-ref"] for entry in components]


if __name__ == "__main__":
    main()
