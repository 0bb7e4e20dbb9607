"""The pass over the clips on threads of this process, as tests call it."""

from __future__ import annotations

from sedscope.counting.deltas import Deltas
from sedscope.counting.request import Requests
from sedscope.criteria import Criterion
from sedscope.data.alignment import Alignment
from sedscope.engines import floor_search
from sedscope.engines.engine import Engine


def find_deltas(
    alignment: Alignment, requests: Requests, threads: int | None = None
) -> dict[Criterion, Deltas]:
    """Find the deltas of several criteria."""
    return floor_search.find_deltas(alignment, requests, Engine(threads))
