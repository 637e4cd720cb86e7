"""Conditions on the bookmark keys of a table, as columns of Spark."""

import operator
from collections.abc import Callable, Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.local_state.bookmarks.keys import (
    Alternatives,
    Bound,
    Comparison,
    JdbcSource,
    KeyRange,
    conditions,
    microseconds,
)

_OPERATORS: dict[str, Callable[[Column, Column], Column]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_between(frame: DataFrame, source: JdbcSource, keys: KeyRange) -> Column:
    """Return what the rows of a range satisfy; rows without a value in a key are in none."""
    return all_of(
        [
            *(key_column(key).isNotNull() for key in source.keys),
            *(any_of(frame, alternatives) for alternatives in conditions(source, keys)),
        ]
    )


def is_at_bound(frame: DataFrame, source: JdbcSource, bound: Bound | None) -> Column:
    """Return whether a row has the very keys of a bound."""
    if bound is None:
        return F.lit(False)
    pairs = zip(source.keys, bound, strict=True)
    return all_of(_compare(frame, Comparison(key, "=", value)) for key, value in pairs)


def any_of(frame: DataFrame, alternatives: Alternatives) -> Column:
    """Return whether all comparisons of one of the lists hold."""
    ways = [all_of(_compare(frame, one) for one in comparisons) for comparisons in alternatives]
    return reduce(operator.or_, ways)


def all_of(conditions: Iterable[Column]) -> Column:
    """Return whether all conditions hold."""
    return reduce(operator.and_, conditions)


def key_column(name: str) -> Column:
    """Return a column by its name, whatever characters it has."""
    return F.col(f"`{name.replace('`', '``')}`")


def _compare(frame: DataFrame, comparison: Comparison) -> Column:
    """Return a comparison of a column with a literal of its own type, which Spark pushes down."""
    key, sign, (kind, text) = comparison
    if kind == "int":
        value = F.lit(int(text)).cast("bigint")
    elif kind == "timestamp":
        value = F.timestamp_micros(F.lit(microseconds(text)).cast("bigint"))
    else:
        value = F.lit(text).cast(frame.schema[key].dataType)
    return _OPERATORS[sign](key_column(key), value)
