"""The interfaces of other tools, computed by sedscope.

``sed_scores_eval`` and ``psds_eval`` need pandas (extra ``compat``). `install` puts all of them under their
old names, and ``python -m sedscope.compat script.py`` runs a script that imports the old names.
"""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
