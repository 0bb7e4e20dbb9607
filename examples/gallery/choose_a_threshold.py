"""
Choose a threshold
==================

The F-score over the threshold, and the operating point that keeps the precision at 0.5 or above.
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
