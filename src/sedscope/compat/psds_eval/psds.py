"""PSDS over operating points that are given as tables of detections."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ...counting.counts import Counts
from ...counting.tally import Tally
from ...criteria import Intersection
from ...data.clip_ids import clip_id
from ...data.ground_truth import GroundTruth
from ...data.scores import Scores
from ...errors import SedscopeWarning, counted, listing
from ...evaluation.deltas import deltas
from ...metrics.psd_roc import step_area
from .values import PSDROC, PSDS, WORLD, FloatArray, PSDSEvalError, Thresholds, own_errors


class PSDSEval:
    """Evaluates detections at several operating points.

    ``ground_truth``: a pandas frame ``filename onset offset event_label``; ``metadata``: a pandas frame
    ``filename duration``; ``class_names``: more classes than those of the ground truth;
    ``duration_unit``: of rates of false positives.
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
        with own_errors():
            self.criterion = Intersection(dtc_threshold, gtc_threshold, cttc_threshold)
        if duration_unit not in self.secs_in_uot:
            units = " or ".join(map(repr, self.secs_in_uot))
            raise PSDSEvalError(f"duration_unit={duration_unit!r}: choose {units}")
        self.duration_unit = duration_unit
        self.nseconds = self.secs_in_uot[duration_unit]
        self.class_names: list[str] = sorted(set(class_names or ()))
        self.ground_truth: Any = None
        self.metadata: Any = None
        self._truth: GroundTruth | None = None
        self.operating_points = _no_operating_points()
        if ground_truth is not None or metadata is not None:
            self.set_ground_truth(ground_truth, metadata)

    def set_ground_truth(self, gt_t: Any, meta_t: Any) -> None:
        """Say what is to be found. It can be said once."""
        if self._truth is not None:
            raise PSDSEvalError("the ground truth is set already: make another PSDSEval")
        if gt_t is None or meta_t is None:
            raise PSDSEvalError("give both the ground truth and the metadata")
        events = _events(gt_t, "ground truth")
        _require_frame(meta_t, ["filename", "duration"], "metadata")
        clips = meta_t.drop_duplicates("filename").sort_values("filename")
        with own_errors():
            self._truth = GroundTruth.from_table(events, durations=clips)
        self.ground_truth, self.metadata = events.dropna(), clips
        self.class_names = sorted({*self.class_names, *self._truth.labels, WORLD})

    # Operating points

    def add_operating_point(self, detections: Any, info: Mapping[str, Any] | None = None) -> None:
        """Count detections, a pandas frame ``filename onset offset event_label``; ``info``: what else is
        to be kept of the operating point. The same detections a second time are left out."""
        import pandas

        table = _events(detections, "detection")
        name = _name_of(table)
        if name in self.operating_points.id.to_numpy():
            warnings.warn("the same operating point is there already", SedscopeWarning, stacklevel=2)
            return
        taken = [key for key in info or {} if key in ("id", "counts", "tpr", "fpr", "ctr")]
        if taken:
            raise PSDSEvalError(f"info cannot be named {listing(taken)}")
        counts, tpr, fpr, ctr = self._evaluate(table)
        row = {"id": name, "counts": counts, "tpr": tpr, "fpr": fpr, "ctr": ctr, **(info or {})}
        new = pandas.DataFrame([row])
        self.operating_points = (
            pandas.concat([self.operating_points, new], ignore_index=True)
            if len(self.operating_points)
            else new
        )

    def num_operating_points(self) -> int:
        """How many there are."""
        return len(self.operating_points)

    def clear_all_operating_points(self) -> None:
        """Forget all of them."""
        self.operating_points = _no_operating_points()

    def _classes(self) -> list[str]:
        return [name for name in self.class_names if name != WORLD]

    def _evaluate(self, table: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The confusion matrix, true positive ratios, rates of false positives and of cross-triggers."""
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
            raise PSDSEvalError("set the ground truth first")
        detected: dict[str, list[tuple[float, float, str]]] = {}
        for name, *event in _rows(table):
            detected.setdefault(clip_id(name), []).append((event[0], event[1], event[2]))
        unlisted = sorted(set(detected).difference(self._truth.clips))
        if unlisted:
            raise PSDSEvalError(
                f"not in the metadata: {counted(len(unlisted), 'clip')} with detections: "
                f"{listing(unlisted)}"
            )
        classes = self._classes()
        others = sorted(set(table.event_label).difference(classes))
        if others:
            note = f"left out, not among the classes: detections of {listing(others)}"
            warnings.warn(note, SedscopeWarning, stacklevel=4)
        with own_errors():
            system = Scores.from_events(detected, classes=[*classes, *others], clips=self._truth.clips)
            return deltas(system, self._truth, self.criterion, classes=classes).counts()

    # Scores

    def compute_macro_f_score(
        self, detections: Any, beta: float = 1.0
    ) -> tuple[float, dict[str, float]]:
        """The mean F-score of some detections over classes with references, and that of each class."""
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
        """The score over the operating points; ``max_efpr``: the largest rate of any of them unless
        given; ``en_interp``: straight lines between operating points instead of steps."""
        if alpha_st < 0:
            raise PSDSEvalError(f"alpha_st={alpha_st!r} must be at least 0")
        _, _, curve = self.psd_roc_curves(alpha_ct, en_interp)
        end = float(curve.xp.max()) if max_efpr is None else float(max_efpr)
        if not end > 0:
            raise PSDSEvalError("max_efpr must be above 0: no operating point has a false positive")
        etpr = np.maximum(np.nan_to_num(curve.mean - alpha_st * curve.std), 0)
        inside = curve.xp <= end
        value = step_area(curve.xp[inside], etpr[inside], end) / end
        whole = PSDROC(etpr, curve.xp, curve.mean, curve.std)
        return PSDS(value, whole, alpha_st, alpha_ct, end, self.duration_unit)

    def psd_roc_curves(
        self, alpha_ct: float, linear_interp: bool = False
    ) -> tuple[PSDROC, PSDROC, PSDROC]:
        """The true positive ratios of each class over rates of false positives, over rates of
        cross-triggers on each other class, and over effective rates of false positives."""
        tpr, fpr, ctr, efpr = self._rates(alpha_ct)
        curve = self.perform_interp if linear_interp else self.step_curve

        def over(rates: FloatArray, ratios: FloatArray) -> PSDROC:
            x = np.unique(rates[~np.isnan(rates)])
            found = [
                np.full(len(x), np.nan) if np.isnan([*xp, *yp]).any() else curve(x, xp, yp)
                for xp, yp in zip(rates.reshape(-1, rates.shape[-1]), ratios, strict=True)
            ]
            y = np.array(found).reshape(*rates.shape[:-1], len(x))
            known = np.array([row for row in found if not np.isnan(row).any()]).reshape(-1, len(x))
            mean, std = (known.mean(0), known.std(0)) if len(known) else (x * np.nan, x * np.nan)
            return PSDROC(y, x, mean, std)

        return over(fpr, tpr), over(ctr, np.repeat(tpr, len(tpr), axis=0)), over(efpr, tpr)

    def _rates(self, alpha_ct: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(classes × points) true positive ratios and rates of false positives, (classes × classes ×
        points) rates of cross-triggers, effective rates; the last point is that nothing is detected."""
        if not 0 <= alpha_ct <= 1:
            raise PSDSEvalError(f"alpha_ct={alpha_ct!r} must be from 0 to 1")
        if not len(self.operating_points):
            raise PSDSEvalError("there is no operating point: add one first")
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
        """At each x the largest y of the points up to there; 0 before the first."""
        order = np.argsort(xp, kind="stable")
        best = np.append(0.0, np.maximum.accumulate(np.asarray(yp, np.float64)[order]))
        return best[np.searchsorted(np.asarray(xp)[order], x, side="right")]

    @staticmethod
    def perform_interp(x: FloatArray, xp: FloatArray, yp: FloatArray) -> FloatArray:
        """Straight lines between points, the last y after the last one; never falling."""
        order = np.argsort(xp, kind="stable")
        distinct, first = np.unique(np.asarray(xp)[order], return_index=True)
        return np.maximum.accumulate(np.interp(x, distinct, np.asarray(yp, np.float64)[order][first]))

    @staticmethod
    def compute_f_score(TP_values: Any, FP_values: Any, FN_values: Any, beta: float) -> Any:
        """The F-score of counts; 0 where there are none."""
        found = (1 + beta**2) * np.asarray(TP_values, np.float64)
        whole = found + beta**2 * np.asarray(FN_values) + FP_values
        return found / np.where(whole > 0, whole, 1.0)

    def select_operating_points_per_class(
        self, class_constraints: Any, alpha_ct: float = 0.0, beta: float = 1.0
    ) -> Any:
        """For each row of a pandas frame ``class_name constraint value`` the best operating point.

        ``tpr``: the lowest effective rate among those that find at least that ratio; ``fpr`` and
        ``efpr``: the highest ratio among those up to that rate; ``fscore``: the highest F-score. NaN if
        there is none. The columns are class_name, TPR, FPR, eFPR, Fscore, and the info of the point.
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
                raise PSDSEvalError(f"no class {label!r}; there are {listing(classes, limit=30)}")
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
        """Of a class at each operating point, the last being that nothing is detected."""
        assert self._truth is not None
        label = self._classes()[c]
        known = label in self._truth.labels
        number = self._truth.labels.index(label) if known else -1
        references = int(np.count_nonzero(self._truth.event_labels == number))
        matrices = np.stack([*self.operating_points.counts])
        tp, fp = (np.append(matrices[:, c, place], 0) for place in (c, -1))
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
    """The best operating point that meets a need; None if there is none but to detect nothing."""
    needs = {
        "tpr": (tpr >= value, -efpr),
        "fpr": (fpr <= value, tpr),
        "efpr": (efpr <= value, tpr),
        "fscore": (np.ones(len(tpr), bool), fscore),
    }
    if constraint not in needs:
        raise PSDSEvalError(f"constraint {constraint!r}: choose {' or '.join(map(repr, needs))}")
    met, goodness = needs[constraint]
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
        raise PSDSEvalError(f"the {what} must be a pandas.DataFrame, not {type(table).__name__}")
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise PSDSEvalError(f"the {what} has no column {listing(missing)}")


def _events(table: Any, what: str) -> Any:
    """The columns that are needed, without events of no length."""
    _require_frame(table, PSDSEval.detection_cols, what)
    events = table[PSDSEval.detection_cols].reset_index(drop=True)
    return events[~(events.offset == events.onset)]


def _rows(table: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, column by column: pandas is slow to go through texts."""
    return zip(*(table[name].tolist() for name in table.columns), strict=True)


def _name_of(table: Any) -> str:
    """The same for the same detections, whatever their order."""
    rows = sorted(_rows(table))
    return hashlib.sha256(repr(rows).encode()).hexdigest()
