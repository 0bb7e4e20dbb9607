"""The page as HTML: template, style, script and data in one file."""

from __future__ import annotations

import hashlib
import math
import posixpath
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

from .. import escaping
from ..errors import counted
from .source import Data

if TYPE_CHECKING:
    from jinja2 import Template


JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)


def join_modules(modules: Mapping[str, str], entries: Sequence[str]) -> str:
    """Join modules into one script: the entries, and before them everything that they import.

    Modules import names from each other with ``import { a, b } from "./file.js";`` and export
    declarations. In the script they share one scope, so no two may declare the same name.
    """
    order: list[str] = []
    for entry in entries:
        _visit(entry, modules, order)
    return "\n".join(f"// {name}\n{_without_imports(modules[name])}" for name in order)


def _visit(module: str, modules: Mapping[str, str], order: list[str]) -> None:
    """Add a module to the order, after all that it imports."""
    if module in order:
        return
    for _, path in IMPORT.findall(modules[module]):
        _visit(posixpath.normpath(posixpath.join(posixpath.dirname(module), path)), modules, order)
    order.append(module)


def _without_imports(text: str) -> str:
    return _EXPORT.sub("", IMPORT.sub("", text)).strip() + "\n"


def render(page: Data) -> str:
    """Render the page as HTML."""
    panels = sorted(name for name in script_modules() if name.startswith("panels/"))
    template, script, style = static_parts("page.html.j2", ("report.css",), (*panels, "main.js"))
    html = template.render(
        page=page,
        counted=counted,
        script=script,
        style=style,
        data=json_text(as_json(page)),
        policy=content_security_policy(script, style),
    )
    return escaping.printable(html)


@cache
def static_parts(
    template: str, styles: tuple[str, ...], entries: tuple[str, ...]
) -> tuple[Template, str, str]:
    """Return what all pages of a kind have in common: template, script and style.

    All names are those of files in ``static``. ``entries``: the modules that the script consists of,
    which import others.
    """
    from jinja2 import Environment, StrictUndefined

    folder = files(__package__) / "static"
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page = environment.from_string((folder / template).read_text(encoding="utf-8"))
    style = "".join((folder / name).read_text(encoding="utf-8") for name in styles)
    return page, join_modules(script_modules(), entries), style


@cache
def script_modules() -> dict[str, str]:
    """Return the text of all modules in ``static`` and its folders."""
    folder = files(__package__) / "static"
    folders = [("", folder), *((f"{part.name}/", part) for part in folder.iterdir() if part.is_dir())]
    return {
        f"{prefix}{file.name}": file.read_text(encoding="utf-8")
        for prefix, part in folders
        for file in part.iterdir()
        if file.name.endswith(".js")
    }


def as_json(value: object) -> JSON:
    """Convert a value to JSON: a dataclass becomes an object, NaN null, an infinity text.

    >>> as_json({"value": 0.5, "interval": None, "per_class": [float("nan"), float("inf")]})
    {'value': 0.5, 'interval': None, 'per_class': [None, 'inf']}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [as_json(item) for item in value]
    raise TypeError(f"a report cannot hold a {type(value).__name__}")


def json_text(data: JSON) -> str:
    """Return JSON text that cannot end the element it is in, whatever the labels contain."""
    text = escaping.json_text(data)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def content_security_policy(script: str, style: str) -> str:
    """Allow this script, this style and embedded audio, and no connection to anywhere."""

    def hashed(text: str) -> str:
        return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"

    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {hashed(script)}",
            f"style-src {hashed(style)}",
            "img-src data:",
            "media-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
