"""Evaluating and comparing systems: one call, one result object each."""
