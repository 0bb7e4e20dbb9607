"""When a reference event counts as found and a detection as false: one module per criterion.

A criterion registers itself where it is defined. ``__init__.pyi`` lists the public names, each of which is
loaded when it is first used.
"""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
