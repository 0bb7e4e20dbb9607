"""Labels of a system and of the ground truth that do not match, and which of them may mean the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from ..errors import SedscopeError, counted, listing, near_names, shortened, subject

_SHOWN = 30  # labels of one side
_PAIRED = 20  # labels that a likely partner is sought for, because the search takes time
_SPECIES = re.compile(r"(\S+ \S+)_(\S.*)")
"""``Genus species_Common name``, as BirdNET's lists of labels have it."""


def spelling(label: str) -> str:
    """Return a label apart from case, white space, underscores and hyphens.

    >>> spelling("Dog_bark") == spelling(" dog  Bark") == "dog bark"
    True
    """
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFKC", label)).strip().casefold()


def stripped(labels: Iterable[str]) -> tuple[str, ...]:
    """Remove white space around labels. Anything that is not text stays, to be refused elsewhere.

    >>> stripped(["Dog ", " Running water"])
    ('Dog', 'Running water')
    """
    return tuple(label.strip() if isinstance(label, str) else label for label in labels)


def likely_pairs(labels: Sequence[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Pair labels with those of the other side that may mean the same.

    These are labels that differ only in spelling, the scientific or common name of a species beside
    both names, labels with small differences, and labels that have all the words of just one other.

    >>> likely_pairs(["dog", "Blackbird", "speach"], ["Dog", "Turdus merula_Blackbird", "Speech"])
    [('dog', 'Dog'), ('Blackbird', 'Turdus merula_Blackbird'), ('speach', 'Speech')]
    >>> likely_pairs(["Running_water"], ["Water", "Wind"])
    [('Running_water', 'Water')]
    """
    candidates = list(others)
    by_name: dict[str, str] = {}
    for other in candidates:
        for name in _names(other):
            by_name.setdefault(name, other)
    pairs = []
    for label in labels[:_PAIRED]:
        same = [by_name[name] for name in _names(label) if name in by_name]
        partners = same or near_names(label, candidates, limit=1) or _sharing_words(label, candidates)
        pairs += [(label, partner) for partner in partners[:1]]
    return pairs


def with_likely_labels(labels: Sequence[str], others: Iterable[str]) -> list[str]:
    """Add to each label the one of the other side that may have been meant.

    >>> with_likely_labels(["dog", "Cow"], ["Dog", "Cat"])
    ['dog (did you mean Dog?)', 'Cow']
    """
    likely = dict(likely_pairs(labels, others))
    return [
        f"{_quote(label)} (did you mean {_quote(likely[label])}?)" if label in likely else _quote(label)
        for label in labels
    ]


def spelled_alike(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Group the labels that differ only in case, white space, underscores and hyphens.

    >>> spelled_alike(["Dog", "Cat", "dog "])
    [('Dog', 'dog ')]
    """
    groups: dict[str, list[str]] = {}
    for label in dict.fromkeys(labels):
        groups.setdefault(spelling(label), []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def refuse_disjoint(system: Collection[str], truth: Collection[str]) -> None:
    """Refuse a system none of whose labels is one of the reference events."""
    if system and truth and not set(system).intersection(truth):
        raise SedscopeError(
            "No label of the system is a label of the ground truth. "
            f"{_leftovers([*system], [*truth])} Rename the labels of one side."
        )


def check_spelling(
    system: Collection[str], truth: Collection[str], classes: Collection[str]
) -> list[str]:
    """Refuse a class that the two sides spell differently, and note classes that are spelled alike.

    ``system``: the labels that the system has by itself; ``truth``: those of the reference events;
    ``classes``: those that are evaluated.
    """
    unmatched = set(system).symmetric_difference(truth)
    alike = spelled_alike(sorted({*system, *truth}))
    split = [
        group for group in alike if unmatched.intersection(group) and {*classes}.intersection(group)
    ]
    if split:
        raise SedscopeError(
            f"{subject(len(split), 'class', 'is')} spelled differently by the system and the ground truth: "
            f"{listing([_spellings(group) for group in split])}. Use one spelling."
        )
    distinct = [group for group in alike if {*classes}.intersection(group)]
    if not distinct:
        return []
    return [
        "Some labels differ only in case, white space, underscores or hyphens, and count as different "
        f"classes: {listing([_spellings(group) for group in distinct])}."
    ]


def undetected_note(
    system: Collection[str], truth: Collection[str], classes: Collection[str]
) -> list[str]:
    """Note labels of the ground truth that a list of detections never has, beside those that only it has.

    The arguments are those of :func:`check_spelling`.
    """
    only_truth = [label for label in truth if label not in system and label in classes]
    only_system = [label for label in system if label not in truth and label in classes]
    if not only_truth:
        return []
    if not only_system:
        number = f"{counted(len(only_truth), 'class')} of the ground truth"
        verb = "is" if len(only_truth) == 1 else "are"
        return [f"{number} {verb} never detected: {listing(_quoted(only_truth))}."]
    return [f"Some labels do not match. {_leftovers(only_system, only_truth)}"]


def _leftovers(only_system: Sequence[str], only_truth: Sequence[str]) -> str:
    """Name the labels that only one side has, and pairs of them that may mean the same."""
    text = (
        f"Only the system has {listing(_quoted(only_system), _SHOWN)}. "
        f"Only the ground truth has {listing(_quoted(only_truth), _SHOWN)}."
    )
    pairs = [
        f"{_quote(label)} may be {_quote(other)}"
        for label, other in likely_pairs(only_system, only_truth)
    ]
    return f"{text} {listing(pairs, _PAIRED)}." if pairs else text


def _sharing_words(label: str, others: Sequence[str]) -> list[str]:
    """Return the only one of some labels that has all the words of a label, or no others than these."""
    words = _words(label)
    sharing = [
        other for other in others if words and (own := _words(other)) and (words <= own or own <= words)
    ]
    return sharing if len(sharing) == 1 else []


def _words(label: str) -> set[str]:
    return set(re.findall(r"\w+", spelling(label)))


def _names(label: str) -> list[str]:
    """Return the names in a label: itself, and the two names of a species."""
    species = _SPECIES.fullmatch(label)
    parts = [] if species is None else [species[1], species[2]]
    return [spelling(name) for name in (label, *parts)]


def _spellings(group: Iterable[str]) -> str:
    return " and ".join(map(_quote, group))


def _quoted(labels: Iterable[str]) -> list[str]:
    return [_quote(label) for label in labels]


def _quote(label: str) -> str:
    """Return a label for a message, in quotes where white space would be hard to see."""
    text = shortened(label, 60)
    return text if text == " ".join(text.split()) else repr(text)
