"""Curves and numbers read off counts: one module per family of metrics.

A metric registers itself where it is defined. ``__init__.pyi`` lists the public names, each of which is
loaded when it is first used.
"""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
