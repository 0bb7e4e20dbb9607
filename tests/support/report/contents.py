"""The data of a page, with its values as attributes."""

from __future__ import annotations

from typing import Any

from sedscope.report import page_data


class Contents(dict[Any, Any]):
    """A dict whose values are attributes, too."""

    def __getattribute__(self, name: str) -> Any:
        return self[name] if dict.__contains__(self, name) else super().__getattribute__(name)


def contents(value: Any) -> Any:
    """Give attributes to all dicts of a value."""
    if isinstance(value, dict):
        return Contents({key: contents(item) for key, item in value.items()})
    return [*map(contents, value)] if isinstance(value, (list, tuple)) else value


def build_page(*arguments: Any, **options: Any) -> Any:
    """Build the data of a page."""
    return contents(page_data.build_page(*arguments, **options))


def panel(page: Any, name: str) -> Any:
    """The data of one panel of the page."""
    return next(entry.data for entry in page.panels if entry.name == name)
