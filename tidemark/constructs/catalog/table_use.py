"""How a job uses a table of the Data Catalog."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.table import Table
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

NAME = re.compile(r"[a-z0-9_-]{1,255}\.[a-z0-9_-]{1,255}")
# A string that is known at deployment only has its own dots: ${Token[TOKEN.7]}.
PART = r"((?:\$\{Token\[[^\]]*\]\}|[a-z0-9_-])+)"
PARTS = re.compile(rf"{PART}\.{PART}")
ACCOUNT = re.compile(r"\d{12}", re.ASCII)
RULESET = re.compile(r"[A-Za-z0-9_-]{1,255}")
ALLOWED = "each database.table, of lower case letters, digits, _ and -"


@checked
@dataclass(frozen=True)
class TableUse:
    """A table that a job reads, and may write; its data is declared in `reads` or `writes`.

    Attributes:
        table: `database.table`.
        write: True lets the job change the table and register partitions.
        create: True lets the job create the table, as Spark's `CREATE TABLE` does for Iceberg.
        catalog_id: the account whose Data Catalog has the table; by default that of the job. The
            other account must grant access, by policies of its catalog and of its bucket.
        ruleset: name of a ruleset of Glue Data Quality that the job reads, and whose results it
            publishes; empty: none.
        lake_formation: True grants the job its permissions in Lake Formation too.

    Raises:
        JobDefinitionError: a name is not valid, or the flags contradict each other.

    Example:
        >>> TableUse("lake.orders", write=True).create
        False
    """

    table: str
    write: bool = False
    create: bool = False
    catalog_id: str = ""
    ruleset: str = ""
    lake_formation: bool = False

    def __post_init__(self) -> None:
        check_table_name("a TableUse", self.table)
        if self.create and not self.write:
            raise self._error("create", "True with write=True")
        for key, pattern, allowed in (
            ("catalog_id", ACCOUNT, "'', or the 12 digits of an account"),
            ("ruleset", RULESET, "'', or the name of a ruleset, of letters, digits, _ and -"),
        ):
            text = getattr(self, key)
            if text and not cdk.Token.is_unresolved(text) and not pattern.fullmatch(text):
                raise self._error(key, allowed)
        if self.catalog_id and self.ruleset:
            raise self._error("ruleset", "'' with catalog_id=, since rulesets are of one account")
        if self.catalog_id and self.lake_formation:
            raise self._error(
                "lake_formation", "False with catalog_id=, since that account grants its tables"
            )

    @property
    def database(self) -> str:
        """Return the name of the database."""
        return _parts(self.table)[0]

    @property
    def name(self) -> str:
        """Return the name of the table, without its database."""
        return _parts(self.table)[1]

    def _error(self, key: str, allowed: str) -> JobDefinitionError:
        return wrong(f"the TableUse of {self.table!r}", key, getattr(self, key), allowed)


def _parts(table: str) -> tuple[str, str]:
    """Return database and table of `database.table`; each may be a token."""
    match = PARTS.fullmatch(table)
    assert match is not None  # noqa: S101 (it was checked)
    return match[1], match[2]


def check_table_name(of: str, name: str) -> None:
    """Raise unless a name is `database.table`, or is known at deployment only.

    Raises:
        JobDefinitionError: it is neither.
    """
    if not NAME.fullmatch(name) and not (cdk.Token.is_unresolved(name) and PARTS.fullmatch(name)):
        raise JobDefinitionError(f"{of} has {name!r} in tables; allowed: {ALLOWED}; correct it")


def table_uses(job: str, tables: Sequence[str | TableUse]) -> list[TableUse]:
    """Return the uses of tables that a job declares in `tables`; a plain name is read.

    Raises:
        JobDefinitionError: a name is not valid, or a table is listed twice.
    """
    uses: list[TableUse] = []
    for entry in tables:
        if isinstance(entry, str):
            check_table_name(f"job '{job}'", entry)
        use = entry if isinstance(entry, TableUse) else TableUse(entry)
        if any((use.table, use.catalog_id) == (o.table, o.catalog_id) for o in uses):
            raise JobDefinitionError(
                f"job '{job}' has {use.table!r} in tables twice; allowed: each table once; remove "
                "one"
            )
        uses.append(use)
    return uses


@dataclass(frozen=True)
class IcebergUse(TableUse):
    """A table of Iceberg that a job uses: the catalog has no partitions of it."""


def uses_of_data(
    read: Sequence[Table | IcebergTable], written: Sequence[Table | IcebergTable]
) -> list[TableUse]:
    """Return how a job uses the tables of its data."""
    uses: dict[str, TableUse] = {}
    for table in read:
        if isinstance(table, IcebergTable):
            uses[table.full_name] = IcebergUse(table.full_name)
        else:
            uses[table.full_name] = TableUse(table.full_name, lake_formation=table.lake_formation)
    for table in written:
        if isinstance(table, IcebergTable):
            uses[table.full_name] = IcebergUse(table.full_name, write=True, create=table.create)
        # Of a table with partition projection a write changes nothing in the catalog, and reads
        # nothing there.
        elif table.projection is None:
            uses[table.full_name] = TableUse(
                table.full_name, write=True, lake_formation=table.lake_formation
            )
    return list(uses.values())
