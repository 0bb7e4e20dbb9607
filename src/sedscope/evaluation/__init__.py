"""Evaluating a system: one call, one result object."""
