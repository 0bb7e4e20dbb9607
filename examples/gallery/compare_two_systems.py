"""
Compare two systems
===================

Both systems are measured on the same resamples of the clips, so the difference is that of the systems and
not of the clips.
"""

import sedscope as sed

truth = sed.simulate.ground_truth(150, seed=1)
systems = {
    "baseline": sed.simulate.scores(truth, quality=0.65, seed=1),
    "proposed": sed.simulate.scores(truth, quality=0.75, seed=2),
}
comparison = sed.compare(systems, truth, "psds1", resampling=200)
print(comparison.table())

# %%
# The curves of both:

axes = sed.plot(comparison.evaluations, "psds1")
