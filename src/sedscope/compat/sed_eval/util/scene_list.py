"""Lists of scenes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...dcase_util.containers import MetaDataContainer


def unique_scene_labels(scene_list: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return all scene labels, sorted."""
    if isinstance(scene_list, MetaDataContainer):
        return scene_list.unique_scene_labels
    return sorted({item["scene_label"] for item in scene_list if "scene_label" in item})
