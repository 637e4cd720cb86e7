"""Whether a job asks for the Data Catalog as the metastore of its Spark session.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-data-catalog-hive.html
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tidemark.glue_job.iceberg.settings import local_settings
from tidemark.local_state.catalog.definitions import find_database
from tidemark.local_state.catalog.tables import table_or_none
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import FORMAT, GLUE_CATALOG, table_formats

CATALOG_VARIABLE = "TIDEMARK_CATALOG"  # set for a job that asks for the Data Catalog
SETTING = "spark.tidemark.catalog"  # known to `CatalogExtensions.java`
EXTENSIONS = "spark.sql.extensions"
OURS = "dev.tidemark.catalog.CatalogExtensions"
ARGUMENT = "--enable-glue-datacatalog"
WAREHOUSE = "spark.sql.warehouse.dir"
# Hadoop's name of the class that scripts set before the argument existed, and Spark's name.
_HIVE_FACTORY = "hive.metastore.client.factory.class"
FACTORIES = (_HIVE_FACTORY, f"spark.hadoop.{_HIVE_FACTORY}")
FACTORY = "AWSGlueDataCatalogHiveClientFactory"
SESSION_CATALOG = "spark.sql.catalog.spark_catalog"
OWN_SESSION_CATALOG = {
    SESSION_CATALOG: "dev.tidemark.catalog.SessionCatalog",
    f"{SESSION_CATALOG}.catalog-impl": GLUE_CATALOG,
    f"{SESSION_CATALOG}.cache-enabled": "false",  # it sees what other catalogs have committed
}
BUCKET = "aws-glue-warehouse-local"  # on AWS the database `default` is on the cluster's disks


@dataclass(frozen=True)
class CatalogSettings:
    """Settings with which a job process makes Spark see the Data Catalog, or not.

    Attributes:
        settings: settings of Spark.
        variables: environment variables.
    """

    settings: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)


def asks_for_catalog(arguments: Mapping[str, str], settings: Mapping[str, str]) -> bool:
    """Return whether the arguments of a job, or its Spark settings, name the Data Catalog."""
    if arguments.get(ARGUMENT, "false").lower() != "false":
        return True
    return any(settings.get(name, "").endswith(FACTORY) for name in FACTORIES)


def with_ours(extensions: str) -> str:
    """Return the extensions of a session plus the one with which Spark finds the Data Catalog."""
    return ",".join([*filter(None, extensions.split(",")), OURS])


def catalog_settings(
    home: Home, arguments: Mapping[str, str], settings: Mapping[str, str]
) -> CatalogSettings:
    """Return the settings for the Data Catalog; creates the bucket of its database `default`.

    A job without the Data Catalog gets a warehouse that lasts as long as its run.
    """
    extensions = {EXTENSIONS: with_ours(settings.get(EXTENSIONS, ""))}
    if not asks_for_catalog(arguments, settings):
        return CatalogSettings(extensions)
    if FORMAT in table_formats(arguments) and SESSION_CATALOG not in settings:
        extensions |= OWN_SESSION_CATALOG
    return CatalogSettings({**extensions, **_asking(home, settings)}, {CATALOG_VARIABLE: "1"})


def settings_of_script(home: Home, settings: Mapping[str, str]) -> dict[str, str]:
    """Return changes to the settings with which a script starts Spark itself."""
    changed = local_settings(settings)
    if EXTENSIONS in settings:
        changed[EXTENSIONS] = with_ours(settings[EXTENSIONS])
    return {**changed, **_asking(home, settings)} if asks_for_catalog({}, settings) else changed


def _asking(home: Home, settings: Mapping[str, str]) -> dict[str, str]:
    home.create_bucket(BUCKET)
    return {SETTING: "true", WAREHOUSE: settings.get(WAREHOUSE, f"s3://{BUCKET}")}


_TABLE = re.compile(r"TABLE_OR_VIEW_NOT_FOUND\].*?`(?:spark_catalog`\.`)?([^`]+)`\.`([^`]+)`")
_DATABASE = re.compile(r"SCHEMA_NOT_FOUND\].*?`(?:spark_catalog`\.`)?([^`]+)`")
_NO_LOCATION = "Can not create a Path from an empty string"


def catalog_hint(cause: str, store: Store, *, is_asked: bool) -> str:
    """Return the remedy for the error of a job; empty if the Data Catalog has nothing to say."""
    if _NO_LOCATION in cause:
        return (
            "the database of the table has no LocationUri: give it one, or name the table's place "
            "with LOCATION, or .option('path', 's3://…')"
        )
    if is_asked:
        return ""
    named = _TABLE.search(cause) or _DATABASE.search(cause)
    if named is None:
        return ""
    what = ".".join(named.groups())
    is_there = (
        table_or_none(store, *named.groups())
        if named.re is _TABLE
        else named[1] != "default" and find_database(store, named[1])
    )
    if not is_there:
        return ""
    return f"{what} is in the Data Catalog, which Spark sees with the job's argument {ARGUMENT}"
