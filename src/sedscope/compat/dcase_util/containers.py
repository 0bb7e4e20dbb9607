"""Lists of events, scenes, tags and probabilities, as sed_eval takes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from .items import MetaDataItem, ProbabilityItem
from .metadata_files import read_rows
from .missing_names import refusing

__all__ = ["MetaDataContainer", "MetaDataItem", "ProbabilityContainer", "ProbabilityItem"]
__getattr__ = refusing(__name__)


class MetaDataContainer(list[MetaDataItem]):
    """A list of events, scenes or tagged files.

    Parameters
    ----------
    items : iterable of mappings
        The items. They are copied.
    filename : str, optional
        The file that `load` reads unless it gets another one.

    Examples
    --------
    >>> events = MetaDataContainer([{"filename": "a.wav", "onset": 0, "offset": 1, "event_label": "Dog"}])
    >>> events.unique_event_labels, events.max_offset
    (['Dog'], 1.0)
    """

    def __init__(self, items: Iterable[Mapping[str, Any]] = (), *, filename: str | None = None) -> None:
        super().__init__(MetaDataItem(item) for item in items)
        self.filename = filename

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

    def load(
        self,
        filename: str | os.PathLike[str] | None = None,
        fields: list[str] | None = None,
        csv_header: bool | None = True,
        file_format: str | None = None,
        delimiter: str | None = None,
        decimal: str = "point",
    ) -> MetaDataContainer:
        """Replace all items by the rows of a file.

        Parameters
        ----------
        filename : str, optional
            A text file (.txt, .ann), whose columns are recognised by what they hold, or a table (.csv). A
            file with any other suffix, such as .tsv, is a table if its first row names the columns.
        fields : list of str, optional
            The names of the columns of a table, instead of those in its header.
        csv_header : bool, default True
            Whether the first row of a table names the columns.
        file_format : str, optional
            One of `FileFormat`, whatever the file's name says.
        delimiter : str, optional
            What separates the columns. It is recognised unless you name it.
        decimal : {"point", "comma"}
            How numbers are written.

        Returns
        -------
        MetaDataContainer
            The list itself.
        """
        if filename is not None:
            self.filename = os.fspath(filename)
        if self.filename is None:
            raise ValueError("Name the file to load: load(filename=…).")
        return self.update(
            read_rows(
                self.filename,
                fields=fields,
                csv_header=csv_header,
                file_format=file_format,
                delimiter=delimiter,
                decimal_comma=decimal == "comma",
            )
        )

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
        wanted: dict[str, Any] = {
            name.lower().removesuffix("_list"): list(value) if name.endswith("_list") else value
            for name, value in fields.items()
        }
        for name, value, values in (
            ("filename", filename, file_list),
            ("scene_label", scene_label, scene_list),
            ("event_label", event_label, event_list),
        ):
            if values is not None:
                wanted[name] = list(values)
            elif value is not None:
                wanted[name] = value
        kept: list[MetaDataItem] = self
        for field, choice in wanted.items():
            choices = choice if isinstance(choice, list) else [choice]
            kept = [
                item
                for item in kept
                if (item[field] in choices if field in item else _matches(item, field, choices))
            ]
        if tag:
            kept = [item for item in kept if tag in (item.tags or ())]
        if tag_list:
            tags = set(tag_list)
            kept = [item for item in kept if tags.intersection(item.tags or ())]
        return MetaDataContainer(kept)

    @property
    def unique_files(self) -> list[str]:
        """The names of all files, sorted. Items without a file are in the file "None"."""
        return sorted({str(item.filename) for item in self})

    @property
    def unique_event_labels(self) -> list[Any]:
        """All event labels, sorted."""
        return sorted({item.event_label for item in self if item.event_label})

    @property
    def unique_scene_labels(self) -> list[Any]:
        """All scene labels, sorted."""
        return sorted({item.scene_label for item in self if item.scene_label})

    @property
    def unique_tags(self) -> list[Any]:
        """All tags, sorted."""
        return sorted({tag for item in self for tag in item.tags or ()})

    @property
    def unique_identifiers(self) -> list[Any]:
        """All identifiers, sorted."""
        return sorted({item.identifier for item in self if item.identifier})

    @property
    def unique_datasets(self) -> list[Any]:
        """All datasets, sorted."""
        return sorted({item.dataset for item in self if item.dataset})

    @property
    def unique_source_labels(self) -> list[Any]:
        """All source labels, sorted."""
        return sorted({item.source_label for item in self if item.source_label})

    @property
    def file_count(self) -> int:
        """The number of files."""
        return len(self.unique_files)

    @property
    def event_count(self) -> int:
        """The number of items."""
        return len(self)

    @property
    def event_label_count(self) -> int:
        """The number of event labels."""
        return len(self.unique_event_labels)

    @property
    def scene_label_count(self) -> int:
        """The number of scene labels."""
        return len(self.unique_scene_labels)

    @property
    def tag_count(self) -> int:
        """The number of tags."""
        return len(self.unique_tags)

    @property
    def identifier_count(self) -> int:
        """The number of identifiers."""
        return len(self.unique_identifiers)

    @property
    def dataset_count(self) -> int:
        """The number of datasets."""
        return len(self.unique_datasets)

    @property
    def max_offset(self) -> float:
        """The offset of the event that ends last, 0 if there is none."""
        latest: float = 0
        for item in self:
            if "offset" in item and item["offset"] > latest:
                latest = item["offset"]
        return latest


class ProbabilityContainer(list[ProbabilityItem]):
    """A list of probabilities of labels in files.

    Parameters
    ----------
    items : iterable of mappings
        The items. They are copied.

    Examples
    --------
    >>> rows = ProbabilityContainer([{"filename": "a.wav", "label": "Dog", "probability": 0.5}])
    >>> rows.filter(label="Dog")[0].probability
    0.5
    """

    def __init__(self, items: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(ProbabilityItem(item) for item in items)

    def append(self, item: Mapping[str, Any]) -> None:
        """Append a copy of an item."""
        if not isinstance(item, dict):
            raise ValueError(
                f"Appending only ProbabilityItem or dict allowed, not {type(item).__name__}."
            )
        super().append(ProbabilityItem(item))

    def filter(
        self,
        filename: str | None = None,
        file_list: Iterable[str] | None = None,
        label: str | None = None,
        index: int | None = None,
    ) -> ProbabilityContainer:
        """Return copies of the items that match.

        Parameters
        ----------
        filename, label : str, optional
            The file and the label that items must have.
        file_list : iterable of str, optional
            The files of which items must have one.
        index : int, optional
            The index that items must have.

        Returns
        -------
        ProbabilityContainer
            The items that match.
        """
        files = set(file_list or ())
        return ProbabilityContainer(
            item
            for item in self
            if (not filename or item.filename == filename)
            and (not files or item.filename in files)
            and (not label or item.label == label)
            and (index is None or item.index == index)
        )

    @property
    def unique_files(self) -> list[str]:
        """The names of all files, sorted."""
        return sorted({item.filename for item in self})

    @property
    def unique_labels(self) -> list[str]:
        """All labels, sorted."""
        return sorted({item["label"] for item in self if "label" in item})


def _matches(item: MetaDataItem, name: str, values: list[Any]) -> bool:
    """Return whether a field that has capitals or blanks in its name, or is missing, matches the values."""
    fields = {field.lower(): field for field in item}
    written = fields.get(name, fields.get(name.replace("_", " ")))
    return written is None or item[written] in values
