"""The criterion of time in parts of recordings: collars are those of the whole recordings."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import Alignment, align
from sedscope.alignment.cuts import cut_into_blocks
from sedscope.counting.one_pass import one_pass
from sedscope.counting.request import DeltaRequest
from sedscope.data.choices import Crossing
from sedscope.evaluation.groups import LengthBin

from ..support import oracle
from ..support.equality import assert_equal_to_oracle, count_columns
from ..support.passes import stored
from ..support.strategies import (
    LABELS,
    clip_lists_with_ignored,
    mixed_clip_lists,
    name,
    to_scores,
    to_truth,
)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

cases = mixed_clip_lists | clip_lists_with_ignored
collars = st.sampled_from([0.0, 1e-6, 2e-6, 5e-6, 0.064, 1.0])
lengths = st.sampled_from([(0, 10**9), (0, 2), (2, 10**9), (3, 64_000)])
Recordings = tuple[Sequence[oracle.Clip], list[list[oracle.Event]]]


@st.composite
def recordings_with_regions(draw: st.DrawFn) -> Recordings:
    """Recordings, and some regions of each, which may touch."""
    case = draw(cases)
    regions = []
    for clip in case:
        bounds = st.sets(st.integers(0, clip.duration), min_size=2, max_size=6)
        spans = [*pairwise(sorted(draw(bounds)))] if draw(st.booleans()) else [(0, clip.duration)]
        regions.append(spans[:: draw(st.sampled_from([1, 2]))])
    return case, regions


def cut(
    recordings: Recordings, crossing: Crossing = "cut", *, in_pieces: bool = False
) -> tuple[sed.Scores, sed.RegionTruth]:
    case, regions = recordings
    scores = to_scores(case)
    if in_pieces:
        pieces = {
            clip: sed.ClipPieces(
                partial(np.split, whole.values, range(2, len(whole.values), 2)), edges=whole.edges
            )
            for clip, whole in scores.items()
        }
        scores = sed.Scores.from_pieces(pieces, classes=LABELS)
    seconds = {name(i): [(a / 1e6, b / 1e6) for a, b in spans] for i, spans in enumerate(regions)}
    return sed.cut_to_regions(scores, to_truth(case), seconds, crossing=crossing)


def counts_of(alignment: Alignment, criterion: sed.Criterion) -> sed.Counts:
    deltas = one_pass(alignment, {criterion: DeltaRequest()})[criterion]
    counts = stored(deltas).counts()
    assert dict(count_columns(counts)) == dict(count_columns(deltas.counts()))
    return counts


def judged_in(
    clip: oracle.Clip, region: oracle.Event, crossing: Crossing, bounds: tuple[int, int]
) -> oracle.Clip:
    """The whole recording with the references that count in a region, and those that are ignored there."""
    counted, ignored = [], []
    begin, end = region
    for i, event in enumerate((*clip.references, *clip.ignored)):
        onset, offset, _ = event
        inside = onset < end and offset > begin
        crosses = inside and region != (0, clip.duration) and (onset < begin or offset > end)
        length = min(offset, end) - max(onset, begin) if crosses else offset - onset
        if crosses and crossing == "drop" and i < len(clip.references):
            continue
        counts = bounds[0] < length <= bounds[1] and not (crosses and crossing == "ignore")
        if counts and i < len(clip.references):
            counted.append(event)
        elif inside:
            ignored.append(event)
    return replace(clip, references=counted, ignored=ignored)


@settings(max_examples=100)
@given(recordings_with_regions(), collars, st.sampled_from(get_args(Crossing)), lengths, st.booleans())
def test_regions_are_judged_as_parts_of_whole_recordings(
    recordings: Recordings, collar: float, crossing: Crossing, bounds: tuple[int, int], in_pieces: bool
) -> None:
    scores, truth = cut(recordings, crossing, in_pieces=in_pieces)
    criterion = sed.Time(collar)
    alignment = align(scores, truth, coverage="any")
    got = [counts_of(alignment, sed.OfLength(criterion, bounds[0] / 1e6, bounds[1] / 1e6))]
    got.append(counts_of(LengthBin(bounds[0] / 1e6, bounds[1] / 1e6).of(alignment), criterion))
    pairs = [
        (judged_in(clip, region, crossing, bounds), region)
        for clip, spans in zip(*recordings, strict=True)
        for region in spans
    ]
    clips, regions = [clip for clip, _ in pairs], [region for _, region in pairs]
    width = oracle.ticks(collar)
    for label in LABELS:
        expected = oracle.time_counts(clips, label, collar=width, regions=regions)
        times = oracle.scored_time(clips, label, collar=width, regions=regions)
        for counts in got:
            assert_equal_to_oracle(counts[label], expected, label)
            assert (counts[label].references, counts[label].trials) == times


@settings(max_examples=40)
@given(recordings_with_regions(), collars, st.sampled_from(get_args(Crossing)), st.integers(2, 40))
def test_blocks_of_time_have_the_same_times(
    recordings: Recordings, collar: float, crossing: Crossing, length: int
) -> None:
    criterion = sed.Time(collar)
    for scores, truth in (
        (to_scores(recordings[0]), to_truth(recordings[0])),
        cut(recordings, crossing),
    ):
        alignment = align(scores, truth, coverage="any")
        blocks = cut_into_blocks(alignment, max(length, int(alignment.durations.max()) // 20) / 1e6)
        of_blocks, of_recordings = (counts_of(part, criterion) for part in (blocks, alignment))
        assert dict(count_columns(of_blocks)) == dict(count_columns(of_recordings))
        for label in LABELS:
            assert of_blocks[label].trials == of_recordings[label].trials


@settings(max_examples=40)
@given(recordings_with_regions(), collars, st.data())
def test_any_choice_of_regions_and_classes_is_judged_alike(
    recordings: Recordings, collar: float, data: st.DataObject
) -> None:
    scores, truth = cut(recordings)
    clips = data.draw(st.lists(st.sampled_from([*scores]), unique=True, min_size=1))
    classes = data.draw(st.lists(st.sampled_from(LABELS), unique=True, min_size=1))
    expected = dict(
        count_columns(
            sed.deltas(
                scores, truth, sed.Time(collar), clips=clips, classes=LABELS, coverage="any"
            ).counts()
        )
    )
    alignment = align(scores, truth, coverage="any")
    chosen = alignment.choose(np.array([alignment.clips.index(clip) for clip in clips]))
    chosen = pickle.loads(pickle.dumps(chosen)).of_classes(np.isin(LABELS, classes))
    directly = align(scores, truth, clips=clips, classes=classes, coverage="any")
    for part in (chosen, directly):
        of_part = dict(count_columns(counts_of(part, sed.Time(collar))))
        assert of_part == {label: expected[label] for label in of_part}


@pytest.mark.parametrize(("crossing", "tp", "fp"), [("cut", 2.5, 0.5), ("drop", 0, 4), ("ignore", 0, 1)])
def test_a_cut_is_no_boundary_and_outside_collars_reach_in(
    crossing: Crossing, tp: float, fp: float
) -> None:
    #             0   1   2   3   4   5   6   7   8
    # reference       [               )     [   )
    # region              [                 )
    # not scored    [---]           [---] [---]
    truth = sed.GroundTruth.from_dict({"a": [(1, 5, "dog"), (6.5, 7.5, "dog")]}, durations={"a": 8})
    scores = sed.Scores.from_events({"a": [(0, 8, "dog")]})
    regions = sed.cut_to_regions(scores, truth, {"a": [(2, 6.5)]}, crossing=crossing)
    tally = sed.deltas(*regions, sed.Time(collar=1.0)).counts()["dog"].tally_at(0.5)
    assert (tally.tp, tally.fp) == (tp * 1e6, fp * 1e6)
    assert (tally.references, tally.trials) == (tp * 1e6, (tp + fp) * 1e6)


def test_a_checkpoint_tells_references_outside_of_regions_apart(tmp_path: Path) -> None:
    scores = sed.Scores.from_events({"a": [(0, 8, "dog")]})
    metric = sed.Precision(sed.Time(collar=0.5))
    values, digests = set(), set()
    for onset in (6, 6.125, 7):
        truth = sed.GroundTruth.from_dict({"a": [(3, 4, "dog"), (onset, 8, "dog")]}, durations={"a": 8})
        regions = sed.cut_to_regions(scores, truth, {"a": [(1, 6)]})
        value = sed.evaluate(*regions, metric)[metric].value
        assert sed.evaluate(*regions, metric, run=sed.Run(checkpoint=tmp_path))[metric].value == value
        values.add(value)
        digests.add(align(*regions).truth_digest())
    assert len(values) == len(digests) == 3


@pytest.mark.parametrize("crossing", get_args(Crossing))
def test_labels_are_merged_before_regions_are_cut(crossing: Crossing) -> None:
    #             0   1   2   3   4   5   6
    # car                 [       )
    # bus             [   ---   )
    # region      [           )   [       )
    events = [(2, 4, "car"), (1, 3.5, "bus")]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 6})
    label_map = {"car": "vehicle", "bus": "vehicle"}
    scores = sed.Scores.from_events({"a": [(0, 6, "vehicle")]})
    regions = sed.Regions.from_dict({"a": [(0, 3), (4, 6)]})
    before = sed.RegionTruth(truth.relabelled(label_map), regions, crossing)
    after = sed.RegionTruth(truth, regions, crossing).relabelled(label_map)
    counts = [
        sed.deltas(cut_truth.cut_scores(scores), cut_truth, sed.Time(1.0)).counts()
        for cut_truth in (before, after)
    ]
    assert dict(count_columns(counts[0])) == dict(count_columns(counts[1]))
    assert after.events("a@0-3") == before.events("a@0-3")
