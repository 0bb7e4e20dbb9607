"""Small helpers, and plots."""

from . import array_ops, nested, visualization

__all__ = ["array_ops", "nested", "visualization"]
