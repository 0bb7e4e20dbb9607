"""The drop-in for sed_scores_eval: names and arguments."""

from __future__ import annotations

import inspect
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
import sedscope.compat.dcase_util as dcase_util
import sedscope.compat.sed_eval as sed_eval
import sedscope.compat.sed_scores_eval as sed_scores_eval
from sedscope.compat.sed_scores_eval import clip_based, collar_based, intersection_based, segment_based
from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

from ..support.peers.calls import parameters
from ..support.peers.judge_process import judge

MODULES = [
    *(
        f"{package}.{module}"
        for package in ("intersection_based", "collar_based", "segment_based", "clip_based")
        for module in ("intermediate_statistics", "precision_recall", "error_rate", "roc")
        if module != "roc" or package in ("segment_based", "clip_based")
    ),
    "intersection_based.psds",
    "intersection_based.pipsds",
    *(f"{package}_based.reference" for package in ("intersection", "collar", "segment", "clip")),
    *(
        f"base_modules.{module}"
        for module in (
            *("bootstrap", "curves", "detection", "error_rate", "ground_truth", "io"),
            *("postprocessing", "precision_recall", "roc", "scores"),
        )
    ),
    *(f"utils.{module}" for module in ("array_ops", "nested", "parallel", "test", "visualization")),
]
NOT_OFFERED = {
    # pieces of how it counts, not of what it finds
    *("statistics_fn", "acceleration_fn", "psd_roc_postprocessing", "assert_non_connected_events")
}
LATER = {"metric_fn": "eval_fn"}
"""Arguments that have another name in later versions."""
WITHOUT_DEFAULT = {"n_folds", "n_iterations"}
"""Arguments that choose how version 0.0.4 resamples, which later versions do not."""


@dataclass(frozen=True)
class Nothing:
    """No set, but a question."""

    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 1.0})

    def question(self) -> dict[str, Any]:
        return {"judge": "signatures", "modules": MODULES}


@pytest.fixture(scope="module")
def functions(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    verdict = judge(peers_python, tmp_path_factory.mktemp("signatures"), {"all": Nothing()})["all"]
    return [json.loads(text) for text in verdict["functions"].tolist()]


def test_all_functions_are_there_and_take_the_same_arguments(functions: list[Any]) -> None:
    assert len(functions) > 100
    missing, differing = [], []
    for module, name, theirs in functions:
        if name in NOT_OFFERED:
            continue
        function = getattr(import_module(f"{sed_scores_eval.__name__}.{module}"), name, None)
        if function is None:
            missing.append(f"{module}.{name}")
            continue
        ours = parameters(function)
        takes_any = any(
            argument.kind is inspect.Parameter.VAR_KEYWORD
            for argument in inspect.signature(function).parameters.values()
        )
        positions = [argument[0] for argument in ours if argument[1]]
        expected = [LATER.get(argument[0], argument[0]) for argument in theirs if argument[1]]
        known = {argument[0]: argument[2] for argument in ours}
        if positions[: len(expected)] != expected:
            differing.append(f"{module}.{name}: {positions} for {expected}")
        for old_name, _, default in theirs:
            parameter = LATER.get(old_name, old_name)
            if parameter in WITHOUT_DEFAULT:
                continue
            if parameter in known:
                value = known[parameter]
                same = default in (None, value) or float(default) == float(value or "nan")
                if not same:
                    differing.append(f"{module}.{name}: {parameter}={value} for {default}")
            elif not takes_any:
                differing.append(f"{module}.{name}: no {parameter}")
    assert missing == []
    assert differing == []


def test_names_of_other_versions() -> None:
    for name in (
        "postprocessing_independent_psds",
        "postprocessing_independent_psds_from_postprocessed_scores",
        "bootstrapped_postprocessing_independent_psds_from_postprocessed_scores",
        "bootstrapped_best_fscore",
    ):
        assert callable(getattr(intersection_based, name))
    utils: Any = sed_scores_eval.utils
    assert utils.scores.create_score_dataframe is create_score_dataframe
    assert utils.create_score_dataframe is create_score_dataframe
    assert callable(segment_based.bootstrapped_auroc)
    assert callable(clip_based.bootstrapped_auroc)
    assert callable(collar_based.bootstrapped_best_fscore)
    assert sed_scores_eval.scores.create_score_dataframe is create_score_dataframe
    assert callable(sed_scores_eval.base_modules.bootstrap.bootstrap)
    for name in ("scores", "utils.scores"):
        module = import_module(f"{sed_scores_eval.__name__}.{name}")
        assert module.create_score_dataframe is create_score_dataframe
    medfilt = import_module(f"{sed_scores_eval.__name__}.base_modules.cy_medfilt")
    assert callable(medfilt.cy_medfilt)
    assert (sed_scores_eval.package_dir / "sed_scores_eval" / "__init__.py").exists()


@pytest.mark.parametrize("module", [dcase_util, dcase_util.containers, dcase_util.data])
def test_names_that_the_stand_in_lacks(module: Any) -> None:
    message = "sedscope's stand-in for dcase_util has no AudioContainer; install dcase_util"
    with pytest.raises(AttributeError, match=message):
        _ = module.AudioContainer
    assert not hasattr(module, "__nothing__")


def test_methods_and_arguments_that_the_stand_in_lacks() -> None:
    events = dcase_util.containers.MetaDataContainer([{"event_label": "Dog"}])
    with pytest.raises(AttributeError, match="has no save; install dcase_util"):
        events.save("events.txt")
    message = "has no filename; install dcase_util .*To read a file, call sed_eval.io.load_event_list"
    with pytest.raises(AttributeError, match=message):
        dcase_util.containers.MetaDataContainer(filename="events.txt")
    assert pickle.loads(pickle.dumps(events)) == events


def test_a_list_of_probabilities_is_evaluated() -> None:
    rows = [{"filename": "a.wav", "label": tag, "probability": 0.5} for tag in ("Cat", "Dog")]
    probabilities = dcase_util.containers.ProbabilityContainer(rows)
    assert [(row.label, row.probability) for row in probabilities.filter(label="Dog")] == [("Dog", 0.5)]
    metrics = sed_eval.audio_tag.AudioTaggingMetrics(["Cat", "Dog"])
    tagged = [{"filename": "a.wav", "tags": "Dog"}]
    metrics.evaluate(tagged, estimated_tag_probabilities=probabilities)
    assert metrics.results_overall_metrics()["eer"] == {"eer": 0.5}


def test_regions_of_activity() -> None:
    regions = dcase_util.data.DecisionEncoder().find_contiguous_regions([0, 1, 1, 0, 1])
    assert regions.tolist() == [[1, 3], [4, 5]]


@pytest.mark.parametrize("package", ["intersection", "collar", "segment", "clip"])
def test_modules_without_a_file_are_like_others(package: str) -> None:
    name = f"{sed_scores_eval.__name__}.{package}_based.precision_recall"
    module = import_module(name)
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == name
    assert Path(module.__file__ or "").is_file()
    assert inspect.getdoc(module.fscore)
    assert pickle.loads(pickle.dumps(module.fscore)) is module.fscore


def test_sedscope_does_not_load_pandas() -> None:
    imports = "import sys, sedscope.compat.sed_scores_eval, sedscope.compat.psds_eval"
    code = f"{imports}; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
