"""The drop-ins under the names of the tools that they replace."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

MESSAGE = "now gives sedscope's drop-ins"
INSTALLED = "import sedscope.compat; sedscope.compat.install(); sedscope.compat.install()\n"


def run(*arguments: str, folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder whose modules it finds."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def test_old_names_import_the_drop_ins(tmp_path: Path) -> None:
    script = INSTALLED + (
        "import sed_eval.util.event_list\n"
        "import sedscope.compat.sed_eval as drop_in\n"
        "from sed_eval.sound_event import EventBasedMetrics\n"
        "from dcase_util.containers import MetaDataContainer\n"
        "assert sed_eval is drop_in and drop_in.__spec__.name == drop_in.__name__\n"
        "assert EventBasedMetrics is drop_in.sound_event.EventBasedMetrics\n"
        "assert 'pandas' not in __import__('sys').modules\n"
        "try:\n"
        "    import sed_eval.nothing\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    done = run("-c", script, folder=tmp_path)
    assert done.stdout == "No module named 'sed_eval.nothing'\n"
    assert done.stderr.count(MESSAGE) == 1
    assert "sed_scores_eval, psds_eval, sed_eval and dcase_util" in done.stderr


def test_modules_that_the_stand_in_lacks(tmp_path: Path) -> None:
    done = run("-c", f"{INSTALLED}import dcase_util.features", folder=tmp_path, code=1)
    assert "has no dcase_util.features; install dcase_util (pip install dcase_util)." in done.stderr


@pytest.mark.skipif(not find_spec("pandas"), reason="needs pandas")
def test_old_names_of_the_other_tools(tmp_path: Path) -> None:
    script = INSTALLED + (
        "import sed_scores_eval.intersection_based.psds\n"
        "from psds_eval import PSDSEval\n"
        "from sed_scores_eval.base_modules.scores import create_score_dataframe\n"
        "print(PSDSEval.__module__, sed_scores_eval.__name__)\n"
    )
    done = run("-c", script, folder=tmp_path)
    assert done.stdout.split()[0].startswith("sedscope.compat.psds_eval")
    assert done.stdout.split()[1] == "sedscope.compat.sed_scores_eval"


def test_it_comes_too_late_after_the_original(tmp_path: Path) -> None:
    (tmp_path / "sed_eval.py").touch()
    done = run("-c", f"import sed_eval\n{INSTALLED}", folder=tmp_path, code=1)
    assert (
        "The original is imported already: sed_eval. Call sedscope.compat.install() before"
        in done.stderr
    )


def test_the_real_dcase_util_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "dcase_util.py").write_text("REAL = True\n", encoding="utf-8")
    done = run("-c", f"{INSTALLED}import dcase_util\nassert dcase_util.REAL", folder=tmp_path)
    assert "sed_scores_eval, psds_eval and sed_eval now" in done.stderr


def test_an_unchanged_script_runs(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "beside.py").write_text("from sed_eval import __version__\n", encoding="utf-8")
    script = folder / "script.py"
    script.write_text(
        "import sys, beside\nprint(__name__, sys.argv[1:], beside.__version__)\n", encoding="utf-8"
    )
    for arguments in (["project/script.py"], ["-m", "project.script"]):
        if arguments[0] == "-m":
            script.write_text(
                script.read_text().replace("import sys, beside", "import sys\nfrom . import beside")
            )
        done = run("-m", "sedscope.compat", *arguments, "-x", "1", folder=tmp_path)
        assert done.stdout == "__main__ ['-x', '1'] 0.2.1\n"
        assert MESSAGE in done.stderr


def test_a_script_finds_its_own_file_from_another_folder(tmp_path: Path) -> None:
    script = "import os, pathlib\nos.chdir('/')\nprint(pathlib.Path(__file__).is_file())\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    assert run("-m", "sedscope.compat", "script.py", folder=tmp_path).stdout == "True\n"


def test_errors_of_a_package_are_raised(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "__init__.py").write_text("import not_installed\n", encoding="utf-8")
    done = run("-m", "sedscope.compat", "-m", "project.script", folder=tmp_path, code=1)
    assert "No module named 'not_installed'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "usage"),
        (["-m"], 2, "usage"),
        (["no.py"], 2, "There is no script no.py"),
        (["-m", "nothing"], 2, "\nThere is no module nothing.\n"),
        (["-m", "nothing.at.all"], 2, "\nThere is no module nothing.at.all.\n"),
        (["-m", "email.nothing"], 2, "\nThere is no module email.nothing.\n"),
        (["-h"], 0, ""),
    ],
)
def test_usage(arguments: list[str], code: int, message: str, tmp_path: Path) -> None:
    assert message in run("-m", "sedscope.compat", *arguments, folder=tmp_path, code=code).stderr
