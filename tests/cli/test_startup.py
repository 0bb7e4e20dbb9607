"""Nothing is loaded before it is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import sedscope

HEAVY = {
    "polars",
    "narwhals",
    "pandas",
    "typer",
    "click",
    "rich",
    "jinja2",
    "matplotlib",
    "scipy",
    "torch",
}
FIRST_USE = """
import sys
import numpy as np
import sedscope as sed
frames = np.arange(100)[:, None]
arrays = {f"clip {k}": ((frames >= 4 * k) & (frames < 4 * k + 20)) + 0.5 for k in range(20)}
scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=0.1)
events = {f"clip {k}": [(0.4 * k, 0.4 * k + 2, "Dog")] for k in range(20)}
truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(arrays, 10.0))
assert sed.evaluate(scores, truth, METRIC)[METRIC].value == 1
print(*sorted(sys.modules))
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_import_loads_only_the_table_of_names() -> None:
    loaded = run("import sys, sedscope; print(*sys.modules)")
    assert own_modules(loaded) == {"sedscope", "sedscope.lazy_names"}
    assert not {*HEAVY, "numpy"} & {*loaded.split()}


@pytest.mark.parametrize(
    "metric", ["sed.presets.PSDS1", "'psds1'", "sed.PSDS(sed.Intersection(0.7, 0.7))"]
)
def test_the_first_evaluation_loads_only_what_it_uses(metric: str) -> None:
    loaded = run(FIRST_USE.replace("METRIC", metric)).split()
    assert not HEAVY & {module.split(".")[0] for module in loaded}
    packages = {module.split(".")[1] for module in loaded if module.startswith("sedscope.")}
    unused = {
        "checking",
        "cli",
        "diagnosis",
        "io",
        "plots",
        "report",
        "resampling",
        "results",
        "torch",
        "tuning",
    }
    assert not unused & packages
    presets = {"sedscope.tasks", "sedscope.tasks.presets"}
    assert sum(module.split(".")[0] == "sedscope" for module in {*loaded} - presets) <= 75
    features = {"criteria.collar", "engines.checkpoint", "metrics.thresholded", "resampling.resampling"}
    features |= {"postprocessing.median_filter", "evaluation.groups", "data.chunks"}
    features.add("data.scored_events")
    assert not {f"sedscope.{feature}" for feature in features} & set(loaded)
    by_numpy = run("import sys, numpy; print(*sys.modules)").split()
    assert not {"numpy.ma", "hashlib", "html", "pathlib"} & set(loaded).difference(by_numpy)


def own_modules(loaded: str) -> set[str]:
    return {module for module in loaded.split() if module.split(".")[0] == "sedscope"}


def test_one_psds_loads_at_most_75_modules() -> None:
    loaded = own_modules(run(FIRST_USE.replace("METRIC", "'psds1'")))
    assert 20 < len(loaded) <= 75, sorted(loaded)


EVALUATE = """
import sys
from sedscope.__main__ import main
sys.argv = ["sedscope", "evaluate", "scores", "truth.tsv", "--durations", "durations.tsv", "--json", "-"]
try:
    main()
finally:
    print(*sys.modules, file=open("loaded", "w"))
"""


def test_the_command_evaluate_loads_at_most_120_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    truth = sedscope.simulate.ground_truth(20)
    sedscope.write_scores(sedscope.simulate.scores(truth), "scores")
    sedscope.write_ground_truth(truth, "truth.tsv", lossy=True)
    rows = [f"{clip}\t10" for clip in truth.clips]
    Path("durations.tsv").write_text("\n".join(["filename\tduration", *rows, ""]))
    assert '"psds1"' in run(EVALUATE)
    loaded = own_modules(Path("loaded").read_text())
    assert 40 < len(loaded) <= 120, sorted(loaded)
    others = {"cli.compare", "io.scores.hdf5", "io.events.jams", "data.regions", "io.label_maps"}
    others |= {"evaluation.groups", "evaluation.class_blocks", "resampling.resampling", "tasks.presets"}
    assert not {f"sedscope.{module}" for module in others} & loaded


HELP = """
import sys
from sedscope.__main__ import main
sys.argv = ["sedscope", "--help"]
try:
    main()
finally:
    print(*sys.modules)
"""


def test_help_loads_only_typer_and_the_options() -> None:
    loaded = run(HELP).rpartition("\n\n")[2]
    assert not {*HEAVY, "numpy"} - {"typer", "click", "rich"} & {*loaded.split()}
    assert 10 < len(own_modules(loaded)) <= 40


def test_names_for_type_checkers_are_those_of_the_package() -> None:
    stub = (Path(sedscope.__file__).parent / "__init__.pyi").read_text()
    one_by_one = set(re.findall(r"import (\w+) as \1$", stub, re.MULTILINE))
    packages = re.findall(r"^from \.(\w+) import \*$", stub, re.MULTILINE)
    whole_packages = {name for package in packages for name in dir(import_module(f"sedscope.{package}"))}
    assert one_by_one <= set(sedscope.__all__) <= one_by_one | whole_packages
    for name in sedscope.__all__:
        assert getattr(sedscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'psds'"):
        _ = sedscope.psds  # type: ignore[attr-defined]
