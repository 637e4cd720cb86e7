"""Where the columns of a contract come from, other than its own text: a file, or a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError
from watermarks.spark.columns import without

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def schema_of_file(path: str) -> StructType | str:
    """Return the columns that a file says, as it says them."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        if not text.lstrip().startswith("{"):
            return text
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(text))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise WatermarkValueError(
            f"the schema of the contract is in {path!r}: {type(error).__name__}: {error}; allowed "
            "is a file beside the job, such as one of --extra-files, with DDL, or with the JSON "
            "that StructType.json() returns"
        ) from error


def schema_of_table(spark: SparkSession, table: str, rescued: str) -> StructType:
    """Return the columns of a table without the rescued one."""
    from pyspark.errors import AnalysisException

    try:
        return without(spark.table(table), [rescued]).schema
    except AnalysisException as error:
        raise WatermarkValueError(
            f"the schema of the contract is that of the table {table!r}, which Spark does not "
            f"find: {error}; give a table of the Data Catalog, and the job "
            "--enable-glue-datacatalog"
        ) from error
