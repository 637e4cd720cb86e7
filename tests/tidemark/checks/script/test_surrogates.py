"""The columns that a script numbers itself."""

from __future__ import annotations

import pytest

from tidemark.checks.script.surrogates import surrogates_in


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("df.withColumn('k', F.monotonically_increasing_id())", (("k",),)),
        ("df.withColumn('k', F.monotonically_increasing_id() + F.lit(last))", (("k",),)),
        ("df.withColumn('k', F.row_number().over(Window.orderBy('a')))", (("k",),)),
        ("df.select('a', F.row_number().over(w).alias('k'))", (("k",),)),
        ("df.withColumns({'k': F.expr('uuid()'), 'n': monotonically_increasing_id()})", (("n",),)),
        (
            "spark.sql('SELECT row_number() OVER (PARTITION BY (a) ORDER BY b) AS k FROM t')",
            (("k",),),
        ),
        ("df.selectExpr('monotonically_increasing_id() as k', 'a')", (("k",),)),
        ("df.selectExpr('coalesce(uuid(), id) `k`')", (("k",),)),
        ("spark.sql(f'SELECT row_number() OVER (ORDER BY {key}) + 1 k FROM {view}')", (("k",),)),
        ("spark.sql('SELECT a AS k /* row_number() AS n */ FROM t')", ()),
        ("print('uuid() as a name for (things')", ()),
        ("Relationalize.apply(frame, 's3://tmp/', 'root')", (("id", "index"),)),
        ("frame.relationalize('root', 's3://tmp/')", (("id", "index"),)),
        ("df.withColumn('k', F.col('a'))", ()),
        ("df.withColumn('day', F.to_date('at')).select(F.col('a').alias('k'))", ()),
        ("print('UUID (``x``)')", ()),
        ("not Python (", ()),
    ],
)
def test_columns_that_are_numbered_are_found(script, found):
    assert surrogates_in(script) == found
