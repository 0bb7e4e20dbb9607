"""PSDS over operating points, each of them a table of detections."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...alignment.alignment import silent_clips_text
from ...counting.tally import Tally
from ...errors import SedscopeWarning, issue_warnings, listing
from . import curves
from . import events as tables
from .curves import ClassRates, plot_per_class_psd_roc, plot_psd_roc
from .events import Events, as_text
from .references import References
from .results import PSDROC, PSDS, WORLD, FloatArray, PSDSEvalError, RatesPerClass, Thresholds

__all__ = [
    "PSDROC",
    "PSDS",
    "WORLD",
    "PSDSEval",
    "PSDSEvalError",
    "RatesPerClass",
    "Thresholds",
    "plot_per_class_psd_roc",
    "plot_psd_roc",
]

_POINT_COLUMNS = ("id", "counts", "tpr", "fpr", "ctr")


class PSDSEval:
    """Evaluates detections at several operating points.

    Parameters
    ----------
    dtc_threshold, gtc_threshold, cttc_threshold : float
        The thresholds of the detection, ground truth and cross-trigger tolerance criteria. With 0, any
        overlap is enough.
    class_names : iterable of str, optional
        Classes in addition to those of the ground truth.
    duration_unit : str, default "hour"
        The unit of time of false positive rates.
    ground_truth : pandas.DataFrame, optional
        The columns ``filename``, ``onset``, ``offset`` and ``event_label``.
    metadata : pandas.DataFrame, optional
        The columns ``filename`` and ``duration``.
    **ignored
        Other arguments are ignored with a warning.

    Attributes
    ----------
    operating_points : pandas.DataFrame
        A row for each operating point: ``id``, ``counts``, ``tpr``, ``fpr``, ``ctr`` and its info.
    ground_truth : pandas.DataFrame or None
        The reference events and, for each file, a row of the world, with ``duration`` and ``id``.
    metadata : pandas.DataFrame or None
        The metadata, in order of files.
    class_names : list of str
        The classes and, with a ground truth, the world.
    threshold : Thresholds
        The thresholds of the criteria.
    nseconds : int
        The seconds of the unit of time.
    """

    secs_in_uot: ClassVar[dict[str, int]] = {
        "minute": 60,
        "hour": 3600,
        "day": 24 * 3600,
        "month": 30 * 24 * 3600,
        "year": 365 * 24 * 3600,
    }
    detection_cols: ClassVar[list[str]] = tables.EVENT_COLUMNS

    def __init__(
        self,
        dtc_threshold: float = 0.5,
        gtc_threshold: float = 0.5,
        cttc_threshold: float = 0.3,
        *,
        class_names: Iterable[str] | None = None,
        duration_unit: str = "hour",
        ground_truth: Any = None,
        metadata: Any = None,
        **ignored: Any,
    ) -> None:
        self.threshold = Thresholds(gtc_threshold, dtc_threshold, cttc_threshold)
        for name, value in self.threshold._asdict().items():
            if not 0 <= value <= 1:
                raise PSDSEvalError(f"{name}_threshold must be between 0 and 1, not {value!r}.")
        if duration_unit not in self.secs_in_uot:
            units = " or ".join(map(repr, self.secs_in_uot))
            raise PSDSEvalError(f"Invalid duration_unit specified: {duration_unit!r}. Choose {units}.")
        if ignored:
            note = f"PSDSEval() ignores {listing(list(ignored))}. Weights and max_efpr belong to psds()."
            warnings.warn(note, SedscopeWarning, stacklevel=2)
        self.duration_unit = duration_unit
        self.nseconds = self.secs_in_uot[duration_unit]
        self.class_names: list[str] = sorted({as_text(name) for name in class_names or ()})
        self.ground_truth: Any = None
        self.metadata: Any = None
        self._references: References | None = None
        self.operating_points = _no_operating_points()
        self._named_clips: set[str] = set()
        """The clips that an operating point has detections in."""
        if ground_truth is not None or metadata is not None:
            issue_warnings(self._take_ground_truth(ground_truth, metadata), stacklevel=2)

    def set_ground_truth(self, gt_t: Any, meta_t: Any) -> None:
        """Set the ground truth. This is possible only once."""
        issue_warnings(self._take_ground_truth(gt_t, meta_t), stacklevel=2)

    def _take_ground_truth(self, gt_t: Any, meta_t: Any) -> tuple[str, ...]:
        """Set the ground truth, and return what is unusual about it."""
        if self._references is not None:
            raise PSDSEvalError(
                "You cannot set the ground truth more than once per evaluation. Create another PSDSEval."
            )
        if gt_t is None and meta_t is not None:
            raise PSDSEvalError(
                "The ground truth cannot be set without data. Pass the reference events."
            )
        if meta_t is None and gt_t is not None:
            raise PSDSEvalError(
                "Audio metadata is required when adding ground truths. Pass the durations of the files."
            )
        events, metadata = tables.event_table(gt_t, "ground truth"), tables.metadata_table(meta_t)
        self._references = References.from_tables(events, metadata, self.class_names)
        self.ground_truth, self.metadata = tables.with_world(events, metadata), metadata
        self.class_names = sorted({*self._references.classes, WORLD})
        return self._references.notes

    # Operating points

    def add_operating_point(self, detections: Any, info: Mapping[str, Any] | None = None) -> None:
        """Add an operating point.

        ``detections``: a pandas frame with the columns ``filename``, ``onset``, ``offset`` and
        ``event_label``. Detections that were added before are skipped. ``info``: further values to keep
        with the operating point.
        """
        import pandas

        references = self._require_references()
        table = tables.event_table(detections, "detection")
        name = tables.table_id(table)
        if name in self.operating_points.id.to_numpy():
            note = "A similar operating point exists, skipping this one: it has the same detections."
            warnings.warn(note, SedscopeWarning, stacklevel=2)
            return
        taken = [key for key in info or {} if key in _POINT_COLUMNS]
        if taken:
            raise PSDSEvalError(
                "the 'info' cannot contain the keys 'id', 'counts', 'tpr', 'fpr' or 'ctr'. "
                f"Rename {listing(taken)}."
            )
        events, notes = references.detections(table)
        issue_warnings(notes, stacklevel=2)
        self._named_clips |= {references.events.clip_names[clip] for clip in set(events.clips.tolist())}
        row = {"id": name, **self._evaluate(references, events), **(info or {})}
        new = pandas.DataFrame([row])
        self.operating_points = (
            pandas.concat([self.operating_points, new], ignore_index=True)
            if len(self.operating_points)
            else new
        )

    def num_operating_points(self) -> int:
        """Return the number of operating points."""
        return len(self.operating_points)

    def clear_all_operating_points(self) -> None:
        """Remove all operating points."""
        self.operating_points = _no_operating_points()
        self._named_clips = set()

    def _require_references(self) -> References:
        if self._references is None:
            raise PSDSEvalError(
                "Ground Truth must be provided before adding the first operating point. "
                "Call set_ground_truth() first."
            )
        return self._references

    def _evaluate(self, references: References, detections: Events) -> dict[str, FloatArray]:
        """Return the confusion matrix, and the true positive, false positive and cross-trigger rates."""
        counts = references.confusion_matrix(detections, self.threshold)
        number, seconds = references.class_counts(), references.class_seconds()
        with np.errstate(divide="ignore", invalid="ignore"):
            tpr = np.where(number > 0, np.diag(counts)[:-1] / number, np.nan)
            ctr = np.where(seconds > 0, counts[:-1, :-1] * self.nseconds / seconds, np.nan)
        np.fill_diagonal(ctr, np.nan)
        fpr = counts[:-1, -1] * self.nseconds / references.seconds
        return {"counts": counts, "tpr": tpr, "fpr": fpr, "ctr": ctr}

    # Scores

    def compute_macro_f_score(
        self, detections: Any, beta: float = 1.0
    ) -> tuple[float, dict[str, float]]:
        """Return the mean F-score over classes with reference events, and that of each class.

        A class of which nothing is found has an F-score of 0, with a warning: psds_eval leaves it out of
        the mean.
        """
        references = self._require_references()
        events, notes = references.detections(tables.event_table(detections, "detection"))
        issue_warnings(notes, stacklevel=2)
        counts = references.confusion_matrix(events, self.threshold)
        values = {
            label: float(Tally(counts[c, c], counts[c, -1], number).fscore(beta)) if number else np.nan
            for c, (label, number) in enumerate(
                zip(references.classes, references.class_counts().astype(int).tolist(), strict=True)
            )
        }
        defined = [value for value in values.values() if value == value]
        issue_warnings(_missed_class_notes(values), stacklevel=2)
        return np.float64(np.mean(defined) if defined else np.nan), values

    def psds(
        self,
        alpha_ct: float = 0.0,
        alpha_st: float = 0.0,
        max_efpr: float | None = None,
        en_interp: bool = False,
    ) -> PSDS:
        """Return the PSDS over the operating points.

        ``max_efpr``: by default, the largest rate of any operating point. ``en_interp``: connect
        operating points with straight lines instead of steps.
        """
        if alpha_st < 0:
            raise PSDSEvalError(f"alpha_st can't be negative, but is {alpha_st!r}.")
        _, _, curve = self.psd_roc_curves(alpha_ct, en_interp)
        end = float(curve.xp.max()) if max_efpr is None else max_efpr
        if end < 0:
            raise PSDSEvalError(f"max_efpr={max_efpr!r} must be at least 0.")
        issue_warnings(self._score_notes(curve, end), stacklevel=2)
        etpr = np.maximum(np.nan_to_num(curve.mean - alpha_st * curve.std), 0)
        value = self._auc(curve.xp, etpr, end, alpha_st > 0) / end if end else np.float64(np.nan)
        whole = PSDROC(etpr, curve.xp, curve.mean, curve.std)
        return PSDS(value, whole, alpha_st, alpha_ct, end, self.duration_unit)

    def _score_notes(self, curve: PSDROC, end: float) -> list[str]:
        """Say why a PSDS may not mean much."""
        clips = self._require_references().listed_clips
        silent = [clip for clip in clips if clip not in self._named_clips]
        notes = []
        if silent and self._named_clips:
            notes.append(f"{silent_clips_text(len(silent), len(clips))}: {listing(silent)}.")
        if np.isnan(curve.mean).all():
            notes.append("No class has reference events, so the PSDS is 0 whatever is detected.")
        if not end:
            notes.append("The PSDS up to an effective false positive rate of 0 is NaN. Set max_efpr.")
        return notes

    def psd_roc_curves(
        self, alpha_ct: float, linear_interp: bool = False
    ) -> tuple[PSDROC, PSDROC, PSDROC]:
        """Return three curves of each class's true positive rate: over the false positive rate, over
        the cross-trigger rates with each other class, and over the effective false positive rate."""
        curve = self.perform_interp if linear_interp else self.step_curve
        return curves.roc_curves(self._effective_fp_rate(alpha_ct), curve)

    def _effective_fp_rate(self, alpha_ct: float = 0.0) -> RatesPerClass:
        """Return the rates of all classes. A mean over no other class is 0."""
        if not 0 <= alpha_ct <= 1:
            raise PSDSEvalError(f"alpha_ct must be between 0 and 1, not {alpha_ct!r}.")
        points = self.operating_points
        if not len(points):
            raise PSDSEvalError("There are no operating points. Add one first.")
        tpr, fpr, ctr = (
            np.stack([*points[name], np.zeros_like(points[name][0])], -1)
            for name in ("tpr", "fpr", "ctr")
        )
        others = np.maximum((~np.isnan(ctr)).sum(axis=1), 1)
        efpr = fpr + alpha_ct * np.nansum(ctr, axis=1) / others
        return RatesPerClass(tpr, fpr, ctr, efpr, np.append(points.id.to_numpy(object), "None"))

    step_curve = staticmethod(curves.step_curve)
    perform_interp = staticmethod(curves.line_curve)
    _auc = staticmethod(curves.area_under)

    @staticmethod
    def compute_f_score(TP_values: Any, FP_values: Any, FN_values: Any, beta: float) -> Any:
        """Return the F-score of counts, and 0 where all counts are 0."""
        numerator = (1 + beta**2) * np.asarray(TP_values, np.float64)
        denominator = numerator + beta**2 * np.asarray(FN_values) + FP_values
        return numerator / np.where(denominator > 0, denominator, 1.0)

    def select_operating_points_per_class(
        self, class_constraints: Any, alpha_ct: float = 0.0, beta: float = 1.0
    ) -> Any:
        """Choose the best operating point for each row of a pandas frame.

        The columns of the frame are ``class_name``, ``constraint`` and ``value``. The constraint
        ``tpr`` chooses the lowest effective false positive rate with at least that true positive rate,
        ``fpr`` and ``efpr`` the highest true positive rate up to that rate, and ``fscore`` the highest
        F-score, whatever the value. The result has the columns class_name, TPR, FPR, eFPR, Fscore and
        the info of the operating point. They are NaN if no operating point meets the constraint.
        """
        import pandas

        columns = ["class_name", "constraint", "value"]
        tables.require_frame(class_constraints, columns, "constraints")
        rates = self._effective_fp_rate(alpha_ct)
        classes = self._require_references().classes
        kept = [name for name in self.operating_points.columns if name not in _POINT_COLUMNS]
        rows = []
        for label, constraint, value in class_constraints[columns].itertuples(index=False, name=None):
            if as_text(label) not in classes:
                raise PSDSEvalError(f"Unknown class: {label}. Choose from {listing(classes, limit=30)}.")
            of_class = self._class_rates(classes.index(as_text(label)), rates, beta)
            point = of_class.best(constraint, value)
            row: dict[str, Any] = {"class_name": label}
            if point is not None:
                row |= {name: column[point] for name, column in of_class._asdict().items()}
                row |= {name: self.operating_points[name].iloc[point] for name in kept}
            rows.append(row)
        return pandas.DataFrame(rows, columns=["class_name", *ClassRates._fields, *kept])

    def _class_rates(self, c: int, rates: RatesPerClass, beta: float) -> ClassRates:
        """Return the rates and F-scores of a class at all operating points."""
        matrices = np.stack([*self.operating_points.counts])
        tp, fp = (np.append(matrices[:, c, column], 0) for column in (c, -1))
        fscores = Tally(tp, fp, int(self._require_references().class_counts()[c])).fscore(beta)
        return ClassRates(rates.tp_ratio[c], rates.fp_rate[c], rates.effective_fp_rate[c], fscores)


def _no_operating_points() -> Any:
    import pandas

    return pandas.DataFrame(columns=list(_POINT_COLUMNS))


def _missed_class_notes(fscores: Mapping[str, float]) -> list[str]:
    """Say how psds_eval's mean differs if nothing is found of a class."""
    missed = [label for label, value in fscores.items() if value == 0]
    if not missed:
        return []
    others = [value for value in fscores.values() if value > 0]
    their_mean = f"gives {np.mean(others):.4f}" if others else "leaves none"
    return [
        f"Nothing is found of {listing(missed)}, so an F-score of 0 enters the mean. psds_eval leaves such "
        f"classes out of its mean, which {their_mean}."
    ]
