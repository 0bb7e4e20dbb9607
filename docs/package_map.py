"""Draw the map of the packages, docs/package_map.svg: ``python docs/package_map.py``.

The path of the data runs down the middle, with the object that each step hands to the next. The texts
are the first lines of the packages' docstrings.
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "sedscope"
PICTURE = Path(__file__).with_name("package_map.svg")

WIDTH, ROW, BOX_HEIGHT = 1000, 106, 78
LEFT, MIDDLE, RIGHT, SIDE_WIDTH, MIDDLE_WIDTH = 20, 300, 700, 260, 380
BLUE, GREY = "#0b62a4", "#666"

PATH = (  # package, and the object that it hands to the next one
    ("io", "files, read when needed"),
    ("data", "Scores and GroundTruth"),
    ("alignment", "Alignment"),
    ("criteria", "the rule for every clip"),
    ("counting", "Deltas, added up to Counts"),
    ("metrics", "curves and values"),
    ("evaluation", "Evaluation"),
    ("report", ""),
)
LEFT_SIDE = dict(
    enumerate(("results", "postprocessing", "engines", "resampling", "diagnosis", "checking", "plots"))
)
RIGHT_SIDE = dict(enumerate(("tuning", "review", "ranking", "tasks", "torch", "compat", "cli"), 1))


def docstring(package: str) -> str:
    """Return the first line of a package's docstring."""
    tree = ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").split("\n")[0]


def box(package: str, x: int, y: int, width: int, colour: str) -> str:
    """Draw a package with its name and its purpose."""
    lines = textwrap.wrap(docstring(package).replace("``", ""), (width - 24) // 6 - 3)
    text = "".join(
        f'<text x="{x + 12}" y="{y + 38 + 15 * i}" fill="#333">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{BOX_HEIGHT}" rx="6" fill="white" '
        f'stroke="{colour}" stroke-width="1.5"/>'
        f'<text x="{x + 12}" y="{y + 20}" font-size="14" font-weight="bold" fill="{colour}">{package}/</text>'
        f"{text}"
    )


def arrow(y: int, label: str) -> str:
    """Draw an arrow down the middle, with the object that it carries."""
    x = MIDDLE + MIDDLE_WIDTH // 2
    return (
        f'<path d="M{x} {y}v{ROW - BOX_HEIGHT - 8}m-4 -6l4 6l4 -6" stroke="{BLUE}" fill="none" '
        f'stroke-width="1.5"/><text x="{x + 12}" y="{y + 17}" fill="{BLUE}">{escape(label)}</text>'
    )


def draw() -> str:
    """Return the map as SVG text."""
    height = ROW * len(PATH) + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#f7f7f5"/>',
        f'<text x="{MIDDLE}" y="30" font-size="14" fill="{BLUE}">The path of the data</text>',
        f'<text x="{LEFT}" y="30" font-size="14" fill="{GREY}">Beside it</text>',
        f'<text x="{RIGHT}" y="30" font-size="14" fill="{GREY}">Built on it</text>',
    ]
    for row, (package, handed_on) in enumerate(PATH):
        y = 48 + ROW * row
        parts.append(box(package, MIDDLE, y, MIDDLE_WIDTH, BLUE))
        if handed_on:
            parts.append(arrow(y + BOX_HEIGHT, handed_on))
        for side, x in ((LEFT_SIDE, LEFT), (RIGHT_SIDE, RIGHT)):
            if row in side:
                parts.append(box(side[row], x, y, SIDE_WIDTH, GREY))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
