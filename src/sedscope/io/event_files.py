"""Detections and ground truth from files of any event format, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..data.choices import Invalid, Overlaps
from ..data.event_table import EventTable
from ..data.events import Events
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap, LabelMapLike, as_label_map
from ..data.tables import FrameLike, is_columns, is_frame
from ..errors import SedscopeError, counted, issue_warnings, listing
from .events import dcase
from .events.files import EVENT_FORMATS, format_of_name, read_event_table
from .events.format import Boxes, EventSet
from .events.source import EventReadOptions
from .locations import Address, Location, local_path
from .side_tables import clip_seconds, load_durations


def read_events(
    path: str | Location | FrameLike,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    durations: str | Location | Mapping[str, float] | None = None,
) -> Events[tuple[Any, ...]]:
    """Read detected events, with or without confidences.

    Parameters
    ----------
    path : path, address or data frame
        A file or folder in any format of events that ``sedscope formats`` lists; or a pandas, polars or
        pyarrow table with the columns ``filename onset offset event_label``, and perhaps
        ``confidence``.
    format : str, optional
        Name of the format. By default it is recognised from the content.
    columns : mapping from str to str, optional
        Names of columns by role: ``{"onset": "Begin Time (s)", …}``. The roles are ``filename``,
        ``onset``, ``offset``, ``duration``, ``label`` and ``confidence``.
    label : str, optional
        The label of events that have none, and of all speakers of an RTTM file.
    durations : path, address or mapping from str to float, optional
        Durations of the clips in seconds. Only labels of whole clips need them.

    Warns
    -----
    SedscopeWarning
        If there are no confidences, but a column that is not read has a name such as ``score``.

    Returns
    -------
    Events
        A dict ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds.

    Examples
    --------
    >>> table = {"filename": ["a"], "onset": [0.5], "offset": [1.5], "event_label": ["Dog"]}
    >>> read_events(table)
    {'a': [(0.5, 1.5, 'Dog')]}
    """
    if isinstance(path, (str, Path, Address)):
        table = read_event_table(path, format=format, options=EventReadOptions(columns or {}, label))
    else:
        table = EventTable.from_frame(path, columns)
    issue_warnings(table.missing_confidences_notes(), stacklevel=2)
    return table.events(load_durations(durations))


def write_events(
    events: Mapping[str, Iterable[tuple[Any, ...]]],
    path: str | Path | None,
    *,
    format: str | None = None,
    durations: Mapping[str, float] | None = None,
    lossy: bool = False,
    boxes: Boxes | None = None,
) -> str:
    """Write detected events to a file that :func:`read_events` reads back.

    Parameters
    ----------
    events : mapping from str to iterable of tuple
        ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds. In a DCASE table, a
        clip without events has a row of its own.
    path : path or None
        The file, or a new folder for formats with one file per clip. None writes nothing.
    format : str, optional
        Name of the format. ``sedscope formats`` lists them. By default, the name of the file selects it:
        a folder holds tables of Raven, and a folder named ``.audacity`` label tracks.
    durations : mapping from str to float, optional
        Durations of the clips in seconds, for formats that hold them, and for one table of Raven for several
        recordings.
    lossy : bool, default False
        Whether to leave out what the format cannot hold. By default that is an error.
    boxes : Boxes, optional
        What tables of Raven say of sound files and frequencies.

    Returns
    -------
    str
        The events as the text of a DCASE table.

    Examples
    --------
    >>> print(write_events({"a": [(0.5, 1.5, "Dog")]}, None).expandtabs(10))
    filename  onset     offset    event_label
    a         0.500000  1.500000  Dog
    <BLANKLINE>
    """
    listed = {clip: list(rows) for clip, rows in events.items()}
    event_set = EventSet(listed, durations or {}, boxes or Boxes())
    if path is not None:
        target = local_path(path)
        write_event_set(event_set, target, format=format or event_format_of_name(target), lossy=lossy)
    return dcase.text(event_set)


def event_format_of_name(path: Path) -> str:
    """Return the format of events that the name of a file or folder to write selects."""
    by_suffix = EVENT_FORMATS.by_suffix()
    names = listing([suffix for suffix in by_suffix if suffix], limit=20)
    return format_of_name(path, {**by_suffix, "": "raven"}, f"events. It may end in {names}")


def write_event_set(events: EventSet, path: Path, *, format: str, lossy: bool = False) -> None:
    """Write events in a format. What it cannot hold is an error unless ``lossy``."""
    chosen = EVENT_FORMATS.named(format)
    losses = chosen.losses(events)
    if losses and not lossy:
        raise SedscopeError(
            f"{path}: the format {format} cannot hold {'; '.join(losses)}. Choose another format, or accept "
            "the loss with `lossy=True`."
        )
    chosen.write(events, path)


@dataclass(frozen=True, kw_only=True)
class TruthReading:
    """How ground truth is read from a file, for functions that read it themselves.

    Parameters
    ----------
    durations, invalid, overlaps, format, columns, label, confidence, ignored, ignored_labels
        As in :func:`read_ground_truth`.
    label_map : LabelMap or mapping from str to str or None, optional
        New labels of the reference events, see :meth:`GroundTruth.relabelled`.

    See Also
    --------
    SystemReading : How scores and detections are read.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "dog")]}, durations={"a": 2})
    >>> scores = sed.Scores.from_arrays({"a": [[0.7], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> reading = sed.TruthReading(label_map={"dog": "Dog"})
    >>> sed.validate(scores, truth, truth_reading=reading).findings
    ()
    """

    durations: str | Location | Mapping[str, float] | FrameLike | None = None
    invalid: Invalid = "error"
    overlaps: Overlaps = "error"
    format: str | None = None
    columns: Mapping[str, str] | None = None
    label: str | None = None
    confidence: str | None = None
    ignored: str | Location | None = None
    ignored_labels: Iterable[str] = ()
    label_map: LabelMapLike | None = None

    def _require_only(self, *used: str) -> None:
        """Refuse what cannot apply to ground truth in memory. ``used``: the fields that can."""
        names = [field.name for field in fields(self) if field.name not in used]
        unused = [name for name in names if getattr(self, name)]
        if unused:
            raise SedscopeError(
                f"The ground truth is in memory, so {listing(unused)} of truth_reading= cannot be used. "
                "Give a file of ground truth."
            )

    def _options(self) -> EventReadOptions:
        return EventReadOptions(self.columns or {}, self.label, side="truth")

    def _label_map(self) -> LabelMap | None:
        return None if self.label_map is None else as_label_map(self.label_map)

    def _as_read(self, truth: GroundTruth) -> GroundTruth:
        """Give the reference events their new labels."""
        label_map = self._label_map()
        return truth if label_map is None else truth.relabelled(label_map)


def read_truth(
    truth: str | Location | Mapping[str, Any] | FrameLike, reading: TruthReading
) -> GroundTruth:
    """Read ground truth, or make it of events in memory, and give it its new labels."""
    if isinstance(truth, (str, Path, Address)):
        table = read_event_table(truth, format=reading.format, options=reading._options())
    elif is_frame(truth) or (isinstance(truth, Mapping) and is_columns(truth)):
        table = EventTable.from_frame(truth, reading.columns, where="ground truth")
    elif isinstance(truth, Mapping):
        reading._require_only("durations", "invalid", "overlaps", "ignored_labels", "label_map")
        made = GroundTruth.from_dict(
            truth,
            durations=load_durations(reading.durations),
            invalid=reading.invalid,
            overlaps=reading.overlaps,
            ignored_labels=reading.ignored_labels,
        )
        return reading._as_read(made)
    else:
        raise SedscopeError(
            f"Ground truth cannot be made from {type(truth).__name__}. Give a path, a mapping "
            "{clip: [(onset, offset, label), …]}, or a data frame with the columns filename, onset, offset "
            "and event_label; or see read_ground_truth, GroundTruth.from_dict and GroundTruth.from_table."
        )
    return truth_of_table(table, reading)


def truth_of_table(table: EventTable, reading: TruthReading) -> GroundTruth:
    """Return the ground truth of a table that was read, with its new labels."""
    ignored = None
    if reading.ignored is not None:
        options = reading._options()
        ignored = read_event_table(reading.ignored, format=reading.format, options=options)
    truth = GroundTruth.from_event_table(
        table,
        durations=load_durations(reading.durations),
        invalid=reading.invalid,
        overlaps=reading.overlaps,
        confidence=reading.confidence,
        ignored=ignored,
        ignored_labels=reading.ignored_labels,
    )
    return reading._as_read(truth)


def read_ground_truth(
    path: str | Location,
    *,
    durations: str | Location | Mapping[str, float] | None = None,
    invalid: Invalid = "error",
    overlaps: Overlaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    confidence: str | None = None,
    ignored: str | Location | None = None,
    ignored_labels: Iterable[str] = (),
) -> GroundTruth:
    """Read ground truth from a file of events, or from a folder of such files.

    Parameters
    ----------
    path : path or address
        A DCASE table ``filename onset offset event_label``, in which a row with only a file name is a
        clip without events, or a file or folder in any other format that ``sedscope formats`` lists.
    durations : path, address or mapping from str to float, optional
        Durations of the clips in seconds, or a file with the columns ``filename duration``. Clips that
        occur only here have no events.
    invalid : {'error', 'drop'}, default 'error'
        What to do with events that end before they begin, begin before 0 s, or begin at or after the end
        of their clip. ``"drop"`` leaves them out, and events of no length with them.
    overlaps : {'error', 'merge', 'keep'}, default 'error'
        What to do with overlapping events of one class in a clip.
    format : str, optional
        Name of the format. By default it is recognised from the content.
    columns : mapping from str to str, optional
        Names of columns by role: ``{"onset": "Begin Time (s)", …}``. The roles are ``filename``,
        ``onset``, ``offset``, ``duration``, ``label`` and ``confidence``.
    label : str, optional
        The label of events that have none, and of all speakers of an RTTM file.
    confidence : str, optional
        Which events are references, for soft labels with a confidence: ``"> 0.5"`` or ``">= 0.5"``. The
        clips of other events stay, perhaps without events. Without it, all events are references, and
        an evaluation warns if some have a confidence other than 1.
    ignored : path or address, optional
        A file of ignored references: events that need not be found, and detections that match them are
        neither right nor wrong. It is read with the same options as the ground truth.
    ignored_labels : iterable of str, optional
        Events with one of these labels are ignored references of every class.

    Returns
    -------
    GroundTruth

    See Also
    --------
    GroundTruth.from_dict, GroundTruth.from_table : Ground truth in memory.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = sed.write_ground_truth(truth, Path(folder, "truth.tsv"))
    ...     sed.read_ground_truth(Path(folder, "truth.tsv")).events("a")
    [(1.0, 2.0, 'Dog')]
    """
    reading = TruthReading(
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
        format=format,
        columns=columns,
        label=label,
        confidence=confidence,
        ignored=ignored,
        ignored_labels=ignored_labels,
    )
    return read_truth(path, reading)


def write_ground_truth(
    truth: GroundTruth, path: str | Path, *, format: str = "dcase", lossy: bool = False
) -> None:
    """Write ground truth to a file that :func:`read_ground_truth` reads back.

    Durations are written if the format holds them.

    Parameters
    ----------
    truth : GroundTruth
        The reference events. In a DCASE table, a clip without events has a row of its own.
    path : path
        The file, or a new folder for formats with one file per clip.
    format : str, default 'dcase'
        Name of the format. ``sedscope formats`` lists them.
    lossy : bool, default False
        Whether to leave out what the format cannot hold, and ignored references, which no format holds.
        By default that is an error.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = sed.write_ground_truth(truth, Path(folder, "truth.tsv"))
    ...     sed.read_ground_truth(Path(folder, "truth.tsv")).events("a")
    [(1.0, 2.0, 'Dog')]
    """
    ignored = int(np.count_nonzero(truth.ignored))
    if ignored and not lossy:
        raise SedscopeError(
            f"A file of events cannot say which ones are ignored: {counted(ignored, 'ignored reference')} "
            "would be lost. Leave them out with lossy=True, and write those of each clip "
            "(GroundTruth.ignored_events) to a file of their own."
        )
    order = np.flatnonzero(~truth.ignored)  # ordered by clip
    starts = np.searchsorted(truth.event_clips[order], np.arange(len(truth.clips) + 1))
    events = {
        clip: [
            (truth.onsets[k] / 1e6, truth.offsets[k] / 1e6, truth.labels[truth.event_labels[k]])
            for k in order[starts[i] : starts[i + 1]]
        ]
        for i, clip in enumerate(truth.clips)
    }
    writes_durations = truth.durations is not None and EVENT_FORMATS.named(format).uses_durations
    durations = clip_seconds(truth) if writes_durations else {}
    write_event_set(EventSet(events, durations), local_path(path), format=format, lossy=lossy)
