"""Deltas know where they come from, and what does not fit together is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting.delta_files import digest, merge_files
from sedscope.io import atomic_write
from sedscope.io.scores import memmap_folder
from sedscope.postprocessing import MedianFilter

from ..support.systems import posix_only

COLLAR, INTERSECTION = sed.Collar(), sed.Intersection(0.5, 0.5)
TRUTH = sed.simulate.ground_truth(12, seed=3)
A = sed.simulate.scores(TRUTH, frame=0.1, seed=3)
B = sed.simulate.scores(TRUTH, frame=0.1, quality=0.4, seed=4)
FIRST, SECOND = TRUTH.clips[:6], TRUTH.clips[6:]


def found(scores: sed.Scores, clips: Any = None, system: str | None = "a", **options: Any) -> sed.Deltas:
    criterion = options.pop("criterion", COLLAR)
    return sed.deltas(scores, TRUTH, criterion, clips=clips, system=system, **options)


def test_the_digest_of_parts_adds_up_to_that_of_the_whole() -> None:
    whole = found(A).provenance
    parts = [found(A, TRUTH.clips[k::3]) for k in range(3)]
    assert whole.scores is not None
    assert parts[2].merge(parts[0], parts[1]).provenance == whole
    assert parts[2].merge(parts[0]).merge(parts[1]).provenance == whole
    assert found(B).provenance.scores != whole.scores
    assert found(A, run=sed.Run(threads=1)).provenance == whole


@pytest.mark.parametrize("large", [False, True])  # a store
def test_the_digest_does_not_depend_on_how_scores_are_read(
    large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memmap_folder, "_ALL_AT_ONCE", 0 if large else 2**28)

    def pieces(clip: str) -> sed.ClipPieces:
        values = np.asfortranarray(A[clip].values)
        return sed.ClipPieces(lambda: [values[:3], values[3:3], values[3:]], edges=A[clip].edges)

    sed.write_scores(A, tmp_path / "a.npz")
    sed.write_scores(A, tmp_path / "store", format="store")
    store = sed.read_scores(tmp_path / "store")
    assert store.in_memory == (not large)
    ways: list[Callable[[], sed.Deltas]] = [
        lambda: found(store),  # checksums of clips are verified,
        lambda: found(store),  # and known to be right
        lambda: found(sed.read_scores(tmp_path / "a.npz")),
        lambda: found(sed.Scores.from_function(list(A), pieces, classes=A.classes)),
        lambda: found(A, run=sed.Run(checkpoint=tmp_path / "kept")),
        lambda: found(A, run=sed.Run(checkpoint=tmp_path / "kept")),
        lambda: found(sed.read_scores(tmp_path / "a.npz"), run=sed.Run(checkpoint=tmp_path / "kept")),
        lambda: found(sed.read_scores(tmp_path / "a.npz"), run=sed.Run(checkpoint=tmp_path / "kept")),
    ]
    for way in ways:
        assert way().provenance == found(A).provenance


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: found(B, SECOND, "b"), "come from different systems: 'a', 'b'"),
        (
            lambda: found(MedianFilter(0.5)(A), SECOND),
            r"different post-processings: none, MedianFilter\(seconds=0.5\)",
        ),
        (
            lambda: found(sed.OperatingPoints(dict.fromkeys(A.classes, 0.5)).apply(A), SECOND),
            r"different post-processings: none, at_thresholds\(",
        ),
    ],
)
def test_other_systems_and_post_processings_are_not_merged(
    other: Callable[[], sed.Deltas], message: str, tmp_path: Path
) -> None:
    first, second = found(A, FIRST), other()
    with pytest.raises(sed.SedscopeError, match=message):
        first.merge(second)
    mixed = first.merge(second, mixed=True)
    assert mixed.clips == TRUTH.clips
    assert None in (mixed.provenance.system, mixed.provenance.processing)
    for name, part in (("1", first), ("2", second)):
        sed.save_deltas(part, tmp_path / name)
    with pytest.raises(sed.SedscopeError, match=f"2: .*{message}"):
        merge_files([tmp_path / "1", tmp_path / "2"])
    before = (tmp_path / "1").read_bytes()
    with pytest.raises(sed.SedscopeError, match=f"the new deltas: .*{message}"):
        sed.save_deltas(second, tmp_path / "1", append=True)
    assert (tmp_path / "1").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"1", "2"}


def test_criteria_of_two_systems_are_not_evaluated_together(tmp_path: Path) -> None:
    metrics = [sed.BestFScore(COLLAR), sed.BestFScore(INTERSECTION)]
    of_a = [found(A, system=None, criterion=criterion) for criterion in (COLLAR, INTERSECTION)]
    of_b = found(B, system=None, criterion=INTERSECTION)
    message = "come from different scores of the same clips"
    sed.evaluate_deltas(of_a, metrics)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate_deltas([of_a[0], of_b], metrics)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.save_deltas([of_a[0], of_b], tmp_path / "both")
    sed.save_deltas(of_a[0].of_system("s"), tmp_path / "1")
    sed.save_deltas(of_b.of_system("s"), tmp_path / "2")
    with pytest.raises(sed.SedscopeError, match=message):
        merge_files([tmp_path / "1", tmp_path / "2"])


def without_provenance(path: Path) -> None:
    """Make a file of deltas that do not say where they come from."""
    first_line, rest = path.read_bytes().split(b"\n", 1)
    length = int(first_line.split(b" ")[2])
    description = json.loads(rest[:length])
    for entry in description["deltas"]:
        del entry["provenance"]
    content = json.dumps(description).encode()
    head = f"sedscope-deltas 2 {len(content)} {digest(content)}\n".encode()
    path.write_bytes(head + content + rest[length:])


def test_what_cannot_be_checked_is_said(tmp_path: Path) -> None:
    paths = [tmp_path / "1", tmp_path / "2"]
    for path, clips in zip(paths, (FIRST, SECOND), strict=True):
        sed.save_deltas(found(A, clips, system=None), path)
    with pytest.warns(sed.SedscopeWarning, match=r"from the same system\. Name the system"):
        merge_files(paths)
    without_provenance(paths[0])
    with pytest.warns(sed.SedscopeWarning, match="from the same system with the same post-processing"):
        (merged,) = merge_files(paths)
    assert merged.clips == TRUTH.clips
    merge_files(paths[:1])  # nothing is merged, nothing to say
    with pytest.warns(sed.SedscopeWarning, match="cannot check"):
        sed.save_deltas(sed.load_deltas(paths[1]), paths[0], append=True)


def test_some_of_the_clips_have_no_digest() -> None:
    kept = np.array([clip in FIRST for clip in TRUTH.clips])
    assert found(A).of_clips(kept).provenance == replace(found(A).provenance, scores=None)


APPEND = """
import sys, sedscope as sed
truth = sed.simulate.ground_truth(300, seed=3)
scores = sed.simulate.scores(truth, frame=0.5, seed=3)
k = int(sys.argv[2])
for part in range(5):
    clips = truth.clips[k::3][part::5]
    deltas = sed.deltas(scores, truth, sed.Collar(), clips=clips, system="a")
    if part == 0:
        print("ready", flush=True)
        sys.stdin.readline()
    sed.save_deltas(deltas, sys.argv[1], append=True)
"""


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "all.deltas"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, path, str(k)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0
    (all_of_them,) = sed.load_deltas(path)
    assert sorted(all_of_them.clips) == sorted(sed.simulate.ground_truth(300, seed=3).clips)
    assert [path.name for path in tmp_path.iterdir()] == ["all.deltas"]


HOLD = """
import sys, time
from sedscope.io.atomic_write import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


@posix_only
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "all.deltas"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        monkeypatch.setattr(atomic_write, "_PATIENCE", 0.3)
        with pytest.raises(sed.SedscopeError, match=r"Another process is changing .*all\.deltas"):
            sed.save_deltas(found(A), path, append=True)
        assert not path.exists()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    sed.save_deltas(found(A), path, append=True)  # has the same patience
    assert [path.name for path in tmp_path.iterdir()] == ["all.deltas"]


def test_a_file_that_cannot_be_locked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def no_locks(handle: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(atomic_write, "_lock", no_locks)
    with pytest.raises(sed.SedscopeError, match=r"Cannot lock .*: No locks available"):
        sed.save_deltas(found(A), tmp_path / "x", append=True)


def test_an_address_that_another_process_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="needs fsspec: pip install 'sedscope[remote]'")
    from sedscope.counting import delta_files

    path = "memory://provenance/all.deltas"
    sed.save_deltas(found(A, FIRST[:3]), path)
    sed.save_deltas(found(A, FIRST[3:]), path, append=True)
    merge = delta_files._merge_by_criterion

    def meanwhile(sources: Any) -> Any:
        merged = merge(sources)
        monkeypatch.undo()
        sed.save_deltas(found(A, SECOND[:1]), path, append=True)
        return merged

    monkeypatch.setattr(delta_files, "_merge_by_criterion", meanwhile)
    with pytest.raises(sed.SedscopeError, match="Another process changed"):
        sed.save_deltas(found(A, SECOND[1:]), path, append=True)
    assert set(sed.load_deltas(path)[0].clips) == {*FIRST, SECOND[0]}


def test_messages_say_what_differs_and_what_to_do() -> None:
    plain, filtered = (found(A, FIRST), found(A, SECOND, postprocessing=[MedianFilter(0.5)]))
    with pytest.raises(sed.SedscopeError, match=r"without variants; .*with the variants MedianFilter"):
        plain.merge(filtered)
    with pytest.raises(sed.SedscopeError, match=r"different systems: 'a', 'b'\. .*mixed=True"):
        plain.merge(found(A, SECOND, "b"))
