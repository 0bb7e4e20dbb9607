"""
Values by site
==============

A mean over all clips hides a site at which the system fails.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(160, seed=1)
scores = sed.simulate.scores(truth, seed=1)
sites = {clip: f"site {number % 6 + 1}" for number, clip in enumerate(truth.clips)}
result = sed.evaluate(scores, truth, "collar_f1", by=sed.Groups(sites), resampling=100)
axes = sed.plots.plot_groups(result, "collar_f1")
