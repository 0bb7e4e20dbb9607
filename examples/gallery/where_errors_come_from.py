"""
Where errors come from
======================

Each missed reference has an error type. Which one would help most if it were fixed?
"""

import matplotlib.pyplot as plt

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
scores = sed.simulate.scores(truth, quality=0.65, seed=1)
diagnosis = sed.diagnose(scores, truth, sed.Collar(), 0.5)

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
left = dict.fromkeys(diagnosis, 0)
for error_type in next(iter(diagnosis.values())).references:
    counts = {label: int(of_class.references[error_type][0]) for label, of_class in diagnosis.items()}
    if any(counts.values()):
        axes.barh([*counts], [*counts.values()], left=[*left.values()], label=error_type)
        left = {label: left[label] + counts[label] for label in left}
axes.set_xlabel("references")
axes.legend(fontsize=8)
