"""Rows are the same if their values and the types of these are, in every format."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.sampled import at_night
from tidemark.operate.prove.judge_job import judged
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.rows.records import records_of
from tidemark.operate.rows.rows_here import judged_here
from tidemark.operate.rows.spark_values import SETTINGS

pytestmark = pytest.mark.spark
FIRST = '{"id": 1, "n": 12}\n{"id": 2, "n": 3}\n'


@pytest.fixture(params=["here", pytest.param("by Spark", marks=pytest.mark.nightly)])
def against(request, tmp_path):
    """Return what compares files of JSON, each a text, with those of a first run."""
    spark = request.getfixturevalue("spark") if request.param == "by Spark" else None
    for name, value in SETTINGS.items() if spark else ():
        spark.conf.set(name, value)

    def compared(first: str, *others: str, kind="json", key=()) -> list[TargetRows]:
        sides = [side(tmp_path / str(at), text, kind) for at, text in enumerate((first, *others))]
        target = {"format": kind, "left_out": [], "sides": sides, "control": sides[0], "key": key}
        asked = {"key": [], "surrogates": []}
        answer = judged(spark, target, asked) if spark else judged_here(target, asked)
        assert "problem" not in answer, answer
        return [TargetRows("t", **one) for one in answer["sides"][1:]]

    yield compared
    for name in SETTINGS if spark else ():
        spark.conf.unset(name)


def side(folder: Path, text: str, kind: str) -> dict[str, object]:
    file = folder / "day=1" / ("part.csv" if kind == "lines" else "part.json")
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return {"folder": str(folder), "files": [str(file)], "all": True}


def test_a_number_and_a_string_of_its_digits_differ(against):
    (found,) = against(FIRST, FIRST.replace("12", '"12"').replace("3}", '"3"}'))

    assert found.verdict == "changed"
    assert found.types == {"n": ["bigint", "string"]}


def test_a_number_and_a_string_differ_also_in_a_column_that_has_both(against):
    first = '[{"id": 1, "n": "x", "of": {"n": true}}, {"id": 2, "n": 2, "of": {"n": "true"}}]'

    others = first.replace('"n": 2', '"n": "2"'), first.replace("true}", '"true"}')
    equal, number, boolean = against(first, first.replace("[", "[ "), *others)

    assert (equal.verdict, number.verdict, boolean.verdict) == ("equal", "changed", "changed")


def test_lines_of_csv_may_end_within_quotes(against):
    first = 'id,note\n1,"a\nb"\n2,"c\nd"\n'

    other_order, other_notes = 'id,note\n2,"c\nd"\n1,"a\nb"\n', 'id,note\n1,"a\nd"\n2,"c\nb"\n'
    sides = (first, other_order, other_notes, f'{first}1,"a\nb"\n')

    equal, swapped, doubled = against(*sides, kind="lines")

    assert (equal.verdict, equal.rows) == ("equal", 2)
    assert (swapped.verdict, doubled.verdict, doubled.doubled) == ("changed", "doubled", 1)


def test_a_table_says_what_identifies_its_rows(against):
    text = '{"amt": 10, "status": "a"}\n{"amt": 20, "status": "b"}\n'

    (found,) = against(text, text.replace("10", "30"), key=["status"])

    assert (found.verdict, found.key) == ("changed", ["status"])


def test_numbers_are_shown_as_they_are_written(against):
    long = "12345678901234567890123"
    nested = '{"a": [1, "x"], "b": true}'
    first = f'{{"id": 1, "n": 12, "s": "7", "of": {nested}}}'
    second = f'{{"id": 2, "n": {long}}}'
    lost, changed = against(f"{first}\n{second}\n", second, FIRST)

    (row,) = lost.examples["lost"]
    assert lost.verdict == "lost"
    assert '"n":12,' in row
    of = json.loads(row)["of"]
    assert (of["b"], {*map(str, of["a"])}) == (True, {"1", "x"})
    assert f'"n":{long}' in changed.examples["lost"][-1]


@pytest.mark.parametrize("indent", [None, 2])
def test_records_of_several_lines_are_rows(against, indent):
    records = [{"id": number, "of": {"a": "\u2028", "n": number}} for number in range(3)]
    texts = [json.dumps(one, indent=indent, ensure_ascii=False) for one in records]

    some, more = texts[1:], [*texts, texts[0]]

    sides = ("\n".join(texts), "\n".join(some), "".join(more))
    equal, lost, doubled = against(json.dumps(records, indent=2), *sides)

    assert (equal.verdict, equal.rows) == ("equal", 3)
    assert (lost.verdict, lost.lost) == ("lost", 1)
    assert (doubled.verdict, doubled.doubled) == ("doubled", 1)


def test_what_is_not_json_is_compared_by_its_lines(against):
    text = "id: 1\nn: 12\n"

    equal, lost = against(text, text, "id: 1\n")

    assert (equal.verdict, lost.verdict) == ("equal", "lost")
    with pytest.raises(ValueError, match="Expecting value"):
        list(records_of('{"id": 1} id'))


def changed(rows: list[dict[str, object]], how: int, draws: random.Random) -> list[object]:
    """Return rows that differ in one of several ways from others."""
    rows, chosen = [*rows], draws.choice(rows)
    others: list[list[dict[str, object]]] = [
        rows[::-1],
        [row for row in rows if row is not chosen],
        [*rows, chosen],
        [*rows, {**chosen, "n": 77}],
        [{**row, "s": "new"} if row is chosen else row for row in rows],
        [{**row, "a": row["a"][::-1]} for row in rows],  # type: ignore[index]
        [{**row, "more": 1} for row in rows],
        [{name: value for name, value in row.items() if name != "s"} for row in rows],
        [{**row, "n": str(row["n"])} for row in rows],
        [{**row, "of": {"x": 9, "y": None}} for row in rows],
        [],
    ]
    return list(others[how])


def written(folder: Path, rows: list[object], kind: str) -> dict[str, object]:
    """Write rows in two partitions, and return them as a side of a comparison."""
    files = []
    for day, of_day in enumerate((rows[: len(rows) // 2], rows[len(rows) // 2 :])):
        file = folder / f"day={day}" / f"part-0.{kind}"
        file.parent.mkdir(parents=True)
        if kind == "json":
            file.write_text("".join(f"{json.dumps(row)}\n" for row in of_day), encoding="utf-8")
        elif of_day:
            table = pyarrow.Table.from_pylist(of_day)
            parquet.write_table(table, file)
        files += [str(file)] if file.exists() else []
    return {"folder": str(folder), "files": files, "all": False}


@pytest.mark.parametrize("kind", ["parquet", *at_night("json")])
def test_rows_are_judged_here_as_by_spark(spark, tmp_path, kind):
    draws = random.Random(4)  # noqa: S311 (not a secret)
    numbers = [draws.choice([1, 2, None]) for _ in range(8)]
    rows = [
        {"id": at, "n": number, "s": f"t{at % 3}", "a": [at, 1], "of": {"x": at}}
        for at, number in enumerate(numbers)
    ]
    some = [changed(rows, how, draws) for how in range(11)]
    sides = [written(tmp_path / f"{at}", side, kind) for at, side in enumerate([rows, *some])]
    target = {"format": kind, "left_out": [], "sides": sides, "control": sides[0]}
    asked = {"key": [], "surrogates": []}

    here, by_spark = judged_here(target, asked), judged(spark, target, asked)

    facts = ("rows", "expected", "lost", "doubled", "added", "key", "same_key", "second_key")
    of_here, of_spark = (
        [[side.get(fact) for fact in facts] for side in judgement["sides"]]
        for judgement in (here, by_spark)
    )
    assert of_here == of_spark
    assert (here["by_time"], sorted(here["columns"])) == ([], sorted(by_spark["columns"]))
