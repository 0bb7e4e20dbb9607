"""Refusals of the command line: an error, and nothing written."""

from __future__ import annotations

from collections.abc import Iterable

from .command_line import run
from .files import Files


def assert_refused(files: Files, message: Iterable[str], *options: object) -> None:
    """Exit code 2, a message with all that is to be said, and no file more or less than before."""
    before = files.listing()
    arguments = ["--json", files.folder / "results.json", *options]
    if "--durations" not in options and files.durations.exists():
        arguments += ["--durations", files.durations]
    outcome = run("evaluate", files.scores, files.truth, *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    for words in message:
        assert words in outcome.err
    assert files.listing() == before
