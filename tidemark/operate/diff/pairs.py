"""Compares the rows of targets: by DuckDB here where it can, else by one job of Spark."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import sqlglot

from tidemark.errors import UsageError
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.operate.diff.comparing import SIDES, Asked
from tidemark.operate.diff.duck import NotForDuckError, compared_by_duck
from tidemark.operate.diff.outcomes import TargetDiff, target_diff
from tidemark.operate.diff.places import Pair
from tidemark.operate.versions.trial import answers_of_job

DIFF_JOB = Path(__file__).with_name("diff_job.py")


@dataclass(frozen=True)
class Room:
    """Where rows are compared.

    Attributes:
        scratch: a folder for all that is written.
        jvms: where jobs of Spark get their JVMs.
    """

    scratch: Path
    jvms: Jvms


def check_asked(asked: Asked) -> None:
    """Raise a UsageError unless the condition is one of SQL, and the tolerance a number >= 0."""
    if asked.where:
        try:
            condition, *others = sqlglot.parse(f"SELECT 1 WHERE {asked.where}", dialect="spark")
        except sqlglot.errors.SqlglotError as error:
            first = str(error).splitlines()[0]
            raise UsageError(
                f"--where {asked.where!r} is not a condition of SQL ({first}); give one on the "
                "columns of the rows, such as \"day >= '2026-01-01'\""
            ) from error
        assert condition is not None  # noqa: S101 (it has a SELECT)
        if chance := condition.find(sqlglot.exp.Rand, sqlglot.exp.Randn, sqlglot.exp.Uuid):
            raise UsageError(
                f"--where {asked.where!r} takes other rows on each side, by {chance.sql()}; leave "
                "it out"
            )
        parts = [part for part in condition.args.values() if part]
        has_queries = len(list(condition.find_all(sqlglot.exp.Select))) > 1
        if others or has_queries or len(parts) > 2:
            raise UsageError(
                f"--where {asked.where!r} is more than a condition on the columns of a row; leave "
                "out queries, GROUP BY and ORDER BY"
            )
    if not 0 <= asked.tolerance < float("inf"):
        raise UsageError(
            f"--tolerance {asked.tolerance} is not a number of 0 or more, such as 0.01"
        )


def compare_pairs(pairs: Sequence[Pair], asked: Asked, room: Room) -> list[TargetDiff]:
    """Return how the rows of each target differ.

    Raises:
        UsageError: no target has the columns of the key that is asked for.
    """
    questions = {
        number: _question(pair, asked)
        for number, pair in enumerate(pairs)
        if not any(side.problem for side in pair.sides)
    }
    answers = dict[int, dict[str, Any]]()
    for number, question in questions.items():
        try:
            answers[number] = compared_by_duck(question, room.scratch)
        except NotForDuckError:
            continue
    left = [number for number in questions if number not in answers]
    if left:
        asked_of_spark = [questions[number] for number in left]
        by_spark = answers_of_job(DIFF_JOB, asked_of_spark, room.scratch, room.jvms)
        answers |= dict(zip(left, by_spark, strict=True))
    _check_key(asked, list(answers.values()))
    return [_diff(pair, answers.get(number)) for number, pair in enumerate(pairs)]


def _question(pair: Pair, asked: Asked) -> dict[str, Any]:
    own = replace(asked, key=tuple(asked.key or pair.key))
    sides = {
        name: {"folder": side.folder, "files": list(side.files), "all": False}
        for name, side in zip(SIDES, pair.sides, strict=True)
    }
    return {"format": pair.format, "asked": asdict(own), **sides}


def _check_key(asked: Asked, answers: Sequence[dict[str, Any]]) -> None:
    known = [{*types[0], *types[1]} for answer in answers if (types := answer.get("types"))]
    if asked.key and known and not any(set(asked.key) <= columns for columns in known):
        columns = ", ".join(sorted(set.union(*known)))
        raise UsageError(
            f"no target has the key {', '.join(asked.key)}; name columns of a target: {columns}"
        )


def _diff(pair: Pair, answer: dict[str, Any] | None) -> TargetDiff:
    sizes = (pair.sides[0].size_bytes, pair.sides[1].size_bytes)
    problem = pair.sides[0].problem or pair.sides[1].problem
    return target_diff(pair.name, sizes, {"problem": problem} if answer is None else answer)
