"""What only some operating systems have."""

from __future__ import annotations

import os

import pytest

posix_only = pytest.mark.skipif(
    os.name != "posix", reason="needs pipes, links, signals or limits of POSIX"
)
