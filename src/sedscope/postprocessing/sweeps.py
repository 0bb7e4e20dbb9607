"""Many post-processings from one text with ranges and alternatives.

``0.0..2.0/0.08`` stands for the numbers from 0 to 2 in steps of 0.08; the end is included if a step
reaches it. ``a|b`` stands for either. Several of these stand for all combinations, of which the first
changes slowest.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import product

from ..errors import SedscopeError, shortened
from .postprocessing import PostProcessing, parse_postprocessing, require_postprocessings

_LIMIT = 10_000  # definitions that one text may stand for

_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s*/\s*({_NUMBER}))?")
_TOKEN = re.compile(rf"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|{_RANGE.pattern}|.""", re.DOTALL)


def parse_sweep(text: str) -> list[PostProcessing]:
    """Read all post-processings that a text with ranges and alternatives stands for.

    Parameters
    ----------
    text : str
        A definition in which ``first..last/step`` stands for several numbers, and ``a|b`` for either.

    Returns
    -------
    list of PostProcessing
        All combinations, in order; the first range or alternative changes slowest.

    Raises
    ------
    SedscopeError
        If the text cannot be read, or stands for more than 10,000 definitions.

    Examples
    --------
    >>> parse_sweep("MedianFilter(0.1..0.25/0.1|1)")
    [MedianFilter(seconds=0.1), MedianFilter(seconds=0.2), MedianFilter(seconds=1)]
    """
    return [parse_postprocessing(definition) for definition in expand_sweep(text)]


def as_postprocessings(
    candidates: PostProcessing | Iterable[PostProcessing] | str,
) -> tuple[PostProcessing, ...]:
    """Return post-processings as a tuple, each of them once, in order.

    Parameters
    ----------
    candidates : PostProcessing, iterable of PostProcessing, or str
        One post-processing, several, or the text of a sweep.

    Returns
    -------
    tuple of PostProcessing
        The distinct post-processings.

    Examples
    --------
    >>> as_postprocessings("MedianFilter(0.1|0.2|0.1)")
    (MedianFilter(seconds=0.1), MedianFilter(seconds=0.2))
    """
    if isinstance(candidates, str):
        candidates = parse_sweep(candidates)
    postprocessings = tuple(candidates) if isinstance(candidates, Iterable) else (candidates,)
    require_postprocessings("postprocessing=", postprocessings)
    return tuple(dict.fromkeys(postprocessings))


def expand_sweep(text: str) -> list[str]:
    """Return the definitions that a text stands for.

    >>> expand_sweep("F(0.1..0.25/0.1, x=2|5)")
    ['F(0.1, x=2)', 'F(0.1, x=5)', 'F(0.2, x=2)', 'F(0.2, x=5)']
    """
    tokens = deque(match.group() for match in _TOKEN.finditer(text))
    definitions: list[str] = []
    try:
        definitions, closing = _expand(tokens)
        while closing:  # an unmatched bracket: the text cannot be read, and its definition says so
            rest, next_closing = _expand(tokens)
            definitions = _join(definitions, [closing + tail for tail in rest])
            closing = next_closing
    except RecursionError:
        raise SedscopeError(f"{shortened(text)!r} is nested too deeply.") from None
    except SedscopeError as error:
        raise SedscopeError(f"{shortened(text)!r}: {error}") from None
    return definitions


def _expand(tokens: deque[str]) -> tuple[list[str], str]:
    """Expand what comes before a closing bracket or the end; return the texts and the bracket."""
    done = [""]  # up to the last comma, or up to the name or label of the next value
    alternatives: list[str] = []  # complete alternatives of the value after that
    current = [""]
    closing = ""
    while tokens:
        token = tokens.popleft()
        if token in (")", "]", "}"):
            closing = token
            break
        if token == "|":
            alternatives, current = alternatives + current, [""]
        elif token in (",", "=", ":"):
            done, alternatives, current = _join(done, alternatives + current, token), [], [""]
        elif token in ("(", "[", "{"):
            inner, end = _expand(tokens)
            current = _join(current, [f"{token}{text}{end}" for text in inner])
        else:
            current = _join(current, _values(token))
    return _join(done, alternatives + current), closing


def _join(heads: Sequence[str], tails: Sequence[str], end: str = "") -> list[str]:
    if len(heads) * len(tails) > _LIMIT:
        raise SedscopeError(f"The sweep has more than {_LIMIT} definitions.")
    return [f"{head}{tail}{end}" for head, tail in product(heads, tails)]


def _values(token: str) -> list[str]:
    """Return the numbers of a range, or the token itself if it is not a range."""
    match = _RANGE.fullmatch(token)
    if match is None:
        return [token]
    if match[3] is None:
        raise SedscopeError(f"The range {token} needs a step. Write, for example, {token}/0.1.")
    try:
        first, last, step = (Decimal(number) for number in match.groups())
        if step <= 0:
            raise SedscopeError(f"The step of {token} must be above 0.")
        if last < first:
            raise SedscopeError(f"The range {token} is empty: it ends before it begins.")
        steps = (last - first) / step
        if steps >= _LIMIT:
            raise SedscopeError(f"The range {token} has more than {_LIMIT} values.")
        return [str(first + step * i) for i in range(int(steps) + 1)]
    except ArithmeticError:
        raise SedscopeError(f"The numbers of {token} are too large or too small.") from None
