"""JavaScript modules joined into one script, in the order in which they need each other."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from ..errors import SedscopeError

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_NAME = re.compile(
    r"^(export )?(?:async function|function|class|const|let)\s+(\w+|\{[^}]*\}|\[[^\]]*\])", re.MULTILINE
)


def join_modules(modules: Mapping[str, str], entries: Sequence[str]) -> str:
    """Join modules into one script: the entries, and before them everything that they import.

    Modules import names from each other with ``import { a, b } from "./file.js";`` and export
    declarations. In the script they share one scope, so no two may declare the same name.
    """
    order: list[str] = []
    for entry in entries:
        _visit(entry, modules, order, ())
    _check_names({name: modules[name] for name in order})
    return "\n".join(f"// {name}\n{_without_imports(modules[name])}" for name in order)


def _imports(module: str, text: str) -> Iterator[tuple[str, set[str]]]:
    """Return the modules that a module imports, and the names that it imports from each."""
    for names, path in _IMPORT.findall(text):
        imported = posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
        yield imported, set(re.findall(r"\w+", names))


def _visit(
    module: str, modules: Mapping[str, str], order: list[str], importers: tuple[str, ...]
) -> None:
    if module in order:
        return
    if module in importers or module not in modules:
        problem = "imports itself" if module in importers else "does not exist"
        path = " → ".join((*importers, module))
        raise SedscopeError(f"The report's script {module} {problem}: {path}")
    for imported, _ in _imports(module, modules[module]):
        _visit(imported, modules, order, (*importers, module))
    order.append(module)


def _check_names(modules: Mapping[str, str]) -> None:
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    for module, text in modules.items():
        exported[module] = set()
        for export, declared in _NAME.findall(text):
            for name in re.findall(r"\w+", declared):
                if name in owner:
                    raise SedscopeError(
                        f"The report's scripts {owner[name]} and {module} both declare {name}."
                    )
                owner[name] = module
                if export:
                    exported[module].add(name)
    for module, text in modules.items():
        for imported, names in _imports(module, text):
            unknown = names - exported[imported]
            if unknown:
                raise SedscopeError(
                    f"The report's script {module} imports {min(unknown)}, but {imported} does not "
                    "export it."
                )


def _without_imports(text: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", text)).strip() + "\n"
