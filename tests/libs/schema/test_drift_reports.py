"""Stories of drift that were told in public, each told again to a contract: nothing is lost."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from watermarks.errors import SchemaContractError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark
EVOLVE = {"columns": "evolve", "types": "evolve"}
RESCUE = {"columns": "rescue", "types": "rescue"}
FREEZE = {"columns": "freeze", "types": "freeze"}
# The report, the contract, the increments as SQL, and what the last one becomes: columns with
# values and what is rescued, or a part of the refusal.
REPORTS = [
    ("aws-sdk-pandas #1155", "a INT, b INT", EVOLVE, ["1 a, 2 b", "1 a, 2 b, 3 c"], (1, 2, 3)),
    ("aws-sdk-pandas #232", "a INT", EVOLVE, ["1 a, 2 b", "3 a"], (3, None)),
    ("aws-sdk-pandas #950", "a BIGINT", RESCUE, ["'NOW_A_STR' a"], (None, {"a": "NOW_A_STR"})),
    ("aws-sdk-pandas #950", "a BIGINT", EVOLVE, ["'NOW_A_STR' a"], r'such as {"a":"NOW_A_STR"}'),
    ("hudi #3558", "a INT", EVOLVE, ["1 a", "1.5D a", "2 a"], (2.0,)),
    ("hudi #10309", "a BIGINT", EVOLVE, ["1L a", "1.5D a"], "the column a is double, and was bigi"),
    ("hudi #10309", "a BIGINT", RESCUE, ["1.5D a"], (None, {"a": 1.5})),
    ("hudi #7444", "a INT", EVOLVE, ["1 a", "20000000000L a", "1 a"], (1,)),
    (
        "hudi #8756",
        "d STRUCT<b: BOOLEAN, t: TIMESTAMP>",
        RESCUE,
        ["named_struct('b', 'yes', 't', 'now') d"],
        ({"b": None, "t": None}, {"d.b": "yes", "d.t": "now"}),
    ),
    ("iceberg #4542", "a INT, b STRING", RESCUE, ["1 a, 'A' b, 'D' job"], (1, "A", {"job": "D"})),
    ("iceberg #4849", "a BIGINT", FREEZE, ["int(7) a"], (7,)),
    ("iceberg #2791", "a INT", RESCUE, ["'x1' a"], (None, {"a": "x1"})),
    ("smart-data-lake #787", "a INT, b INT", EVOLVE, ["1 a, 2 c"], (1, None, 2)),
    (
        "pramen #629",
        "a INT",
        FREEZE,
        ["1 a, 2 last_updated"],
        "the column last_updated (int) is new",
    ),
    ("dlt #1454", "s STRUCT<x: INT>", EVOLVE, ["struct(1 x, 2 y) s"], ({"x": 1, "y": 2},)),
    ("dlt #3183", "l ARRAY<STRUCT<x: INT>>", FREEZE, ["array(struct(1 x)) l"], ([{"x": 1}],)),
    ("dlt #1772", "a INT", FREEZE, ["'spam' a"], r'(1 row does not fit, such as {"a":"spam"})'),
    ("dlt #4191", "a DECIMAL(6,2)", FREEZE, ["1.500BD a"], ("1.50",)),
    ("dlt #4191", "a DECIMAL(6,2)", FREEZE, ["1.234BD a"], "the column a is decimal(4,3), and was"),
    ("clickhouse #120348", "a INT", RESCUE, ["1 a, null b", "1 a, 'late' b"], (1, {"b": "late"})),
    ("clickhouse #120634", "a INT", RESCUE, ["'007' a"], (None, {"a": "007"})),
    ("clickhouse #120634", "a INT", RESCUE, ["'' a"], (None, {"a": ""})),
    ("presto #18249", "a STRING", FREEZE, ["7L a"], ("7",)),
    ("paimon #8042", "a ARRAY<INT>", EVOLVE, ["array(20000000000L) a"], ([20000000000],)),
    ("paimon #8042", "a DATE", RESCUE, ["'2026-02-30' a"], (None, {"a": "2026-02-30"})),
    ("SPARK-15918", "a INT, b STRING", FREEZE, ["'x' b, 1 a"], (1, "x")),
]


@pytest.mark.parametrize(
    ("schema", "modes", "increments", "wanted"),
    [report[1:] for report in REPORTS],
    ids=[f"{number}-{report[0]}" for number, report in enumerate(REPORTS)],
)
def test_a_reported_drift_is_kept_or_refused_by_name(spark, schema, modes, increments, wanted):
    for increment in increments[:-1]:
        contract = Contract(schema, **modes)
        frame = spark.sql(f"SELECT {increment}")
        assert contract.apply(frame).count() == 1
        schema = contract.evolved(frame)
    last, contract = spark.sql(f"SELECT {increments[-1]}"), Contract(schema, **modes)

    if isinstance(wanted, str):
        with pytest.raises(SchemaContractError) as refused:
            contract.apply(last)
        assert wanted in str(refused.value)
        return
    (row,) = contract.apply(last).collect()
    fields = row.asDict(recursive=True)
    rescued = json.loads(fields.pop("_rescued_data", None) or "{}")
    values = [str(value) if isinstance(value, Decimal) else value for value in fields.values()]
    assert (*values, *filter(None, [rescued])) == wanted
