"""Metrics with established parameters, under the name of the task or paper that uses them."""
