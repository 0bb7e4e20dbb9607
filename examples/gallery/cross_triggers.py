"""
Which classes are confused
==========================

A cross-trigger is a false alarm that lies in an event of another class.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, quality=0.65, seed=1)
counts = sed.deltas(scores, truth, sed.presets.PSDS2.criterion).counts()
axes = counts.plot_cross_triggers(0.3)
