"""Scores of chunks, stitched to the scores of whole recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SedscopeError
from .choices import Gaps, check_gaps
from .chunks import ChunkTable, Unit, check_unit, chunks_by_recording, stitch_clips
from .score_arrays import ClipScores

if TYPE_CHECKING:
    from .scores import Scores


def stitched_scores(scores: Scores, chunks: ChunkTable | None, *, unit: Unit, gaps: Gaps) -> Scores:
    """Stitch the chunks of each recording when it is needed."""
    check_unit(unit)
    check_gaps(gaps)
    recordings = chunks_by_recording(scores, chunks, unit)

    def load(recording: str) -> ClipScores:
        parts = [(chunk, scores[chunk.clip]) for chunk in recordings[recording]]
        try:
            return stitch_clips(parts, gaps)
        except SedscopeError as error:
            raise SedscopeError(f"recording {recording}: {error}", advice=error.advice) from None

    def identify(recording: str) -> str | None:
        parts = [(chunk, scores.identity(chunk.clip)) for chunk in recordings[recording]]
        return None if any(identity is None for _, identity in parts) else f"gaps={gaps!r} {parts!r}"

    facts = {**scores.facts(), "in_memory": False, "assumed_clips": (), "locate": None}
    processing = (*scores.processing, "stitch()")
    return type(scores)(recordings, load, **{**facts, "identify": identify, "processing": processing})
