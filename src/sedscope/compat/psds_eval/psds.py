"""PSDS over operating points, each of them a table of detections."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ...counting.counts import Counts
from ...counting.tally import Tally
from ...criteria import Intersection
from ...data.alignment import silent_clips_text
from ...data.clip_ids import clip_id
from ...data.coverage import CoveredClips, squeezed_references_note
from ...data.ground_truth import GroundTruth
from ...data.labels import refuse_disjoint
from ...data.scores import Scores
from ...errors import SedscopeWarning, listing, subject
from ...evaluation.deltas import deltas
from ...metrics.psd_roc import step_area
from .results import PSDROC, PSDS, WORLD, FloatArray, PSDSEvalError, Thresholds, as_psds_eval_errors


class PSDSEval:
    """Evaluates detections at several operating points.

    Parameters
    ----------
    dtc_threshold, gtc_threshold, cttc_threshold : float
        The thresholds of the detection, ground truth and cross-trigger tolerance criteria.
    class_names : iterable of str, optional
        Classes in addition to those of the ground truth.
    duration_unit : str, default "hour"
        The unit of time of false positive rates.
    ground_truth : pandas.DataFrame, optional
        The columns ``filename``, ``onset``, ``offset`` and ``event_label``.
    metadata : pandas.DataFrame, optional
        The columns ``filename`` and ``duration``.
    """

    secs_in_uot: ClassVar[dict[str, int]] = {
        "minute": 60,
        "hour": 3600,
        "day": 24 * 3600,
        "month": 30 * 24 * 3600,
        "year": 365 * 24 * 3600,
    }
    detection_cols: ClassVar[list[str]] = ["filename", "onset", "offset", "event_label"]

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
    ) -> None:
        self.threshold = Thresholds(gtc_threshold, dtc_threshold, cttc_threshold)
        with as_psds_eval_errors():
            self.criterion = Intersection(dtc_threshold, gtc_threshold, cttc_threshold)
        if duration_unit not in self.secs_in_uot:
            units = " or ".join(map(repr, self.secs_in_uot))
            raise PSDSEvalError(f"duration_unit={duration_unit!r} is not valid. Choose {units}.")
        self.duration_unit = duration_unit
        self.nseconds = self.secs_in_uot[duration_unit]
        self.class_names: list[str] = sorted({name.strip() for name in class_names or ()})
        self.ground_truth: Any = None
        self.metadata: Any = None
        self._truth: GroundTruth | None = None
        self.operating_points = _no_operating_points()
        self._named_clips: set[str] = set()
        """The clips that an operating point has detections in."""
        if ground_truth is not None or metadata is not None:
            self.set_ground_truth(ground_truth, metadata)

    def set_ground_truth(self, gt_t: Any, meta_t: Any) -> None:
        """Set the ground truth. This is possible only once."""
        if self._truth is not None:
            raise PSDSEvalError("The ground truth is already set. Create another PSDSEval.")
        if gt_t is None or meta_t is None:
            raise PSDSEvalError("Pass both the ground truth and the metadata.")
        events = _events(gt_t, "ground truth")
        _require_frame(meta_t, ["filename", "duration"], "metadata")
        clips = meta_t.drop_duplicates("filename").sort_values("filename")
        with as_psds_eval_errors():
            self._truth = GroundTruth.from_table(events, durations=clips)
        durations = self._truth.durations
        assert durations is not None
        squeezed = squeezed_references_note(self._truth.offsets, self._truth.event_clips, durations)
        for note in (*self._truth.warnings, *squeezed):
            warnings.warn(note, SedscopeWarning, stacklevel=2)
        self.ground_truth, self.metadata = events.dropna(), clips
        self.class_names = sorted({*self.class_names, *self._truth.labels, WORLD})

    # Operating points

    def add_operating_point(self, detections: Any, info: Mapping[str, Any] | None = None) -> None:
        """Add an operating point.

        ``detections``: a pandas frame with the columns ``filename``, ``onset``, ``offset`` and
        ``event_label``. Detections that were added before are ignored. ``info``: further values to keep
        with the operating point.
        """
        import pandas

        table = _events(detections, "detection")
        name = _name_of(table)
        if name in self.operating_points.id.to_numpy():
            warnings.warn("This operating point was already added.", SedscopeWarning, stacklevel=2)
            return
        taken = [key for key in info or {} if key in ("id", "counts", "tpr", "fpr", "ctr")]
        if taken:
            raise PSDSEvalError(f"The names {listing(taken)} are reserved and cannot be used in info.")
        counts, tpr, fpr, ctr = self._evaluate(table)
        self._named_clips |= {clip_id(name) for name in table.filename}
        row = {"id": name, "counts": counts, "tpr": tpr, "fpr": fpr, "ctr": ctr, **(info or {})}
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

    def _classes(self) -> list[str]:
        return [name for name in self.class_names if name != WORLD]

    def _evaluate(self, table: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the confusion matrix, and the true positive, false positive and cross-trigger rates."""
        counts = self._count(table)
        classes = list(counts)
        matrix = np.zeros((len(classes) + 1, len(classes) + 1))
        matrix[:-1, :-1] = counts.cross_trigger_matrix(0.5)
        tallies = [of_class.tally_at(0.5) for of_class in counts.values()]
        matrix[:-1, -1] = [tally.fp for tally in tallies]
        tpr = np.array([tally.recall for tally in tallies])
        fpr = matrix[:-1, -1] * self.nseconds / counts.duration
        seconds = np.array([of_class.reference_time for of_class in counts.values()])
        with np.errstate(divide="ignore", invalid="ignore"):
            ctr = np.where(seconds > 0, matrix[:-1, :-1] * self.nseconds / seconds, np.nan)
        np.fill_diagonal(ctr, np.nan)
        return matrix, tpr, fpr, ctr

    def _count(self, table: Any) -> Counts:
        if self._truth is None:
            raise PSDSEvalError("Set the ground truth first.")
        detected: dict[str, list[tuple[float, float, str]]] = {}
        for name, *event in _rows(table):
            detected.setdefault(clip_id(name), []).append((event[0], event[1], event[2]))
        unlisted = sorted(set(detected).difference(self._truth.clips))
        if unlisted:
            raise PSDSEvalError(
                f"{subject(len(unlisted), 'clip', 'has')} detections but no row in the metadata: "
                f"{listing(unlisted)}."
            )
        classes = self._classes()
        others = sorted(set(table.event_label).difference(classes))
        with as_psds_eval_errors():
            refuse_disjoint(sorted(set(table.event_label)), classes)
        if others:
            note = f"Detections of unknown classes were left out: {listing(others)}."
            warnings.warn(note, SedscopeWarning, stacklevel=4)
        with as_psds_eval_errors():
            system = Scores.from_events(detected, classes=[*classes, *others], clips=self._truth.clips)
            counted = deltas(system, self._truth, self.criterion, classes=classes, coverage="any")
            assert counted.extents is not None
            covered = CoveredClips(counted.clips, counted.durations, counted.extents, whole_clips=False)
            covered.refuse("To evaluate them as they are, use sedscope.evaluate with coverage='any'.")
        for note in covered.notes():
            warnings.warn(note, SedscopeWarning, stacklevel=4)
        return counted.counts()

    # Scores

    def compute_macro_f_score(
        self, detections: Any, beta: float = 1.0
    ) -> tuple[float, dict[str, float]]:
        """Return the mean F-score over classes with reference events, and that of each class."""
        counts = self._count(_events(detections, "detection"))
        values = {
            label: float(of_class.tally_at(0.5).fscore(beta)) if of_class.references else np.nan
            for label, of_class in counts.items()
        }
        return float(np.nanmean(list(values.values()))), values

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
            raise PSDSEvalError(f"alpha_st={alpha_st!r} must be at least 0.")
        _, _, curve = self.psd_roc_curves(alpha_ct, en_interp)
        clips = () if self._truth is None else self._truth.clips
        silent = [clip for clip in clips if clip not in self._named_clips]
        if silent and self._named_clips:
            note = f"{silent_clips_text(len(silent), len(clips))}: {listing(silent)}."
            warnings.warn(note, SedscopeWarning, stacklevel=2)
        end = float(curve.xp.max()) if max_efpr is None else float(max_efpr)
        if not end > 0:
            raise PSDSEvalError("max_efpr must be above 0, but no operating point has a false positive.")
        etpr = np.maximum(np.nan_to_num(curve.mean - alpha_st * curve.std), 0)
        inside = curve.xp <= end
        value = step_area(curve.xp[inside], etpr[inside], end) / end
        whole = PSDROC(etpr, curve.xp, curve.mean, curve.std)
        return PSDS(value, whole, alpha_st, alpha_ct, end, self.duration_unit)

    def psd_roc_curves(
        self, alpha_ct: float, linear_interp: bool = False
    ) -> tuple[PSDROC, PSDROC, PSDROC]:
        """Return three curves of each class's true positive rate: over the false positive rate, over
        the cross-trigger rates with each other class, and over the effective false positive rate."""
        tpr, fpr, ctr, efpr = self._rates(alpha_ct)
        curve = self.perform_interp if linear_interp else self.step_curve

        def over(rates: FloatArray, ratios: FloatArray) -> PSDROC:
            x = np.unique(rates[~np.isnan(rates)])
            curves = [
                np.full(len(x), np.nan) if np.isnan([*xp, *yp]).any() else curve(x, xp, yp)
                for xp, yp in zip(rates.reshape(-1, rates.shape[-1]), ratios, strict=True)
            ]
            y = np.array(curves).reshape(*rates.shape[:-1], len(x))
            defined = np.array([row for row in curves if not np.isnan(row).any()]).reshape(-1, len(x))
            mean, std = (defined.mean(0), defined.std(0)) if len(defined) else (x * np.nan, x * np.nan)
            return PSDROC(y, x, mean, std)

        return over(fpr, tpr), over(ctr, np.repeat(tpr, len(tpr), axis=0)), over(efpr, tpr)

    def _rates(self, alpha_ct: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return (classes × points) true and false positive rates, (classes × classes × points)
        cross-trigger rates, and (classes × points) effective rates. At the last point, nothing is
        detected."""
        if not 0 <= alpha_ct <= 1:
            raise PSDSEvalError(f"alpha_ct={alpha_ct!r} must be from 0 to 1.")
        if not len(self.operating_points):
            raise PSDSEvalError("There are no operating points. Add one first.")
        tpr, fpr, ctr = (
            np.stack([*self.operating_points[name], np.zeros_like(self.operating_points[name][0])], -1)
            for name in ("tpr", "fpr", "ctr")
        )
        tpr[np.isnan(tpr).any(axis=-1)] = np.nan
        ctr[np.isnan(ctr).any(axis=-1)] = np.nan
        others = np.maximum((~np.isnan(ctr)).sum(axis=1), 1)
        return tpr, fpr, ctr, fpr + alpha_ct * np.nansum(ctr, axis=1) / others

    @staticmethod
    def step_curve(x: FloatArray, xp: FloatArray, yp: FloatArray) -> FloatArray:
        """Return at each x the largest y of all points up to it, and 0 before the first point."""
        order = np.argsort(xp, kind="stable")
        best = np.append(0.0, np.maximum.accumulate(np.asarray(yp, np.float64)[order]))
        return best[np.searchsorted(np.asarray(xp)[order], x, side="right")]

    @staticmethod
    def perform_interp(x: FloatArray, xp: FloatArray, yp: FloatArray) -> FloatArray:
        """Interpolate linearly between points, with a result that never falls."""
        order = np.argsort(xp, kind="stable")
        distinct, first = np.unique(np.asarray(xp)[order], return_index=True)
        return np.maximum.accumulate(np.interp(x, distinct, np.asarray(yp, np.float64)[order][first]))

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
        F-score. The result has the columns class_name, TPR, FPR, eFPR, Fscore and the info of the
        operating point. They are NaN if no operating point meets the constraint.
        """
        import pandas

        _require_frame(class_constraints, ["class_name", "constraint", "value"], "constraints")
        tpr, fpr, _, efpr = self._rates(alpha_ct)
        classes = self._classes()
        kept = [
            name
            for name in self.operating_points.columns
            if name not in ("id", "counts", "tpr", "fpr", "ctr")
        ]
        rows = []
        for label, constraint, value in class_constraints[
            ["class_name", "constraint", "value"]
        ].itertuples(index=False, name=None):
            if label not in classes:
                raise PSDSEvalError(
                    f"There is no class {label!r}. Choose from {listing(classes, limit=30)}."
                )
            c = classes.index(label)
            fscore = self._fscores(c, tpr[c], beta)
            point = _choose(constraint, value, tpr[c], fpr[c], efpr[c], fscore)
            row: dict[str, Any] = {"class_name": label}
            if point is not None:
                values = (tpr[c], fpr[c], efpr[c], fscore)
                names = ("TPR", "FPR", "eFPR", "Fscore")
                row |= {name: column[point] for name, column in zip(names, values, strict=True)}
                row |= {name: self.operating_points[name].iloc[point] for name in kept}
            rows.append(row)
        return pandas.DataFrame(rows, columns=["class_name", "TPR", "FPR", "eFPR", "Fscore", *kept])

    def _fscores(self, c: int, tpr: FloatArray, beta: float) -> FloatArray:
        """Return the F-scores of a class at all operating points. At the last, nothing is detected."""
        assert self._truth is not None
        label = self._classes()[c]
        number = self._truth.labels.index(label) if label in self._truth.labels else -1
        references = int(np.count_nonzero(self._truth.event_labels == number))
        matrices = np.stack([*self.operating_points.counts])
        tp, fp = (np.append(matrices[:, c, column], 0) for column in (c, -1))
        fscore: FloatArray = Tally(tp, fp, references).fscore(beta)
        return fscore


def _choose(
    constraint: str,
    value: float,
    tpr: FloatArray,
    fpr: FloatArray,
    efpr: FloatArray,
    fscore: FloatArray,
) -> int | None:
    """Return the best operating point that meets a constraint; None if none detects anything."""
    constraints = {
        "tpr": (tpr >= value, -efpr),
        "fpr": (fpr <= value, tpr),
        "efpr": (efpr <= value, tpr),
        "fscore": (np.ones(len(tpr), bool), fscore),
    }
    if constraint not in constraints:
        raise PSDSEvalError(
            f"constraint {constraint!r} is not valid. Choose {' or '.join(map(repr, constraints))}."
        )
    met, goodness = constraints[constraint]
    points = np.flatnonzero(met & ~np.isnan(goodness))
    if not len(points):
        return None
    point = int(points[np.argmax(goodness[points])])
    return None if point == len(tpr) - 1 else point


def _no_operating_points() -> Any:
    import pandas

    return pandas.DataFrame(columns=["id", "counts", "tpr", "fpr", "ctr"])


def _require_frame(table: Any, columns: list[str], what: str) -> None:
    import pandas

    if not isinstance(table, pandas.DataFrame):
        raise PSDSEvalError(f"The {what} must be a pandas.DataFrame, not {type(table).__name__}.")
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise PSDSEvalError(f"The {what} has no column {listing(missing)}.")


def _events(table: Any, what: str) -> Any:
    """Return the four event columns, without events of no length and white space around names."""
    _require_frame(table, PSDSEval.detection_cols, what)
    events = table[PSDSEval.detection_cols].reset_index(drop=True)
    for column in ("filename", "event_label"):
        names = events[column].tolist()
        stripped = [name.strip() if isinstance(name, str) else name for name in names]
        if any(a is not b and a != b for a, b in zip(names, stripped, strict=True)):
            events[column] = stripped
    return events[~(events.offset == events.onset)]


def _rows(table: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over rows by zipping columns, because pandas iterates over text slowly."""
    return zip(*(table[name].tolist() for name in table.columns), strict=True)


def _name_of(table: Any) -> str:
    """Return a name that is the same for the same detections in any order."""
    rows = sorted(_rows(table))
    return hashlib.sha256(repr(rows).encode()).hexdigest()
