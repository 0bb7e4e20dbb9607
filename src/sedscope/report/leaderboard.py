"""The leaderboard: a folder with a static site about a ranking, and all its tables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import SedscopeError, counted
from ..evaluation.ranking import RankedSystem
from ..evaluation.ranking_result import Ranking, Reports
from ..evaluation.ranking_rows import classes_of
from ..io.atomic_write import filling, write_text
from ..io.locations import local_path
from .html import content_security_policy, json_text, static_parts
from .packing import rounded

FIRST_PAGE = "index.html"
_TABLES = {
    "ranking.csv": Ranking.to_csv,
    "pairs.csv": Ranking.pairs_to_csv,
    "ranking.md": Ranking.to_markdown,
    "ranking.tex": Ranking.to_latex,
    "ranking.json": Ranking.to_json,
}
_REPORTS = "reports"
_MOST_REASONS = 50  # that the page shows of a rejected system


def write_leaderboard(
    ranking: Ranking,
    folder: str | Path,
    *,
    title: str,
    reports: Reports,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
) -> None:
    """Write the site of a ranking. An earlier leaderboard in the folder is replaced as a whole.

    The arguments are those of :meth:`~sedscope.Ranking.site`.
    """
    with_report = [
        system
        for system in ranking.systems
        if reports == "all" or (reports == "best" and system.best_of_team)
    ]
    shown = clips_shown if isinstance(clips_shown, int) else [*clips_shown]
    pages = {(system.team, system.name): _report_page(system) for system in with_report}
    with filling(local_path(folder), replaces=is_leaderboard) as target:
        for name, write in _TABLES.items():
            write(ranking, target / name)
        if pages:
            (target / _REPORTS).mkdir()
        for system in with_report:
            page = target / pages[system.team, system.name]
            evaluation = ranking.evaluate(system)
            evaluation.report(page, name=system.full_name, clips_shown=shown, audio=audio)
        write_text(target / FIRST_PAGE, render_leaderboard(ranking, title, pages))


def is_leaderboard(folder: Path) -> bool:
    """Return whether a folder holds a leaderboard and nothing else."""
    names = {path.name for path in folder.iterdir()}
    if not names.issuperset([FIRST_PAGE, *_TABLES]) or names - {FIRST_PAGE, _REPORTS, *_TABLES}:
        return False
    reports = folder / _REPORTS
    return not reports.exists() or all(page.suffix == ".html" for page in reports.iterdir())


def check_leaderboard_folder(folder: Path) -> None:
    """Refuse a folder with anything but an earlier leaderboard, before any work is done."""
    if folder.is_dir() and any(folder.iterdir()) and not is_leaderboard(folder):
        raise SedscopeError(
            f"{folder} is not empty, and is not a leaderboard that could be replaced. Choose a new folder."
        )


def render_leaderboard(
    ranking: Ranking, title: str, pages: dict[tuple[str, str], str] | None = None
) -> str:
    """Render the first page as HTML. ``pages``: the report of systems, by team and name."""
    from .. import __version__

    template, script, style = static_parts(
        "leaderboard/page.html.j2",
        ("report.css", "leaderboard/leaderboard.css"),
        ("leaderboard/main.js",),
    )
    return template.render(
        ranking=ranking,
        title=title,
        about=ranking.about(),
        teams=len({system.team for system in ranking.systems}),
        definitions=list(dict.fromkeys([ranking.score, *ranking.metrics])),
        warned=[system for system in ranking.systems if system.warnings],
        most_reasons=_MOST_REASONS,
        version=__version__,
        counted=counted,
        script=script,
        style=style,
        data=json_text(_page_data(ranking, pages or {})),
        policy=content_security_policy(script, style),
    )


def _page_data(ranking: Ranking, pages: dict[tuple[str, str], str]) -> dict[str, Any]:
    """Return what the script of the page reads. Numbers have the digits that it can show."""
    names = [metric.name for metric in ranking.metrics]
    return {
        "score": _kind(ranking.score),
        "metrics": [_kind(metric) for metric in ranking.metrics],
        "classes": [classes_of(ranking, name) for name in names],
        "systems": [
            {
                "name": system.name,
                "full_name": system.full_name,
                "team": system.team,
                "rank": system.rank,
                "ranks": [system.rank_low, system.rank_high],
                "group": system.group,
                "best_of_team": system.best_of_team,
                "score": _numbers(system.score),
                "values": [_numbers(system.metrics[name]) for name in names],
                "report": pages.get((system.team, system.name)),
            }
            for system in ranking.systems
        ],
        "class_values": [
            [
                [rounded(of_class.value) for of_class in system.metrics[name].per_class.values()]
                for system in ranking.systems
            ]
            for name in names
        ],
        "pairs": [
            [rounded(pair.difference), pair.p_text, int(pair.significant)]
            for pair in ranking.pairs.values()
        ],
    }


def _kind(metric: Any) -> dict[str, Any]:
    return {
        "name": metric.name,
        "definition": metric.definition,
        "higher_is_better": metric.higher_is_better,
    }


def _numbers(estimate: Any) -> list[float | None]:
    return [rounded(number) for number in (estimate.value, estimate.low, estimate.high)]


def _report_page(system: RankedSystem) -> str:
    """Return the address of the report of a system, which looks the same on every file system."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", system.full_name).strip("._")[:60]
    text = f"{system.team}\0{system.name}".encode("utf-8", "surrogatepass")
    tag = hashlib.blake2b(text, digest_size=4).hexdigest()
    return f"{_REPORTS}/{name}-{tag}.html"
