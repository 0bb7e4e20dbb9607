"""Which systems are the same, or nearly: equal scores, or equal hits and false alarms in the same clips."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..errors import listing
from ..evaluation.signature import Signature
from ..resampling.unread_scores import references_per_clip

LENGTH = 4096
"""The length of a fingerprint."""
NEARLY_EQUAL = 0.97
"""The correlation of fingerprints from which on systems are nearly equal."""


def fingerprint(deltas: Deltas) -> FloatArray:
    """Return numbers by which systems can be told apart, on the same clips.

    For each class and clip, it takes the mean recall and the mean number of false positives over all
    thresholds, which are spread evenly over the places of the scores in their order. So any rising transform
    of the scores changes nothing. The mean over the clips of a class is taken off. The numbers are added up,
    with signs and at places that are drawn from the name of the class (a count sketch), which keeps scalar
    products.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(50)
    >>> a, b = (sed.simulate.scores(truth, seed=seed) for seed in (1, 2))
    >>> prints = [fingerprint(sed.deltas(scores, truth, sed.Collar())) for scores in (a, a, b)]
    >>> correlation(*prints[:2]) == 1, correlation(*prints[1:]) < 0.9
    (True, True)
    """
    rows = deltas.tables.detections
    clips, clip_of_row = len(deltas.clips), rows.clip_of_row()
    total = np.zeros(LENGTH)
    references = references_per_clip(deltas)
    for c, label in enumerate(deltas.classes):
        start, end = rows.starts[c, 0], rows.starts[c, -1]
        if start == end:
            continue
        scores = rows.scores[start:end]
        shares = np.searchsorted(np.sort(scores), scores, side="right") / len(scores)  # at or above each
        for name, column in zip(("tp", "fp"), rows.columns, strict=True):
            sums = np.bincount(
                clip_of_row[start:end], weights=column[start:end] * shares, minlength=clips
            )
            chosen = np.arange(clips) if name == "fp" else np.flatnonzero(references[:, c])
            values = sums[chosen] / (1 if name == "fp" else references[chosen, c])
            places, signs = _sketch(f"{name} {label}", clips)
            changes = signs[chosen] * (values - (values.mean() if len(values) else 0.0))
            total += np.bincount(places[chosen], weights=changes, minlength=LENGTH)
    return total


def fingerprint_of_sets(sets: Sequence[Mapping[Criterion, Deltas]]) -> FloatArray:
    """Return the fingerprint on several data sets. It is empty if the deltas of one are not known.

    ``sets``: the deltas of each; the first criterion that there is counts.
    """
    prints = [fingerprint(next(iter(deltas.values()))) for deltas in sets if deltas]
    return np.concatenate(prints) if len(prints) == len(sets) else np.empty(0)


def _sketch(name: str, clips: int) -> tuple[IntArray, FloatArray]:
    """Return where each clip is added up, and with which sign."""
    seed = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    drawn = np.random.default_rng(int.from_bytes(seed, "little")).integers(2 * LENGTH, size=clips)
    signs: FloatArray = np.where(drawn % 2, 1.0, -1.0)
    return drawn // 2, signs


def correlation(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two fingerprints; 0 if one says nothing."""
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0 else 0.0


def similarity_notes(
    names: Sequence[str],
    fingerprints: Sequence[FloatArray],
    signatures: Sequence[Mapping[str, Signature]],
) -> list[str]:
    """Note which systems have the same scores, and which are nearly the same.

    The arguments are the name, the fingerprint and the signatures by data set of each system.
    """
    by_scores: dict[tuple[str, ...], list[str]] = {}
    for name, of_sets in zip(names, signatures, strict=True):
        hashes = [signature.hashes.get("scores") for signature in of_sets.values()]
        known = tuple(text for text in hashes if text is not None)
        if known and len(known) == len(hashes):
            by_scores.setdefault(known, []).append(name)
    same = [of_scores for of_scores in by_scores.values() if len(of_scores) > 1]
    notes = [
        f"{len(of_scores)} systems have the same scores: {listing(of_scores)}." for of_scores in same
    ]
    told = {pair for of_scores in same for pair in combinations(of_scores, 2)}
    pairs = []
    for (first, of_first), (second, of_second) in combinations(zip(names, fingerprints, strict=True), 2):
        if (first, second) not in told and len(of_first) == len(of_second):
            pairs.append((correlation(of_first, of_second), f"{first} and {second}"))
    near = sorted((pair for pair in pairs if pair[0] >= NEARLY_EQUAL), key=lambda pair: -pair[0])
    if near:
        texts = [f"{both} ({_shown(value)})" for value, both in near]
        notes.append(
            "Some systems find and miss nearly the same (correlation of their true and false positives "
            f"per clip): {listing(texts)}."
        )
    return notes


def _shown(value: float) -> str:
    """Return a correlation as text; only equal fingerprints have 1.

    >>> _shown(0.98765), _shown(0.99999), _shown(1.0)
    ('0.988', '0.999', '1')
    """
    return "1" if value > 1 - 1e-12 else f"{min(value, 0.999):.3f}"
