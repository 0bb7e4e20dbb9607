"""The drop-ins under the names of the tools that they replace."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from ..errors import SedscopeError, listing

TOOLS = ("sed_scores_eval", "psds_eval", "sed_eval")
STAND_IN = "dcase_util"
"""A stand-in for a few parts of the real package, so it takes its name only where that is not installed."""


def install() -> None:
    """Make ``import sed_scores_eval``, ``psds_eval`` and ``sed_eval`` import sedscope's drop-ins.

    Call it before the first of these imports, in the script that you start. It holds for all modules of the
    process. Where dcase_util is not installed, a stand-in for the parts that users of sed_eval need takes its
    name, too. A message on stderr says so once. Further calls do nothing.

    Raises
    ------
    SedscopeError
        If one of the real tools is imported already.

    Examples
    --------
    >>> import sedscope.compat
    >>> sedscope.compat.install()  # doctest: +SKIP
    sedscope: 'import' of sed_scores_eval, psds_eval, sed_eval and dcase_util now gives sedscope's drop-ins.
    >>> import sed_eval  # doctest: +SKIP
    """
    if any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        return
    imported = [name for name in TOOLS if name in sys.modules]
    if imported:
        raise SedscopeError(
            f"The original is imported already: {listing(imported)}. Call sedscope.compat.install() before "
            "the first such import."
        )
    real = STAND_IN in sys.modules or find_spec(STAND_IN) is not None
    names = TOOLS if real else (*TOOLS, STAND_IN)
    sys.meta_path.insert(0, _OldNames(names))
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    print(f"sedscope: 'import' of {listed} now gives sedscope's drop-ins.", file=sys.stderr)


class _OldNames(MetaPathFinder):
    """Finds the modules of drop-ins by their old names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.names:
            return None
        spec = find_spec(f"{__package__}.{fullname}")
        if spec is None:
            if fullname.startswith(STAND_IN):
                advice = "install dcase_util (pip install dcase_util)."
                raise ModuleNotFoundError(f"sedscope has no {fullname}; {advice}", name=fullname)
            return None  # then Python says that there is no such module
        is_package = spec.submodule_search_locations is not None
        return ModuleSpec(fullname, _SameModule(spec.name), is_package=is_package)


class _SameModule(Loader):
    """Gives a module of a drop-in a second name: both names are the same module, which runs once."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has replaced it by that of the old name
