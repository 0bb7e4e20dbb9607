"""Operating points: one threshold per class, perhaps after a post-processing; saved and loaded."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.detections import DetectedEvents, at_thresholds, detect
from ..data.scores import Scores
from ..errors import SedscopeError, counted, listing, shortened
from ..io.atomic_write import write_text
from ..io.locations import input_location, read_input
from ..notebook.html_table import html_table
from ..postprocessing import PerClass, PostProcessing, parse_postprocessing


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
                f"{self.thresholds[label]:.4g}" if label in self.thresholds else "",
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
        return PerClass(self.postprocessing)(scores) if self.postprocessing else scores

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

    def detect(self, scores: Scores) -> DetectedEvents:
        """Return the events that are detected in each clip.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        Events
            A dict ``{clip: [(onset, offset, label), …]}``, times in seconds.

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
        return detect(self.process(scores), self.thresholds)

    def save(self, path: str | Path) -> None:
        """Write a small TOML file, which :meth:`load` reads.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import sedscope as sed
        >>> with TemporaryDirectory() as folder:
        ...     sed.OperatingPoints({"Dog": 0.5}).save(f"{folder}/points.toml")
        ...     sed.OperatingPoints.load(f"{folder}/points.toml").thresholds
        {'Dog': 0.5}
        """
        tables: dict[str, Mapping[str, Any]] = {
            "thresholds": self.thresholds,
            "provenance": self.provenance,
            "unmet": self.unmet,
            "postprocessing": {label: repr(step) for label, step in self.postprocessing.items()},
        }
        lines = []
        for name, table in tables.items():
            if not table and name != "thresholds":
                continue
            lines += [f"[{name}]", *(f"{_quoted(k)} = {_toml(v)}" for k, v in table.items()), ""]
        write_text(path, "\n".join(lines))

    @staticmethod
    def load(path: str | Path) -> OperatingPoints:
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
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib

        try:
            content = tomllib.loads(read_input(input_location(path)).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            if isinstance(error, SedscopeError):
                raise
            known = isinstance(error, (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError))
            reason = error if known else "a number has too many digits"
            raise SedscopeError(f"{path} is not a file of operating points: {reason}") from None
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
        try:
            steps = {label: parse_postprocessing(str(text)) for label, text in texts.items()}
        except SedscopeError as error:
            raise SedscopeError(f"{path}: [postprocessing]: {error}") from None
        return OperatingPoints(thresholds, provenance, unmet, steps)


def _is_float(value: float) -> bool:
    """Return whether a number is not NaN, and small enough for a float."""
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04X}" if ord(c) < 32 or c == "\x7f" else "\\" + c if c in '\\"' else c for c in text
    )
    return f'"{escaped}"'


def _toml(value: str | float) -> str:
    return _quoted(value) if isinstance(value, str) else repr(float(value))
