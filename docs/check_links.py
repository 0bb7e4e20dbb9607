"""Check the built site: ``python docs/check_links.py build/docs``.

Every link inside the site leads to a file and an anchor that exist, and no page loads scripts, styles,
pictures or fonts from elsewhere, so that it works offline. Addresses of other sites are not visited.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
ELSEWHERE = ("http", "https", "")  # "" with a host is //host/path


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


def problems(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and for each thing that is loaded from elsewhere."""
    files = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for address in page.links + page.loaded:
            parts = urlsplit(address)
            if parts.netloc:
                if address in page.loaded and parts.scheme in ELSEWHERE:
                    lines.append(f"{name}: loads {address}")
            elif not parts.scheme:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                anchor = unquote(parts.fragment)
                if not target.exists():
                    lines.append(f"{name}: there is no {address}")
                elif anchor and target in pages and anchor not in pages[target].anchors:
                    lines.append(f"{name}: there is no anchor {address}")
    for style in sorted(site.rglob("*.css")):
        for address in re.findall(
            r"(?:url\(|@import )['\"]?((?:https?:)?//[^'\")]+)", style.read_text("utf-8")
        ):
            lines.append(f"{style.relative_to(site)}: loads {address}")
    return lines


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    print("\n".join(lines) or "All links of the site lead somewhere.")
    sys.exit(bool(lines))
