"""
Recall over false alarms per hour
=================================

What a product can promise: the share of events that are found at a rate of false alarms that customers
accept.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, classes=4, seed=1)
scores = sed.simulate.scores(truth, quality=0.8, seed=1)
alarm = sed.Collar(onset=1, offset=None)
metric = sed.RecallAtFalseAlarms(alarm, false_alarms=100)
result = sed.evaluate(scores, truth, {"recall": metric}, resampling=100)
print(result.table())

# %%
# The band shows where other clips would put the curve.

axes = result["recall"].plot()
