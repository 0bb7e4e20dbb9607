"""Tasks as TOML: the built-in ones, the way to a file and back, and errors that name file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed
from sedscope.tasks.task_files import built_in_tasks, task_text

from .layout import dataset

FULL = sed.tasks.Task(
    name="full",
    datasets={
        "one": dataset(
            {"f1": "FScore(Collar(onset=0.1))", "p": "psds1"},
            ground_truth=("truth.csv", "meta/truth.csv"),
            durations=("lengths.csv", "meta/lengths.csv"),
            submission="first set",
            truth=sed.TruthReading(
                format="dcase",
                columns={"onset": 'Begin "Time" (s)'},
                label="Dog",
                confidence=">= 0.25",
                ignored="ignored.tsv",
                ignored_labels=("UNK",),
                invalid="drop",
                overlaps="merge",
            ),
            classes=("Dog", "people talking", "größe"),
            labels=sed.tasks.LabelRule({"bma": "bmabz", "x": ""}, truth="map.csv", combine="mean"),
            chunks=sed.tasks.ChunkRule("centiseconds", segment=0.5, uncovered=0.0, unreferenced="drop"),
            regions="regions.tsv",
            groups=sed.tasks.GroupRule(clips="sites.tsv", average="harmonic", floor=1e-5),
            clips="scored",
            missing="empty",
            coverage="any",
            gaps="silent",
        ),
        "two": dataset("segment_er", clips=("a", "b"), groups=sed.tasks.GroupRule(lengths=(1.0, 5.0))),
        "three": dataset(
            "collar_f1",
            shots=5,
            clip_ends="events",
            groups=sed.tasks.GroupRule(folders=True, average="mean"),
        ),
        "four": dataset("collar_f1", groups=sed.tasks.GroupRule(pattern="{group}_{}")),
    },
    score="0.5 * one.f1 - min(two.segment_er, 1)",
    about="All keys",
    lower_is_better=True,
)
PLAIN = """name = "mine"
score = "home.psds1"
[datasets.home]
metrics = {psds1 = "psds1"}
"""


@pytest.mark.parametrize("name", built_in_tasks())
def test_built_in_tasks_have_their_name_and_say_what_they_are(name: str) -> None:
    task = sed.tasks.read_task(name)
    assert (task.name, task.about != "", task.source != "") == (name, True, True)


@pytest.mark.parametrize(
    "name", sorted({*built_in_tasks()} & {*sed.presets.PRESETS} - {"dcase2024_task4"})
)
def test_tasks_measure_what_their_presets_do(name: str) -> None:
    [only] = sed.tasks.read_task(name).datasets.values()
    assert [*only.metrics.values()] == [*sed.presets.PRESETS[name]]


@pytest.mark.parametrize("name", [*built_in_tasks(), "full"])
def test_a_task_survives_its_file(name: str, tmp_path: Path) -> None:
    task = FULL if name == "full" else sed.tasks.read_task(name)
    sed.tasks.write_task(task, tmp_path / "task.toml")
    assert sed.tasks.read_task(tmp_path / "task.toml") == task
    assert sed.tasks.read_task(str(tmp_path / "task.toml")) == task


def test_a_built_in_file_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "copy.toml").write_text(task_text("dcase2024_task4"), encoding="utf-8")
    assert sed.tasks.read_task(tmp_path / "copy.toml") == sed.tasks.read_task("dcase2024_task4")


def test_presets_and_metrics_together(tmp_path: Path) -> None:
    text = PLAIN.replace("[datasets.home]", '[datasets.home]\npreset = "dcase2018_task4"')
    (tmp_path / "task.toml").write_text(text)
    assert [*sed.tasks.read_task(tmp_path / "task.toml").datasets["home"].metrics] == [
        "collar_f1",
        "psds1",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name =", "nam =", r"unknown key nam \(did you mean name\?\)"),
        ('name = "mine"', "", "a task needs name"),
        ('name = "mine"', "name = 3", "name: must be a text, not 3"),
        ('name = "mine"', 'name = ""', 'name: must be a text, not ""'),
        (
            'score = "home.psds1"',
            'score = "home.psds"',
            "score: 'home.psds': there is no value home.psds",
        ),
        ('score = "home.psds1"', 'score = "away.psds1"', "score: .* Did you mean home.psds1"),
        ("score =", "lower_is_better = 1\nscore =", "lower_is_better: must be true or false, not 1"),
        ("[datasets.home]", "[datasets.home-1]", "a word of letters, digits and _|no value"),
        ("[datasets.home]", "[datasets]\n[dataset.home]", "unknown key dataset"),
        ("[datasets.home]", "[datasets.home]\nclass = 1", r"\[datasets.home\] unknown key class"),
        (
            "[datasets.home]",
            "[datasets.home]\nclasses = 1",
            r"\[datasets.home\] classes: must be a list",
        ),
        (
            "[datasets.home]",
            "[datasets.home]\nclasses = []",
            r"classes: must be a list of texts, not \[\]",
        ),
        ("[datasets.home]", '[datasets.home]\nmissing = "no"', 'missing: must be "error" or "empty"'),
        (
            "[datasets.home]",
            '[datasets.home]\nconfidence = "0.5"',
            "confidence='0.5' is not a condition",
        ),
        (
            "[datasets.home]",
            '[datasets.home]\npreset = "dcase2018"',
            "preset: there is no preset dcase2018",
        ),
        (
            "[datasets.home]",
            '[datasets.home]\nchunks = {unit = "s"}',
            r"\[datasets.home.chunks\] unit: must",
        ),
        ("[datasets.home]", "[datasets.home]\nchunks = {segment = 0}", "segment=0 must be above 0"),
        ("[datasets.home]", "[datasets.home]\ngroups = {}", r"home.groups\] Groups are of clips"),
        (
            "[datasets.home]",
            "[datasets.home]\ngroups = {folders = true, lengths = [1]}",
            "choose one of these",
        ),
        (
            "[datasets.home]",
            "[datasets.home]\ngroups = {pattern = 'site'}",
            "pattern='site' must have {group} once",
        ),
        (
            "[datasets.home]",
            "[datasets.home]\ngroups = {pattern = '{group}_{year}'}",
            "has other brackets than those of {group} and {}",
        ),
        ("[datasets.home]", "[datasets.home]\nshots = 0", "shots=0 must be a whole number"),
        (
            "[datasets.home]",
            "[datasets.home]\nlabels = {a = 1}",
            r"home.labels\] a: must be the new name",
        ),
        ("[datasets.home]", '[datasets.home]\ndurations = ["a", "b"]', "durations has 2 names"),
        (
            "[datasets.home]",
            '[datasets.home]\ngroups = {lengths = [1], average = "mean"}',
            "Groups of lengths have no average",
        ),
        ('metrics = {psds1 = "psds1"}', "", "needs metrics, or the name of a preset"),
        ('psds1 = "psds1"', 'psds1 = "psds3"', r"home.metrics\] psds1: There is no metric 'psds3'"),
        ('psds1 = "psds1"', '"PSDS 1" = "psds1"', "a word of letters, digits and _|no value"),
        ('psds1 = "psds1"', 'psds1 = "psds1", again = "psds1"', "are the same metric"),
        ("score", "score = [", "is not a task"),
        (PLAIN, "", "a task needs name and score and datasets"),
    ],
)
def test_errors_name_the_file_and_the_key(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in PLAIN
    path = tmp_path / "mine.toml"
    path.write_text(PLAIN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(sed.SedscopeError, match=message) as error:
        sed.tasks.read_task(path)
    assert str(path) in str(error.value)


_OUTSIDE = (
    *(
        "/etc/passwd",
        "../secret.tsv",
        "a/../../secret.tsv",
        "..",
        "a\\..\\..\\secret.tsv",
        "C:secret.tsv",
    ),
    *(
        "C:\\secret.tsv",
        "\\\\server\\share\\secret.tsv",
        "http://127.0.0.1:9/secret.tsv",
        "file:///etc/passwd",
    ),
    *("s3://bucket/secret.tsv", "zip://a.tsv::secret.zip"),
)
_FILE_KEYS = (
    *("ground_truth", "durations", "submission", "regions", "ignored"),
    *("labels", "system_labels", "truth_labels", "groups.clips", "groups.classes"),
)


@pytest.mark.parametrize("name", _OUTSIDE)
@pytest.mark.parametrize("key", _FILE_KEYS)
def test_files_of_a_task_stay_in_their_folders(key: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PLAIN.replace("[datasets.home]", f"[datasets.home]\n{key} = '{name}'"))
    with pytest.raises(sed.SedscopeError) as error:
        sed.tasks.read_task(path)
    last = key.rpartition(".")[2]
    assert f"{last}={name!r} may lead out of its folder." in str(error.value)


def test_a_data_set_has_its_durations_and_labels_itself() -> None:
    for reading in (sed.TruthReading(durations="lengths.tsv"), sed.TruthReading(label_map={"a": "b"})):
        with pytest.raises(sed.SedscopeError, match="to the data set itself"):
            dataset("psds1", truth=reading)


def test_refusing_a_file_does_not_tell_whether_it_exists(tmp_path: Path) -> None:
    (tmp_path / "secret.tsv").write_text("password\n")
    messages = []
    for name in ("secret.tsv", "absent.tsv"):
        with pytest.raises(sed.SedscopeError) as error:
            dataset("psds1", ground_truth=(str(tmp_path / name), "ground_truth.tsv"))
        messages.append(str(error.value).replace(name, ""))
    assert messages[0] == messages[1]
    assert "password" not in messages[0]


@pytest.mark.parametrize(
    ("pattern", "clip", "group"),
    [
        ("{group}_{}", "north_bay_0015", "north_bay"),
        ("{group}_{}", "north_", None),
        ("{group}_{}", "_0015", None),
        ("{}_{group}_{}", "2014_north_bay_7", "north_bay"),
        ("{}_{group}", "2014_north_bay", "north_bay"),
        ("site-{group}", "site-a", "a"),
        ("site-{group}", "a", None),
        ("site-{group}", "site-", None),
        ("{group}", "a", "a"),
        ("{group}{}", "ab", "a"),
        ("a{group}a", "aa", None),
        ("{group}_{}-{}-{}T{}", "elephant_island_2014-02-18T21-00-00_000", "elephant_island"),
        ("{group}_{}-{}-{}T{}", "2014-02-18T21-00-00_000", None),
        ("(?:a+)+{group}b", "a" * 60, None),
        ("{}a" * 20 + "{group}" + "a{}" * 20 + "b", "a" * 5000, None),
    ],
)
def test_patterns_find_the_longest_group(pattern: str, clip: str, group: str | None) -> None:
    assert sed.tasks.GroupRule(pattern=pattern).group_of(clip) == group


def test_names_that_no_task_has() -> None:
    with pytest.raises(
        sed.SedscopeError, match=r"no task 'dcase2021task4'. Did you mean dcase2021_task4"
    ):
        sed.tasks.read_task("dcase2021task4")
    with pytest.raises(sed.SedscopeError, match=r"Cannot read nowhere\.toml"):
        sed.tasks.read_task("nowhere.toml")


def test_a_label_is_not_both_evaluated_and_ignored() -> None:
    reading = sed.TruthReading(ignored_labels=("UNK",))
    with pytest.raises(sed.SedscopeError, match="both in classes and in ignored_labels: UNK"):
        dataset("psds1", classes=["Dog", "UNK"], truth=reading)
