"""Scores and ground truth laid over each other: the same clips and classes, cut to what is evaluated."""
