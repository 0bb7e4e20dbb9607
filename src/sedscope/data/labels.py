"""Labels of a system and of the ground truth that do not match, and which of them may mean the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest

from ..errors import SedscopeError, counted, listing, near_names, shortened, subject
from ..escaping import one_line

MAP_ADVICE = (
    "A label map renames labels: `LabelMap.propose()` proposes one to edit, and `relabelled()` "
    "applies it."
)

_SHOWN = 30  # labels of one side
_PAIRED = 20  # labels that a likely partner is sought for, because the search takes time
_TYPO = 5  # letters of a word; in shorter ones, another letter often makes another word
_LONG = 200  # letters of a label, which nobody types
_SPECIES = re.compile(r"(\S+ \S+)_(\S.*)", re.DOTALL)
"""``Genus species_Common name``, as BirdNET's lists of labels have it."""


def shown_label(label: str) -> str:
    """Return a label for a message, in quotes where white space would be hard to see."""
    text = shortened(label, 60)
    return one_line(text) if text == " ".join(text.split()) else repr(text)


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


def proposed_pairs(system: Iterable[str], truth: Iterable[str]) -> list[tuple[str, str]]:
    """Pair labels of a system with those that the ground truth uses for the same, if that is clear.

    Only labels that one side lacks are paired, each with one other; see :meth:`LabelMap.propose`.

    >>> proposed_pairs(["dog", "Cat", "Speach", "walk"], ["Dog", "Cat", "Speech", "talk"])
    [('dog', 'Dog'), ('Speach', 'Speech')]
    >>> proposed_pairs(["dog", "DOG"], ["Dog"])
    []
    """
    ours, theirs = dict.fromkeys(system), dict.fromkeys(truth)
    only_system = [label for label in ours if label not in theirs]
    only_truth = [label for label in theirs if label not in ours]
    partner = _clear_pairs(only_system, only_truth, _names, lambda label, other: True)
    paired = {*partner, *partner.values()}
    partner |= _clear_pairs(
        [label for label in only_system if label not in paired],
        [label for label in only_truth if label not in paired],
        _shortened_words,
        _differ_in_a_letter,
    )
    return [(label, partner[label]) for label in only_system if label in partner]


def with_likely_labels(labels: Sequence[str], others: Iterable[str]) -> list[str]:
    """Add to each label the one of the other side that may have been meant.

    >>> with_likely_labels(["dog", "Cow"], ["Dog", "Cat"])
    ['dog (did you mean Dog?)', 'Cow']
    """
    likely = dict(likely_pairs(labels, others))
    return [
        f"{shown_label(label)} (did you mean {shown_label(likely[label])}?)"
        if label in likely
        else shown_label(label)
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


def refuse_disjoint(
    system: Collection[str],
    truth: Collection[str],
    *,
    other: str = "ground truth",
    advice: str = MAP_ADVICE,
) -> None:
    """Refuse a system none of whose labels is one of the reference events.

    ``other``: who else has labels. ``advice``: what to do about it.
    """
    if system and truth and not set(system).intersection(truth):
        raise SedscopeError(
            f"No label of the system is a label of the {other}. "
            f"{_leftovers([*system], [*truth], other)} {advice}",
            advice=advice,
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
    evaluated = {*classes}
    split = [group for group in alike if unmatched.intersection(group) and evaluated.intersection(group)]
    if split:
        raise SedscopeError(
            f"{subject(len(split), 'class', 'is')} spelled differently by the system and the ground truth: "
            f"{listing([_spellings(group) for group in split])}. Use one spelling. {MAP_ADVICE}",
            advice=MAP_ADVICE,
        )
    distinct = [group for group in alike if evaluated.intersection(group)]
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
    ours, theirs, evaluated = {*system}, {*truth}, {*classes}
    only_truth = [label for label in truth if label not in ours and label in evaluated]
    only_system = [label for label in system if label not in theirs and label in evaluated]
    if not only_truth:
        return []
    if not only_system:
        number = f"{counted(len(only_truth), 'class')} of the ground truth"
        verb = "is" if len(only_truth) == 1 else "are"
        return [f"{number} {verb} never detected: {listing(_quoted(only_truth))}."]
    advice = f" {MAP_ADVICE}" if likely_pairs(only_system, only_truth) else ""
    return [f"Some labels do not match. {_leftovers(only_system, only_truth)}{advice}"]


def _leftovers(
    only_system: Sequence[str], only_truth: Sequence[str], other: str = "ground truth"
) -> str:
    """Name the labels that only one side has, and pairs of them that may mean the same."""
    text = (
        f"Only the system has {listing(_quoted(only_system), _SHOWN)}. "
        f"Only the {other} has {listing(_quoted(only_truth), _SHOWN)}."
    )
    pairs = [
        f"{shown_label(label)} may be {shown_label(partner)}"
        for label, partner in likely_pairs(only_system, only_truth)
    ]
    return f"{text} {listing(pairs, _PAIRED)}." if pairs else text


def _clear_pairs(
    labels: Sequence[str],
    others: Sequence[str],
    keys: Callable[[str], Iterable[str]],
    alike: Callable[[str, str], bool],
) -> dict[str, str]:
    """Pair labels that share a key and are alike, if neither has a second partner."""
    by_key: dict[str, list[str]] = {}
    for other in others:
        for key in dict.fromkeys(keys(other)):
            by_key.setdefault(key, []).append(other)
    partners = {
        label: {other for key in keys(label) for other in by_key.get(key, ()) if alike(label, other)}
        for label in labels
    }
    number = Counter(other for candidates in partners.values() for other in candidates)
    return {
        label: other
        for label, candidates in partners.items()
        if len(candidates) == 1
        for other in candidates
        if number[other] == 1
    }


def _shortened_words(label: str) -> list[str]:
    """Return a label, and what is left of it without one of its letters.

    Labels with one wrong, missing or additional letter, or two that changed places, have one of these
    in common. Of a very long label, only the whole is compared.
    """
    text = spelling(label)
    return [text, *(text[:i] + text[i + 1 :] for i in range(len(text)) if len(text) <= _LONG)]


def _differ_in_a_letter(label: str, other: str) -> bool:
    """Return whether labels differ in one letter of one word, or in two letters that changed places."""
    words = [*zip_longest(spelling(label).split(), spelling(other).split(), fillvalue="")]
    differing = [pair for pair in words if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    short, long = sorted(differing[0], key=len)
    if len(short) < _TYPO or not (short + long).isalpha():
        return False
    start = next(
        (i for i, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = long[start + 1 : start + 2] + long[start]
    return short[start + 1 :] == long[start + 1 :] or (
        short[start : start + 2] == swapped and short[start + 2 :] == long[start + 2 :]
    )


def _sharing_words(label: str, others: Sequence[str]) -> list[str]:
    """Return the only one of some labels that has all the words of a label, or no others than these."""
    words = _words(label)
    sharing = [
        other
        for other in others
        if words and (others_words := _words(other)) and (words <= others_words or others_words <= words)
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
    return " and ".join(map(shown_label, group))


def _quoted(labels: Iterable[str]) -> list[str]:
    return [shown_label(label) for label in labels]
