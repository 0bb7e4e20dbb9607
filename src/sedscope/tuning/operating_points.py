"""Operating points: one threshold per class, perhaps after a post-processing; saved and loaded.

They are complete: applied to the scores as the system outputs them, they give the detections.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..criteria import Collar, Criterion
from ..criteria.criterion import parse_criterion
from ..data.clip_events import ClipEvents
from ..data.clip_scores import ClipPieces
from ..data.scores import Scores
from ..data.thresholds import DetectedEvents, at_thresholds, class_thresholds, detect
from ..errors import SedscopeError, counted, listing, located, shortened
from ..escaping import json_text, toml_string
from ..io.atomic_write import write_text
from ..io.locations import Location, input_location, location, read_input
from ..io.toml_files import read_toml
from ..metrics import (
    DetectionCost,
    ErrorRate,
    FalseAlarmRate,
    FScore,
    Metric,
    Precision,
    Recall,
    parse_metric,
)
from ..postprocessing import Chain, PerClass, PostProcessing, parse_postprocessing
from ..results.frames import html_table
from ..results.text import number_or_blank, shortest_between


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
        for own in fields(part):
            value = getattr(part, own.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value):
                yield f"{place}{stem}_{own.name.upper()}", value


@dataclass(frozen=True, repr=False)
class OperatingPoints:
    """One threshold per class, perhaps after a post-processing, and where they come from.

    Parameters
    ----------
    thresholds : mapping of str to float
        The threshold of each class (active: ``score > threshold``). If there is none, only the
        post-processings apply.
    provenance : mapping of str to str
        The data and the settings that the points were chosen with.
    unmet : mapping of str to str
        The constraint that no threshold of the class meets. Its threshold is the best one regardless.
    postprocessing : mapping of str to post-processing
        How the scores of a class are post-processed before the threshold applies.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sed.OperatingPoints({"Dog": 0.5}).detect(scores)
    {'a': [(1.0, 2.0, 'Dog')]}
    """

    thresholds: Mapping[str, float]
    provenance: Mapping[str, str] = field(default_factory=dict)
    unmet: Mapping[str, str] = field(default_factory=dict)
    postprocessing: Mapping[str, PostProcessing] = field(default_factory=dict)

    def __repr__(self) -> str:
        processed = ", post-processed" if self.postprocessing else ""
        return f"<OperatingPoints: {counted(len(self._labels()), 'class')}{processed}>"

    def _repr_html_(self) -> str:
        labels = self._labels()
        rows = (
            [
                label,
                number_or_blank(self.thresholds.get(label), ".4g"),
                repr(self.postprocessing[label]) if label in self.postprocessing else "",
            ]
            for label in labels
        )
        header = ["class", "threshold", "post-processing"]
        return html_table(header, rows, len(labels), "class", title=repr(self))

    def _labels(self) -> list[str]:
        return list({**self.thresholds, **self.postprocessing})

    def process(self, scores: Scores) -> Scores:
        """Return the post-processed scores.

        A class without a post-processing keeps its scores. Where other classes become points in time, it
        takes the post-processing of the first of them.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> from sedscope.postprocessing import MovingAverage
        >>> points = sed.OperatingPoints({"Dog": 0.5}, postprocessing={"Dog": MovingAverage(3.0)})
        >>> points.process(scores)["a"].values.round(2).ravel().tolist()
        [0.55, 0.5, 0.65]
        """
        if not self.postprocessing:
            return scores
        steps = dict(self.postprocessing)
        for step in self.postprocessing.values():
            if step.makes_events:  # then scores of frames have no place beside them
                steps = {**dict.fromkeys(scores.classes, step), **steps}
                break
        if len({*steps.values()}) == 1 and steps.keys() == {*scores.classes}:
            return next(iter(steps.values()))(scores)
        return PerClass(steps)(scores)

    def after(self, postprocessing: PostProcessing, classes: Iterable[str]) -> OperatingPoints:
        """Return the same points with one more post-processing, which comes first.

        Use it for points that were chosen on post-processed scores, so that they can be applied to the
        scores as the system outputs them.

        Parameters
        ----------
        postprocessing : PostProcessing
            What was done to the scores before the points were chosen.
        classes : iterable of str
            The classes of the scores.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> import sedscope as sed
        >>> from sedscope.postprocessing import MedianFilter
        >>> sed.OperatingPoints({"Dog": 0.5}).after(MedianFilter(0.3), ["Dog"]).postprocessing
        {'Dog': MedianFilter(seconds=0.3)}
        """
        labels = [*classes]
        postprocessing.require_fit(labels)
        steps: dict[str, PostProcessing] = {}
        for label in labels:
            of_class = self.postprocessing.get(label, Chain())
            step = Chain(postprocessing, of_class)._for_class(label)
            if step is not None:
                steps[label] = step
        return replace(self, postprocessing=steps)

    def shortened(self, scores: Scores) -> OperatingPoints:
        """Return the same points with as few digits as the scores allow.

        Each threshold becomes the shortest decimal between its neighbours among the scores, so that
        exactly the same is detected in them.

        Parameters
        ----------
        scores : Scores
            The scores of the system, before any post-processing. All of them are read.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> sed.OperatingPoints({"Dog": 0.412345}).shortened(scores).thresholds
        {'Dog': 0.5}
        """
        limits = class_thresholds(scores, self.thresholds)
        below, above = np.full(len(limits), -np.inf), np.full(len(limits), np.inf)
        processed = self.process(scores)
        for clip in processed:
            opened = processed.open(clip)
            if isinstance(opened, ClipEvents):
                active = opened.confidences > limits[opened.columns]
                np.maximum.at(below, opened.columns[~active], opened.confidences[~active])
                np.minimum.at(above, opened.columns[active], opened.confidences[active])
                continue
            for piece in opened.read() if isinstance(opened, ClipPieces) else [processed[clip].values]:
                values = np.asarray(piece, np.float64)
                active = values > limits
                below = np.maximum(below, np.where(active, -np.inf, values).max(0, initial=-np.inf))
                above = np.minimum(above, np.where(active, values, np.inf).min(0, initial=np.inf))
        short = {
            label: shortest_between(float(low), float(high), float(limit))
            for label, low, high, limit in zip(scores.classes, below, above, limits, strict=True)
            if np.isfinite(limit)
        }
        thresholds = {label: short.get(label, limit) for label, limit in self.thresholds.items()}
        return replace(self, thresholds=thresholds)

    def metrics(self) -> dict[str, Metric[Any]]:
        """Return what to measure at the points, by name.

        The metrics are precision, recall, F-score, error rate and false alarms per hour, by the criterion
        that the points were chosen by; by ``Collar()`` if the provenance names none. False alarms are those
        per day if the points were chosen for a limit per day. If the criterion measures time, the last
        metric is the detection cost.

        Returns
        -------
        dict of str to Metric

        Examples
        --------
        >>> import sedscope as sed
        >>> points = sed.OperatingPoints({"Dog": 0.5}, {"criterion": "Segment(length=1)"})
        >>> [*points.metrics()]
        ['precision', 'recall', 'fscore', 'error_rate', 'false_alarms_per_hour']
        >>> points.metrics()["recall"]
        Recall(Segment(length=1, aggregation='max'), threshold='points', average='macro')
        """
        criterion = self._criterion()
        per = "day" if "per=day" in self.provenance.get("objective", "") else "hour"
        return {
            "precision": Precision(criterion, "points"),
            "recall": Recall(criterion, "points"),
            "fscore": FScore(criterion, "points"),
            "error_rate": ErrorRate(criterion, "points"),
            **(
                {"detection_cost": DetectionCost(criterion, "points")}
                if criterion.measures_time
                else {f"false_alarms_per_{per}": FalseAlarmRate(criterion, "points", per=per)}
            ),
        }

    def _criterion(self) -> Criterion:
        """Return the criterion that the points were chosen by."""
        try:
            if "metric" in self.provenance:
                return parse_metric(self.provenance["metric"]).criterion
            if "criterion" in self.provenance:
                return parse_criterion(self.provenance["criterion"])
        except SedscopeError as error:
            raise SedscopeError(
                f"The operating points do not say by which criterion they were chosen: {error} Choose the "
                "metrics (`metrics=`)."
            ) from None
        return Collar()

    def apply(self, scores: Scores) -> Scores:
        """Return the post-processed scores at the thresholds: 1 where detected, ``-inf`` elsewhere.

        Without thresholds, return the post-processed scores.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> sed.OperatingPoints({"Dog": 0.5}).apply(scores)["a"].values.ravel().tolist()
        [-inf, 1.0, -inf]
        """
        processed = self.process(scores)
        return at_thresholds(processed, self.thresholds) if self.thresholds else processed

    def detect(self, scores: Scores, *, confidences: bool = False) -> DetectedEvents:
        """Return the events that are detected in each clip.

        Parameters
        ----------
        scores : Scores
            The scores of a system.
        confidences : bool, default False
            Whether to add the confidence of each event: its highest score after the post-processing.

        Returns
        -------
        Events
            A dict ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> sed.OperatingPoints({"Dog": 0.3}).detect(scores)
        {'a': [(1.0, 3.0, 'Dog')]}
        """
        if not self.thresholds:
            raise SedscopeError("There are post-processings, but no thresholds to detect events with.")
        return detect(self.process(scores), self.thresholds, confidences=confidences)

    def save(self, path: str | Path) -> None:
        """Write a small file, which :meth:`load` reads.

        Parameters
        ----------
        path : str or Path
            The file to write. By the end of its name it is JSON (``.json``), a C header with thresholds of
            single precision (``.h``), which cannot be read back, or TOML.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import sedscope as sed
        >>> with TemporaryDirectory() as folder:
        ...     sed.OperatingPoints({"Dog": 0.5}).save(f"{folder}/points.toml")
        ...     sed.OperatingPoints.load(f"{folder}/points.toml").thresholds
        {'Dog': 0.5}
        """
        write_text(path, TEXTS.get(location(path).suffix, toml_text)(self))

    def to_toml(self) -> str:
        """Return the text that :meth:`save` writes to a TOML file.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> print(sed.OperatingPoints({"Dog": 0.5}).to_toml())
        [thresholds]
        "Dog" = 0.5
        <BLANKLINE>
        """
        return toml_text(self)

    @staticmethod
    def load(path: str | Location) -> OperatingPoints:
        """Read a file that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file to read.

        Returns
        -------
        OperatingPoints

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import sedscope as sed
        >>> with TemporaryDirectory() as folder:
        ...     sed.OperatingPoints({"Dog": 0.5}).save(f"{folder}/points.toml")
        ...     sed.OperatingPoints.load(f"{folder}/points.toml").thresholds
        {'Dog': 0.5}
        """
        content = read_tables(path)
        texts = content.get("postprocessing", {})
        thresholds = content.get("thresholds", {} if texts else None)
        if not isinstance(thresholds, dict):
            raise SedscopeError(f"{path} has no table [thresholds].")
        wrong = [
            f"{label} = {shortened(repr(value), 60)}"
            for label, value in thresholds.items()
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_float(value)
        ]
        if wrong:
            raise SedscopeError(f"{path}: thresholds must be numbers: {listing(wrong)}.")
        provenance, unmet = content.get("provenance", {}), content.get("unmet", {})
        if not all(isinstance(table, dict) for table in (provenance, unmet, texts)):
            raise SedscopeError(f"{path}: [provenance], [unmet] and [postprocessing] must be tables.")
        with located(f"{path}: [postprocessing]"):
            steps = {label: parse_postprocessing(str(text)) for label, text in texts.items()}
        return OperatingPoints(thresholds, provenance, unmet, steps)


def _is_float(value: float) -> bool:
    """Return whether a number is not NaN, and small enough for a float."""
    try:
        return not math.isnan(value)
    except OverflowError:
        return False
