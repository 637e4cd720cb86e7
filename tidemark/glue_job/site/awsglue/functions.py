"""Column functions that Glue adds to Spark's.

Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1)
"""

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F


def replaceArrayElement(srcCol: Column | str, replaceCol: Column | str, idx: int) -> Column:
    """Return an array with the value at a position replaced; counted from 0."""
    replacement = F.col(replaceCol) if isinstance(replaceCol, str) else replaceCol
    return F.transform(
        F.col(srcCol) if isinstance(srcCol, str) else srcCol,
        lambda value, place: F.when(place == idx, replacement).otherwise(value),
    )


def namedStruct(*cols: str | Column | Iterable[str | Column]) -> Column:
    """Return a struct of columns by their names; the columns may be one list."""
    given = list(cols[0]) if len(cols) == 1 and isinstance(cols[0], list | set) else list(cols)
    return F.struct(*given)  # type: ignore[arg-type]


def explodeWithIndex(col: Column | str) -> Column:
    """Return a row for each element of an array: columns ``index``, from 0, and ``val``."""
    return F.posexplode(col).alias("index", "val")
