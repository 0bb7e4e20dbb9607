"""The page as HTML: template, style, script and data in one file."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .. import escaping
from ..errors import counted
from .schema import JSON, Page, as_json
from .script_bundle import join_modules

if TYPE_CHECKING:
    from jinja2 import Template


def render(page: Page) -> str:
    """Render the page as HTML."""
    panels = sorted(name for name in _modules() if name.startswith("panels/"))
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
    return page, join_modules(_modules(), entries), style


@cache
def _modules() -> dict[str, str]:
    """Return the text of all modules in ``static`` and its folders."""
    folder = files(__package__) / "static"
    folders = [("", folder), *((f"{part.name}/", part) for part in folder.iterdir() if part.is_dir())]
    return {
        f"{prefix}{file.name}": file.read_text(encoding="utf-8")
        for prefix, part in folders
        for file in part.iterdir()
        if file.name.endswith(".js")
    }


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
