"""Compares what experiments have left with the baseline, by one job for all of them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.outside import is_within, read_outside
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.findings import ANOTHER_DAY, Wish
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.prove.places import hidden_marks, sides_of_places
from tidemark.operate.prove.pointers import RunFolders
from tidemark.operate.prove.tables import dumped, dumped_others, iceberg_tables, key_of
from tidemark.operate.rows.rows_here import are_small, judged_here
from tidemark.operate.versions.trial import answers_of_job

JUDGE_JOB = Path(__file__).with_name("judge_job.py")
Side: TypeAlias = Mapping[str, Any]
"""A `folder`, the `files` of one format in it, and whether these are `all` of its files."""


def judge(
    bench: Bench,
    baseline: Outcome,
    control: Outcome | None,
    outcomes: Sequence[Outcome],
    wish: Wish,
    left_out: Mapping[str, Sequence[str]],
    *,
    folders: RunFolders,
    batches: int,
) -> tuple[list[list[TargetRows]], dict[str, list[str]]]:
    """Return the targets of each outcome, and the columns of each target that differ by time.

    What differs between the baseline and a control run like it is left out.
    """
    compared = (baseline, *outcomes, control or baseline)
    homes = [outcome.rows or outcome.home for outcome in compared]
    places = sides_of_places(bench.base, homes, folders)
    of_places = {uri: _asked(kind, sides) for uri, (kind, sides) in places.items()}
    asked = {**of_places, **_tables(bench, homes)}
    for name, target in asked.items():
        numbers = numbering(target["sides"][0], batches)
        target["left_out"] = [*left_out.get(name, ()), *numbers, *wish.ignored]
    answers = dict(zip(asked, _answers(bench, list(asked.values()), wish), strict=True))
    columns = [answer["columns"] for answer in answers.values() if "columns" in answer]
    _check_key(wish.key, columns)
    if control and len(columns) == len(answers):  # else some columns are not known
        outside = [what.rpartition(" (")[0] for what in read_outside(baseline.home)]
        others = (*hidden_marks(baseline.home), ANOTHER_DAY)
        _check_ignored(wish, [*asked, *others], columns, outside)
    columns_by_time = {
        name: [column for column in answer["by_time"] if column not in wish.ignored]
        for name, answer in answers.items()
    }
    by_time = {name: columns for name, columns in columns_by_time.items() if columns}
    judged = [
        [_rows(name, answer, asked[name]["which"][number]) for name, answer in answers.items()]
        for number in range(1, len(outcomes) + 1)
    ]
    return judged, by_time


def numbering(side: Mapping[str, Any], batches: int) -> list[str]:
    """Return the columns of the folders of a target that number the micro-batches of its run.

    Runs over the same files in other parts number them otherwise.
    """
    values_by_name = dict[str, set[str]]()
    for file in side["files"]:
        for part in Path(file).relative_to(side["folder"]).parts[:-1]:
            name, is_column, value = part.partition("=")
            if is_column:
                values_by_name.setdefault(name, set()).add(value)
    numbers = set(map(str, range(batches)))
    return [name for name, values in values_by_name.items() if values == numbers]


def _check_ignored(
    wish: Wish, targets: Sequence[str], columns: Sequence[Sequence[str]], outside: Sequence[str]
) -> None:
    """Raise if a name is neither a target, nor a column of one, nor reached outside the home."""
    known = {name for names in columns for name in names}
    for name in wish.ignored:
        is_target = name.rstrip("/") in {target.rstrip("/") for target in targets}
        is_outside = any(is_within(what, [name]) for what in outside)
        if not (is_target or is_outside or name in known):
            raise UsageError(
                f"--ignore {name}: no target or column has this name; targets are "
                f"{', '.join(targets)}; columns are {', '.join(sorted(known))}"
            )


def _check_key(key: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    """Raise if no target has the columns of a key."""
    if key and columns and not any(set(key) <= set(names) for names in columns):
        known = sorted({name for names in columns for name in names})
        raise UsageError(
            f"--key {','.join(key)}: no target has all of these columns; allowed are "
            f"{', '.join(known)}"
        )


def _tables(bench: Bench, homes: Sequence[Home]) -> dict[str, dict[str, Any]]:
    """Return the tables that the baseline wrote, each with its rows in all homes."""
    before = iceberg_tables(bench.base)
    after = iceberg_tables(homes[0])
    names = sorted(name for name, at in after.items() if before.get(name) != at)
    of_iceberg = {
        f"table {name}": _asked("parquet", [dumped(home, name) for home in homes]) for name in names
    }
    others = {
        name: {
            **_asked(kind, [dumped(home, folder) for home in homes]),
            "key": key_of(homes[0], folder),
        }
        for name, (folder, kind) in dumped_others(homes[0]).items()
    }
    return {**of_iceberg, **others}


def _asked(kind: str, sides: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    *others, control = sides
    different, which = distinct(others)
    return {"format": kind, "sides": different, "which": which, "control": control}


def _answers(bench: Bench, asked: Sequence[dict[str, Any]], wish: Wish) -> list[dict[str, Any]]:
    """Return the answers for targets: small ones are compared here, others by a job of Spark."""
    document = {"key": list(wish.key), "surrogates": list(wish.surrogates)}
    answers = {
        number: _answer_here(target, document, bench.answers) for number, target in enumerate(asked)
    }
    left = [number for number, answer in answers.items() if answer is None]
    if left:
        questions = [{**asked[number], "asked": document} for number in left]
        version, scratch = bench.subject.version, bench.scratch
        of_spark = answers_of_job(JUDGE_JOB, questions, scratch, bench.jvms, version, bench.observe)
        answers.update(zip(left, of_spark, strict=True))
    return [answer for answer in answers.values() if answer is not None]


def _answer_here(
    target: dict[str, Any], document: Mapping[str, Any], answers: dict[Any, Any]
) -> dict[str, Any] | None:
    """Return the answer for a small target; None for one that is large, or that Spark may read.

    `answers` are those of earlier rounds: a side that was compared with an equal first one is not
    compared again.
    """
    if not are_small(target):
        return None
    digests: dict[tuple[int, int], str] = {}
    *contents, control = [_content(side, digests) for side in (*target["sides"], target["control"])]
    given = [target["format"], target["left_out"], target.get("key"), document]
    common = (json.dumps(given), contents[0], control)
    is_header_of_all = target["format"] == "lines"
    left = [
        number
        for number, content in enumerate(contents)
        if number == 0 or is_header_of_all or (common, content) not in answers
    ]
    try:
        if len(left) > 1 or common not in answers:
            sides = [target["sides"][number] for number in left]
            answer = judged_here({**target, "sides": sides}, document)
            if not answer["sides"]:
                return answer
            answers[common] = answer
            for number, of_side in zip(left, answer["sides"], strict=True):
                answers[common, contents[number]] = of_side
    except Exception:  # noqa: BLE001 (Spark may read it, or says what is wrong)
        return None
    return {**answers[common], "sides": [answers[common, content] for content in contents]}


def _rows(name: str, answer: dict[str, Any], number: int) -> TargetRows:
    if answer.get("problem"):
        return TargetRows(name, problem=answer["problem"])
    side = dict(answer["sides"][number])
    side["key"] = tuple(side.pop("key", ()))
    return TargetRows(name, **side)


def distinct(sides: Sequence[Side]) -> tuple[list[Side], list[int]]:
    """Return the sides with different content, and for each side the place of its like there."""
    digests: dict[tuple[int, int], str] = {}
    places: dict[object, int] = {}
    different, which = list[Side](), []
    for side in sides:
        content = _content(side, digests)
        if content not in places:
            places[content] = len(different)
            different.append(side)
        which.append(places[content])
    return different, which


def _content(side: Side, digests: dict[tuple[int, int], str]) -> tuple[object, ...]:
    """Return the bytes of the files, each with its folder, which may hold values of partitions."""
    below = []
    for file in map(Path, side["files"]):
        status = file.stat()
        of_links = (status.st_dev, status.st_ino)  # homes share most of their files
        if of_links not in digests:
            digests[of_links] = digest_of(file)
        below.append((file.parent.relative_to(side["folder"]).as_posix(), digests[of_links]))
    return (side["all"], *sorted(below))


def digest_of(file: Path) -> str:
    """Return a digest of the bytes of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
