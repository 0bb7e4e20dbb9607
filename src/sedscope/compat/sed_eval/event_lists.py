"""Lists of events, scenes and tagged files, as sed_eval takes and returns them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any

Fields = Mapping[str, Any] | Iterable[tuple[str, Any]]


def _field(*names: str) -> Any:
    """Return a property for a field: the first of its names that an item has, else None."""

    def read(item: MetaDataItem) -> Any:
        return next((item[name] for name in names if name in item), None)

    def write(item: MetaDataItem, value: Any) -> None:
        item.update(MetaDataItem({names[0]: value}))
        if (older := f"event_{names[0]}") in item:
            item[older] = item[names[0]]

    return property(read, write, doc=f"The field ``{names[0]}``, or None.")


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
        for name, normal in _NORMAL.items():
            if (value := self.get(name)) is not None:
                self[name] = normal(value)

    filename = _field("filename", "filename_audio", "filename_video")
    onset = _field("onset")
    offset = _field("offset")
    event_label = _field("event_label")
    scene_label = _field("scene_label")
    tags = _field("tags")
    identifier = _field("identifier")
    dataset = _field("dataset")
    source_label = _field("source_label")
    set_label = _field("set_label")
    label = _field("label")
    probability = _field("probability")


def _values(field: str) -> Any:
    """Return a property with all values of a field."""

    def read(items: MetaDataContainer) -> list[Any]:
        return sorted({item[field] for item in items if item.get(field)})

    return property(read, doc=f"All values of the field ``{field}``, sorted.")


def _number(values: str) -> Any:
    """Return a property with the number of values."""

    def read(items: MetaDataContainer) -> int:
        return len(getattr(items, values))

    return property(read, doc=f"The number of `{values}`.")


class MetaDataContainer(list[MetaDataItem]):
    """A list of events, scenes or tagged files.

    Parameters
    ----------
    items : iterable of mappings
        The items. They are copied.

    Examples
    --------
    >>> events = MetaDataContainer([{"filename": "a.wav", "onset": 0, "offset": 1, "event_label": "Dog"}])
    >>> events.unique_event_labels, events.max_offset
    (['Dog'], 1.0)
    """

    def __init__(self, items: Iterable[Mapping[str, Any]] = (), **missing: Any) -> None:
        for name in missing:
            refuse(name)
        super().__init__(MetaDataItem(item) for item in items)

    def append(self, item: Mapping[str, Any]) -> None:
        """Append a copy of an item."""
        if not isinstance(item, dict):
            raise ValueError(f"Appending only MetaDataItem or dict allowed, not {type(item).__name__}.")
        super().append(MetaDataItem(item))

    def extend(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Append copies of some items."""
        super().extend(MetaDataItem(item) for item in items)

    def __add__(self, other: Iterable[Mapping[str, Any]]) -> MetaDataContainer:  # type: ignore[override]
        return MetaDataContainer([*self, *other])

    def __iadd__(self, other: Iterable[Mapping[str, Any]]) -> MetaDataContainer:  # type: ignore[override]
        self.extend(other)
        return self

    def update(self, data: Iterable[Mapping[str, Any]]) -> MetaDataContainer:
        """Replace all items."""
        self[:] = [MetaDataItem(item) for item in data]
        return self

    def filter(
        self,
        filename: str | None = None,
        file_list: Iterable[str] | None = None,
        scene_label: str | None = None,
        scene_list: Iterable[str] | None = None,
        event_label: str | None = None,
        event_list: Iterable[str] | None = None,
        tag: str | None = None,
        tag_list: Iterable[str] | None = None,
        **fields: Any,
    ) -> MetaDataContainer:
        """Return copies of the items that match. An item that lacks a field matches whatever is asked of it.

        Parameters
        ----------
        filename, scene_label, event_label, tag : str, optional
            The value that items must have.
        file_list, scene_list, event_list, tag_list : iterable of str, optional
            The values of which items must have one.
        **fields : value or list of values
            The same for any other field, such as ``identifier`` or ``identifier_list``.

        Returns
        -------
        MetaDataContainer
            The items that match.
        """
        wanted = {
            name.removesuffix("_list"): value if name.endswith("_list") else [value]
            for name, value in fields.items()
        }
        for name, value, values in (
            ("filename", filename, file_list),
            ("scene_label", scene_label, scene_list),
            ("event_label", event_label, event_list),
        ):
            if values is not None or value is not None:
                wanted[name] = [value] if values is None else list(values)
        matching: list[MetaDataItem] = self
        for field, values in wanted.items():  # fast, since loops over files filter once per file
            matching = [item for item in matching if field not in item or item[field] in values]
        if tags := {tag} if tag else set(tag_list or ()):
            matching = [item for item in matching if tags.intersection(item.tags or ())]
        return MetaDataContainer(matching)

    @property
    def unique_files(self) -> list[str]:
        """The names of all files, sorted. Items without a file are in the file "None"."""
        return sorted({str(item.filename) for item in self})

    @property
    def unique_tags(self) -> list[Any]:
        """All tags, sorted."""
        return sorted({tag for item in self for tag in item.tags or ()})

    unique_event_labels = _values("event_label")
    unique_scene_labels = _values("scene_label")
    unique_identifiers = _values("identifier")
    unique_datasets = _values("dataset")
    unique_source_labels = _values("source_label")
    file_count = _number("unique_files")
    event_label_count = _number("unique_event_labels")
    scene_label_count = _number("unique_scene_labels")
    tag_count = _number("unique_tags")
    identifier_count = _number("unique_identifiers")
    dataset_count = _number("unique_datasets")

    @property
    def event_count(self) -> int:
        """The number of items."""
        return len(self)

    @property
    def max_offset(self) -> float:
        """The offset of the event that ends last, 0 if there is none."""
        latest: float = 0
        for item in self:
            if "offset" in item and item["offset"] > latest:
                latest = item["offset"]
        return latest

    def __getattr__(self, name: str) -> Any:
        refuse(name)


def refuse(name: str) -> Any:
    """Say that the stand-in for dcase_util does not have a name."""
    if name.startswith("__"):  # Python asks for these itself
        raise AttributeError(name)
    reading = (
        " To read a file, call sed_eval.io.load_event_list." if name in ("load", "filename") else ""
    )
    raise AttributeError(
        f"sedscope's stand-in for dcase_util has no {name}; install dcase_util "
        f"(pip install dcase_util).{reading}"
    )


@lru_cache(maxsize=1024)  # the events of a file follow each other
def _path(path: Any) -> Any:
    """Return a path without needless parts and with forward slashes, unless it is absolute."""
    if not isinstance(path, str) or PurePath(path).is_absolute():
        return path
    return os.path.normpath(path).replace("\\", "/")


def _seconds(value: Any) -> float | None:
    """Return a time as a float, or None if it is not a number."""
    try:
        return float(value)
    except ValueError:
        return None


def _label(label: Any) -> Any:
    """Return a label without surrounding blanks. The label "none" means that there is none."""
    if not isinstance(label, str):
        return label
    text = label.strip()
    return None if text.lower() in ("", "none") else text


def _tags(tags: str | Iterable[str]) -> list[str]:
    """Return sorted tags. A text is split at the first of four separators that it has."""
    if isinstance(tags, str):
        separator = next((mark for mark in "#,;:" if mark in tags), None)
        tags = [tag.strip() for tag in (tags.split(separator) if separator else [tags])]
        tags = [] if [tag.lower() for tag in tags] == ["none"] else tags
    return sorted(tag for tag in tags if tag)


_NORMAL: dict[str, Callable[[Any], Any]] = {
    "filename": _path,
    "onset": _seconds,
    "offset": _seconds,
    "event_label": _label,
    "scene_label": _label,
    "tags": _tags,
}
"""How fields are written."""
