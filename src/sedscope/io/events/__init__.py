"""Formats of events: one module per format, and the registry that lists them."""
