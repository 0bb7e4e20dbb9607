"""Validating data before it is evaluated: what is wrong with it, and what looks odd."""
