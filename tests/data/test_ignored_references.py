"""Ignored references on their way in: from memory, tables and files, and what they do to the classes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.alignment import align

from ..support.command_line import run

EVENTS = {"a": [(0, 2, "Dog"), (1, 3, "UNK")], "b": [(1, 2, "Cat")]}
IGNORED = {"a.wav": [(1, 4, "Dog")], "c": [(0, 1, "Cat")]}


def truth(**options: object) -> sed.GroundTruth:
    arguments = {"ignored": IGNORED, "ignored_labels": ["UNK"], "durations": dict.fromkeys("abc", 5)}
    return sed.GroundTruth.from_dict(EVENTS, **{**arguments, **options})  # type: ignore[arg-type]


def test_which_events_are_ignored() -> None:
    made = truth()
    assert made.labels == ("Cat", "Dog")
    assert made.ignored_labels == ("UNK",)
    assert made.clips == ("a", "b", "c")
    assert made.events("a") == [(0, 2, "Dog")]
    assert made.ignored_events("a") == [(1, 4, "Dog"), (1, 3, "UNK")]
    assert made.events("c") == []
    assert repr(made) == "<GroundTruth: 5 events (3 ignored), 3 clips, 2 classes>"
    assert "<th>ignored</th>" in made._repr_html_().replace(' scope="col"', "")
    assert np.array_equal(pickle.loads(pickle.dumps(made)).ignored, made.ignored)


def test_tables_read_them_back() -> None:
    made = truth()
    again = sed.GroundTruth.from_table(
        made.to_polars(), durations=dict.fromkeys("abc", 5), ignored_labels=["UNK"]
    )
    assert again.to_polars().equals(made.to_polars())
    with pytest.raises(sed.SedscopeError, match="ignored 'perhaps' must be true or false"):
        sed.GroundTruth.from_table(
            {
                "filename": ["a"],
                "onset": [0],
                "offset": [1],
                "event_label": ["Dog"],
                "ignored": ["perhaps"],
            }
        )


def test_files_read_them(tmp_path: Path) -> None:
    header = "filename\tonset\toffset\tevent_label\n"
    (tmp_path / "truth.tsv").write_text(
        f"{header}a.wav\t0\t2\tDog\na.wav\t1\t3\tUNK\nb.wav\t1\t2\tCat\n"
    )
    (tmp_path / "ignored.tsv").write_text(f"{header}a\t1\t4\tDog\nc\t0\t1\tCat\n")
    made = sed.read_ground_truth(
        tmp_path / "truth.tsv", ignored=tmp_path / "ignored.tsv", ignored_labels=["UNK"]
    )
    assert made.to_polars().equals(truth(durations=None).to_polars())
    with pytest.raises(sed.SedscopeError, match="3 ignored references would be lost"):
        sed.write_ground_truth(made, tmp_path / "copy.tsv")
    sed.write_ground_truth(made, tmp_path / "copy.tsv", lossy=True)
    assert len(sed.read_ground_truth(tmp_path / "copy.tsv")) == 2


def test_overlaps_matter_only_among_events_of_a_kind() -> None:
    overlapping = {"a": [(1, 3, "Dog"), (2, 4, "Dog")]}
    with pytest.raises(sed.SedscopeError, match="1 event overlaps another"):
        truth(ignored=overlapping)
    with pytest.raises(sed.SedscopeError, match="ignored_labels must be a list of labels, not 'UNK'"):
        truth(ignored_labels="UNK")
    merged = truth(ignored=overlapping, overlaps="merge")
    assert merged.ignored_events("a") == [(1, 4, "Dog"), (1, 3, "UNK")]
    assert merged.events("a") == [(0, 2, "Dog")]


def scores_of(*classes: str) -> sed.Scores:
    return sed.Scores.from_arrays(
        {clip: np.zeros((5, len(classes))) for clip in "abc"}, classes=classes, frame=1.0
    )


def test_an_ignored_label_is_ignored_for_every_class_and_is_no_class() -> None:
    alignment = align(scores_of("Cat", "Dog"), truth())
    of_a = slice(*alignment.starts[:2])
    assert alignment.labels[of_a].tolist() == [0, 1, 1, 1]
    assert alignment.ignored[of_a].tolist() == [True, False, True, True]
    assert alignment.truth_digest() != alignment.counted().truth_digest()
    everything = sed.GroundTruth.from_dict(
        {clip: truth().events(clip) + truth().ignored_events(clip)[:1] for clip in "abc"},
        durations=dict.fromkeys("abc", 5),
        overlaps="merge",
    )
    assert alignment.truth_digest() != align(scores_of("Cat", "Dog"), everything).truth_digest()
    with_unknown = align(scores_of("Cat", "Dog", "UNK"), truth())
    assert with_unknown.classes == ("Cat", "Dog")
    assert "1 class of the scores is not evaluated" in " ".join(with_unknown.warnings)
    with pytest.raises(sed.SedscopeError, match="ignores UNK for every class"):
        align(scores_of("Cat", "Dog", "UNK"), truth(), classes=["Dog", "UNK"])


def test_what_cannot_be_done_with_them_is_refused() -> None:
    scores, ignoring = scores_of("Cat", "Dog"), truth()
    with pytest.raises(sed.SedscopeError, match="Substitutions are not defined for Collar"):
        sed.evaluate(scores, ignoring, [sed.ErrorRate(sed.Collar(), average="micro")])


def test_an_ignored_label_that_no_event_has_is_noted() -> None:
    events = {"a": [(0, 1, "Dog"), (2, 3, "UNK")]}
    table = {"filename": ["a"], "onset": [2], "offset": [3], "event_label": ["UNK"]}
    note = "No reference event has the ignored label Unk (did you mean UNK?)."
    for misspelt in (
        sed.GroundTruth.from_dict(events, ignored_labels=["Unk"]),
        sed.GroundTruth.from_table(table, ignored_labels=["Unk"]),
    ):
        assert any(warning.startswith(note) for warning in misspelt.warnings)
    assert not sed.GroundTruth.from_dict(events, ignored_labels=["UNK "]).warnings


@pytest.mark.parametrize("command", ["evaluate", "validate"])
def test_command_line(tmp_path: Path, command: str) -> None:
    header = "filename\tonset\toffset\tevent_label\n"
    (tmp_path / "truth.tsv").write_text(f"{header}a\t0\t2\tDog\na\t4\t6\tUNK\n")
    (tmp_path / "ignored.tsv").write_text(f"{header}a\t7\t9\tDog\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t10\n")
    (tmp_path / "system.tsv").write_text(f"{header}a\t0\t2\tDog\na\t4\t6\tDog\na\t7\t9\tDog\n")
    paths = [tmp_path / f"{name}.tsv" for name in ("system", "truth", "durations", "ignored")]
    options = ["--durations", paths[2], "--ignored", paths[3], "--ignored-label", "UNK"]
    more = ["--metric", "Precision(Collar())"] if command == "evaluate" else []
    outcome = run(command, *paths[:2], *options, *more)
    assert outcome.code == 0, outcome.err
    assert ("1.0000" if command == "evaluate" else "ignored references") in outcome.out
    misspelt = run(command, *paths[:2], *options[:-1], "unk", *more)
    assert "the ignored label unk (did you mean UNK?)" in (misspelt.out + misspelt.err)


def test_label_maps_lead_to_ignored_labels_and_rename_them() -> None:
    events = {"a": [(0, 2, "Dog"), (1, 3, "UNK"), (2, 4, "noise")]}
    made = sed.GroundTruth.from_dict(events, durations={"a": 5}, ignored_labels=["UNK"])
    mapped = made.relabelled({"noise": "UNK"})
    assert (mapped.labels, mapped.ignored_labels) == (("Dog",), ("UNK",))
    assert mapped.ignored_events("a") == [(1, 4, "UNK")]
    renamed = made.relabelled({"UNK": "unknown", "noise": None})
    assert (renamed.labels, renamed.ignored_labels) == (("Dog",), ("unknown",))
    assert renamed.ignored_events("a") == [(1, 3, "unknown")]
    dropped = made.relabelled({"UNK": None})
    assert (len(dropped), dropped.ignored_labels) == (2, ("UNK",))
    scores = sed.Scores.from_arrays({"a": [[0.5, 0.5]]}, classes=["Dog", "noise"], frame=5.0)
    assert align(scores, dropped).warnings == ()  # the map names a label that occurs
    with pytest.raises(sed.SedscopeError, match="the name of a class: Dog"):
        made.relabelled({"UNK": "Dog"})


def test_regions_may_ignore_what_overlaps_ignored_references() -> None:
    made = sed.GroundTruth.from_dict(
        {"a": [(0, 2, "Dog")]}, ignored={"a": [(0.5, 1.5, "Dog")]}, durations={"a": 5}
    )
    cut = sed.RegionTruth(made, sed.Regions.from_dict({"a": [(1, 5)]}), "ignore")
    assert cut.ignored_events("a@1-5") == [(0, 0.5, "Dog"), (0, 1, "Dog")]
    assert cut.overlaps == "error"
