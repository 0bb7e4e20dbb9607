"""
Confidence intervals
====================

How far would the values move if other clips had been recorded? ``bootstrap`` resamples the clips.
"""

import matplotlib.pyplot as plt

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, seed=1)
metric = sed.BestFScore(sed.Collar())
result = sed.evaluate(scores, truth, metric, resampling=100)
intervals = result.intervals[metric].per_class

# %%
# Rare classes have wide intervals.

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for row, interval in enumerate(intervals.values()):
    axes.plot([interval.low, interval.high], [row, row], color="C0")
    axes.plot(interval.value, row, "o", color="C0")
axes.set_yticks(range(len(intervals)), [*intervals])
axes.set_xlabel("best collar F1, with 95 % intervals")
