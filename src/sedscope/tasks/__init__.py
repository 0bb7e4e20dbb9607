"""Whole evaluations: data sets, metrics with established parameters, and a ranking score.

``__init__.pyi`` lists the public names, each of which is loaded when it is first used.
"""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
