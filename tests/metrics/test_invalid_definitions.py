"""What invalid metrics get: text is parsed, never executed, and parameters have ranges."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support.command_line import run
from ..support.files import write_files

#         0      1      2      3 s
VALUES = [[0.2], [0.9], [0.4]]
#                [ Dog )
SCORES = sed.Scores.from_arrays({"a": VALUES}, classes=["Dog"], frame=1.0)
TRUTH = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
COUNTS = sed.deltas(SCORES, TRUTH, sed.Collar()).counts()


CRITERION = "Intersection(dtc=0.7, gtc=0.7)"
BAD_METRICS: dict[str, tuple[str, str]] = {
    # text, and what the message says beside it
    "nothing": ("", "cannot be read"),
    "only spaces": ("  ", "cannot be read"),
    "an open bracket": (f"PSDS({CRITERION}", "bracket"),
    "two lines": (f"PSDS({CRITERION})\nimport os", "cannot be read"),
    "two names": (f"x = y = PSDS({CRITERION})", "cannot be read"),
    "a name alone": ("PSDS", "PSDS("),
    "the name of a constant": ("PSDS1", "Did you mean psds1"),
    "an unknown metric": (f"F1({CRITERION})", "F1 is not known"),
    "a criterion": (CRITERION, "is not a metric"),
    "a number": ("0.7", "is not a metric"),
    "no criterion": ("PSDS()", "'criterion'"),
    "a metric for a criterion": (f"PSDS(PSDS({CRITERION}))", "needs an Intersection"),
    "a criterion less a number": ("PSDS(Intersection(0.7))", "'gtc'"),
    "an unknown parameter": (f"PSDS({CRITERION}, beta=1)", "no 'beta'"),
    "a parameter twice": (f"PSDS({CRITERION}, max_efpr=100, max_efpr=1)", "max_efpr"),
    "a parameter twice in a row": (f"PSDS({CRITERION}, criterion={CRITERION})", "'criterion'"),
    "parameters from a mapping": (f"PSDS({CRITERION}, **{{'unit': 'hour'}})", "**"),
    "parameters from a list": ("PSDS(*[1])", "*[1]"),
    "a list": (f"PSDS({CRITERION}, unit=['hour'])", "['hour']"),
    "a sum": (f"PSDS({CRITERION}, max_efpr=50 + 50)", "50 + 50"),
    "bytes": (f"PSDS({CRITERION}, unit=b'hour')", "b'hour'"),
    "minus a criterion": (f"PSDS(-{CRITERION})", "Intersection"),
    "a call": ("__import__('pathlib').Path('trace').touch()", "is not a number"),
    "a call as a parameter": (
        f"PSDS({CRITERION}, unit=__import__('pathlib').Path('trace').touch())",
        "is not a number",
    ),
    "a call of a name": ("open('trace', 'w')", "open is not known"),
    "a call in a formatted text": (
        f'PSDS({CRITERION}, unit=f\'{{open("trace", "w")}}\')',
        "is not a number",
    ),
    "a comprehension": ("[open('trace', 'w') for _ in 'x']", "is not a number"),
    "a lambda": ("(lambda: open('trace', 'w'))()", "is not a number"),
    "a walrus": ("(x := open('trace', 'w'))", "is not a number"),
    "an attribute": ("PSDS.__init__.__globals__", "is not a number"),
    "an attribute of a value": (f"PSDS({CRITERION}).measure(1)", "is not a number"),
    "an index": ("PSDS[0]", "is not a number"),
    "NUL": (f"PSDS({CRITERION}\0)", "cannot be read"),
    "a surrogate": ("PSDS(\ud800)", "cannot be read"),
}


@pytest.mark.parametrize(("text", "message"), BAD_METRICS.values(), ids=BAD_METRICS)
def test_bad_metrics(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_files(tmp_path)
    monkeypatch.chdir(tmp_path)  # where a text that is evaluated would leave its trace
    before = files.listing()
    outcome = run("evaluate", files.scores, files.truth, "--metric", text, "--json", "results.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert message in outcome.err
    assert files.listing() == before
    with pytest.raises(sed.SedscopeError):
        sed.parse_metric(text)


DEEP: dict[str, Callable[[int], str]] = {
    "signs": lambda n: f"PSDS({CRITERION}, alpha_st={'-' * n}1)",
    "brackets": lambda n: "(" * n + f"PSDS({CRITERION})" + ")" * n,
    "open brackets": lambda n: "[" * n,
    "calls": lambda n: "PSDS(" * n + CRITERION + ")" * n,
    "sums": lambda n: "1+" * n + "1",
    "attributes": lambda n: "PSDS" + ".x" * n,
    "calls of calls": lambda n: "PSDS" + "()" * n,
    "negations": lambda n: "not " * n + "1",
    "conditions": lambda n: "1 if 1 else " * n + "1",
    "text": lambda n: f"'{'x' * n}'",
    "name": lambda n: "x" * n,
    "digits": lambda n: f"PSDS({CRITERION}, max_efpr={'9' * n})",
}


@pytest.mark.parametrize("depth", [901, 1501, 100_001])  # odd, for the signs
@pytest.mark.parametrize("kind", DEEP)
def test_deep_metrics_are_refused(kind: str, depth: int) -> None:
    with pytest.raises(sed.SedscopeError):
        sed.parse_metric(DEEP[kind](depth))


@pytest.mark.parametrize("kind", ["brackets", "calls", "name", "text"])
def test_long_metrics_are_refused_in_few_words(kind: str) -> None:
    with pytest.raises(sed.SedscopeError) as refused:
        sed.parse_metric(DEEP[kind](100_000))
    assert len(str(refused.value)) < 2000


words = st.sampled_from(
    f"PSDS( Intersection( {CRITERION} ) , = unit 'hour' max_efpr= 0.5 - . [ ] * 1e999 0xff None True "
    "\\ ' # if lambda : f' { } é ªª".split(" ")
)


@settings(max_examples=300)
@given(st.lists(words, max_size=8).map("".join) | st.text(string.printable, max_size=20))
def test_any_text_is_a_metric_or_refused(text: str) -> None:
    try:
        metric = sed.parse_metric(text)
    except sed.SedscopeError:
        return
    assert sed.parse_metric(repr(metric)) == metric


OUT_OF_RANGE: dict[str, tuple[str, str]] = {
    **{
        f"{name}={value}": (f"Intersection({', '.join(f'{n}={v}' for n, v in given.items())})", name)
        for name in ("dtc", "gtc", "cttc")
        for value in ("0", "-0.1", "1.0001", "1e999", "True", "'0.7'")
        for given in [{"dtc": "0.7", "gtc": "0.7", "cttc": "0.3", name: value}]
    },
    **{
        f"{name}={value}": (f"PSDS({CRITERION[:-1]}, cttc=0.3), {name}={value})", name)
        for name, values in {
            "alpha_ct": ("-0.1", "1e999", "None", "False"),
            "alpha_st": ("-1e-9", "-1e999", "'1'", "0x" + "f" * 300),
            "max_efpr": ("0", "-0.0", "-100", "1e999", "None", "0x" + "f" * 300, "-0x" + "f" * 5000),
            "unit": ("'Hour'", "'day'", "3600", "None", "''"),
            "oracle": ("1", "'yes'", "None"),
        }.items()
        for value in values
    },
    "alpha_ct without cttc": (f"PSDS({CRITERION}, alpha_ct=0.5)", "cttc"),
}


@pytest.mark.parametrize(
    ("text", "name"), OUT_OF_RANGE.values(), ids=[name[:40] for name in OUT_OF_RANGE]
)
def test_parameters_out_of_range(text: str, name: str) -> None:
    with pytest.raises(sed.SedscopeError, match=name):
        sed.parse_metric(text)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), pytest.param(10**400, id="too large for a float")],
)
@pytest.mark.parametrize("name", ["alpha_ct", "alpha_st", "max_efpr"])
def test_parameters_that_are_not_finite(name: str, value: float) -> None:
    options: Any = {name: value}
    with pytest.raises(sed.SedscopeError, match=name):
        sed.PSDS(sed.Intersection(0.7, 0.7, 0.3), **options)
    with pytest.raises(sed.SedscopeError, match="dtc"):
        sed.Intersection(value, 0.7)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, 10**400], ids=str)
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda value: sed.Collar(onset=value), "onset"),
        (lambda value: sed.Collar(offset=value), "offset"),
        (lambda value: sed.Segment(value), "length"),
        (lambda value: sed.FScore(sed.Collar(), beta=value), "beta"),
        (lambda value: sed.BestFScore(sed.Collar(), beta=value), "beta"),
        (lambda value: sed.PSDS(sed.Intersection(0.7, 0.7, 0.3), alpha_ct=value), "alpha_ct"),
        (lambda value: sed.PSDS(sed.Intersection(0.7, 0.7), alpha_st=value), "alpha_st"),
        (lambda value: sed.postprocessing.MedianFilter(value), "seconds"),
        (lambda value: sed.postprocessing.MovingAverage(value), "seconds"),
        (lambda value: sed.postprocessing.MinimumDuration(value), "seconds"),
        (lambda value: sed.postprocessing.MaximumGap(value), "seconds"),
        (lambda value: sed.postprocessing.EventBoxes(value), "step"),
        (lambda value: sed.choose(COUNTS, beta=value), "beta"),
        (lambda value: sed.choose(COUNTS, "cost", miss_cost=value), "miss_cost"),
        (lambda value: sed.choose(COUNTS, "cost", false_alarm_cost=value), "false_alarm_cost"),
        (lambda value: sed.choose(COUNTS, min_recall=value), "min_recall"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_huge_parameters_are_refused_by_name_and_range(
    make: Callable[[float], object], name: str, value: float
) -> None:
    with pytest.raises(sed.SedscopeError, match=rf"^{name}\b.*(at most|from 0 to) [0-9e+.]+\.$"):
        make(value)


def test_a_collar_beyond_all_recordings_is_refused() -> None:
    message = r"onset=10000000000.0 must be at least 0 and at most 3.1536e\+08\."
    with pytest.raises(sed.SedscopeError, match=message):
        sed.Collar(onset=1e10)
    widest = sed.BestFScore(sed.Collar(3e8, 3e8, 1e300))
    assert sed.evaluate(SCORES, TRUTH, widest)[widest].value == 1


@pytest.mark.parametrize("limit", [5e-324, 1e300, 1.7e308])
def test_limits_at_the_edge_of_floats_are_right(limit: float) -> None:
    metric = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=limit, unit="second")
    assert sed.evaluate(SCORES, TRUTH, metric)[metric].value == pytest.approx(1)


@pytest.mark.parametrize(
    "options", [{"unit": ["hour"]}, {"unit": {}}, {"oracle": np.array([True])}, {"max_efpr": [100]}]
)
def test_bad_parameters_of_metrics(options: Any) -> None:
    with pytest.raises(sed.SedscopeError, match=next(iter(options))):
        sed.PSDS(sed.Intersection(0.7, 0.7), **options)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), np.int32(1)])
def test_numbers_of_numpy_are_numbers(number: Any) -> None:
    metric = sed.PSDS(sed.Intersection(number, number), alpha_st=number, max_efpr=number)
    assert sed.parse_metric(repr(metric)) == metric
    assert sed.evaluate(SCORES, TRUTH, metric)[metric].value == 1
