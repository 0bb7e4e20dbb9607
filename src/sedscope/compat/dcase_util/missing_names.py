"""What modules of the stand-in answer to names of dcase_util that they do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def refusing(module: str) -> Callable[[str], NoReturn]:
    """Return the function ``__getattr__`` of a module."""

    def refuse(name: str) -> NoReturn:
        if name.startswith("__"):  # Python asks for these itself
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise AttributeError(f"sedscope's stand-in for dcase_util has no {name}; install dcase_util.")

    return refuse
