"""What a system is worth where nobody annotated everything: plans of reviews, and estimates from them.

``__init__.pyi`` lists the public names, each of which is loaded when it is first used.
"""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
