"""A table of Iceberg, declared with its data; jobs create it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk

from tidemark.constructs.catalog.databases import ALLOWED as ALLOWED_DATABASE
from tidemark.constructs.catalog.databases import Database, InDatabase, resource_of
from tidemark.constructs.catalog.optimizers import Optimizer
from tidemark.constructs.catalog.table import NAME
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.iceberg import CATALOG
from tidemark.model.checked import checked, wrong

# Iceberg refuses other names of databases, such as those with a hyphen.
# Source: https://github.com/apache/iceberg/tree/apache-iceberg-1.10.0/aws (IcebergToGlueConverter)
DATABASE = re.compile(r"[a-z0-9_]{1,252}")
CATALOG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SESSION_CATALOG = "spark_catalog"  # Spark's own, whose class is another one


@checked
@dataclass(frozen=True)
class IcebergTable(InDatabase):
    """A table of Iceberg over the data of a `Dataset`, which jobs create, read, append and merge.

    A job that names the dataset in `reads=` or `writes=` gets Iceberg, the Spark catalog
    `glue_catalog`, and exactly the permissions on the table and its folder; its script writes
    `glue_catalog.<database>.<table>`. The job's own `conf` is merged with these settings, and
    refused if it contradicts them.

    The first job that writes the table creates it, with `CREATE TABLE IF NOT EXISTS`:
    CloudFormation would create it, and break it in the next update
    (https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1919). Without
    a LOCATION Iceberg puts a new table at `<warehouse>/<database>.db/<table>`, or below the
    LocationUri of its database. The warehouse is chosen so that this place is in the dataset; a job
    for which that is impossible is refused. docs/iceberg.md shows a whole pipeline.

    Attributes:
        database: a database of the app, or the name of an existing one; its name has no hyphen.
        name: lower case letters, digits and _.
        catalog: name of the catalog in Spark.
        create: False if the table exists, so that no job may create it.
        format_version: of the table when a job creates it: 1, 2, or 3, which needs Glue 5.1 or
            newer, and which Athena does not read; None: that of the script, or of Iceberg, 2.
        optimizers: `Compaction`, `SnapshotRetention`, `OrphanFileDeletion`, each once. AWS gives
            them only to a table that exists: deploy without, run the job that creates the table,
            then add them with `create=False`.

    Raises:
        JobDefinitionError: the table is not valid.

    Example:
        >>> orders = IcebergTable("sales", "orders")
        >>> orders.spark_name
        'glue_catalog.sales.orders'
        >>> curated = Dataset(bucket, "warehouse/sales.db/orders/", table=orders)
    """

    database: Database
    name: str
    catalog: str = CATALOG
    create: bool = True
    format_version: int | None = None
    optimizers: Sequence[Optimizer] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise self._error("name", self.name, "lower case letters, digits and _, up to 255")
        name = self.database_name
        is_late = not isinstance(self.database, str) and cdk.Token.is_unresolved(name)
        if not is_late and not DATABASE.fullmatch(name):
            raise self._error(
                "database",
                name,
                f"{ALLOWED_DATABASE}, of lower case letters, digits and _, up to 252, since "
                "Iceberg refuses others",
            )
        if not CATALOG_NAME.fullmatch(self.catalog) or self.catalog == SESSION_CATALOG:
            raise self._error(
                "catalog",
                self.catalog,
                f"letters, digits and _, a letter first, but not Spark's own {SESSION_CATALOG}",
            )
        if self.format_version not in (None, 1, 2, 3):
            raise self._error("format_version", self.format_version, "None, 1, 2 or 3")
        self._check_optimizers()

    @property
    def spark_name(self) -> str:
        """Return ``catalog.database.table``, its name in a script."""
        return f"{self.catalog}.{self.full_name}"

    def default_location(self, warehouse: str) -> str:
        """Return where Iceberg puts a new table without a LOCATION, as a folder.

        Source: https://github.com/apache/iceberg/blob/apache-iceberg-1.10.0/aws/src/main/java/org/apache/iceberg/aws/glue/GlueCatalog.java
        (defaultWarehouseLocation)
        """
        made = resource_of(self.database)
        own = getattr(made.database_input, "location_uri", None) if made else None
        if isinstance(own, str) and own:
            return f"{own.rstrip('/')}/{self.name}/"
        return f"{warehouse.rstrip('/')}/{self.database_name}.db/{self.name}/"

    def _check_optimizers(self) -> None:
        object.__setattr__(self, "optimizers", tuple(self.optimizers))
        names = [type(optimizer).__name__ for optimizer in self.optimizers]
        if len(set(names)) < len(names):
            raise self._error("optimizers", ", ".join(names), "each kind once")
        if self.optimizers and self.create:
            raise JobDefinitionError(
                f"Iceberg table {self.name!r} has optimizers ({', '.join(names)}) and create=True: "
                "AWS refuses them, and CloudFormation the deployment, until the table exists; "
                "deploy without optimizers=, let the first run create the table, then add them "
                "with create=False"
            )

    def _error(self, key: str, value: object, allowed: str) -> JobDefinitionError:
        return wrong(f"Iceberg table {self.name!r}", key, value, allowed)
