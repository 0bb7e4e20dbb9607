"""Whole evaluations: data sets, metrics with established parameters, and a ranking score."""
