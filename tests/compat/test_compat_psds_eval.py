"""The drop-in for psds_eval, judged by psds_eval itself, and what is its own.

Shares in the cases are such that no whole number of time steps meets them exactly, which psds_eval may
miss; clips end with their scores.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import sedscope as sed
import sedscope.compat.psds_eval as drop_in
from sedscope.compat.psds_eval import PSDSEval, PSDSEvalError, plot_per_class_psd_roc, plot_psd_roc
from sedscope.compat.psds_eval.counting import PlacedEvents
from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

from ..support.peers.calls import leaves, points_of
from ..support.peers.judge_process import Verdict, judge
from ..support.peers.psds_eval_uses import REFUSALS, USES, answers
from ..support.random_sets import KINDS, random_set

NAMES = ["simulated", *(f"random-{i}" for i in range(6))]


@dataclass(frozen=True)
class Case:
    """A set, and thresholds."""

    scores: sed.Scores
    truth: sed.GroundTruth
    thresholds: tuple[float, ...]
    options: dict[str, Any]

    def question(self) -> dict[str, Any]:
        labels = self.truth.labels
        needs = [("tpr", 0.3), ("fpr", 500.0), ("efpr", 800.0), ("fscore", 0.0), ("tpr", 2.0)]
        return {
            "judge": "psds_eval points",
            "options": self.options,
            "thresholds": self.thresholds,
            "beta": 2.0,
            "psds": [
                {"alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 1000.0},
                {"alpha_ct": 0.0, "alpha_st": 0.0, "max_efpr": 40.0},
                {"alpha_ct": 1.0, "alpha_st": 0.0},
            ],
            "constraints": [(labels[i % len(labels)], *need) for i, need in enumerate(needs)],
        }

    def ours(self) -> dict[str, Any]:
        frames = {
            clip: create_score_dataframe(one.values, one.edges, list(self.scores.classes))
            for clip, one in self.scores.items()
        }
        assert self.truth.durations is not None
        durations = dict(zip(self.truth.clips, self.truth.durations / 1e6, strict=True))
        events = {clip: self.truth.events(clip) for clip in self.scores}
        question = {
            **self.question(),
            "classes": self.scores.classes,
            "clips": {clip: {"duration": durations[clip]} for clip in self.scores},
        }
        return leaves(points_of("sedscope.compat.psds_eval", question, events, frames))


def case_of(name: str) -> Case:
    options: dict[str, Any] = {
        "dtc_threshold": 0.5007,
        "gtc_threshold": 0.5007,
        "cttc_threshold": 0.3001,
    }
    if name == "simulated":
        truth = sed.simulate.ground_truth(30, classes=4)
        return Case(sed.simulate.scores(truth), truth, (0.2, 0.4, 0.5, 0.6, 0.8), options)
    number = int(name.split("-")[1])
    rng = np.random.default_rng([number, 9])
    scores, truth = random_set(rng, KINDS[number % len(KINDS)], coarse=True)
    distinct = np.unique(np.concatenate([clip.values.ravel() for clip in scores.values()]))
    below_the_maximum = distinct[np.isfinite(distinct)][:-1].astype(np.float64)
    thresholds = np.sort(rng.permutation(below_the_maximum)[:4])
    units = ["minute", "hour", "day", "month", "year"]
    options |= {"duration_unit": units[number % len(units)]}
    return Case(scores, truth, tuple(thresholds.tolist()), options)


@dataclass(frozen=True)
class Uses:
    """No set, but tables that the judge has itself."""

    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 1.0})

    def question(self) -> dict[str, Any]:
        return {"judge": "psds_eval uses"}


CASES: dict[str, Case] = {name: case_of(name) for name in NAMES}


@pytest.fixture(scope="module")
def judged(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    return judge(peers_python, tmp_path_factory.mktemp("psds_eval"), {**CASES, "uses": Uses()})


@pytest.mark.filterwarnings("ignore:.* after (its|their) clip does")
@pytest.mark.filterwarnings("ignore:.* not in the list of detections")
@pytest.mark.filterwarnings("ignore:Nothing is found of")
@pytest.mark.parametrize("name", NAMES)
def test_same_results(judged: dict[str, Verdict], name: str) -> None:
    theirs, ours = judged[name], CASES[name].ours()
    for path, value in theirs.items():
        if path.startswith("curves/1/"):  # over rates of cross-triggers: a last point is at NaN
            value = value[..., :-1]
        if path.startswith("fscores/") and np.isnan(value):  # nothing found: 0, and in the mean
            assert ours[path] == 0
            continue
        if path.startswith("fscores/") and path.endswith("/0"):
            of_classes = {p: v for p, v in theirs.items() if p.startswith(path[:-1] + "1/")}
            value = np.mean(np.nan_to_num(list(of_classes.values())))
        if value.dtype.kind in "OUS":
            assert ours[path].tolist() == value.tolist(), path
        else:
            np.testing.assert_allclose(ours[path], value, rtol=1e-9, atol=1e-9, err_msg=path)


@pytest.fixture(scope="module")
def answered(judged: dict[str, Verdict]) -> tuple[Verdict, Verdict]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        return answers(drop_in), judged["uses"]


@pytest.mark.parametrize("name", USES)
def test_small_tables_have_the_same_results(answered: tuple[Verdict, Verdict], name: str) -> None:
    ours, theirs = (
        {k: v for k, v in all_.items() if k.startswith(f"uses/{name}/")} for all_ in answered
    )
    assert ours.keys() == theirs.keys()
    assert theirs
    for path, value in theirs.items():
        if value.dtype.kind in "US":
            assert ours[path].tolist() == value.tolist(), path
        else:
            np.testing.assert_allclose(ours[path], value, rtol=1e-12, atol=1e-12, err_msg=path)


@pytest.mark.parametrize("name", REFUSALS)
def test_errors_have_the_same_type_and_begin_alike(answered: tuple[Verdict, Verdict], name: str) -> None:
    ours, theirs = (all_[f"refusals/{name}"].tolist() for all_ in answered)
    assert ours[0] == theirs[0]
    if ours[0] == "PSDSEvalError":
        assert ours[1].startswith(theirs[1].rstrip("."))
        assert len(ours[1]) > len(theirs[1])  # and say what to do


# On its own


@pytest.mark.filterwarnings("ignore:.* after (its|their) clip does")
@pytest.mark.parametrize("number", range(6))
def test_counts_are_those_of_the_core(number: int) -> None:
    rng = np.random.default_rng([number, 3])
    scores, truth = random_set(rng, KINDS[number % len(KINDS)], coarse=True)
    values = np.concatenate([clip.values.ravel() for clip in scores.values()])
    detected = sed.approximate(scores, [float(np.median(values[np.isfinite(values)]))])
    ((_, by_clip),) = detected.items()
    criterion = sed.Intersection(0.5, 0.25, 0.5)
    system = sed.Scores.from_events(by_clip, classes=truth.labels, clips=truth.clips)
    counts = sed.deltas(system, truth, criterion, coverage="any").counts()

    ours = PSDSEval(criterion.dtc, criterion.gtc, 0.5, ground_truth=table(truth), metadata=files(truth))
    ours.add_operating_point(events(*((clip, *event) for clip in by_clip for event in by_clip[clip])))
    matrix = ours.operating_points.counts[0][:-1]
    assert np.array_equal(matrix[:, :-1], counts.cross_trigger_matrix(0.5))


def table(truth: sed.GroundTruth) -> Any:
    return events(*((clip, *event) for clip in truth.clips for event in truth.events(clip)))


def files(truth: sed.GroundTruth) -> Any:
    assert truth.durations is not None
    return pandas.DataFrame({"filename": truth.clips, "duration": truth.durations / 1e6})


@pytest.mark.parametrize("begin", [0, 10**17])  # sums over so late times overflow on the way
def test_shared_time_is_the_sum_over_pairs(begin: int) -> None:
    rng = np.random.default_rng(4)
    (a, b), (c, d) = (begin + np.sort(rng.integers(0, 10**9, (2, 300)), axis=0) for _ in range(2))
    c, d = np.append(c, c[:50]), np.append(d, d[:50])  # some of them twice
    first, second = (PlacedEvents(x.astype(np.int32), y - x, x, y) for x, y in ((a, b), (c, d)))
    pairs = np.minimum.outer(b, d) - np.maximum.outer(a, c)
    assert np.array_equal(first.shared_with(second), np.maximum(pairs, 0).sum(axis=1))


def events(*rows: tuple[Any, ...]) -> Any:
    return pandas.DataFrame(list(rows), columns=["filename", "onset", "offset", "event_label"])


METADATA = pandas.DataFrame({"filename": ["a.wav", "b.wav"], "duration": [10.0, 10.0]})
TRUTH = events(("a.wav", 1, 3, "Dog"), ("b.wav", 2, 4, "Cat"))
FOUND = events(("a.wav", 1, 3, "Dog"), ("a.wav", 5, 6, "Cat"), ("b.wav", 2, 4, "Dog"))


def evaluation(**options: Any) -> PSDSEval:
    return PSDSEval(ground_truth=TRUTH, metadata=METADATA, **options)


def with_a_point(**options: Any) -> PSDSEval:
    made = evaluation(**options)
    made.add_operating_point(FOUND)
    return made


def test_counts_of_an_operating_point() -> None:
    """True positives on the diagonal, cross-triggers beside it, false positives in the last column."""
    made = evaluation()
    made.add_operating_point(FOUND, info={"threshold": 0.5})
    assert made.class_names == ["Cat", "Dog", "injected_psds_world_label"]
    assert made.operating_points.counts[0].tolist() == [[0, 0, 1], [1, 1, 1], [0, 0, 0]]
    assert made.operating_points.threshold.tolist() == [0.5]


def test_a_class_of_which_nothing_is_found_has_an_f_score_of_0() -> None:
    theirs = (
        "Nothing is found of Cat, .* psds_eval leaves such classes out of its mean, which gives 0.6667"
    )
    with pytest.warns(sed.SedscopeWarning, match=theirs):
        mean, of_classes = evaluation().compute_macro_f_score(FOUND)
    assert of_classes == {"Cat": 0.0, "Dog": pytest.approx(2 / 3)}
    assert mean == pytest.approx(1 / 3)


def test_the_same_operating_point_twice_counts_once() -> None:
    made = evaluation()
    made.add_operating_point(FOUND)
    with pytest.warns(sed.SedscopeWarning, match="A similar operating point exists"):
        made.add_operating_point(FOUND.iloc[::-1])
    assert made.num_operating_points() == 1
    made.clear_all_operating_points()
    assert made.num_operating_points() == 0


def test_classes_without_references_are_left_out() -> None:
    made, plain = evaluation(class_names=["Bird"]), evaluation()
    for one in (made, plain):
        one.add_operating_point(FOUND)
    assert np.isnan(made.operating_points.tpr[0][0])
    assert made.psds(0.5, 1, 1000).value == plain.psds(0.5, 1, 1000).value


def test_nothing_detected_is_an_operating_point() -> None:
    made = evaluation()
    made.add_operating_point(FOUND.iloc[:0])
    assert not made.operating_points.counts[0].any()
    with pytest.warns(sed.SedscopeWarning, match="Nothing is found of Cat, Dog, .* which leaves none"):
        assert made.compute_macro_f_score(FOUND.iloc[:0]) == (0, {"Cat": 0, "Dog": 0})


def test_files_without_events_are_part_of_the_ground_truth() -> None:
    truth = events(("a.wav", 1, 3, "Dog"))
    truth.loc[1] = ["b.wav", np.nan, np.nan, np.nan]
    made = PSDSEval(ground_truth=truth, metadata=METADATA)
    made.add_operating_point(FOUND[FOUND.event_label == "Dog"])
    assert made.operating_points.fpr[0].tolist() == [180.0]


def test_detections_of_other_classes_are_left_out_and_reported() -> None:
    with pytest.warns(sed.SedscopeWarning, match="Detections of unknown classes were left out: Bird"):
        evaluation().add_operating_point(events(("a.wav", 1, 3, "Dog"), ("a.wav", 1, 3, "Bird")))


def test_lines_between_points_instead_of_steps() -> None:
    made = with_a_point()
    steps = made.psds(max_efpr=180).value
    assert steps == 0
    assert isinstance(steps, np.float64)
    assert made.psds(max_efpr=180, en_interp=True).plt.yp.tolist() == [0, 0.5]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_lines_do_not_depend_on_the_order_of_points(order: tuple[int, ...]) -> None:
    points = [FOUND.iloc[:1], events(*TRUTH.itertuples(index=False)), FOUND]
    made = evaluation()
    for i in order:
        made.add_operating_point(points[i])
    assert made.psds(max_efpr=180, en_interp=True).plt.yp.tolist() == [1, 1]


def test_a_single_class_has_a_psds() -> None:
    """psds_eval takes the mean rate of no cross-triggers for NaN, and gives every system 0."""
    made = PSDSEval(ground_truth=TRUTH.iloc[:1], metadata=METADATA)
    made.add_operating_point(FOUND[FOUND.event_label == "Dog"])
    over_fpr, over_ctr, over_efpr = made.psd_roc_curves(1.0)
    assert over_ctr.xp.tolist() == [0]
    assert np.isnan(over_ctr.yp).all()
    assert over_efpr.yp.tolist() == over_fpr.yp.tolist() == [[0, 1]]
    assert made.psds(1.0, 1.0, max_efpr=360).value == 0.5


def test_without_false_positives_or_references_a_psds_is_no_score() -> None:
    made = evaluation()
    made.add_operating_point(TRUTH)
    with pytest.warns(sed.SedscopeWarning, match="Set max_efpr"):
        assert np.isnan(made.psds().value)
    silent = PSDSEval(ground_truth=TRUTH.iloc[:0], metadata=METADATA, class_names=["Dog", "Cat"])
    silent.add_operating_point(FOUND)
    with pytest.warns(sed.SedscopeWarning, match="No class has reference events"):
        assert silent.psds(max_efpr=100).value == 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: evaluation(alpha_ct=0.0), r"PSDSEval\(\) ignores alpha_ct"),
        (
            lambda: PSDSEval(ground_truth=TRUTH, metadata=METADATA.iloc[:1]),
            "1 clip has reference events but no row in the metadata, so false positives there .*: b",
        ),
        (
            lambda: PSDSEval(
                ground_truth=events(*TRUTH.iloc[[0, 0]].values.tolist()), metadata=METADATA
            ),
            "1 row repeats another one of the ground truth",
        ),
        (
            lambda: evaluation().add_operating_point(
                events(*FOUND.values.tolist(), ("c.wav", 1, 3, "Dog"))
            ),
            "1 clip has detections but no row in the metadata, so false positives there .*: c",
        ),
        (
            lambda: evaluation().add_operating_point(events(("c.wav", 1, 3, "Dog"))),
            "No other clip has detections: check the file names",
        ),
        (
            lambda: evaluation().add_operating_point(events(("a.wav", 1, 3, "dog"))),
            r"unknown classes were left out: dog \(did you mean Dog\?\)",
        ),
        (
            lambda: evaluation().add_operating_point(
                events(("a.wav", 1, 3, "Dog"), ("a.wav", 5, 6, None))
            ),
            "1 row has empty cells and was left out of the detection",
        ),
        (
            lambda: evaluation().add_operating_point(events(("a.wav", 10.5, 11, "Dog"))),
            r"1 detection lies outside of the clip.* \(first: clip a, Dog 10.5–11 s of 10 s\)",
        ),
    ],
)
def test_what_psds_eval_does_in_silence_is_reported(act: Any, message: str) -> None:
    with pytest.warns(sed.SedscopeWarning, match=message):
        act()


def test_files_of_the_same_name_in_two_folders_are_two_files() -> None:
    metadata = METADATA.assign(filename=["x/a.wav", "y/a.wav"])
    rows = [("x/a.wav", 1, 3, "Dog"), ("y/a.wav", 2, 4, "Cat")]
    made = PSDSEval(ground_truth=events(*rows), metadata=metadata)
    made.add_operating_point(events(rows[0], ("x/a.wav", 6, 8, "Cat")))
    assert made.operating_points.counts[0].tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: PSDSEval(dtc_threshold=float("nan")), "dtc_threshold must be between 0 and 1, not nan"),
        (lambda: evaluation().psds(), "There are no operating points"),
        (lambda: with_a_point().psds(max_efpr=-1), "max_efpr=-1 must be at least 0"),
        (
            lambda: evaluation().add_operating_point(events(("a.wav", 1, float("inf"), "Dog"))),
            "times that are not numbers of seconds",
        ),
        (
            lambda: PSDSEval(ground_truth=TRUTH, metadata=METADATA.assign(duration=[10.0, np.nan])),
            r"seconds above 0 in every row: b.wav \(nan s\)",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(act: Any, message: str) -> None:
    with pytest.raises(PSDSEvalError, match=message):
        act()


def test_plots(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    made = evaluation()
    made.add_operating_point(FOUND)
    result = made.psds(0.5, 1, 200)
    with pytest.raises(PSDSEvalError, match="axes must be matplotlib axes, not int"):
        plot_psd_roc(result, axes=3)
    _, axes = pyplot.subplots()
    plot_psd_roc(result, en_std=True, axes=axes, filename=tmp_path / "roc.png")
    assert axes.get_xlabel() == "eFPR per hour"
    assert axes.get_title().startswith(f"PSDS: {result.value:.5f}")
    assert np.array_equal(axes.lines[0].get_ydata(), result.plt.yp)
    _, axes = pyplot.subplots()
    plot_per_class_psd_roc(made.psd_roc_curves(0.5)[2], made.class_names, axes=axes)
    assert [line.get_label() for line in axes.lines] == ["Cat", "Dog", "mean_TPR"]
    assert (tmp_path / "roc.png").stat().st_size > 0


def test_detections_in_another_unit_are_refused() -> None:
    events = pandas.DataFrame(
        {"filename": ["a"], "onset": [1.0], "offset": [2.0], "event_label": ["Dog"]}
    )
    metadata = pandas.DataFrame({"filename": ["a"], "duration": [10.0]})
    evaluator = PSDSEval(0.5, 0.5, 0.3, ground_truth=events, metadata=metadata)
    milliseconds = events.assign(onset=1000.0, offset=2000.0)
    with pytest.raises(PSDSEvalError, match="go on far beyond the end of their clips"):
        evaluator.add_operating_point(milliseconds)


def test_white_space_around_names_is_removed() -> None:
    plain, spaced = evaluation(), evaluation()
    plain.add_operating_point(events(("a", 1, 2, "Dog")))
    spaced.add_operating_point(events((" a ", 1, 2, " Dog ")))
    assert np.array_equal(spaced.operating_points.counts[0], plain.operating_points.counts[0])
    twice = pandas.DataFrame({"filename": ["a.wav", " a.wav", "b.wav"], "duration": [10.0, 10.0, 10.0]})
    assert PSDSEval(ground_truth=TRUTH, metadata=twice).metadata.filename.tolist() == ["a.wav", "b.wav"]


def test_messages_advise_no_options_of_other_functions() -> None:
    with pytest.raises(PSDSEvalError) as refused:
        evaluation().add_operating_point(events(("a", 1, 3, "Dog"), ("a", 2, 4, "Dog")))
    assert "1 event overlaps an earlier one" in str(refused.value)
    assert "overlaps=" not in str(refused.value)
    assert "--" not in str(refused.value)


def test_events_beyond_their_file_are_reported() -> None:
    beyond = events(("a.wav", 0, 11, "Dog"), ("b.wav", 2, 4, "Cat"))
    with pytest.warns(sed.SedscopeWarning, match="1 reference event ends after its clip does"):
        PSDSEval(ground_truth=beyond, metadata=METADATA)


def test_durations_in_another_unit_are_reported() -> None:
    names = [f"{i}.wav" for i in range(12)]
    many = events(*((name, onset, onset + 1, "Dog") for name in names for onset in (1, 5)))
    metadata = pandas.DataFrame({"filename": names, "duration": [10_000.0] * 12})
    with pytest.warns(sed.SedscopeWarning, match="All 24 reference events lie in the first 2 %"):
        evaluator = PSDSEval(ground_truth=many, metadata=metadata)
    with pytest.warns(sed.SedscopeWarning, match="All detections lie in the first 2 %"):
        evaluator.add_operating_point(many)


def test_files_that_no_operating_point_names_are_reported() -> None:
    made = evaluation()
    made.add_operating_point(events(("a.wav", 1, 3, "Dog"), ("a.wav", 5, 6, "Dog")))
    with pytest.warns(sed.SedscopeWarning, match="1 of 2 clips is not in the list .* as silent: b"):
        made.psds()
    made.add_operating_point(events(("a.wav", 1, 3, "Dog"), ("b.wav", 5, 6, "Dog")))
    made.psds()
