"""Items of lists: dictionaries whose fields are attributes, too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any

Fields = Mapping[str, Any] | Iterable[tuple[str, Any]]
_TAG_SEPARATORS = ("#", ",", ";", ":")  # in the order in which they are looked for


def _field(name: str) -> Any:
    """Return a property that reads and writes a field of an item. A missing field reads as None."""

    def read(item: dict[str, Any]) -> Any:
        return item.get(name)

    def write(item: dict[str, Any], value: Any) -> None:
        item[name] = value

    return property(read, write, doc=f"The field ``{name}``, or None.")


def _time(name: str) -> Any:
    """Return a property for a time in seconds. A new time goes to the older name of the field as well."""

    def read(item: dict[str, Any]) -> float | None:
        return item.get(name)

    def write(item: dict[str, Any], value: Any) -> None:
        item[name] = float(value)
        if f"event_{name}" in item:
            item[f"event_{name}"] = item[name]

    return property(read, write, doc=f"The field ``{name}`` in seconds, or None.")


class MetaDataItem(dict[str, Any]):
    """An event, a scene, or the tags of a file: a dictionary whose fields are attributes, too.

    The older names ``file``, ``event_onset`` and ``event_offset`` are kept, and copied to ``filename``,
    ``onset`` and ``offset``. Times become floats. Labels and tags lose surrounding blanks, and the label
    "none" becomes None.

    Parameters
    ----------
    fields : mapping
        The fields: ``filename``, ``onset``, ``offset``, ``event_label``, ``scene_label``, ``tags``, ….

    Examples
    --------
    >>> item = MetaDataItem({"file": "a.wav", "event_onset": "1.5", "event_label": " Dog"})
    >>> item.filename, item.onset, item.event_label
    ('a.wav', 1.5, 'Dog')
    """

    def __init__(self, fields: Fields = ()) -> None:
        super().__init__(fields)
        for older, name in (("file", "filename"), ("event_onset", "onset"), ("event_offset", "offset")):
            if older in self and name not in self:
                self[name] = self[older]
        if isinstance(self.get("filename"), str):
            self["filename"] = _relative_posix_path(self["filename"])
        for name in ("onset", "offset"):
            if name in self:
                self[name] = _seconds(self[name])
        if isinstance(self.get("event_label"), str):
            self["event_label"] = _label(self["event_label"]) or None
        if self.get("scene_label"):
            self["scene_label"] = _label(self["scene_label"])
        if self.get("tags"):
            self.tags = self["tags"]

    @property
    def filename(self) -> Any:
        """The name of the file, or None."""
        names = (self[name] for name in ("filename", "filename_audio", "filename_video") if name in self)
        return next(names, None)

    @filename.setter
    def filename(self, value: str) -> None:
        self["filename"] = _relative_posix_path(value)

    @property
    def tags(self) -> Any:
        """The tags, sorted, or None."""
        return self.get("tags")

    @tags.setter
    def tags(self, value: str | Iterable[str]) -> None:
        self["tags"] = _tags(value)

    onset = _time("onset")
    offset = _time("offset")
    event_label = _field("event_label")
    scene_label = _field("scene_label")
    identifier = _field("identifier")
    dataset = _field("dataset")
    source_label = _field("source_label")
    set_label = _field("set_label")


class ProbabilityItem(dict[str, Any]):
    """The probability of a label in a file.

    Parameters
    ----------
    fields : mapping
        The fields: ``filename``, ``label``, ``probability``, and perhaps ``index``.

    Examples
    --------
    >>> ProbabilityItem({"filename": "a.wav", "label": " Dog", "probability": "0.5"}).probability
    0.5
    """

    def __init__(self, fields: Fields = ()) -> None:
        super().__init__(fields)
        if "filename" in self:
            self["filename"] = _posix_path(self["filename"])
        if self.get("label"):
            self["label"] = _label(self["label"])
        if "probability" in self:
            self["probability"] = float(self["probability"])

    filename = _field("filename")
    label = _field("label")
    probability = _field("probability")
    index = _field("index")


@lru_cache(maxsize=1024)  # the events of a file follow each other
def _relative_posix_path(path: str) -> str:
    """Return a path with forward slashes unless it is absolute."""
    return path if PurePath(path).is_absolute() else _posix_path(path)


def _posix_path(path: str) -> str:
    """Return a path without needless parts and with forward slashes."""
    return os.path.normpath(path).replace("\\", "/")


def _seconds(value: Any) -> float | None:
    """Return a time as a float, or None if it is not a number."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _label(text: str) -> str | None:
    """Return a label without surrounding blanks. The label "none" means that there is none."""
    label = text.strip()
    return None if label.lower() == "none" else label


def _tags(tags: str | Iterable[str]) -> list[str]:
    """Return sorted tags. A text is split at the first of four separators that it has."""
    if isinstance(tags, str):
        text = tags.strip()
        separator = next((mark for mark in _TAG_SEPARATORS if mark in text), None)
        tags = [tag.strip() for tag in text.split(separator)] if separator else [text]
        if text.lower() == "none":
            tags = []
    return sorted(tag for tag in tags if tag)
