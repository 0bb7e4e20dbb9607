"""Pairs of detections and references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

U = TypeVar("U")
V = TypeVar("V")


def first_fit(candidates: Iterable[Sequence[V]]) -> dict[int, V]:
    """Return for each row its first candidate that no earlier row has taken.

    >>> first_fit([[0, 1], [0], [1, 2]])
    {0: 0, 2: 1}
    """
    taken: set[V] = set()
    pairs = {}
    for row, choices in enumerate(candidates):
        choice = next((choice for choice in choices if choice not in taken), None)
        if choice is not None:
            pairs[row] = choice
            taken.add(choice)
    return pairs


def bipartite_match(graph: Mapping[U, Sequence[V]]) -> dict[V, U]:
    """Return as many pairs as possible, by the algorithm of Hopcroft and Karp (1973).

    There may be several ways to form them. This one is settled by the order of the graph: sed_eval's
    substitutions are counted among the events without a partner, so which ones these are matters.

    Parameters
    ----------
    graph : mapping
        The neighbours of each left vertex.

    Returns
    -------
    dict
        The left partner of each right vertex that has one.

    Examples
    --------
    >>> bipartite_match({"a": [0, 1], "b": [0]}) == {0: "b", 1: "a"}
    True
    """
    partner: dict[V, U] = {}
    for left, neighbours in graph.items():
        free = next((right for right in neighbours if right not in partner), None)
        if free is not None:
            partner[free] = left
    while True:
        previous, before, ends = _layers(graph, partner)
        if not ends:
            return partner
        for end in ends:
            _augment(end, partner, previous, before)


def _layers(
    graph: Mapping[U, Sequence[V]], partner: Mapping[V, U]
) -> tuple[dict[U, V | None], dict[V, list[U]], list[V]]:
    """Return the shortest alternating paths from left vertices without a partner.

    These are: of each left vertex the right one before it (None: a path begins here), of each right vertex
    the left ones before it, and the right vertices without a partner, at which paths end.
    """
    paired = set(partner.values())
    previous: dict[U, V | None] = {left: None for left in graph if left not in paired}
    before: dict[V, list[U]] = {}
    ends: list[V] = []
    layer = list(previous)
    while layer and not ends:
        reached: dict[V, list[U]] = {}
        for left in layer:
            for right in graph[left]:
                if right not in before:
                    reached.setdefault(right, []).append(left)
        before.update(reached)
        ends = [right for right in reached if right not in partner]
        layer = [partner[right] for right in reached if right in partner]
        previous.update((partner[right], right) for right in reached if right in partner)
    return previous, before, ends


def _augment(end: V, partner: dict[V, U], previous: dict[U, V | None], before: dict[V, list[U]]) -> None:
    """Follow a path back to where it begins, and pair its vertices anew. Each vertex is visited once."""
    path: list[tuple[V, Iterator[U]]] = [(end, iter(before.pop(end)))]
    lefts: list[U] = []
    while path:
        for left in path[-1][1]:
            if left not in previous:
                continue
            right = previous.pop(left)
            if right is None:
                partner.update(zip((vertex for vertex, _ in path), [*lefts, left], strict=True))
                return
            if right in before:
                lefts.append(left)
                path.append((right, iter(before.pop(right))))
                break
        else:
            path.pop()
            if lefts:
                lefts.pop()
