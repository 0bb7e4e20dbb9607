"""TOML files: tables whose values are checked as they are read, and values as TOML."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SedscopeError, listing, shortened, with_guesses
from ..escaping import toml_string
from .locations import Location, input_location, read_input


def read_toml(path: str | Location, what: str) -> dict[str, Any]:
    """Read a TOML file. ``what``: what it should be, for messages, such as ``a task``."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        content: dict[str, Any] = tomllib.loads(read_input(input_location(path)).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, SedscopeError):
            raise
        known = isinstance(error, (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError))
        reason = error if known else "a number has too many digits"
        raise SedscopeError(f"{path} is not {what}: {reason}") from None
    return content


@dataclass(frozen=True)
class TomlTable:
    """A table of a TOML file. Errors name the file and the key."""

    content: Mapping[str, Any]
    where: str
    """The file."""
    name: str = ""
    """The name of the table, as its header spells it; empty for the file itself."""

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Refuse keys that are not known."""
        unknown = [key for key in self.content if key not in known]
        if unknown:
            raise self.error(
                f"unknown {'key' if len(unknown) == 1 else 'keys'} {listing(with_guesses(unknown, known))}. "
                f"The keys here are {listing([*known], limit=40)}."
            )

    def text(self, key: str) -> str | None:
        """Return a text that is not empty, or None if there is no such key."""
        return self._value(key, _is_text, "a text")

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts; one text is a list, too."""
        value = self._value(key, lambda entry: _is_text(entry) or _are_texts(entry), "a list of texts")
        return (value,) if isinstance(value, str) else None if value is None else tuple(value)

    def flag(self, key: str) -> bool | None:
        """Return true or false."""
        return self._value(key, lambda value: isinstance(value, bool), "true or false")

    def number(self, key: str) -> float | None:
        """Return a number."""
        return self._value(key, _is_number, "a number")

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """Return a list of numbers."""
        value = self._value(key, _are_numbers, "a list of numbers")
        return None if value is None else tuple(float(number) for number in value)

    def choice(self, key: str, choices: Sequence[str]) -> str | None:
        """Return one of some words."""
        expected = " or ".join(f'"{choice}"' for choice in choices)
        return self._value(key, lambda value: value in choices, expected)

    def table(self, key: str) -> TomlTable:
        """Return a table; an empty one if there is no such key."""
        value = self._value(key, lambda entry: isinstance(entry, dict), "a table")
        return TomlTable(value or {}, self.where, f"{self.name}.{key}".lstrip("."))

    def error(self, problem: str, key: str | None = None) -> SedscopeError:
        """Return an error that names the file, the table and the key."""
        where = f"{self.where}: [{self.name}]" if self.name else f"{self.where}:"
        return SedscopeError(f"{where} {problem}" if key is None else f"{where} {key}: {problem}")

    def _value(self, key: str, fits: Callable[[Any], bool], expected: str) -> Any:
        value = self.content.get(key)
        if value is not None and not fits(value):
            raise self.error(f"must be {expected}, not {shortened(toml_value(value), 60)}.", key)
        return value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(_is_text(entry) for entry in value)


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(_is_number(entry) for entry in value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def toml_value(value: Any) -> str:
    """Write a value as TOML: a text, a number, true or false, a list or a table in one line.

    >>> toml_value({"a": [1.0, True], "b c": 'say "hi"'})
    '{a = [1.0, true], "b c" = "say \\\\"hi\\\\""}'
    """
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(key)} = {toml_value(entry)}" for key, entry in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def toml_key(key: str) -> str:
    """Write a key as TOML: as it is if that can be read, else in quotes.

    >>> toml_key("psds1"), toml_key("people talking")
    ('psds1', '"people talking"')
    """
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else toml_string(key)
