"""Files of operating points: TOML and JSON, which are read back, and a C header for firmware."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SedscopeError
from ..escaping import json_text, toml_string
from ..io.locations import Location, input_location, read_input
from ..io.toml_files import read_toml
from ..postprocessing import Chain

if TYPE_CHECKING:
    from .operating_points import OperatingPoints


def tables_of(points: OperatingPoints) -> dict[str, Mapping[str, Any]]:
    """Return what a file holds: the thresholds, and the other tables that are not empty."""
    tables: dict[str, Mapping[str, Any]] = {
        "thresholds": points.thresholds,
        "provenance": points.provenance,
        "unmet": points.unmet,
        "postprocessing": {label: repr(step) for label, step in points.postprocessing.items()},
    }
    return {name: table for name, table in tables.items() if table or name == "thresholds"}


def toml_text(points: OperatingPoints) -> str:
    """Return the points as TOML."""
    lines = []
    for name, table in tables_of(points).items():
        values = (
            toml_string(value) if isinstance(value, str) else repr(float(value))
            for value in table.values()
        )
        entries = (f"{toml_string(key)} = {value}" for key, value in zip(table, values, strict=True))
        lines += [f"[{name}]", *entries, ""]
    return "\n".join(lines)


def json_file_text(points: OperatingPoints) -> str:
    """Return the points as JSON. Infinite thresholds, which JSON lacks, are texts: ``"inf"``."""
    tables = tables_of(points)
    limits = {label: float(limit) for label, limit in points.thresholds.items()}
    tables["thresholds"] = {
        label: limit if np.isfinite(limit) else str(limit) for label, limit in limits.items()
    }
    return json_text(tables, indent=2) + "\n"


def header_text(points: OperatingPoints) -> str:
    """Return the points as a C header.

    Thresholds are rounded down to single precision, so that the same scores of that precision are above them.
    """
    labels = list(points.thresholds)
    identifiers = _identifiers(labels)
    notes = [
        *(f"{name}: {text}" for name, text in points.provenance.items()),
        *(f"not met for {label}: {text}" for label, text in points.unmet.items()),
        "A class is detected where its score, after the post-processing, is above its threshold.",
    ]
    lines = ["#ifndef SEDSCOPE_POINTS_H", "#define SEDSCOPE_POINTS_H", "", "#include <math.h>", ""]
    lines += [*(f"/* {_comment(note)} */" for note in notes), ""]
    entries = [f"SEDSCOPE_{identifiers[label]}" for label in labels]
    lines += ["enum sedscope_class {", *(f"    {entry}," for entry in entries), "    SEDSCOPE_CLASSES"]
    lines += ["};", "", "static const char *const sedscope_names[] = {"]
    lines += [f"    {_c_string(label)}," for label in labels]
    lines += ["};", "", "static const float sedscope_thresholds[] = {"]
    lines += [f"    {_single(points.thresholds[label])}, /* {_comment(label)} */" for label in labels]
    lines += ["};", ""]
    for label, step in points.postprocessing.items():
        lines.append(f"/* post-processing of {_comment(label)}: {_comment(repr(step))} */")
        name = identifiers.get(label) or _identifiers([label])[label]
        for parameter, value in _parameters(step):
            lines.append(f"#define SEDSCOPE_{name}_{parameter} {value!r}")
    return "\n".join([*lines, "", "#endif", ""])


TEXTS = {".toml": toml_text, ".json": json_file_text, ".h": header_text}
"""What makes the text of a file, by the end of its name."""


def read_tables(path: str | Location) -> dict[str, Any]:
    """Read the tables of a file of operating points."""
    if str(path).endswith(".h"):
        raise SedscopeError(
            f"{path}: a C header cannot be read back. Write a .toml or .json file as well."
        )
    if not str(path).endswith(".json"):
        return read_toml(path, "a file of operating points")
    try:
        content = json.loads(read_input(input_location(path)).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"{path} is not a file of operating points: {error}") from None
    if not isinstance(content, dict):
        raise SedscopeError(f"{path} is not a file of operating points: it is not an object.")
    thresholds = content.get("thresholds")
    if isinstance(thresholds, dict):
        infinite = {"inf": np.inf, "-inf": -np.inf}
        content["thresholds"] = {
            label: infinite.get(value, value) if isinstance(value, str) else value
            for label, value in thresholds.items()
        }
    return content


def _identifiers(labels: list[str]) -> dict[str, str]:
    """Return names for C, all different."""
    names: dict[str, str] = {}
    for label in labels:
        name = stem = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_").upper() or "CLASS"
        number = 2
        while name in (*names.values(), "CLASSES"):
            name, number = f"{stem}_{number}", number + 1
        names[label] = name
    return names


def _comment(text: str) -> str:
    """Return a text that cannot end a comment."""
    return json.dumps(text)[1:-1].replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def _c_string(text: str) -> str:
    """Return a string literal of UTF-8 bytes."""
    plain = {*range(32, 127)} - {ord(mark) for mark in '"\\?'}
    characters = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(characters)}"'


def _single(threshold: float) -> str:
    """Return the largest float of single precision that is not above a threshold, as C."""
    with np.errstate(over="ignore"):
        single = np.float32(threshold)
    if float(single) > threshold:
        single = np.nextafter(single, np.float32(-np.inf))
    if np.isinf(single):
        return "INFINITY" if single > 0 else "-INFINITY"
    return f"{float(single):#.9g}f"


def _parameters(step: Any) -> Iterator[tuple[str, int | float]]:
    """Return the numbers that a post-processing has, with names for C."""
    steps = step.steps if isinstance(step, Chain) else (step,)
    for number, part in enumerate(steps, 1):
        stem = re.sub(r"(?<!^)(?=[A-Z])", "_", type(part).__name__).upper()
        place = f"{number}_" if len(steps) > 1 else ""
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value):
                yield f"{place}{stem}_{field.name.upper()}", value
