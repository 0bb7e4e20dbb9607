"""Write the table of the presets, which the reference of the API includes."""

from __future__ import annotations

from pathlib import Path

from sedscope.tasks.presets import PRESETS


def write_preset_table(page: Path) -> None:
    """Write a Markdown table with the name, the meaning and the metrics of each preset."""
    page.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        f"| `{preset.name}` | {preset.about} | {', '.join(f'`{metric!r}`' for metric in preset)} |"
        for preset in PRESETS.values()
    ]
    table = ["| preset | what it measures | metrics |", "|---|---|---|", *rows]
    page.write_text("\n".join(table) + "\n", encoding="utf-8")
