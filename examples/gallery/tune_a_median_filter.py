"""
Tune a median filter
====================

The best length of a median filter depends on the class. ``tune`` tries all lengths, each at every
threshold.
"""

import matplotlib.pyplot as plt

import sedscope as sed
from sedscope.postprocessing import parse_sweep

truth = sed.simulate.ground_truth(120, classes=4, seed=1)
scores = sed.simulate.scores(truth, quality=0.6, seed=1)
sweep = parse_sweep("MedianFilter(0..1.4/0.2)")
tuned = sed.tune(scores, truth, "best_collar_f1", sweep)

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for label, choice in tuned.per_class.items():
    axes.plot([0.2 * step for step in range(len(sweep))], [*choice.values.values()], "o-", label=label)
axes.set_xlabel("median filter (s)")
axes.set_ylabel("best collar F1")
axes.legend()
