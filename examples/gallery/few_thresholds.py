"""
Why not 50 thresholds
=====================

PSDS from a few linear thresholds is too low, and how much too low depends on the thresholds. The exact
value looks at all of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, seed=1)
psds1 = sed.presets.PSDS1
exact = sed.evaluate(scores, truth, psds1)[psds1].value

# %%
# ``Counts.at`` reads the counts at chosen thresholds.

counts = sed.deltas(scores, truth, psds1.criterion).counts()
numbers = [5, 10, 20, 50, 100, 200, 500, 1000]
values = [psds1.measure(counts.at(np.arange(1, n + 1) / (n + 1))).value for n in numbers]

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogx(numbers, values, "o-", color="C1", label="linear thresholds")
axes.axhline(exact, label="every threshold")
axes.set_xlabel("number of thresholds")
axes.set_ylabel("PSDS1")
axes.legend()
