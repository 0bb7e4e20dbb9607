"""Files of operating points as JSON and as a C header."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import Chain, MedianFilter, MovingAverage

POINTS = sed.OperatingPoints(
    {"Dog": 0.1, 'say "hi" */ \\': -3.25, "dog": np.inf, "Schön?": 1e30},
    {"criterion": "Collar()"},
    {"Dog": "recall >= 2"},
    {"Dog": MedianFilter(0.3), "dog": Chain(MedianFilter(0.2), MovingAverage(1.5))},
)


@pytest.mark.parametrize("name", ["points.toml", "points.json"])
def test_points_are_read_back(tmp_path: Path, name: str) -> None:
    POINTS.save(tmp_path / name)
    assert sed.OperatingPoints.load(tmp_path / name) == POINTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not an object"),
        ("{", "is not a file of operating points"),
        ('{"thresholds": {"a": "x"}}', "numbers"),
    ],
)
def test_broken_json(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "points.json").write_text(text)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.OperatingPoints.load(tmp_path / "points.json")


def test_a_header_compiles_and_has_the_thresholds(tmp_path: Path) -> None:
    POINTS.save(tmp_path / "points.h")
    with pytest.raises(sed.SedscopeError, match="cannot be read back"):
        sed.OperatingPoints.load(tmp_path / "points.h")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    (tmp_path / "show.c").write_text(
        '#include <stdio.h>\n#include "points.h"\nint main(void) {\n'
        "  for (int c = 0; c < SEDSCOPE_CLASSES; ++c)\n"
        '    printf("%s\\t%.9g\\n", sedscope_names[c], sedscope_thresholds[c]);\n'
        '  printf("%d %g %g\\n", SEDSCOPE_DOG_2, SEDSCOPE_DOG_MEDIAN_FILTER_SECONDS,\n'
        "         SEDSCOPE_DOG_2_2_MOVING_AVERAGE_SECONDS);\n  return 0;\n}\n"
    )
    program = tmp_path / "show"
    subprocess.run([compiler, "-Wall", "-Werror", tmp_path / "show.c", "-o", program], check=True)
    *lines, numbers = (
        subprocess.run([program], check=True, capture_output=True).stdout.decode().splitlines()
    )
    read = {name: np.float32(value) for name, value in (line.split("\t") for line in lines)}
    assert [*read] == [*POINTS.thresholds]
    for label, threshold in POINTS.thresholds.items():
        low, high = float(read[label]), float(np.nextafter(read[label], np.float32(np.inf)))
        assert low <= threshold < high or low == threshold == np.inf
    assert numbers == "2 0.3 1.5"
