"""Formats of scores: one module per format, and the registry that lists them."""
