"""
Evaluate a system
=================

PSDS over all thresholds: the curve of each class, and the one over all classes.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, seed=1)
result = sed.evaluate(scores, truth, ["psds1", "best_collar_f1"])
print(result.table())

# %%
# The area under the broad line is the PSDS.

axes = result["psds1"].plot()
