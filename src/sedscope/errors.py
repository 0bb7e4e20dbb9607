"""The exceptions and warnings of sedscope, and the phrases that messages are made of."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from .escaping import one_line, printable

_ITEM_LENGTH = 500  # characters of an item in a message
_GUESSED = 5  # names; looking for those that are alike takes its time
_COMPARED = 200  # characters of a name, for the same reason
_DIGITS = 30  # of a whole number in a message
_WORD_LENGTH = 300  # characters of a path or a number in a message
_LONG_WORD = re.compile(rf"\S{{{_WORD_LENGTH + 1},}}")
_ALIKE = 5  # problems of a kind that are listed one by one
_DETAILS = [  # of a problem, which do not make it another kind
    (re.compile(r"^(?:.*?: |\S+ (?=is empty))"), ""),  # the place
    (re.compile(r"'(?:[^'\\]|\\.)*'"), "''"),  # a cell
    (re.compile(r"^.*? [\d.]+–[\d.]+ s "), ""),  # an event
    (re.compile(r"\d+(?:\.\d+)?"), "0"),
]


class SedscopeError(ValueError):
    """The input cannot be evaluated. The message says what is wrong, where, and what to do.

    Parameters
    ----------
    message : str
        The message.
    lines : iterable of str, optional
        What is wrong with rows of files, as ``file:line: message``.
    advice : str, optional
        What to do about these rows.

    Attributes
    ----------
    lines : tuple of str
        Empty if the problem is not in rows of files.
    advice : str
        Sentences. They are part of the message as well. If there are several problems, each has its line.
    """

    def __init__(self, message: str, *, lines: Iterable[str] = (), advice: str = "") -> None:
        super().__init__(readable(message))
        self.lines = tuple(map(readable, lines))
        self.advice = advice


def readable(message: str) -> str:
    """Return a message that can be printed anywhere.

    Characters that control a terminal or cannot be seen are escaped, bytes of file names that are not UTF-8
    become ``�``, and very long paths and numbers lose their middle.
    """
    if not message.isascii():
        message = message.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    half = _WORD_LENGTH // 2
    return _LONG_WORD.sub(lambda word: f"{word[0][:half]}…{word[0][-half:]}", printable(message))


class SedscopeWarning(UserWarning):
    """The input can be evaluated, but perhaps not in the way its author expects.

    Parameters
    ----------
    message : str
        The message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(readable(message))


def refuse_nul(names: Iterable[object], what: str) -> None:
    """Refuse names with a NUL, which separates names in digests and ends texts for other programs."""
    wrong = [repr(shortened(name, 60)) for name in names if isinstance(name, str) and "\0" in name]
    if wrong:
        raise SedscopeError(
            f"The name of a {what} cannot have a NUL character: {listing(wrong)}. Rename it."
        )


def issue_warnings(notes: Iterable[str], stacklevel: int) -> None:
    """Issue notes as Python warnings. Level 1 points to the caller of this function, 2 to its caller."""
    for note in notes:
        warnings.warn(note, SedscopeWarning, stacklevel=stacklevel + 1)


def listing(items: Collection[str], limit: int = 5, *, total: int | None = None) -> str:
    """List the first few items and how many more there are.

    ``total``: how many there are in all, if ``items`` holds only some of them.

    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    shown = ", ".join(one_line(shortened(item, _ITEM_LENGTH)) for item in islice(items, limit))
    hidden = (len(items) if total is None else total) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def by_kind(problems: Iterable[str]) -> list[str]:
    """Return the first of the problems that differ only in their place, cells or numbers, and say how many
    more there are. A few of a kind are listed one by one.

    >>> by_kind([f"a.tsv:{line}: onset '{line},5'" for line in range(2, 302)] + ["a.tsv:7: no label"])
    ["a.tsv:2: onset '2,5' (and 299 more like this)", 'a.tsv:7: no label']
    """
    kinds: dict[str, list[str]] = {}
    for problem in problems:
        kind = problem
        for pattern, replacement in _DETAILS:
            kind = pattern.sub(replacement, kind, count=int(pattern.pattern.startswith("^")))
        kinds.setdefault(kind, []).append(problem)
    grouped: list[str] = []
    for alike in kinds.values():
        if len(alike) <= _ALIKE:
            grouped += alike
        else:
            more = f"(and {len(alike) - 1} more like this)"
            grouped.append(f"{alike[0].removesuffix('.')} {more}{'.' * alike[0].endswith('.')}")
    return grouped


def shortened(text: str, limit: int = 200) -> str:
    """Return a text, or only its beginning if it is long.

    >>> shortened("abcdef", 3)
    'abc…'
    """
    return text if len(text) <= limit else f"{text[:limit]}…"


def short_number(number: int) -> str:
    """Write a whole number; of one with very many digits, only how many there are.

    >>> short_number(-12), short_number(10**5000)
    ('-12', 'a number of about 5001 digits')
    """
    digits = int(number.bit_length() * math.log10(2)) + 1
    return str(number) if digits <= _DIGITS else f"a number of about {digits} digits"


_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z`])")
_PARAMETER = re.compile(r"`[^`]*[=(][^`]*`|(?<![\w-])--[a-z]")


def without_advice(message: str) -> str:
    """Leave out the sentences that name parameters or options, for readers who cannot choose them.

    >>> without_advice("2 clips have no scores: a, b. Leave them out with `clips='scored'`.")
    '2 clips have no scores: a, b.'
    """
    sentences = _SENTENCE_END.split(message)
    kept = [sentence for sentence in sentences if not _PARAMETER.search(sentence)]
    return " ".join(kept) or message


def counted(number: int, noun: str) -> str:
    """Join a number and its noun: ``1 clip``, ``2 clips``, ``2 classes``.

    >>> counted(1, "class"), counted(3, "class"), counted(1168, "clip")
    ('1 class', '3 classes', '1168 clips')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


def with_guesses(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Add a guess to unknown names: which of the known names may have been meant.

    Only the first few names get one, because the search takes time.

    >>> with_guesses(["speach", "Dog bark", "Cow"], ["Speech", "Dog_bark", "Cat"])
    ['speach (did you mean Speech?)', 'Dog bark (did you mean Dog_bark?)', 'Cow']
    """
    candidates = list(known)
    described = list(names)
    for i, name in enumerate(names[:_GUESSED]):
        near = near_names(name, candidates, limit=1)
        if near:
            described[i] = f"{name} (did you mean {near[0]}?)"
    return described


class UnknownName(SedscopeError, KeyError):
    """There is nothing of this name."""

    __str__ = SedscopeError.__str__


Named = TypeVar("Named")


def look_up(found: Mapping[str, Named], name: str, noun: str) -> Named:
    """Return what has a name, or say which names there are. ``noun``: what is named.

    >>> look_up({"Dog": 1}, "dog", "class")
    Traceback (most recent call last):
    sedscope.errors.UnknownName: There is no class dog (did you mean Dog?). The classes are Dog.
    """
    if name not in found:
        (guess,) = with_guesses([str(name)], found)
        nouns = counted(0, noun).removeprefix("0 ")
        raise UnknownName(f"There is no {noun} {guess}. The {nouns} are {listing([*found])}.")
    return found[name]


def near_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names that are most like a name, apart from case and punctuation.

    >>> near_names("psds1", ["PSDS", "PiPSDS", "FScore"])
    ['PSDS']
    """
    from difflib import get_close_matches

    by_letters = {_letters(candidate): candidate for candidate in known}
    matches = get_close_matches(_letters(name), by_letters, limit, cutoff=0.75)
    return [by_letters[match] for match in matches]


def _letters(name: str) -> str:
    return "".join(character for character in name[:_COMPARED].casefold() if character.isalnum())


def of_systems(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Put the names of systems before notes on them. Systems with the same note share a line.

    >>> of_systems([("a", "No scores."), ("b", "Silent."), ("c", "No scores.")])
    ['a, c: No scores.', 'b: Silent.']
    """
    systems: dict[str, dict[str, None]] = {}
    for system, note in notes:
        systems.setdefault(note, {})[system] = None
    return [f"{listing([*names])}: {note}" for note, names in systems.items()]


@contextmanager
def without_options() -> Iterator[None]:
    """Leave out of errors which options to use, for callers who have no such options."""
    try:
        yield
    except SedscopeError as error:
        if not error.advice:
            raise
        text = str(error)
        for advice in error.advice.split("\n"):
            text = text.replace(advice, "Correct them.")
        raise SedscopeError(text, lines=error.lines) from None


@contextmanager
def located(where: object) -> Iterator[None]:
    """Put a place before the messages of errors that are raised meanwhile."""
    try:
        yield
    except SedscopeError as error:
        raise SedscopeError(f"{where}: {error}", lines=error.lines, advice=error.advice) from None


def raise_together(
    errors: Iterable[SedscopeError], *, perhaps_more: bool = False, what: str = "the scores"
) -> None:
    """Raise one error with all messages, if there are any."""
    together = list(errors)
    messages = [str(error) for error in together]
    if len(messages) == 1:
        raise together[0]
    if messages:
        limit = 20
        kinds = by_kind(messages)
        shown = "\n".join(f"- {message}" for message in kinds[:limit])
        hidden = len(kinds) - limit
        more = f"\n- and {counted(hidden, 'more problem')}" if hidden > 0 else ""
        number = ("At least " if perhaps_more else "") + counted(len(messages), "problem")
        raise SedscopeError(
            f"{number} with {what}:\n{shown}{more}",
            lines=problem_lines(together),
            advice="\n".join(_distinct_advice(together)),
        )


def problem_lines(errors: Iterable[SedscopeError]) -> list[str]:
    """Return what is wrong, row by row, as far as the errors name rows of files."""
    return [line for error in errors for line in error.lines or (str(error),)]


def problem_advice(errors: Iterable[SedscopeError]) -> str:
    """Return what to do about rows of files."""
    return " ".join(_distinct_advice(errors))


def _distinct_advice(errors: Iterable[SedscopeError]) -> list[str]:
    return [
        *dict.fromkeys(text for error in errors if error.advice for text in error.advice.split("\n"))
    ]


_PLURAL_VERBS = {"is": "are", "has": "have", "does": "do", "crosses": "cross"}


def subject(number: int, noun: str, phrase: str) -> str:
    """Join a number, its noun and a phrase, which begins with a verb and is made to agree.

    >>> subject(1, "row", "is"), subject(2, "row", "is empty"), subject(3, "event", "ends")
    ('1 row is', '2 rows are empty', '3 events end')
    >>> subject(2, "clip", "has no scores, so (it is|they are) left out")
    '2 clips have no scores, so they are left out'
    """
    verb, space, rest = phrase.partition(" ")
    if number != 1:
        verb = _PLURAL_VERBS.get(verb, verb.removesuffix("s"))
    return f"{counted(number, noun)} {verb}{space}{agreeing(number, rest)}"


_ALTERNATIVES = re.compile(r"\(([^()|]*)\|([^()|]*)\)")


def agreeing(number: int, text: str) -> str:
    """Choose among the words of ``(one|several)`` in a text.

    >>> agreeing(1, "of (its|their) clip"), agreeing(2, "of (its|their) clip")
    ('of its clip', 'of their clip')
    """
    return _ALTERNATIVES.sub(lambda words: words[1 if number == 1 else 2], text)


def note(
    things: Collection[str], noun: str, phrase: str, advice: str = "", *, where: object = ""
) -> list[str]:
    """Note things that have something in common, if there are any, and list them.

    ``phrase``: what it is, as :func:`subject` takes it. ``where``: what the things are in.
    """
    if not things:
        return []
    number, place = len(things), f"{where}: " if where else ""
    text = f"{place}{subject(number, noun, phrase)}: {listing(things)}. {agreeing(number, advice)}"
    return [text.rstrip()]


def refuse(
    things: Collection[str], noun: str, phrase: str, advice: str = "", *, where: object = ""
) -> None:
    """Refuse things that share a problem, if there are any. The arguments are those of :func:`note`."""
    for problem in note(things, noun, phrase, advice, where=where):
        raise SedscopeError(problem)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the warnings of the library in a list, which is filled at the end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SedscopeWarning)
        yield texts
    texts += dict.fromkeys(str(w.message) for w in caught if w.category is SedscopeWarning)
    for other in caught:
        if other.category is not SedscopeWarning:
            warnings.showwarning(other.message, other.category, other.filename, other.lineno)
