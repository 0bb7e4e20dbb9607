"""What is public changes only on purpose, and all of it can be reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sedscope as sed

from ..support.documentation import code_blocks
from ..support.project import ROOT
from .listing import PARTS, PUBLIC_MODULES, listing, load, missing_packages, public_names, stored_file

HOW_TO = """
The public interface changed. If that is intended, run `make api`, look at the difference, and commit it with
a line in CHANGELOG.md. What was public before must keep working for one minor version (docs/stability.md)."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _require(module: str) -> None:
    missing = missing_packages(module)
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")


@pytest.mark.parametrize("part", PARTS)
def test_the_public_interface_is_the_stored_one(part: str) -> None:
    _require(part)
    now, stored = listing(part).splitlines(), stored_file(part).read_text(encoding="utf-8").splitlines()
    gone = [f"- {line}" for line in stored if line not in now]
    new = [f"+ {line}" for line in now if line not in stored]
    assert now == stored, "\n".join([f"{stored_file(part).name}:", *gone, *new, HOW_TO])


def test_there_is_a_list_for_each_public_module_and_no_other() -> None:
    assert {path.stem for path in stored_file("x").parent.glob("*.txt")} == set(PARTS)


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_a_public_module_has_all_its_public_names(module: str) -> None:
    _require(module)
    loaded = load(module)
    assert loaded.__doc__
    assert [name for name in public_names(loaded) if not hasattr(loaded, name)] == []


def _imports(page: Path) -> Iterator[tuple[str, str]]:
    """Iterate over what the examples of a page import from sedscope: modules and names."""
    for block in code_blocks(page, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sedscope"):
                yield from ((node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sed":
                yield "sedscope", node.attr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_use_only_what_is_public(page: Path) -> None:
    # laid out like the tools that they replace
    drop_ins = tuple(
        f"sedscope.compat.{tool}." for tool in ("sed_scores_eval", "sed_eval", "dcase_util")
    )
    imports = list(_imports(page))
    for module, _ in imports:
        _require(module)
    private = [
        f"{module}.{name}"
        for module, name in imports
        if not module.startswith(drop_ins)
        and (module not in PUBLIC_MODULES or name not in [*public_names(load(module)), "__version__"])
    ]
    assert private == []


def test_the_type_checker_sees_the_same_names() -> None:
    stub = (ROOT / "src/sedscope/__init__.pyi").read_text(encoding="utf-8")
    named = {
        alias.asname
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    starred = {*public_names(load("sedscope.criteria")), *public_names(load("sedscope.metrics"))}
    assert set(sed.__all__) <= named | starred
    assert named <= set(sed.__all__)
