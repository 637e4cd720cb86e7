"""The arguments of Glue that a job of a table of Iceberg has, for `glue_job` in a test."""

from __future__ import annotations

from typing import Any

from tidemark.model.assembly.iceberg import CATALOG, FORMAT, iceberg_settings


def iceberg_arguments(warehouse: str, catalog: str = CATALOG) -> dict[str, Any]:
    """Return the arguments that a declared table of Iceberg gives its jobs.

    Args:
        warehouse: where new tables are put, each in `<database>.db/<table>/`: `s3://curated/`.
        catalog: name of the catalog in Spark.

    Example:
        >>> iceberg_arguments("s3://curated/")["datalake_formats"]
        'iceberg'
    """
    return {"datalake_formats": FORMAT, "conf": iceberg_settings(catalog, warehouse)}
