"""The public names of the package."""

from .old_names import install as install
