"""Tests do not depend on what metrics said in others."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def nothing_said() -> None:
    metric = sys.modules.get("sedscope.torch.metric")
    if metric is not None:
        metric._SAID.clear()
