"""
Look at a clip
==============

The scores of a clip, its references, and the events that a threshold detects.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(20, classes=3, seed=1)
scores = sed.simulate.scores(truth, quality=0.7, seed=1)
clip = max(truth.clips, key=lambda name: len(truth.events(name)))
axes = sed.plots.plot_clip(scores, truth, clip)
