"""What a command reads, and which part of it is evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...data.choices import (
    ClipChoice,
    Coverage,
    Crossing,
    EventOverlaps,
    Gaps,
    Invalid,
    Missing,
    Side,
    truth_overlaps,
)
from ...errors import SedscopeError
from .arguments import (
    GAPS,
    LABEL,
    LABELS,
    POSTPROCESS,
    SCORES_COLUMNS,
    SCORES_FORMAT,
    STITCH,
    TRUTH_COLUMNS,
    column_map,
    read_clip_list,
    stitch_arguments,
)
from .groups import OptionGroup, option

if TYPE_CHECKING:
    from ...data.ground_truth import GroundTruth
    from ...data.label_maps import LabelMap
    from ...data.scores import Scores
    from ...io.event_files import TruthReading
    from ...io.locations import Location
    from ...io.systems import DetectionSets, SystemReading


CLIPS = option(
    None,
    "Evaluate only these clips: a file with one clip per line, or 'scored' for all clips that have "
    "scores.",
    reads=lambda text: [] if text == "scored" else [text],
)


_AVERAGE_ADVICE = (
    "Correct them. Or average the windows first, with 'sedscope convert DETECTIONS windows.store --overlaps "
    "average', and evaluate windows.store with --overlaps merge, which merges references that overlap."
)


@dataclass(frozen=True)
class SystemOptions(OptionGroup):
    """How the files of a system are read, for commands without reference events."""

    panel: ClassVar[str] = "Files"

    labels: Path | None = LABELS
    scores_format: str | None = SCORES_FORMAT
    scores_columns: str | None = SCORES_COLUMNS
    gaps: Gaps = GAPS
    stitch: str | None = STITCH

    def read(self, path: Location, overlaps: EventOverlaps, labels: Iterable[str] = ()) -> Scores:
        """Read scores or detections. ``labels``: classes that they have in any case."""
        from ...io.label_maps import read_label_map
        from ...io.systems import read_system_scores

        label_map = None if self.labels is None else read_label_map(self.labels, side="system")
        reading = _system_reading(self, overlaps=overlaps, label_map=label_map)
        return read_system_scores(path, None, reading, labels)


def _system_reading(options: SystemOptions | FileOptions, **settings: Any) -> SystemReading:
    from ... import SystemReading

    return SystemReading(
        format=options.scores_format,
        columns=column_map(options.scores_columns, "--scores-columns"),
        gaps=options.gaps,
        **stitch_arguments(options.stitch),
        **settings,
    )


@dataclass(frozen=True)
class FileOptions(OptionGroup):
    """How the files of scores and reference events are read."""

    panel: ClassVar[str] = "Files"

    durations: Path | None = option(
        None, "Clip durations (filename duration). [default: from the scores]"
    )
    classes: list[str] | None = option(
        None, "Evaluate only these classes: a name, or several separated by commas."
    )
    missing: Missing = option(
        "error",
        "Clips that the ground truth does not list: 'error' refuses them, 'empty' takes them as "
        "clips without events.",
    )
    coverage: Coverage = option(
        "error",
        "Scores that end long before or after most of their clips: 'error' refuses them, 'trim' "
        "cuts all scores to the durations of their clips, 'any' evaluates them as they are.",
    )
    invalid: Invalid = option(
        "error",
        "Reference events that end before they begin, or begin before or after their clip: 'error' "
        "refuses them, 'drop' leaves them out, and events of no length, too.",
    )
    overlaps: EventOverlaps = option(
        "error",
        "Overlapping events of one class: 'error' refuses them, 'merge' merges them, 'keep' keeps "
        "them as they are, 'average' takes detections as windows and averages them into frames.",
    )
    truth_format: str | None = option(
        None, "Format of the reference events. [default: detected from the content]", "--format"
    )
    columns: str | None = TRUTH_COLUMNS
    label: str | None = LABEL
    labels: Path | None = option(
        None,
        "Label map for both sides: a table 'from,to' or TOML. Labels with the same new name are "
        "merged, an empty one drops a label. 'sedscope labels' proposes one.",
    )
    system_labels: Path | None = option(None, "Label map for the system only.")
    truth_labels: Path | None = option(None, "Label map for the ground truth only.")
    truth_confidence: str | None = option(
        None,
        "Which reference events count, for soft labels with a column confidence, e.g. '> 0.5' or "
        "'>= 0.5'. [default: all, with a warning]",
    )
    ignored: Path | None = option(
        None,
        "Ignored references: a file of events that need not be found. Detections that match them "
        "are neither right nor wrong.",
    )
    ignored_label: list[str] | None = option(
        None,
        "Label of reference events that are ignored for every class. Repeat the option for several.",
    )
    scores_format: str | None = SCORES_FORMAT
    scores_columns: str | None = SCORES_COLUMNS
    gaps: Gaps = GAPS
    stitch: str | None = STITCH

    def system_reading(self) -> SystemReading:
        """Return how scores and detections are read."""
        label_map = _side_map(self.labels, self.system_labels, "system")
        return _system_reading(self, label=self.label, overlaps=self.overlaps, label_map=label_map)

    def truth_reading(self) -> TruthReading:
        """Return how the reference events are read."""
        from ... import TruthReading

        return TruthReading(
            durations=self.durations,
            invalid=self.invalid,
            overlaps=truth_overlaps(self.overlaps),
            format=self.truth_format,
            columns=column_map(self.columns),
            label=self.label,
            confidence=self.truth_confidence,
            ignored=self.ignored,
            ignored_labels=self.ignored_label or (),
            label_map=_side_map(self.labels, self.truth_labels, "truth"),
        )

    def read_truth(self, path: Location) -> GroundTruth:
        """Read the reference events, and give them their new labels."""
        from ...evaluation.inputs import as_truth

        try:
            return as_truth(path, {"truth_reading": self.truth_reading()})
        except SedscopeError as error:
            from ...data.events import OVERLAPS_ADVICE

            if self.overlaps != "average" or error.advice != OVERLAPS_ADVICE:
                raise
            raise SedscopeError(str(error).replace(OVERLAPS_ADVICE, _AVERAGE_ADVICE)) from None


def _side_map(both: Location | None, own: Location | None, side: Side) -> LabelMap | None:
    """Read the label maps that apply to a side, as one map."""
    if both is None and own is None:
        return None
    from ...data.label_maps import joined_maps
    from ...io.label_maps import read_label_map, read_side_map

    return joined_maps(
        None if both is None else read_label_map(both, side=side),
        None if own is None else read_side_map(own, side),
    )


@dataclass(frozen=True)
class InputOptions(FileOptions):
    """How files are read, and what of them is evaluated."""

    clips: str | None = CLIPS
    postprocess: list[str] | None = POSTPROCESS
    regions: Path | None = option(
        None,
        "Evaluate only these regions of the clips (filename onset offset). Each becomes a clip of "
        "its own.",
    )
    crossing: Crossing = option(
        "cut",
        "Reference events that cross the border of a region: 'cut' keeps the part inside, 'ignore' "
        "makes it an ignored reference, 'drop' leaves it out.",
    )

    def read_truth(self, path: Location) -> GroundTruth:
        """Read the reference events, and cut them to the regions if there are some."""
        truth = super().read_truth(path)
        if self.regions is not None:
            from ... import RegionTruth, read_regions

            return RegionTruth(truth, read_regions(self.regions), self.crossing)
        if self.crossing != "cut":
            raise SedscopeError("--crossing only applies to --regions. Give regions as well.")
        return truth

    def read_system(self, path: Location, truth: GroundTruth) -> Scores | DetectionSets:
        """Read scores, or detections by threshold. They are not post-processed yet.

        Scores have their new labels; detections by threshold get them when they are evaluated. ``truth``: as
        :meth:`read_truth` returns it. If it is cut to regions, the scores are as well.
        """
        from ...evaluation.inputs import as_system

        return as_system(path, truth, {"system_reading": self.system_reading()}, coverage=self.coverage)

    def read_scores(self, path: Location, truth: GroundTruth, command: str) -> Scores:
        """Read scores. Refuse detections by threshold."""
        from ...evaluation.inputs import require_scores

        return require_scores(self.read_system(path, truth), path, f"'sedscope {command}'")

    def selection(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return what the library evaluates. ``labels``: the classes of the system."""
        if self.regions is not None and self.clips not in (None, "scored"):
            raise SedscopeError(
                "--clips FILE cannot be combined with --regions. Give regions only in those clips."
            )
        return {
            "classes": _class_names(self.classes, labels),
            "clips": clip_choice(self.clips),
            "missing": self.missing,
            "coverage": self.coverage,
        }


def _class_names(texts: Sequence[str] | None, labels: Sequence[str]) -> list[str] | None:
    """Split texts at their commas, except where the whole text is a label."""
    if not texts:
        return None
    return [name.strip() for text in texts for name in ([text] if text in labels else text.split(","))]


def clip_choice(text: str | None) -> ClipChoice:
    """Read the option ``--clips``."""
    if text is None or text == "scored":
        return text
    return read_clip_list(text, "--clips", "'scored'")
