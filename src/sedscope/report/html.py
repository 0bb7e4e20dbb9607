"""The page: template, style, script and data in one file."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..errors import counted
from .script_bundle import joined

if TYPE_CHECKING:
    from jinja2 import Template


def render(data: dict[str, Any]) -> str:
    """The HTML text of a report."""
    template, script, style = _parts()
    return template.render(
        report=data,
        counted=counted,
        script=script,
        style=style,
        data=as_data(data),
        policy=policy(script, style),
    )


@cache
def _parts() -> tuple[Template, str, str]:
    """What is the same in all reports: template, script and style."""
    from jinja2 import Environment, StrictUndefined

    folder = files(__package__) / "static"
    modules = {
        file.name: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".js")
    }
    script = joined(modules, "main.js")
    style = (folder / "report.css").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.from_string((folder / "page.html.j2").read_text(encoding="utf-8"))
    return template, script, style


def as_data(data: dict[str, Any]) -> str:
    """JSON that cannot end the element that it stands in, whatever the labels are."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def policy(script: str, style: str) -> str:
    """The content-security policy: this script, this style, embedded sound, nothing from anywhere."""

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
