"""Uses of psds_eval's class on small tables, which the original and the drop-in answer alike.

``USES`` return values, ``REFUSALS`` raise errors. Both get a package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .calls import leaves
from .cases import Arrays

COLUMNS = ["filename", "onset", "offset", "event_label"]
TRUTH = [
    ("b.wav", 2.0, 4.0, "Cat"),
    ("a.wav", 1.0, 3.0, "Dog"),
    ("a.wav", 6.0, 9.0, "Cat"),
    ("b.wav", 6.0, 8.0, "Dog"),
]
NAN = float("nan")


def table(*rows: tuple[Any, ...], columns: list[str] = COLUMNS) -> Any:
    """Return rows as a pandas frame."""
    return import_module("pandas").DataFrame(list(rows), columns=columns)


def metadata(*names: Any) -> Any:
    """Return files of ten seconds."""
    return table(
        *((name, 10.0) for name in names or ("a.wav", "b.wav")), columns=["filename", "duration"]
    )


def evaluation(package: Any, rows: Any = TRUTH, **options: Any) -> Any:
    """Return an evaluation without operating points."""
    options = {"metadata": metadata(), **options}
    return package.PSDSEval(ground_truth=table(*rows), **options)


def values_of(judge: Any, *points: Any, **psds: Any) -> dict[str, Any]:
    """Return all values of an evaluation with some operating points."""
    for point in points:
        judge.add_operating_point(point if hasattr(point, "columns") else table(*point))
    weights = {"alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 1000.0, **psds}
    columns = {name: list(judge.operating_points[name]) for name in judge.operating_points.columns}
    return {**columns, "classes": judge.class_names, "psds": judge.psds(**weights)._asdict()}


RIGHT = [("a.wav", 1.0, 3.0, "Dog"), ("b.wav", 2.0, 4.0, "Cat")]
HALF_WRONG = [
    ("a.wav", 1.0, 3.0, "Dog"),
    ("a.wav", 6.5, 9.5, "Dog"),
    ("b.wav", 2.5, 4.5, "Cat"),
    ("b.wav", 7.5, 9.0, "Cat"),
]


def ground_truth(package: Any) -> Any:
    """References with the rows of the world; empty, zero-length and unlisted ones among them."""
    rows = [*TRUTH, ("b.wav", NAN, NAN, NAN), ("a.wav", 5.0, 5.0, "Dog"), ("c.wav", 0.0, 1.0, "Dog")]
    truth = table(*rows).assign(more=1)
    files = metadata("b.wav", "a.wav", "b.wav").assign(place="here")
    judge = package.PSDSEval(ground_truth=truth, metadata=files)
    return [judge.ground_truth, judge.ground_truth.index.to_numpy(), judge.metadata, judge.class_names]


def ids(package: Any) -> Any:
    judge = evaluation(package)
    with_rows_without_length = [*RIGHT[::-1], ("b.wav", 5.0, 5.0, "Cat"), ("b.wav", NAN, NAN, NAN)]
    whole_numbers = table(("a.wav", 1, 3, "Dog"))
    for rows in (table(), table(*HALF_WRONG), table(*with_rows_without_length), whole_numbers):
        judge.add_operating_point(rows)
    return list(judge.operating_points.id)


def empty_rows(package: Any) -> Any:
    rows = [*HALF_WRONG, ("b.wav", NAN, NAN, NAN)]
    return values_of(
        evaluation(package), rows, [*RIGHT, (NAN, 5.0, 6.0, "Cat"), ("a.wav", 5.0, 6.0, NAN)]
    )


def no_tolerance(package: Any, name: str) -> Any:
    return values_of(evaluation(package, **{f"{name}_threshold": 0}), RIGHT, HALF_WRONG)


def repeated_rows(package: Any) -> Any:
    judge = evaluation(package, [*TRUTH, TRUTH[0]], gtc_threshold=0.7)
    return values_of(
        judge, HALF_WRONG * 2, [*RIGHT, ("a.wav", 6.0, 7.2, "Cat"), ("a.wav", 6.0, 7.2, "Cat")]
    )


def unlisted_files(package: Any) -> Any:
    judge = evaluation(package, [*TRUTH, ("c.wav", 1.0, 3.0, "Dog"), ("c.wav", 5.0, 6.0, "Cat")])
    elsewhere = [("c.wav", 1.0, 3.0, "Dog"), ("c.wav", 5.0, 6.0, "Dog"), ("d.wav", 1.0, 2.0, "Cat")]
    scores = judge.compute_macro_f_score(table(*RIGHT, *elsewhere))
    return [scores, values_of(judge, [*HALF_WRONG, *elsewhere])]


def outside_of_files(package: Any) -> Any:
    outside = [("a.wav", 10.5, 11.0, "Dog"), ("b.wav", -2.0, -1.0, "Cat"), ("a.wav", 9.6, 10.4, "Dog")]
    return values_of(evaluation(package), [*HALF_WRONG, *outside])


def numbers_as_names(package: Any) -> Any:
    rows = [(len(name), *event) for name, *event in TRUTH]
    judge = evaluation(package, rows, metadata=metadata(5))
    return [values_of(judge, [(5, *event) for _, *event in HALF_WRONG]), judge.ground_truth]


def one_class(package: Any) -> Any:
    judge = evaluation(package, [row for row in TRUTH if row[-1] == "Dog"])
    judge.add_operating_point(table(*(row for row in HALF_WRONG if row[-1] == "Dog")))
    over_fpr, _, _ = judge.psd_roc_curves(0.0)
    return [dict(judge.operating_points.iloc[0]), over_fpr._asdict()]


def chosen(package: Any) -> Any:
    judge = evaluation(package)
    for number, rows in enumerate((HALF_WRONG, RIGHT)):
        judge.add_operating_point(table(*rows), info={"number": number})
    needs = [("Dog", "fscore", None), ("Cat", "fscore", NAN), ("Cat", "tpr", 0.5), ("Cat", "tpr", 2.0)]
    return judge.select_operating_points_per_class(
        table(*needs, columns=["class_name", "constraint", "value"])
    )


def lines_between_points(package: Any) -> Any:
    return values_of(evaluation(package), HALF_WRONG, RIGHT, alpha_st=0.0, en_interp=True)


def rates(package: Any) -> Any:
    judge = evaluation(package)
    judge.add_operating_point(table(*HALF_WRONG))
    of_classes = judge._effective_fp_rate(0.5)
    assert isinstance(of_classes, package.psds.RatesPerClass)
    return of_classes._asdict()


def names(package: Any) -> Any:
    shared = [package.__version__, package.PSDSEval.secs_in_uot, package.PSDSEval.detection_cols]
    for name in ("PSDSEval", "PSDSEvalError", "plot_psd_roc", "plot_per_class_psd_roc"):
        assert getattr(package.psds, name) is getattr(package, name)
    fields = [
        getattr(package.psds, name)._fields for name in ("PSDS", "PSDROC", "Thresholds", "RatesPerClass")
    ]
    return [*shared, package.psds.WORLD, *map(list, fields)]


def further_arguments(package: Any) -> Any:
    return values_of(evaluation(package, alpha_ct=0.0, max_efpr=100, whatever="x"), HALF_WRONG)


USES: dict[str, Callable[[Any], Any]] = {
    "ground truth": ground_truth,
    "ids": ids,
    "empty rows": empty_rows,
    "dtc of 0": partial(no_tolerance, name="dtc"),
    "gtc of 0": partial(no_tolerance, name="gtc"),
    "cttc of 0": partial(no_tolerance, name="cttc"),
    "repeated rows": repeated_rows,
    "unlisted files": unlisted_files,
    "outside of files": outside_of_files,
    "numbers as names": numbers_as_names,
    "one class": one_class,
    "chosen": chosen,
    "lines": lines_between_points,
    "rates": rates,
    "names": names,
    "further arguments": further_arguments,
}


def _selected(package: Any, *rows: tuple[Any, ...]) -> Any:
    judge = evaluation(package)
    judge.add_operating_point(table(*RIGHT))
    return judge.select_operating_points_per_class(
        table(*rows, columns=["class_name", "constraint", "value"])
    )


REFUSALS: dict[str, Callable[[Any], Any]] = {
    "dtc": lambda package: package.PSDSEval(dtc_threshold=1.2),
    "gtc": lambda package: package.PSDSEval(gtc_threshold=-1),
    "cttc": lambda package: package.PSDSEval(cttc_threshold=2),
    "text as threshold": lambda package: package.PSDSEval(dtc_threshold="much"),
    "unit": lambda package: package.PSDSEval(duration_unit="week"),
    "no truth": lambda package: package.PSDSEval(metadata=metadata()),
    "no metadata": lambda package: package.PSDSEval(ground_truth=table(*TRUTH)),
    "neither": lambda package: package.PSDSEval().set_ground_truth(None, None),
    "truth twice": lambda package: evaluation(package).set_ground_truth(table(*TRUTH), metadata()),
    "no frame": lambda package: package.PSDSEval(ground_truth=TRUTH, metadata=metadata()),
    "no frame of files": lambda package: evaluation(package, metadata={"a.wav": 10.0}),
    "no files": lambda package: evaluation(package, metadata=metadata().iloc[:0]),
    "columns": lambda package: evaluation(package).add_operating_point(table(*RIGHT)[COLUMNS[1:]]),
    "columns of files": lambda package: evaluation(package, metadata=metadata()[["filename"]]),
    "swapped": lambda package: evaluation(package).add_operating_point(
        table(("a.wav", 3.0, 1.0, "Dog"))
    ),
    "overlap": lambda package: evaluation(package, [*TRUTH, ("a.wav", 2.0, 4.0, "Dog")]),
    "overlapping detections": lambda package: evaluation(package).add_operating_point(
        table(("a.wav", 1.0, 3.0, "Dog"), ("a.wav", 2.0, 4.0, "Dog"))
    ),
    "detections first": lambda package: package.PSDSEval().add_operating_point(table(*RIGHT)),
    "f-score first": lambda package: package.PSDSEval().compute_macro_f_score(table(*RIGHT)),
    "info": lambda package: evaluation(package).add_operating_point(table(*RIGHT), info={"tpr": 1}),
    "alpha_st": lambda package: evaluation(package).psds(alpha_st=-1),
    "alpha_ct": lambda package: evaluation(package).psds(alpha_ct=2.0),
    "class": lambda package: _selected(package, ("Bird", "tpr", 0.5)),
    "constraint": lambda package: _selected(package, ("Dog", "recall", 0.5)),
    "no value": lambda package: _selected(package, ("Dog", "tpr", None)),
    "no constraints": lambda package: _selected(package),
    "area of lists": lambda package: package.PSDSEval._auc([0.0], [1.0]),
    "area of a table": lambda package: package.PSDSEval._auc(np.eye(2), np.eye(2)),
    "area of two lengths": lambda package: package.PSDSEval._auc(np.zeros(2), np.zeros(3)),
    "falling x": lambda package: package.PSDSEval._auc(np.array([1, 0]), np.zeros(2)),
    "falling y": lambda package: package.PSDSEval._auc(np.zeros(2), np.array([1, 0])),
    "no psds": lambda package: package.plot_psd_roc(0.5),
    "no curve": lambda package: package.plot_per_class_psd_roc(0.5, ["Dog"]),
}


def answers(package: Any) -> Arrays:
    """Return ``uses/…``, all values, and ``refusals/…``: type and text of each error."""
    verdict = leaves({f"uses/{name}": use(package) for name, use in USES.items()})
    for name, act in REFUSALS.items():
        try:
            act(package)
        except (TypeError, ValueError) as error:
            verdict[f"refusals/{name}"] = np.array([type(error).__name__, str(error.args[0])])
    return verdict


def psds_eval_uses(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """All that psds_eval answers."""
    return answers(import_module("psds_eval"))
