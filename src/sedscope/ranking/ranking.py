"""Ranking systems that were measured on the same resamples: order, intervals of ranks, tie groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cmp_to_key
from itertools import combinations
from typing import TypeAlias

import numpy as np

from ..counting.tally import differences, exceed
from ..data.arrays import FloatArray
from ..errors import SedscopeError, listing, refuse_nul
from ..evaluation.signature import Signature
from ..resampling.intervals import Interval
from .significance import is_significant, level_of, p_text, step_down


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class MetricEstimate(Estimate):
    """A metric of a system: the mean over its runs, and each class alone."""

    runs: tuple[float, ...]
    """The value of each run."""
    per_class: Mapping[str, Estimate]


@dataclass(frozen=True)
class RankedMetric:
    """A metric of a ranking, or the score that systems are ranked by."""

    name: str
    definition: str
    higher_is_better: bool


@dataclass(frozen=True)
class TeamSystem:
    """A system and its team.

    >>> TeamSystem("CRNN", "Lab A").full_name, TeamSystem("CRNN", "CRNN").full_name
    ('Lab A: CRNN', 'CRNN')
    """

    name: str
    team: str

    @property
    def full_name(self) -> str:
        """The name, after the team if that has another one."""
        return self.name if self.team == self.name else f"{self.team}: {self.name}"


@dataclass(frozen=True, eq=False)
class MeasuredSystem(TeamSystem):
    """What a ranking needs to know of a system."""

    score: Interval
    """What systems are ranked by, with its value in each resample; the same resamples for all systems."""
    metrics: Mapping[str, MetricEstimate]
    """By name."""
    warnings: tuple[str, ...] = ()
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    """What was computed by which definitions, and from what, by data set; with the scores of all runs."""


@dataclass(frozen=True, eq=False)
class RankedSystem(MeasuredSystem):
    """A system and its place in the ranking."""

    rank: int = 1
    """One more than the number of systems with a better score."""
    rank_low: int = 1
    """The best rank inside the interval of the rank."""
    rank_high: int = 1
    """The worst one."""
    group: int = 1
    """The tie group: systems that cannot be told apart from the best one of the group."""
    best_of_team: bool = True
    """Whether no other system of the team comes before it."""
    team_rank: int = 1
    """The rank of the team: one more than the number of teams whose best system has a better score."""


@dataclass(frozen=True)
class RankedPair:
    """The difference between two systems: the score of the better one minus that of the other one."""

    difference: float
    p: float
    """The two-sided p value, from the resamples that all systems share."""
    p_corrected: float
    """The p value, corrected for the number of pairs of systems (Westfall and Young, 1993)."""
    significant: bool
    """Whether the corrected p value is at most 1 − confidence."""
    p_text: str
    """The corrected p value as tables show it."""


@dataclass(frozen=True)
class RejectedSystem(TeamSystem):
    """A system that could not be evaluated, and all reasons."""

    reasons: tuple[str, ...]


@dataclass(frozen=True)
class RankedSet:
    """A data set of a task that systems were ranked on."""

    clips: int
    hours: float
    classes: tuple[str, ...]
    """The classes that were evaluated."""
    digest: str = ""
    """Of the names of the clips. Systems can be ranked if all were evaluated on the same ones."""


Pairs: TypeAlias = Mapping[tuple[int, int], RankedPair]
"""The differences by the places of the two systems in the ranking, counted from 0, the better one first."""


def refuse_equal_names(names: Sequence[str]) -> None:
    """Refuse systems that cannot be told apart, and no systems at all. ``names``: the full names."""
    refuse_nul(names, "system or team")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SedscopeError(f"Several systems have the same name: {listing(twice)}. Rename them.")
    if not names:
        raise SedscopeError("There is no system to rank.")


def different_classes_note(classes: Sequence[Iterable[str]], advice: str) -> list[str]:
    """Note that systems were evaluated on different classes. ``classes``: those of each system."""
    sets = [frozenset(of_system) for of_system in classes]
    if len({*sets}) < 2:
        return []
    varying = sorted(frozenset.union(*sets) - frozenset.intersection(*sets))
    return [
        f"The systems do not have the same classes ({listing(varying)}), and each is evaluated on its own: "
        f"a class without references adds false positives to micro averages and to false alarms. {advice}"
    ]


def rank_systems(
    measured: Sequence[MeasuredSystem], *, higher_is_better: bool, confidence: float
) -> tuple[tuple[RankedSystem, ...], Pairs]:
    """Rank systems by their scores, which must be finite, and compare all pairs.

    Systems with the same score have the same rank, in the order of their names. Going down the ranking,
    a tie group starts with its best system, and goes on while systems are not significantly worse than
    that one.
    """
    sign = 1.0 if higher_is_better else -1.0
    ordered = sorted(measured, key=lambda system: (system.team, system.name))
    ordered.sort(
        key=cmp_to_key(lambda a, b: int(sign * np.sign(differences(b.score.value, a.score.value))))
    )
    scores = [sign * system.score.value for system in ordered]
    resampled = [sign * system.score.values for system in ordered]
    pairs = _compare_pairs(ordered, level_of(confidence))
    rank_limits = _rank_limits(resampled, confidence)
    groups = _tie_groups(len(ordered), pairs)
    best_of_team: dict[str, float] = {}
    for system, score in zip(ordered, scores, strict=True):
        best_of_team.setdefault(system.team, score)
    of_teams = np.array([*best_of_team.values()])
    teams: set[str] = set()
    ranked = []
    for place, system in enumerate(ordered):
        low, high = rank_limits[place]
        ranked.append(
            RankedSystem(
                **{part.name: getattr(system, part.name) for part in fields(MeasuredSystem)},
                rank=1 + int(np.count_nonzero(exceed(np.array(scores[:place]), scores[place]))),
                rank_low=low,
                rank_high=high,
                group=groups[place],
                best_of_team=system.team not in teams,
                team_rank=1 + int(np.count_nonzero(exceed(of_teams, best_of_team[system.team]))),
            )
        )
        teams.add(system.team)
    return tuple(ranked), pairs


def _compare_pairs(ordered: Sequence[MeasuredSystem], level: float) -> dict[tuple[int, int], RankedPair]:
    """Return the differences of all pairs, with p values that are corrected for their number."""
    places = [*combinations(range(len(ordered)), 2)]
    scores = [(ordered[better].score, ordered[worse].score) for better, worse in places]
    values = [float(differences(better.value, worse.value)) for better, worse in scores]
    p_values = step_down(
        values, lambda i: differences(scores[i][0].values, scores[i][1].values) - values[i]
    )
    return {
        pair: RankedPair(
            value,
            p.alone,
            p.corrected,
            is_significant(p.corrected, level),
            p_text(p.corrected, level, at_most=p.corrected <= p.least),
        )
        for pair, value, p in zip(places, values, p_values, strict=True)
    }


def _rank_limits(resampled: Sequence[FloatArray], confidence: float) -> list[tuple[int, int]]:
    """Return the interval of each rank. A resample in which the score is not defined is left out.

    ``resampled``: the score of each system in each resample; more is better.
    """
    if not resampled:
        return []
    table = np.stack(resampled)
    tail = level_of(confidence) / 2
    limits = []
    for scores in table:
        ranks = 1 + np.count_nonzero(exceed(table, scores), axis=0)[np.isfinite(scores)]
        if not len(ranks):
            limits.append((1, len(table)))  # nothing is known
            continue
        low = np.quantile(ranks, tail, method="lower")
        high = np.quantile(ranks, 1 - tail, method="higher")
        limits.append((int(low), int(high)))
    return limits


def _tie_groups(systems: int, pairs: Pairs) -> list[int]:
    """Return the tie group of each place, from 1."""
    groups: list[int] = []
    best = 0
    for place in range(systems):
        if place and pairs[best, place].significant:
            best = place
        groups.append(1 if not groups else groups[-1] + (best == place))
    return groups
