"""The first use of sedscope in a process: PSDS 1 of 20 clips in memory, 500 frames × 10 classes."""

import numpy as np

import sedscope as sed

classes = [f"class {k}" for k in range(10)]
noise = np.sin(np.arange(20 * 500 * 10, dtype=np.float32) ** 2).reshape(20, 500, 10)
arrays = {f"clip {k}": 0.3 + 0.16 * clip for k, clip in enumerate(noise)}
events = {clip: [(0.26 * k, 0.26 * k + 4, classes[k % 10])] for k, clip in enumerate(arrays)}
for k, clip in enumerate(arrays.values()):
    clip[13 * k : 13 * k + 200, k % 10] += 0.3
scores = sed.Scores.from_arrays(arrays, classes=classes, frame=0.02)
truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(arrays, 10.0))
print(sed.evaluate(scores, truth, sed.presets.PSDS1)["psds1"].value)
