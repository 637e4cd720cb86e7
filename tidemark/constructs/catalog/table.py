"""A table of the Data Catalog, as it is declared with its data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_glue as glue

from tidemark.constructs.catalog.data_quality import DataQualityRuleset
from tidemark.constructs.catalog.hive_types import ALLOWED, HiveType, parse_hive_type
from tidemark.constructs.catalog.projection import Projection
from tidemark.constructs.catalog.table_format import QUOTED_TYPES, TableFormat
from tidemark.errors import JobDefinitionError
from tidemark.model.plain_secrets import shows_secret

NAME = re.compile(r"[a-z0-9_]{1,255}")  # what Athena takes without quotes
DATABASE = re.compile(r"[a-z0-9_-]{1,255}")
MAX_COMMENT = 255
MAX_DESCRIPTION = 2_048
# Table properties that the declaration gives by other means.
RESERVED = re.compile(
    r"projection\..*|storage\.location\.template|classification|EXTERNAL|skip\.header\.line\.count"
    r"|table_type|metadata_location|previous_metadata_location",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: lower case letters, digits and _.
        type: a type of Hive, such as `bigint`, `decimal(10,2)`, `array<struct<id:int>>`.
        comment: what it means.

    Raises:
        JobDefinitionError: the name or the type is none.

    Example:
        >>> Column("price", "DECIMAL(10, 2)").type
        'decimal(10,2)'
    """

    name: str
    type: str
    comment: str = ""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise JobDefinitionError(
                f"column name {self.name!r} is not one of a table; allowed: lower case letters, "
                "digits and _, up to 255; correct name="
            )
        try:
            object.__setattr__(self, "type", str(parse_hive_type(self.type)))
        except ValueError as error:
            raise JobDefinitionError(
                f"column '{self.name}' has the type {self.type!r}: {error}; allowed: {ALLOWED}; "
                "correct type="
            ) from error
        if len(self.comment) > MAX_COMMENT:
            raise JobDefinitionError(
                f"column '{self.name}' has the comment {self.comment!r}; allowed: a string of up "
                f"to {MAX_COMMENT} characters; correct comment="
            )

    @property
    def kind(self) -> HiveType:
        """The type, read."""
        return parse_hive_type(self.type)


@dataclass(frozen=True)
class Table:
    """A table over the data of a `Dataset`, which Athena, Glue and Spark find by its name.

    The pipeline that writes the data creates it. The template is its only definition: no crawler
    and no job changes its columns. New columns are added in place, at the end of `columns`.

    Iceberg is not declared here: CloudFormation creates such a table, and its next update breaks it
    (https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1919). Let the job
    create it, with `TableUse("database.table", write=True, create=True)`.

    Attributes:
        database: a database of the app, or the name of one that is there.
        name: lower case letters, digits and _.
        columns: what is in the files, in the order of the files for CSV.
        partition_keys: what the folders are named by, outermost first.
        format: of the files.
        projection: lets Athena work out the partitions, so that it sees new folders at once; None:
            it sees those that a job has registered.
        description: what a row is.
        parameters: further table properties.
        quality: rules of Glue Data Quality about its rows.
        lake_formation: True grants the jobs their part of the table in Lake Formation too.

    Raises:
        JobDefinitionError: something of this makes no table.

    Example:
        >>> orders = Table("sales", "orders", [Column("id", "bigint")], [Column("day", "date")])
        >>> orders.full_name
        'sales.orders'
        >>> raw = Dataset(bucket, "orders/", table=orders)
    """

    database: "glue.CfnDatabase | str"
    name: str
    columns: Sequence[Column]
    partition_keys: Sequence[Column] = ()
    format: TableFormat = field(default_factory=TableFormat.parquet)
    projection: Projection | None = None
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    quality: DataQualityRuleset | None = None
    lake_formation: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise self._wrong("name", self.name, "lower case letters, digits and _, up to 255")
        if isinstance(self.database, str) and not DATABASE.fullmatch(self.database):
            raise self._wrong(
                "database",
                self.database,
                "a CfnDatabase, as lake.catalog_database, or the name of a database",
            )
        for key in ("columns", "partition_keys"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if len(self.description) > MAX_DESCRIPTION:
            raise self._wrong(
                "description", self.description, f"a string of up to {MAX_DESCRIPTION} characters"
            )
        self._check_columns()
        self._check_keys()
        self._check_parameters()

    @property
    def database_name(self) -> str:
        """Return the name of the database, which only a deployment may know."""
        if isinstance(self.database, str):
            return self.database
        stated = self.database.database_input
        name = getattr(stated, "name", None)
        return name if isinstance(name, str) else self.database.ref

    @property
    def full_name(self) -> str:
        """Return ``database.table``."""
        return f"{self.database_name}.{self.name}"

    @property
    def ruleset_name(self) -> str:
        """Return the name of its ruleset of Glue Data Quality, empty if it has none."""
        if self.quality is None:
            return ""
        return self.quality.name or f"{self.database_name}_{self.name}"

    @property
    def registers_partitions(self) -> bool:
        """Return whether the catalog holds more of the table than its declaration."""
        return bool(self.partition_keys) and self.projection is None

    def _check_columns(self) -> None:
        if not self.columns:
            raise self._wrong("columns", self.columns, "at least one Column")
        names = [column.name for column in (*self.columns, *self.partition_keys)]
        for name in names:
            if names.count(name) > 1:
                raise self._wrong("column", name, "a name once, in columns= or in partition_keys=")
        fields = self.format.fields
        if fields is not None and fields != [column.name for column in self.columns]:
            raise self._wrong(
                "columns", [c.name for c in self.columns], f"those of the Avro schema: {fields}"
            )
        for column in self.columns if self.format.name == "csv" else ():
            if column.kind.is_nested or column.type == "binary":
                raise self._wrong("csv column", column, "no nested type and no binary; use JSON")
            if "quoteChar" in self.format.serde_parameters and column.type not in QUOTED_TYPES:
                raise self._wrong(
                    "quoted csv column",
                    column,
                    f"the types of OpenCSVSerDe: {', '.join(QUOTED_TYPES)}; or declare it string",
                )

    def _check_keys(self) -> None:
        for key in self.partition_keys:
            if key.kind.is_nested or key.type == "binary":
                raise self._wrong("partition key", key, "a type without others in it, not binary")
        if self.projection is None:
            return
        keys = {key.name: key for key in self.partition_keys}
        if not keys or set(self.projection.keys) != set(keys):
            raise self._wrong(
                "projection of",
                ", ".join(self.projection.keys),
                f"exactly the partition keys, {', '.join(keys) or 'which it has none of'}",
            )
        for name, projection in self.projection.keys.items():
            if allowed := projection.wrong_type(keys[name].kind.name):
                kind = type(projection).__name__
                raise self._wrong(f"{kind} of", keys[name], allowed)

    def _check_parameters(self) -> None:
        if shows_secret("", self.description):
            raise self._wrong("description", "...", "a text without a secret: everybody sees it")
        for key in self.parameters:
            if shows_secret(key, self.parameters[key]):
                raise self._wrong("parameter", key, "values that are no secret: everybody sees it")
            if not key or RESERVED.fullmatch(key):
                raise self._wrong(
                    "parameter", key, "others than those that format=, projection= and Glue set"
                )

    def _wrong(self, key: str, value: object, allowed: str) -> JobDefinitionError:
        return JobDefinitionError(
            f"table {self.name!r} has {key} {value!r}; allowed: {allowed}; correct it"
        )
