"""Call a function for many arguments at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ....errors import SedscopeError


def map(
    args: Sequence[Any],
    arg_keys: str | Sequence[str],
    func: Callable[..., Any],
    max_jobs: int,
    **kwargs: Any,
) -> list[Any]:
    """Call a function for each value of an argument, or for values of several arguments, on threads.

    ``arg_keys``: the name of the argument whose values ``args`` lists; or several names, with a list of
    values for each. A list may be None, if the argument is always None.

    >>> map([1, 2], "base", lambda base, power: base**power, max_jobs=2, power=2)
    [1, 4]
    """
    if isinstance(arg_keys, str):
        calls = [{arg_keys: value} for value in args]
    else:
        if len(args) != len(arg_keys):
            raise SedscopeError(f"There are {len(args)} lists of values for {len(arg_keys)} arguments.")
        lengths = {len(values) for values in args if values is not None}
        if len(lengths) != 1:
            raise SedscopeError("All lists of values must have the same length, and one must be a list.")
        (number,) = lengths
        columns = [[None] * number if values is None else values for values in args]
        calls = [dict(zip(arg_keys, row, strict=True)) for row in zip(*columns, strict=True)]
    if max_jobs <= 1:
        return [func(**call, **kwargs) for call in calls]
    with ThreadPoolExecutor(max_jobs) as pool:
        return list(pool.map(lambda call: func(**call, **kwargs), calls))
