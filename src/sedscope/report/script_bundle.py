"""JavaScript modules joined into one, in the order in which they need each other."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import SedscopeError

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_NAME = re.compile(
    r"^(export )?(?:async function|function|class|const|let)\s+(\w+|\{[^}]*\}|\[[^\]]*\])", re.MULTILINE
)


def joined(modules: Mapping[str, str], main: str) -> str:
    """One script from modules by file name, with what ``main`` needs before it.

    The modules import names from each other with ``import { a, b } from "./file.js";`` and export
    declarations. As they then share one scope, no two may declare the same name.
    """
    order: list[str] = []
    _visit(main, modules, order, ())
    _check_names({name: modules[name] for name in order})
    return "\n".join(f"// {name}\n{_bare(modules[name])}" for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str], above: tuple[str, ...]) -> None:
    if name in order:
        return
    if name in above or name not in modules:
        problem = "imports itself" if name in above else "is not there"
        raise SedscopeError(f"the module {name} of the report {problem}: {' → '.join((*above, name))}")
    for _, needed in _IMPORT.findall(modules[name]):
        _visit(needed, modules, order, (*above, name))
    order.append(name)


def _check_names(modules: Mapping[str, str]) -> None:
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    for module, text in modules.items():
        exported[module] = set()
        for public, declared in _NAME.findall(text):
            for name in re.findall(r"\w+", declared):
                if name in owner:
                    raise SedscopeError(f"{owner[name]} and {module} of the report both declare {name}")
                owner[name] = module
                if public:
                    exported[module].add(name)
    for module, text in modules.items():
        for names, needed in _IMPORT.findall(text):
            unknown = set(re.findall(r"\w+", names)) - exported[needed]
            if unknown:
                raise SedscopeError(f"{module} of the report: {needed} does not export {min(unknown)}")


def _bare(text: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", text)).strip() + "\n"
