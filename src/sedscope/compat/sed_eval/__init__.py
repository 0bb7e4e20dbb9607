"""sed_eval, computed by sedscope: the comparison of two lists of events, file by file.

>>> import sedscope.compat.sed_eval as sed_eval

Names, arguments, numbers and text reports are those of sed_eval 0.2.1, greedy substitutions included. The
page ``docs/from_sed_eval.md`` lists the few differences, and what sedscope's own metrics do better.
"""

from . import audio_tag, io, metric, scene, sound_event, test, util

__all__ = ["__version__", "audio_tag", "io", "metric", "scene", "sound_event", "test", "util"]

__version__ = "0.2.1"
