"""A table of the Data Catalog, declared with its data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.constructs.catalog.data_quality import DataQualityRuleset
from tidemark.constructs.catalog.databases import ALLOWED as ALLOWED_DATABASE
from tidemark.constructs.catalog.databases import Database, InDatabase
from tidemark.constructs.catalog.hive_types import ALLOWED, HiveType, parse_hive_type
from tidemark.constructs.catalog.projection import Projection
from tidemark.constructs.catalog.table_format import QUOTED_TYPES, TableFormat
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.plain_secrets import shows_secret

NAME = re.compile(r"[a-z0-9_]{1,255}")  # names that Athena accepts without quotes
DATABASE = re.compile(r"[a-z0-9_-]{1,255}")
MAX_COMMENT = 255
MAX_DESCRIPTION = 2_048
# Table properties that the declaration sets in other ways.
RESERVED = re.compile(
    r"projection\..*|storage\.location\.template|classification|EXTERNAL|skip\.header\.line\.count"
    r"|table_type|metadata_location|previous_metadata_location",
    re.IGNORECASE,
)


@checked
@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: lower case letters, digits and _.
        type: a type of Hive, such as `bigint`, `decimal(10,2)`, `array<struct<id:int>>`.
        comment: its meaning.

    Raises:
        JobDefinitionError: the name or the type is not valid.

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
                f"column name {self.name!r} is not valid; allowed: lower case letters, "
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
            allowed, remedy = f"a string of up to {MAX_COMMENT} characters", "correct comment="
            raise wrong(f"column '{self.name}'", "the comment", self.comment, allowed, remedy)

    @property
    def kind(self) -> HiveType:
        """The parsed type."""
        return parse_hive_type(self.type)


@checked
@dataclass(frozen=True)
class Table(InDatabase):
    """A table over the data of a `Dataset`, which Athena, Glue and Spark find by its name.

    The pipeline that writes the data creates it. The template is its only definition: no crawler
    and no job changes its columns. New columns are added in place, at the end of `columns`.

    A table of Iceberg is an `IcebergTable`, which the job creates.

    Attributes:
        database: a database of the app, or the name of an existing one.
        name: lower case letters, digits and _.
        columns: the columns in the files; for CSV in the order of the files. Empty: those of the
            contract of its dataset, `schema=`.
        partition_keys: the keys in the names of the folders, outermost first.
        format: format of the files.
        projection: lets Athena compute the partitions, so that it sees new folders at once; None:
            it sees registered partitions only.
        description: the meaning of a row.
        parameters: further table properties.
        quality: rules of Glue Data Quality about its rows.
        lake_formation: True grants the jobs their permissions in Lake Formation too.

    Raises:
        JobDefinitionError: the table is not valid.

    Example:
        >>> orders = Table("sales", "orders", [Column("id", "bigint")], [Column("day", "date")])
        >>> orders.full_name
        'sales.orders'
        >>> raw = Dataset(bucket, "orders/", table=orders)
    """

    database: Database
    name: str
    columns: Sequence[Column] = ()
    partition_keys: Sequence[Column] = ()
    format: TableFormat = field(default_factory=TableFormat.parquet)
    projection: Projection | None = None
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    quality: DataQualityRuleset | None = None
    lake_formation: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise self._error("name", self.name, "lower case letters, digits and _, up to 255")
        if isinstance(self.database, str) and not DATABASE.fullmatch(self.database):
            raise self._error("database", self.database, ALLOWED_DATABASE)
        for key in ("columns", "partition_keys"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if len(self.description) > MAX_DESCRIPTION:
            raise self._error(
                "description", self.description, f"a string of up to {MAX_DESCRIPTION} characters"
            )
        if self.columns:  # else its dataset gives it columns, and they are checked then
            self._check_columns()
        self._check_keys()
        self._check_parameters()
        if self.columns and self.quality is not None:
            self.quality.check([column.name for column in (*self.columns, *self.partition_keys)])

    @property
    def ruleset_name(self) -> str:
        """Return the name of its ruleset of Glue Data Quality; empty without one."""
        if self.quality is None:
            return ""
        return self.quality.name or f"{self.database_name}_{self.name}"

    @property
    def registers_partitions(self) -> bool:
        """Return whether the catalog stores more of the table than its declaration."""
        return bool(self.partition_keys) and self.projection is None

    def _check_columns(self) -> None:
        names = [column.name for column in (*self.columns, *self.partition_keys)]
        for name in names:
            if names.count(name) > 1:
                raise self._error("column", name, "a name once, in columns= or in partition_keys=")
        fields = self.format.fields
        if fields is not None and fields != [column.name for column in self.columns]:
            raise self._error(
                "columns", [c.name for c in self.columns], f"those of the Avro schema: {fields}"
            )
        for column in self.columns if self.format.name == "csv" else ():
            if column.kind.is_nested or column.type == "binary":
                raise self._error("csv column", column, "no nested type and no binary; use JSON")
            if "quoteChar" in self.format.serde_parameters and column.type not in QUOTED_TYPES:
                raise self._error(
                    "quoted csv column",
                    column,
                    f"the types of OpenCSVSerDe: {', '.join(QUOTED_TYPES)}; or declare it string",
                )

    def _check_keys(self) -> None:
        for key in self.partition_keys:
            if key.kind.is_nested or key.type == "binary":
                raise self._error("partition key", key, "a type without others in it, not binary")
        if self.projection is None:
            return
        keys = {key.name: key for key in self.partition_keys}
        if not keys or set(self.projection.keys) != set(keys):
            raise self._error(
                "projection of",
                ", ".join(self.projection.keys),
                f"exactly the partition keys, {', '.join(keys) or 'which it has none of'}",
            )
        for name, projection in self.projection.keys.items():
            if allowed := projection.allowed_types(keys[name].kind.name):
                kind = type(projection).__name__
                raise self._error(f"{kind} of", keys[name], allowed)

    def _check_parameters(self) -> None:
        if shows_secret("", self.description):
            raise self._error("description", "...", "a string without a secret: everyone sees it")
        for key in self.parameters:
            if shows_secret(key, self.parameters[key]):
                raise self._error("parameter", key, "values without secrets: everyone sees them")
            if not key or RESERVED.fullmatch(key):
                raise self._error(
                    "parameter", key, "others than those that format=, projection= and Glue set"
                )

    def _error(self, key: str, value: object, allowed: str) -> JobDefinitionError:
        return wrong(f"table {self.name!r}", key, value, allowed, "correct it")
