"""Which values fit which types: each one fits without a loss, or is rescued whole."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest

from watermarks.schema import Contract

pytestmark = pytest.mark.spark
BIG = 2**53 + 1
# The type of the contract, that of the frame, values that fit as what, and values that do not.
CASES = [
    ("INT", "BIGINT", {1: 1, -(2**31): -(2**31)}, [2**31, -(2**31) - 1]),
    ("BIGINT", "INT", {7: 7}, []),
    ("BIGINT", "DOUBLE", {3.0: 3, -0.0: 0}, [1.5, 2.0**63, float("nan"), float("inf")]),
    ("DOUBLE", "BIGINT", {5: 5.0, -(2**63): -(2.0**63)}, [BIG, -BIG, 2**63 - 1]),
    ("FLOAT", "STRING", {"0.5": 0.5, "0.000": 0.0}, ["1e-50", "3.4e-45", "1e39"]),
    ("FLOAT", "DOUBLE", {0.5: 0.5}, [0.1, 1e300]),
    ("DECIMAL(5,2)", "DOUBLE", {1.25: Decimal("1.25")}, [1000.0, 1.005]),
    ("DECIMAL(3,0)", "BIGINT", {999: Decimal(999)}, [1000]),
    ("DECIMAL(4,1)", "DECIMAL(6,3)", {Decimal("1.500"): Decimal("1.5")}, [Decimal("1.234")]),
    ("INT", "STRING", {"12": 12, "-0": 0, " 5 ": 5}, ["007", "1.0", "1e3", "", "x", "3000000000"]),
    (
        "DOUBLE",
        "STRING",
        {"1.50": 1.5, "1e-3": 0.001},
        ["1d", "", "NaN", "1e400", "1e-400", str(BIG)],
    ),
    ("DECIMAL(5,2)", "STRING", {"1.5": Decimal("1.50"), "2.500": Decimal("2.5")}, ["1.005", "1e2"]),
    ("DECIMAL(38,0)", "STRING", {"1" * 38: Decimal("1" * 38)}, ["1.5", "1" * 39]),
    ("BOOLEAN", "STRING", {"true": True, "FALSE": False}, ["yes", "1", "t", ""]),
    ("DATE", "STRING", {"2026-02-28": date(2026, 2, 28)}, ["2026", "2026-02-30", "28.02.2026"]),
    ("STRING", "BIGINT", {12: "12"}, []),
    ("STRING", "DECIMAL(4,2)", {Decimal("1.50"): "1.50"}, []),
    ("STRING", "BOOLEAN", {True: "true"}, []),
    ("STRING", "ARRAY<INT>", {}, [[1, 2]]),
    ("INT", "BOOLEAN", {}, [True]),
    ("INT", "DATE", {}, [date(2026, 1, 1)]),
    ("ARRAY<INT>", "ARRAY<STRING>", {("1", None): [1, None]}, [["1", "x"]]),
    ("MAP<STRING,INT>", "MAP<STRING,STRING>", {}, [{"a": "x", "b": "1"}]),
    ("ARRAY<INT>", "INT", {}, [1]),
]


@pytest.mark.parametrize(("promised", "came", "fitting", "others"), CASES)
def test_a_value_fits_without_a_loss_or_is_rescued(spark, promised, came, fitting, others):
    values = [*(list(value) if isinstance(value, tuple) else value for value in fitting), *others]
    rows = [(number, value) for number, value in enumerate([*values, None])]
    frame = spark.createDataFrame(rows, f"n INT, v {came}")
    contract = Contract(f"n INT, v {promised}", types="rescue")

    made = {row["n"]: row for row in contract.apply(frame).collect()}

    wanted = [*fitting.values(), *[None] * (len(others) + 1)]
    assert [made[number]["v"] for number in range(len(rows))] == wanted
    is_rescued = [made[number]["_rescued_data"] is not None for number in range(len(rows))]
    assert is_rescued == [*[False] * len(fitting), *[True] * len(others), False]


@pytest.mark.parametrize(("promised", "came", "fitting", "others"), CASES)
def test_rows_are_taken_out_where_a_value_does_not_fit(spark, promised, came, fitting, others):
    values = [*(list(value) if isinstance(value, tuple) else value for value in fitting), *others]
    frame = spark.createDataFrame([(value,) for value in [*values, None]], f"v {came}")

    kept, taken = Contract(f"v {promised}", types="discard_row").split(frame)

    assert (kept.count(), taken.count()) == (len(fitting) + 1, len(others))
    assert (
        kept.schema.simpleString()
        == spark.createDataFrame([], f"v {promised}").schema.simpleString()
    )
    assert all(json.loads(row["_rescued_data"]).keys() == {"v"} for row in taken.collect())


def test_times_fit_if_the_zone_and_the_clock_are_kept(spark):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Vienna")
    try:
        gap = "2026-03-29 02:30:00"
        texts = ["2026-03-29T01:30:00Z", "2026-03-29 03:30:00.123456", "2026-03-29", "noon", gap]
        frame = spark.createDataFrame([(text,) for text in texts], "v STRING")
        made = Contract("v TIMESTAMP", types="rescue").apply(frame)
        shown = made.selectExpr("date_format(v, 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX')").collect()
        # No time zone has the hour that its summer time leaves out.
        clocks = spark.sql(
            "SELECT TIMESTAMP_NTZ '2026-03-29 02:30:00' v "
            "UNION ALL SELECT TIMESTAMP_NTZ '2026-03-29 03:30:00'"
        )
        rescued = Contract("v TIMESTAMP", types="rescue").apply(clocks).collect()
    finally:
        spark.conf.unset("spark.sql.session.timeZone")

    assert [row[0] for row in shown] == [
        "2026-03-29 03:30:00.000000+02:00",
        "2026-03-29 03:30:00.123456+02:00",
        None,
        None,
        None,
    ]
    assert sorted(row["_rescued_data"] is None for row in rescued) == [False, True]
