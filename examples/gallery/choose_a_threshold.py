"""
Choose a threshold
==================

The best F-score of each class with a precision of at least 0.5. Where no threshold reaches it, the class is
never detected, and its threshold is infinite.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, seed=1)
counts = sed.deltas(scores, truth, sed.Collar()).counts()
points = sed.choose(counts, "fscore", min_precision=0.5)
print({label: round(threshold, 3) for label, threshold in points.thresholds.items()})

# %%
# The dashed line is the threshold that was chosen.

axes = sed.curves.fscore_curve(counts["Speech"]).plot(label="Speech")
axes.axvline(points.thresholds["Speech"], linestyle="--", color="grey")
