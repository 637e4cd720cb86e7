"""The rows of a frame with what each rule says of them.

Source: https://docs.aws.amazon.com/glue/latest/dg/data-quality-gs-studio.html
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

PASSED, FAILED = "Passed", "Failed"
_TEXTS = "array<string>"


def with_results(frame: DataFrame, rules: Mapping[str, str | None]) -> DataFrame:
    """Return the rows with the columns that Glue adds."""
    columns = {f"_dq_{place}": sql for place, sql in enumerate(rules.values())}
    known = {name: F.expr(sql) for name, sql in columns.items() if sql is not None}
    judged = frame.withColumns(known) if known else frame
    said = [
        (F.lit(text), F.col(name) if name in known else F.lit(None).cast("boolean"))
        for text, name in zip(rules, columns, strict=True)
    ]
    failed = _texts([F.when(~value, text) for text, value in said])
    found = judged.withColumns(
        {
            "DataQualityRulesPass": _texts([F.when(value, text) for text, value in said]),
            "DataQualityRulesFail": failed,
            "DataQualityRulesSkip": _texts([F.when(value.isNull(), text) for text, value in said]),
            "DataQualityEvaluationResult": F.when(F.size(failed) == 0, PASSED).otherwise(FAILED),
        }
    )
    return found.drop(*known)


def _texts(values: list[Column]) -> Column:
    return F.array_compact(F.array(*values)).cast(_TEXTS)
