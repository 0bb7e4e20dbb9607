"""Operating points: choosing thresholds and post-processings, saving and applying them."""
