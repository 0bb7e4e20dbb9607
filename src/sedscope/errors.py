"""What goes wrong with a user's data, and how it is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

_GUESSED = 5  # names; looking for those that are alike takes its time


class SedscopeError(ValueError):
    """Input that cannot be evaluated. The message says what is wrong, where, and what to do."""


class SedscopeWarning(UserWarning):
    """Input that can be evaluated, though perhaps not as its author thinks."""


def listing(items: Collection[str], limit: int = 5, *, total: int | None = None) -> str:
    """The first few items and how many more there are; ``total``: of more than are at hand.

    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    shown = ", ".join(islice(items, limit))
    hidden = (len(items) if total is None else total) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def shortened(text: str, limit: int = 200) -> str:
    """A text, or its beginning if it is long.

    >>> shortened("abcdef", 3)
    'abc…'
    """
    return text if len(text) <= limit else f"{text[:limit]}…"


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 clip``, ``2 clips``, ``2 classes``.

    >>> counted(1, "class"), counted(3, "class"), counted(1168, "clip")
    ('1 class', '3 classes', '1168 clips')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


def with_guesses(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Names that are not known, the first ones with what was perhaps meant.

    >>> with_guesses(["speach", "Dog bark", "Cow"], ["Speech", "Dog_bark", "Cat"])
    ['speach (is it Speech?)', 'Dog bark (is it Dog_bark?)', 'Cow']
    """
    from difflib import get_close_matches

    alike = {_plain(name): name for name in known}
    found = list(names)
    for i, name in enumerate(names[:_GUESSED]):
        near = get_close_matches(_plain(name), alike, n=1, cutoff=0.75)
        if near:
            found[i] = f"{name} (is it {alike[near[0]]}?)"
    return found


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def raise_together(
    errors: Iterable[SedscopeError], *, perhaps_more: bool = False, what: str = "the scores"
) -> None:
    """Raise one error with the messages of all, if there are any."""
    messages = [str(error) for error in errors]
    if len(messages) == 1:
        raise SedscopeError(messages[0])
    if messages:
        limit = 20
        shown = "\n".join(f"- {message}" for message in messages[:limit])
        hidden = len(messages) - limit
        more = f"\n- and {counted(hidden, 'more problem')}" if hidden > 0 else ""
        number = ("at least " if perhaps_more else "") + counted(len(messages), "problem")
        raise SedscopeError(f"{number} with {what}:\n{shown}{more}")
