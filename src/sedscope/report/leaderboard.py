"""The leaderboard: a folder with a static site about a ranking, and all its tables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from ..data.clips import clip_id
from ..errors import SedscopeError, counted, listing, without_advice
from ..escaping import one_line, printable
from ..io.atomic_write import filling, write_text
from ..io.locations import local_path
from ..ranking.ranking import RankedSystem, RejectedSystem
from ..ranking.ranking_result import Ranking, Reports, classes_of, value_of_class
from ..results.text import picked
from .audio import check_audio_folder
from .html import content_security_policy, json_text, static_parts
from .packing import rounded

SystemKey: TypeAlias = tuple[str, str]
"""The team and the name of a system."""
ReportPage: TypeAlias = tuple[str, str]
"""The data set of a report (without a task, it has no name), and its address."""

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
_PRIVATE = ("The team was told what is wrong.",)
_REASONS_TITLE = "Why sedscope could not evaluate these systems"


def write_leaderboard(
    ranking: Ranking,
    folder: str | Path,
    *,
    title: str,
    reports: Reports,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    private_reasons: str | Path | None = None,
) -> None:
    """Write the site of a ranking. An earlier leaderboard in the folder is replaced as a whole.

    The arguments are those of :meth:`~sedscope.Ranking.site`.
    """
    if private_reasons is not None:
        check_reasons_folder(local_path(private_reasons), local_path(folder))
        ranking = _without_reasons(ranking, private_reasons)
    ranking = _for_the_public(ranking)
    with_report = [
        system
        for system in ranking.systems
        if reports == "all" or (reports == "best" and system.best_of_team)
    ]
    shown = clips_shown if isinstance(clips_shown, int) else [*clips_shown]
    if with_report and audio is not None:
        check_audio_folder(audio)
    evaluated: set[str] = set()
    pages: dict[SystemKey, list[ReportPage]] = {}
    unmade: dict[SystemKey, list[str]] = {}
    with filling(local_path(folder), replaces=is_leaderboard) as target:
        for name, write in _TABLES.items():
            write(ranking, target / name)
        if with_report:
            (target / _REPORTS).mkdir()
        for system in with_report:
            key = system.team, system.name
            for dataset in ranking.datasets or ("",):
                page = _report_page(system, dataset)
                try:
                    clips = _write_report(ranking, system, dataset, target / page, shown, audio)
                    evaluated.update(clips)
                except SedscopeError as error:
                    if not dataset:
                        raise  # it is the only report, and was asked for
                    unmade.setdefault(key, []).append(
                        f"There is no report of {dataset}: {without_advice(str(error))}"
                    )
                else:
                    pages.setdefault(key, []).append((dataset, page))
        if pages and not isinstance(shown, int):
            _refuse_unknown(shown, evaluated)
        write_text(target / FIRST_PAGE, render_leaderboard(ranking, title, pages, unmade))


def check_reasons_folder(folder: Path, leaderboard: Path) -> None:
    """Refuse a folder that would be public, or that holds anything but earlier reasons."""
    if folder.resolve().is_relative_to(leaderboard.resolve()):
        raise SedscopeError(
            f"{folder} is inside the leaderboard. Choose a folder for the reasons elsewhere."
        )
    if folder.is_dir() and not _holds_reasons(folder):
        raise SedscopeError(
            f"{folder} holds other files than reasons that were written before. Choose a new folder."
        )


def _without_reasons(ranking: Ranking, folder: str | Path) -> Ranking:
    """Write why systems were rejected to a file for each team, and return the ranking without that."""
    by_team: dict[str, list[RejectedSystem]] = {}
    for system in ranking.rejected:
        by_team.setdefault(system.team, []).append(system)
    with filling(local_path(folder), replaces=_holds_reasons) as target:
        for team, systems in by_team.items():
            lines = [_REASONS_TITLE]
            for system in systems:
                lines += ["", f"{one_line(system.full_name)}:", *map(printable, system.reasons)]
            write_text(target / f"{_file_name(team, '', [team])}.txt", "\n".join([*lines, ""]))
    private = tuple(replace(system, reasons=_PRIVATE) for system in ranking.rejected)
    return replace(ranking, rejected=private)


def _holds_reasons(folder: Path) -> bool:
    """Return whether a folder holds nothing but reasons that were written before."""

    def is_ours(file: Path) -> bool:
        if file.suffix != ".txt" or not file.is_file():
            return False
        with file.open("rb") as content:
            return content.read(len(_REASONS_TITLE)) == _REASONS_TITLE.encode()

    return all(map(is_ours, folder.iterdir()))


def _for_the_public(ranking: Ranking) -> Ranking:
    """Return the ranking with notes and reasons that do not advise the organiser."""

    def public(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(without_advice, texts))

    return replace(
        ranking,
        systems=tuple(replace(system, warnings=public(system.warnings)) for system in ranking.systems),
        rejected=tuple(replace(system, reasons=public(system.reasons)) for system in ranking.rejected),
        warnings=public(ranking.warnings),
    )


def _write_report(
    ranking: Ranking,
    system: RankedSystem,
    dataset: str,
    page: Path,
    clips_shown: int | list[str],
    audio: str | Path | None,
) -> tuple[str, ...]:
    """Write the report of a system on a data set, and return the clips of the set."""
    evaluation = ranking.evaluate(system, dataset)
    clips = evaluation.alignment.clips if evaluation.alignment is not None else ()
    name = system.full_name
    if len(ranking.datasets) > 1:
        name = f"{name} on {dataset}"
    if dataset and not isinstance(clips_shown, int):  # each data set shows its own clips
        evaluated = {*clips}
        clips_shown = [clip for clip in clips_shown if clip_id(clip) in evaluated]
    evaluation.report(page, name=name, clips_shown=clips_shown, audio=audio)
    return clips


def _refuse_unknown(clips_shown: list[str], evaluated: set[str]) -> None:
    """Refuse clips to show that no data set has."""
    unknown = [clip for clip in clips_shown if clip_id(clip) not in evaluated]
    if unknown:
        raise SedscopeError(
            f"The reports cannot show {counted(len(unknown), 'clip')} that no data set contains: "
            f"{listing(unknown)}. Check the names in clips_shown."
        )


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
    ranking: Ranking,
    title: str,
    pages: Mapping[SystemKey, Sequence[ReportPage]] | None = None,
    unmade: Mapping[SystemKey, Sequence[str]] | None = None,
) -> str:
    """Render the first page as HTML.

    ``pages``: the reports of systems. ``unmade``: why some could not be made.
    """
    from .. import __version__

    template, script, style = static_parts(
        "leaderboard/page.html.j2",
        ("report.css", "leaderboard/leaderboard.css"),
        ("leaderboard/main.js",),
    )
    html = template.render(
        ranking=ranking,
        title=title,
        about=ranking.about(),
        teams=len({system.team for system in ranking.systems}),
        definitions=list(dict.fromkeys([ranking.score, *ranking.metrics])),
        noted=_noted(ranking, unmade or {}),
        most_reasons=_MOST_REASONS,
        version=__version__,
        counted=counted,
        script=script,
        style=style,
        data=json_text(_page_data(ranking, pages or {})),
        policy=content_security_policy(script, style),
    )
    return printable(html)


def _noted(ranking: Ranking, unmade: Mapping[SystemKey, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Return the notes on each system that has some, by its name."""
    notes = [
        (system.full_name, [*system.warnings, *unmade.get((system.team, system.name), ())])
        for system in ranking.systems
    ]
    return [(name, of_system) for name, of_system in notes if of_system]


def _page_data(ranking: Ranking, pages: Mapping[SystemKey, Sequence[ReportPage]]) -> dict[str, Any]:
    """Return what the script of the page reads. Numbers have the digits that it can show."""
    names = [metric.name for metric in ranking.metrics]
    classes = {name: classes_of(ranking, name) for name in names}
    return {
        "score": vars(ranking.score),
        "metrics": [vars(metric) for metric in ranking.metrics],
        "classes": [classes[name] for name in names],
        "systems": [
            {
                **picked(
                    system, "name", "full_name", "team", "rank", "group", "best_of_team", "team_rank"
                ),
                "ranks": [system.rank_low, system.rank_high],
                "score": _numbers(system.score),
                "values": [_numbers(system.metrics[name]) for name in names],
                "reports": pages.get((system.team, system.name), ()),
            }
            for system in ranking.systems
        ],
        "class_values": [
            [
                [rounded(value_of_class(system, name, label).value) for label in classes[name]]
                for system in ranking.systems
            ]
            for name in names
        ],
        "pairs": [
            [rounded(pair.difference), pair.p_text, int(pair.significant)]
            for pair in ranking.pairs.values()
        ],
    }


def _numbers(estimate: Any) -> list[float | None]:
    return [rounded(number) for number in (estimate.value, estimate.low, estimate.high)]


def _report_page(system: RankedSystem, dataset: str) -> str:
    """Return the address of a report of a system."""
    identity = [system.team, system.name, *([dataset] if dataset else [])]
    return f"{_REPORTS}/{_file_name(system.full_name, dataset, identity)}.html"


def _file_name(name: str, dataset: str, identity: Sequence[str]) -> str:
    """Return a name of a file that looks the same on every file system, and begins with a name.

    ``identity``: what it must differ for.
    """
    safe = re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("._")[:60]
    text = "\0".join(identity).encode("utf-8", "surrogatepass")
    tag = hashlib.blake2b(text, digest_size=16).hexdigest()
    return "-".join(filter(None, [safe, dataset if dataset.isascii() else "", tag]))
