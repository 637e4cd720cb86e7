"""The laws of a contract: no row and no value is lost, whatever came and whatever was promised."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watermarks.schema import Contract

pytestmark = pytest.mark.spark
NAMES = ("a", "b", "c", "d e", "f.g")
# Types, and values of each as Python has them.
ATOMS: dict[str, st.SearchStrategy[Any]] = {
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "STRING": st.one_of(
        st.integers(-99, 99).map(str), st.sampled_from(["007", "1.5", "true", "x", "2026-02-28"])
    ),
    "BOOLEAN": st.booleans(),
}


def types(depth: int = 2) -> st.SearchStrategy[Any]:
    """Return types as data: a name, or a list of one, or fields."""
    atoms = st.sampled_from(sorted(ATOMS))
    if not depth:
        return atoms
    inner = types(depth - 1)
    fields = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3)
    return st.one_of(atoms, atoms, inner.map(lambda item: [item]), fields)


def ddl(kind: Any) -> str:
    if isinstance(kind, list):
        return f"ARRAY<{ddl(kind[0])}>"
    if isinstance(kind, dict):
        return f"STRUCT<{', '.join(f'`{name}`: {ddl(of)}' for name, of in kind.items())}>"
    return str(kind)


def values(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, list):
        return st.none() | st.lists(values(kind[0]), max_size=3)
    if isinstance(kind, dict):
        return st.none() | st.tuples(*map(values, kind.values()))
    return st.none() | ATOMS[kind]


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(NAMES), types(), min_size=1, max_size=4)


def columns(schema: dict[str, Any]) -> str:
    return ", ".join(f"`{name}` {ddl(kind)}" for name, kind in schema.items())


def leaves(value: Any) -> Counter[str]:
    """Return the values in a value, as they are told apart: a number is one however it is typed."""
    if value is None:
        return Counter()
    if isinstance(value, dict):
        return sum(map(leaves, value.values()), Counter())
    if isinstance(value, (list, tuple)):
        return sum(map(leaves, value), Counter())
    if isinstance(value, str):
        try:
            return Counter([repr(float(value))])
        except ValueError:
            return Counter([value.lower()])
    return Counter([str(value).lower() if isinstance(value, bool) else repr(float(value))])


@st.composite
def drifts(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[tuple[Any, ...]]]:
    promised, came = draw(schemas()), draw(schemas())
    row = st.tuples(*map(values, came.values()))
    return promised, came, draw(st.lists(row, min_size=1, max_size=6))


LAWS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@LAWS
@given(drift=drifts())
def test_values_in_are_values_out_and_values_rescued(spark, drift):
    promised, came, rows = drift
    numbered = [(number, *row) for number, row in enumerate(rows)]
    frame = spark.createDataFrame(numbered, f"n INT, {columns(came)}")

    contract = Contract(f"n INT, {columns(promised)}", columns="rescue", types="rescue")
    made = {row["n"]: row.asDict(recursive=True) for row in contract.apply(frame).collect()}

    assert len(made) == len(rows)
    for number, row in enumerate(rows):
        rescued = json.loads(made[number].pop("_rescued_data") or "{}")
        del made[number]["n"]
        lost = leaves(row) - leaves(made[number]) - leaves(rescued)
        assert not lost, (row, made[number], rescued)
        if not rescued:
            assert leaves(made[number]) == leaves(row)


@LAWS
@given(drift=drifts())
def test_rows_in_are_rows_out_and_rows_taken_out(spark, drift):
    promised, came, rows = drift
    frame = spark.createDataFrame(rows, columns(came))

    kept, taken = Contract(columns(promised), types="discard_row").split(frame)
    out, aside = kept.collect(), taken.drop("_rescued_data").collect()

    assert len(out) + len(aside) == len(rows)
    total = sum((leaves(row.asDict(recursive=True)) for row in [*out, *aside]), Counter())
    assert total == leaves(rows)


@LAWS
@given(drift=drifts())
def test_what_has_evolved_takes_the_same_rows_again_without_a_change(spark, drift):
    promised, came, rows = drift
    frame = spark.createDataFrame(rows, columns(came))
    first = Contract(columns(promised), types="rescue")

    second = Contract(first.evolved(frame), columns="freeze", types="rescue")

    assert second.apply(frame).collect() == first.apply(frame).collect()
