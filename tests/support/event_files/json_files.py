"""JSON files of moment retrieval and of ActivityNet, references and predictions."""

from __future__ import annotations

from typing import Any

from .sample import PLAIN, SCORED, Events, Sample, lines

MOMENTS: Events = {"a_1": [(1.0, 3.5, "moment"), (4.0, 5.0, "moment")], "a_2": [(0.0, 1.25, "moment")]}
RANKED: Events = {"a_1": [(3.0, 6.0, "moment", 0.8123), (0.0, 3.0, "moment", 0.4411)], "a_2": []}


def query(qid: object, windows: object, *, vid: object = "a", **others: Any) -> dict[str, Any]:
    """A line of references."""
    return {
        "qid": qid,
        "query": "a dog",
        "duration": 10,
        "vid": vid,
        "relevant_windows": windows,
    } | others


def answer(qid: object, windows: object, *, vid: object = "a", **others: Any) -> dict[str, Any]:
    """A line of predictions."""
    return {"qid": qid, "query": "a dog", "vid": vid, "pred_relevant_windows": windows} | others


SAMPLES: dict[str, Sample] = {
    "QVHighlights, references": Sample(
        "moments",
        {
            "val.jsonl": lines(
                '{"qid": 1, "query": "a", "duration": 10, "vid": "a", '
                '"relevant_windows": [[1, 3.5], [4, 5]], "saliency_scores": [[0, 1, 2]]}',
                '{"qid": 2, "query": "b", "duration": 10, "vid": "a", "relevant_windows": [[0, 1.25]]}',
            )
        },
        MOMENTS,
        durations={"a_1": 10.0, "a_2": 10.0},
    ),
    "CASTELLA, predictions": Sample(
        "moments",
        {
            "predictions.jsonl": lines(
                '{"qid": "a_1", "query": "a", "vid": "a.wav", '
                '"pred_relevant_windows": [[3, 6, 0.8123], [0, 3, 0.4411]]}',
                "",
                '{"qid": "a_2", "query": "b", "vid": "a.wav", "pred_relevant_windows": []}',
            )
        },
        RANKED,
    ),
    "ActivityNet, references": Sample(
        "activitynet",
        {
            "anet.json": """{"version": "1.3", "database": {
                "a": {"duration": 10, "subset": "validation", "annotations": [
                    {"segment": [1.0, 3.5], "label": "Great Tit"}, {"segment": [1, 2], "label": "Wren"}]},
                "t": {"duration": 5, "subset": "testing", "annotations": []},
                "b": {"duration": 20, "subset": "validation", "annotations": [
                    {"segment": [0, 1.25], "label": "Wren"}]}}}"""
        },
        PLAIN,
        {"columns": {"subset": "validation"}},
        durations={"a": 10.0, "b": 20.0},
    ),
    "ActivityNet, predictions": Sample(
        "activitynet",
        {
            "results.json": """{"version": "1.3", "external_data": {"used": false}, "results": {
                "a": [{"label": "Great Tit", "segment": [0, 3], "score": 0.8123},
                      {"label": "Wren", "segment": [3, 6], "score": 0.4411}],
                "b": [{"label": "Wren", "segment": [0, 3], "score": 0.9101}]}}"""
        },
        SCORED,
    ),
}
