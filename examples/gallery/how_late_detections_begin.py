"""
How late detections begin
=========================

The onset and offset errors of all pairs, detection minus reference.
"""

import matplotlib.pyplot as plt
import numpy as np

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, seed=1)
errors = sed.boundary_errors(scores, truth, sed.IoU(0.1), 0.5)
print(errors.table())

# %%
# A positive error is late.

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
bins = np.linspace(-1, 1, 41).tolist()
for side in ("onset", "offset"):
    seconds = np.concatenate([getattr(of_class, side) for of_class in errors.values()])
    axes.hist(seconds, bins=bins, histtype="step", label=side)
axes.set_xlabel("error (s)")
axes.set_ylabel("pairs")
axes.legend()
