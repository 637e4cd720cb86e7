"""Settings of Spark that name Iceberg's catalogs on AWS, and what they are on this machine.

Iceberg's classes for AWS exist here under the same names; what is left to change are locks, which
need DynamoDB, and the Data Catalog by its REST interface.
Source: https://docs.aws.amazon.com/glue/latest/dg/connect-glu-iceberg-rest.html
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.errors import UnsupportedError
from tidemark.model.assembly.iceberg import GLUE_CATALOG

CATALOG = "spark.sql.catalog."
LOCKS = (
    "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager",
    "org.apache.iceberg.aws.glue.DynamoLockManager",
)
GLUE_REST = re.compile(r"https?://glue[.-][^/]*amazonaws\.[^/]*/iceberg")
S3_TABLES_REST = re.compile(r"https?://s3tables[.-][^/]*amazonaws\.")
S3_TABLES_CATALOG = "software.amazon.s3tables.iceberg.S3TablesCatalog"


def local_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return changes to settings for Iceberg's catalogs that mean services of AWS."""
    changed: dict[str, str] = {}
    for name, value in settings.items():
        if not name.startswith(CATALOG):
            continue
        catalog, _, part = name.removeprefix(CATALOG).partition(".")
        if value in LOCKS:
            changed[name] = "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
        elif value == S3_TABLES_CATALOG or (part == "uri" and S3_TABLES_REST.match(value)):
            raise UnsupportedError(
                f"the catalog {catalog} is one of S3 Tables ({name}={value}), which do not run "
                "locally: name a catalog of Glue here, with a warehouse s3://bucket/prefix"
            )
        elif part == "uri" and GLUE_REST.match(value):
            # A REST catalog becomes one of Glue; only one of the two settings may be there.
            implementation = f"{CATALOG}{catalog}.catalog-impl"
            if settings.get(implementation) == "org.apache.iceberg.rest.RESTCatalog":
                changed[implementation] = GLUE_CATALOG
            else:
                changed[f"{CATALOG}{catalog}.type"] = "glue"
    return changed


def put_all(put: Callable[[Any, str, Any], None], config: Any, key: str, value: Any) -> None:
    """Make a setting of a session with `put`, and what it changes with those made before.

    `config` is PySpark's RuntimeConfig.
    """
    together = {key: value}
    if key.startswith(CATALOG):
        catalog = key.removeprefix(CATALOG).partition(".")[0]
        names = (f"{CATALOG}{catalog}.{part}" for part in ("uri", "type", "catalog-impl"))
        before = {name: config.get(name, None) for name in names if name != key}
        # A setting may mean a service of AWS only together with those made before.
        together |= {name: setting for name, setting in before.items() if setting is not None}
    for name, setting in {key: value, **local_settings(together)}.items():
        put(config, name, setting)
