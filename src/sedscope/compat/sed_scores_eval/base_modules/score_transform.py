"""Piecewise linear transforms that spread the scores in reference events evenly.

They are for tools that evaluate evenly spaced thresholds only; exact metrics do not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import SedscopeError, listing
from ....io.atomic_write import replacing
from ..inputs import events_by_name
from .ground_truth import onset_offset_times_to_indices
from .number_tables import read_number_table
from .scores import validate_score_dataframe


def write_score_transform(
    scores: Any,
    ground_truth: Any,
    filepath: str | Path,
    num_breakpoints: int = 10,
    min_score: float = 0.0,
    max_score: float = 1.0,
    classwise_transform: bool = False,
) -> None:
    """Fit a transform and write it: a column ``y``, and for each class the scores that become it.

    ``num_breakpoints``: the number of points between ``min_score`` and ``max_score``, which do not
    change. ``classwise_transform``: fit one transform per class.
    """
    import pandas

    tables: Any = scores
    if isinstance(scores, (str, Path)):
        from .io import lazy_sed_scores_loader

        tables = lazy_sed_scores_loader(scores)
    inside = _scores_in_references(tables, events_by_name(ground_truth))
    empty = [label for label, values in inside.items() if not len(values)]
    if empty:
        raise SedscopeError(f"These classes have no reference events: {listing(empty)}.")
    if not classwise_transform:
        inside = dict.fromkeys(inside, np.concatenate(list(inside.values())))
    step = (max_score - min_score) / num_breakpoints
    middles = min_score + step * (np.arange(num_breakpoints) + 0.5)
    columns = {"y": np.round([min_score, *middles, max_score], 12)}
    for label, values in inside.items():
        positive = np.sort(values[values > 0])
        ranks = np.linspace(0, len(positive), num_breakpoints + 1, dtype=int)[:-1]
        columns[label] = np.concatenate([[min_score], positive[ranks], [max_score]])
    with replacing(filepath) as temporary:
        pandas.DataFrame(columns).to_csv(temporary, sep="\t", index=False)


def read_score_transform(filepath: str | Path) -> Callable[[Any], Any]:
    """Read a transform as a function from score table to score table."""
    table = read_number_table(Path(filepath))
    names = table.columns.tolist()
    if names[:1] != ["y"] or len(names) < 2:
        raise SedscopeError(f"{filepath}: the columns must be y and one per class.")
    classes = names[1:]

    def transform(scores: Any) -> Any:
        validate_score_dataframe(scores, event_classes=classes)
        transformed = scores.copy()
        for label in classes:
            knots, values = table[label].to_numpy(), scores[label].to_numpy()
            if (values < knots[0]).any() or (values > knots[-1]).any():
                raise SedscopeError(f"Scores of {label} are outside {knots[0]:g} to {knots[-1]:g}.")
            transformed[label] = np.interp(values, knots, table["y"].to_numpy())
        return transformed

    return transform


def _scores_in_references(tables: Any, events: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of each class during its reference events."""
    classes: list[str] | None = None
    inside: dict[str, list[NDArray[np.float64]]] = {}
    for name in sorted(tables.keys()):
        table = tables[name]
        edges, classes = validate_score_dataframe(table, event_classes=classes)
        for onset, offset, name_of_class in events[name]:
            label = name_of_class.strip()
            if label not in classes:
                raise SedscopeError(f"Clip {name}: the scores have no class {label}.")
            first, last = onset_offset_times_to_indices(onset, offset, edges)
            inside.setdefault(label, []).append(table[label].to_numpy()[first:last])
    return {
        label: np.concatenate(inside[label]) if label in inside else np.empty(0)
        for label in classes or []
    }
