"""Partial, merge, finish: the three functions that a cluster needs.

*Partial* turns clips into one state per block of classes, *merge* merges states of the same block, in any
grouping, and *finish* turns a state into what comes back. A state is bytes: it begins with a tag that names
its kind and version, and holds a checksum. It can be sent, stored, and merged anywhere.

A problem with some clips is a state, too. So the other clips go on, and at the end all problems are reported.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.delta_files import pack_deltas, unpack_deltas
from ..counting.deltas import Deltas, of_classes
from ..counting.request import Requests
from ..counting.units import add_up_clips, merge_units, of_block, widened
from ..criteria import Criterion
from ..errors import SedscopeError
from .engine import part_deltas

_DELTAS, _PROBLEMS = b"deltas 1", b"problem1"
ALL_CLIPS = "all clips"
"""The name of the unit of all clips."""


@dataclass(frozen=True, eq=False)
class Block:
    """What one state is about."""

    criteria: tuple[Criterion, ...]
    classes: NDArray[np.bool_] | None
    """Whether each class has rows in it; None for a state that has only facts about the clips: their
    durations, and where their frames begin and end."""
    added_up: bool = True
    """Whether all clips are one unit."""


@dataclass(frozen=True, eq=False)
class StatePlan:
    """Which states there are."""

    requests: Requests
    blocks: tuple[Block, ...]

    @property
    def named(self) -> Mapping[str, Any]:
        """The criteria and post-processings by their definition."""
        variants = [variant for request in self.requests.values() for variant in request.variants]
        return {repr(part): part for part in (*self.requests, *variants)}


Finish: TypeAlias = Callable[[int, "dict[Criterion, Deltas]"], Any]
"""Gets the number of the block and its deltas."""


@dataclass(frozen=True)
class Finished:
    """What comes back of a block: problems, or else a result."""

    problems: tuple[str, ...]
    result: Any = None


def partial(part: Alignment, plan: StatePlan) -> list[bytes]:
    """Find the deltas of some clips, and return the state of each block."""
    try:
        deltas = part_deltas(part, plan.requests, threads=1)
    except SedscopeError as error:
        return [_problems_state([str(error)])] * len(plan.blocks)
    together = np.zeros(len(part.clips), np.intp)
    added_up: dict[Criterion, Deltas] = {}
    if any(block.added_up and block.classes is not None for block in plan.blocks):
        added_up = {
            criterion: add_up_clips(of_criterion, together, (ALL_CLIPS,))
            for criterion, of_criterion in deltas.items()
        }
    states = []
    for block in plan.blocks:
        if block.classes is None:
            states.append(_deltas_state([_facts(deltas[block.criteria[0]])]))
            continue
        source, classes = (added_up if block.added_up else deltas), block.classes
        of_criteria = [source[criterion] for criterion in block.criteria]
        if not classes.all():
            of_criteria = [of_block(of_criterion, classes) for of_criterion in of_criteria]
        states.append(_deltas_state(of_criteria))
    return states


def merge(states: Sequence[bytes], plan: StatePlan) -> bytes:
    """Merge some states of one block."""
    if len(states) == 1:
        return states[0]
    if problems := problems_of(states):
        return _problems_state(problems)
    try:
        parts = [_deltas(state, plan.named) for state in states]
        merged = [
            merge_units(same) if same[0].clip_numbers is not None else same[0].merge(*same[1:])
            for same in zip(*parts, strict=True)
        ]
    except SedscopeError as error:
        return _problems_state([str(error)])
    return _deltas_state(merged)


def finish(state: bytes, number: int, plan: StatePlan, measure: Finish) -> Finished:
    """Turn the merged state of a block into its result."""
    if problems := problems_of([state]):
        return Finished(problems)
    try:
        deltas = {
            part.criterion: part if part.clip_numbers is None else widened(part)
            for part in _deltas(state, plan.named)
        }
        return Finished((), measure(number, deltas))
    except SedscopeError as error:
        return Finished((str(error),))


def results_of(finished: Iterable[Finished]) -> list[Any]:
    """Return the results of all blocks, or raise one error with all problems."""
    blocks = [*finished]
    raise_parts(sorted({problem for block in blocks for problem in block.problems}))
    return [block.result for block in blocks]


def raise_parts(problems: Sequence[str]) -> None:
    """Raise one error with the problems of all parts, if there are any."""
    if len(problems) == 1:
        raise SedscopeError(problems[0])
    if problems:
        lines = "".join(f"\n- {problem}" for problem in problems)
        raise SedscopeError(f"{len(problems)} parts of the set cannot be evaluated:{lines}")


def _facts(deltas: Deltas) -> Deltas:
    """Return the clips of deltas with their durations and frames, and nothing about classes."""
    none = of_classes(deltas, np.zeros(len(deltas.classes), bool))
    return replace(none, provenance=deltas.provenance, variants={})


def _deltas_state(deltas: Iterable[Deltas]) -> bytes:
    return _DELTAS + pack_deltas(deltas).tobytes()


def _deltas(state: bytes, named: Mapping[str, Any]) -> list[Deltas]:
    """Return the deltas of a state, after a look at its version and checksum."""
    if state[:8] != _DELTAS:
        raise SedscopeError("A worker has another version of sedscope. Install the same one everywhere.")
    try:
        deltas, *_ = unpack_deltas(np.frombuffer(state, np.uint8, offset=8), named)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SedscopeError(f"What a worker sent was damaged on the way: {error}.") from None
    return deltas


def _problems_state(problems: Iterable[str]) -> bytes:
    content = json.dumps([*problems]).encode()
    return _PROBLEMS + zlib.crc32(content).to_bytes(4, "little") + content


def problems_of(states: Iterable[bytes]) -> tuple[str, ...]:
    """Return the distinct problems of some states, in order; none if all have deltas."""
    problems: set[str] = set()
    for state in states:
        if state[:8] != _PROBLEMS:
            continue
        if zlib.crc32(state[12:]) != int.from_bytes(state[8:12], "little"):
            problems.add("What a worker sent was damaged on the way.")
        else:
            problems.update(json.loads(state[12:]))
    return (*sorted(problems),)
