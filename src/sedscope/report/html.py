"""The page as HTML: template, style, script and data in one file."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ..errors import counted
from .schema import JSON, Page, as_json
from .script_bundle import join_modules

if TYPE_CHECKING:
    from jinja2 import Template


def render(page: Page) -> str:
    """Render the page as HTML."""
    template, script, style = _static_parts()
    return template.render(
        page=page,
        counted=counted,
        script=script,
        style=style,
        data=json_text(as_json(page)),
        policy=content_security_policy(script, style),
    )


@cache
def _static_parts() -> tuple[Template, str, str]:
    """Return what all reports have in common: template, script and style."""
    from jinja2 import Environment, StrictUndefined

    folder = files(__package__) / "static"
    style = (folder / "report.css").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.from_string((folder / "page.html.j2").read_text(encoding="utf-8"))
    return template, _script(), style


def _script() -> str:
    """Join the modules in ``static`` into one script, with all modules in ``static/panels``."""
    folder = files(__package__) / "static"
    modules = {
        f"{prefix}{file.name}": file.read_text(encoding="utf-8")
        for prefix, part in (("", folder), ("panels/", folder / "panels"))
        for file in part.iterdir()
        if file.name.endswith(".js")
    }
    panels = sorted(name for name in modules if name.startswith("panels/"))
    return join_modules(modules, [*panels, "main.js"])


def json_text(data: JSON) -> str:
    """Return JSON text that cannot end the element it is in, whatever the labels contain."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


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
