"""Small functions, and plots."""

from . import array_ops, nested, parallel, test, visualization

__all__ = ["array_ops", "nested", "parallel", "test", "visualization"]
