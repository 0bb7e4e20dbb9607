"""
Precision over recall
=====================

A curve for each class, of pairs with an intersection over union of at least 0.5.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, classes=4, seed=1)
scores = sed.simulate.scores(truth, seed=1)
result = sed.evaluate(scores, truth, "iou_map")
print(result.table())

# %%
# The area under a curve is the average precision of its class.

axes = result["iou_map"].plot()
