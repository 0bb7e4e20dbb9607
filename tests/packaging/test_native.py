"""The sources of the compiled core."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.project import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NATIVE = ROOT / "native"


def test_packages_of_the_core_are_included_in_the_order_of_the_python_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    python_names = {"clips": "data", "text": "io"}
    order = {name: len(layers) - row for row, names in enumerate(layers) for name in names.split(" | ")}
    order |= {"core": 0, "python": len(layers) + 1}
    packages = {path.name: order[python_names.get(path.name, path.name)] for path in NATIVE.iterdir()}
    upwards = [
        f"{file.relative_to(ROOT)} includes {package}"
        for file in NATIVE.rglob("*.[ch]pp")
        for package in re.findall(r'^#include "(\w+)/', file.read_text("utf-8"), re.MULTILINE)
        if packages[package] > packages[file.relative_to(NATIVE).parts[0]]
    ]
    assert not upwards


COMPILER = next(filter(None, map(shutil.which, ["c++", "g++", "clang++"])), None)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def compile_with_the_core(source: str, *options: str) -> str:
    """Return what the compiler says."""
    command = [str(COMPILER), "-std=c++17", f"-I{NATIVE}", "-xc++", "-", *options]
    return subprocess.run(command, input=source, capture_output=True, text=True).stderr


REFERENCES = "const sedscope::ClipReferences&, int32_t, float"


@needs_compiler
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            f"""#include "counting/batch_job.hpp"
            struct Part {{
                void begin({REFERENCES});
                void feed(const float*, std::size_t, sedscope::DeltaRows<float>&);
            }};
            auto use(sedscope::BatchJob<float>& job) {{ return job.deltas([] {{ return Part(); }}, 1); }}""",
            "a kernel needs begin(), feed() and finish()",
        ),
        (
            f"""#include "counting/open_clip.hpp"
            struct Part {{
                using Rows = sedscope::DeltaRows<float, int8_t>;
                void begin({REFERENCES});
                void feed(const float*, std::size_t, Rows&);
                void finish(Rows&);
            }};
            template class sedscope::OpenClip<float, Part, int32_t>;""",
            "for these scores and changes",
        ),
        (
            f"""#include "counting/event_job.hpp"
            struct Part {{
                void begin({REFERENCES});
                void finish(sedscope::DeltaRows<float>&);
            }};
            auto use(sedscope::EventJob<float>& job) {{ return job.deltas([] {{ return Part(); }}, 1); }}""",
            "a kernel needs begin(), add() and finish()",
        ),
        (
            """#include "diagnosis/class_diagnosis.hpp"
            struct Part {};
            template class sedscope::ClassDiagnosis<float, Part>;""",
            "a judge needs judge(), judges_strays(), triggers(), onset_off() and offset_off()",
        ),
        (
            """#include "criteria/collar.hpp"
            #include "criteria/pairing.hpp"
            struct Part : sedscope::Collar { int onset_off(sedscope::Time) const; };
            template struct sedscope::Pairing<sedscope::Collar>;
            template struct sedscope::Pairing<Part>;""",
            "a rule needs candidates(), window(), errors(), onset_off() and offset_off()",
        ),
    ],
    ids=["kernel", "kernel of other changes", "kernel of events", "judge", "rule"],
)
def test_a_part_of_a_criterion_that_lacks_something_is_refused(source: str, message: str) -> None:
    said = compile_with_the_core(source, "-fsyntax-only")
    assert len(re.findall(re.escape(message), said.split("error:")[1])) == 1


@needs_compiler
def test_a_kernel_forgets_the_references_of_an_earlier_clip(tmp_path: Path) -> None:
    program = tmp_path / "program"
    said = compile_with_the_core(
        """
        #include <cstdio>
        #include <new>
        #include "criteria/intersection.hpp"
        using namespace sedscope;

        int main() {
            const Requirement half{Fraction(1, 2)};
            IntersectionKernel<float> kernel(Intersection{half, half, half, true});
            const Time edges[] = {0, 10, 20, 30};
            const float scores[] = {0.1f, 0.9f, 0.1f};
            const int32_t label = 0;
            const int64_t starts[] = {0, 1};
            alignas(ClipReferences) unsigned char place[sizeof(ClipReferences)];
            for (const Interval event : {Interval{20, 30}, Interval{10, 20}}) {
                const ReferenceTable table{{&event, &label, starts}, {nullptr, nullptr, nullptr}};
                auto* const references = new (place) ClipReferences;  // both lie at the same place
                references->assign(table, 0, edges, 4);
                DeltaRows<float> rows;
                kernel.begin(*references, label, 0.05f);
                kernel.feed(scores, 3, rows);
                kernel.finish(rows);
                int tp = 0, fp = 0;
                for (std::size_t k = 0; k < rows.detections.size(); ++k)
                    if (rows.detections.scores[k] > 0.5f) {
                        tp += rows.detections.tp[k];
                        fp += rows.detections.fp[k];
                    }
                std::printf("%d %d\\n", tp, fp);
                references->~ClipReferences();
            }
        }
        """,
        "-o",
        str(program),
    )
    assert not said
    counts = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert counts == ["0 1", "1 0"]  # true and false positives of the two clips


def test_the_stub_is_what_the_bindings_state(tmp_path: Path) -> None:
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    made = tmp_path / "_native.pyi"
    options = ["--quiet", "--module", "sedscope._native", "--output-file", str(made)]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", *options], check=True)
    stored = ROOT / "src" / "sedscope" / "_native.pyi"
    assert made.read_text("utf-8") == stored.read_text("utf-8"), "run make stubs"


def test_the_module_calls_one_function_of_each_file_of_bindings() -> None:
    files = {path: path.read_text("utf-8") for path in (NATIVE / "python").rglob("*.cpp")}
    module = files.pop(NATIVE / "python" / "module.cpp").split("NB_MODULE")[1]
    last_of_files = [
        re.findall(r"^void (bind_\w+)\(nb::module_& module\)", text, re.MULTILINE)[-1:]
        for text in files.values()
    ]
    assert sorted(last_of_files) == sorted([name] for name in re.findall(r"bind_\w+", module))
