"""What becomes of rows whose columns are other ones than a dataset promises: a contract."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from aws_cdk import aws_s3 as s3

from tidemark.constructs.catalog.hive_types import ALLOWED, parse_hive_type
from tidemark.constructs.catalog.table import NAME, Column, Table
from tidemark.constructs.references import bucket_name
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.checkpoints.schemas import SQL_NAMES
from tidemark.model.hive_types import parts_of, struct_of
from watermarks import Contract

# Those of `watermarks.Contract`.
ColumnsMode: TypeAlias = Literal["evolve", "freeze", "discard", "rescue"]
TypesMode: TypeAlias = Literal["evolve", "freeze", "rescue", "discard_row"]
MissingMode: TypeAlias = Literal["null", "freeze"]
COLUMN = re.compile(r"(`?)(\w+)\1(?:\s*:\s*|\s+)(\S.*)", re.ASCII | re.DOTALL)
FILE_FORMS = (
    "a file with DDL, such as `id BIGINT, amount DECIMAL(10,2)`, or with a StructType's JSON"
)


class Folder(Protocol):
    """A place of files: a `Dataset`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""

    @property
    def prefix(self) -> str:
        """The folder in it, closed by a slash."""

    @property
    def uri(self) -> str:
        """Its address."""


@checked
@dataclass(frozen=True)
class SchemaPolicy:
    """The contract of a `Dataset`: its columns, and what becomes of rows that are otherwise.

    A job gets it as the argument `schema_of_NAME`, where NAME is the argument that has the dataset;
    `watermarks.Contract.from_json` makes a contract of it. docs/schema.md says what each mode does.

    Attributes:
        schema: the columns as DDL in types of the Data Catalog, or the Path of a file that has DDL
            or the JSON of a StructType. None: the columns of the first run, or of the table of
            Iceberg.
        columns: of a column that the schema lacks: "evolve", "freeze", "discard" or "rescue".
        types: of a value of another type: "evolve", "freeze", "rescue" or "discard_row".
        missing: of a column that a frame lacks: "null" or "freeze".
        quarantine: the folder of the rows that "discard_row" takes out, and of nothing else.
        rescued: the name of the column for what is rescued; of a reader of data that has one
            already, another name.

    Raises:
        JobDefinitionError: a mode does not exist, a column cannot be, or rows that are taken out
            have no place.

    Example:
        >>> SchemaPolicy.rescue("id BIGINT, amount DECIMAL(10, 2)").fields
        {'id': 'bigint', 'amount': 'decimal(10,2)'}
    """

    schema: str | Path = ""
    columns: ColumnsMode = "evolve"
    types: TypesMode = "evolve"
    missing: MissingMode = "null"
    quarantine: Folder | None = None
    rescued: str = Contract.rescued

    def __post_init__(self) -> None:
        if (self.quarantine is None) == (self.types == "discard_row"):
            of, place = f"the SchemaPolicy of types {self.types!r}", self.quarantine
            allowed = 'a Dataset with types="discard_row", whose rows go there, else None'
            raise wrong(of, "quarantine", place and place.prefix, allowed)
        if not NAME.fullmatch(self.rescued):
            raise wrong("the SchemaPolicy", "rescued", self.rescued, "lower case letters and _")
        _ = self.fields  # which raises

    @classmethod
    def evolve(cls, schema: str | Path = "", missing: MissingMode = "null") -> "SchemaPolicy":
        """Return the policy that adds columns, and makes types wider."""
        return cls(schema, "evolve", "evolve", missing)

    @classmethod
    def freeze(cls, schema: str | Path = "", missing: MissingMode = "freeze") -> "SchemaPolicy":
        """Return the policy that refuses everything that is otherwise."""
        return cls(schema, "freeze", "freeze", missing)

    @classmethod
    def rescue(cls, schema: str | Path = "", missing: MissingMode = "null") -> "SchemaPolicy":
        """Return the policy that keeps what does not fit as JSON in `_rescued_data`."""
        return cls(schema, "rescue", "rescue", missing)

    @classmethod
    def discard_row(cls, schema: str | Path = "", *, quarantine: Folder) -> "SchemaPolicy":
        """Return the policy that takes out rows with a value that does not fit."""
        return cls(schema, types="discard_row", quarantine=quarantine)

    @property
    def rescues(self) -> bool:
        """Whether rows get the column for what is rescued."""
        return "rescue" in (self.columns, self.types)

    @property
    def fields(self) -> dict[str, str]:
        """Return the type of each column, as the Data Catalog writes names and types."""
        fields: dict[str, str] = {}
        for written in parts_of(ddl) if (ddl := self._ddl.strip()) else ():
            match = COLUMN.fullmatch(written.strip())
            name = match[2].lower() if match else ""
            try:
                if match is None or name in fields or name == self.rescued:
                    raise ValueError("it is not a name and a type, or is not new")
                fields[name] = str(parse_hive_type(match[3].lower()))
            except ValueError as error:
                raise JobDefinitionError(
                    f"the SchemaPolicy has the column {written.strip()!r}: {error}; allowed: each "
                    f"name once, of letters, digits and _, not {self.rescued}, with one of the "
                    f"types {ALLOWED}; correct schema="
                ) from error
        return fields

    @property
    def argument(self) -> str:
        """Return the contract as JSON, without what is empty."""
        place = self.quarantine.uri if self.quarantine else ""
        said = {"schema": " ".join(self._ddl.split()), **self._modes, "quarantine": place}
        return json.dumps({key: text for key, text in said.items() if text})

    def metadata(self) -> dict[str, object]:
        """Return the contract for the checks, its columns as the Data Catalog writes them."""
        return {"fields": self.fields, **self._modes}

    @property
    def _ddl(self) -> str:
        return ddl_of_file(self.schema) if isinstance(self.schema, Path) else self.schema

    @property
    def _modes(self) -> dict[str, str]:
        return {key: getattr(self, key) for key in ("columns", "types", "missing", "rescued")}

    def table(self, table: Table) -> Table:
        """Return a table with the columns of the contract, if it has none of its own.

        Raises:
            JobDefinitionError: its own columns are other ones, or nothing tells the columns.
        """
        keys = {key.name: key.type for key in table.partition_keys}
        wanted = self.fields
        own = table.columns or [Column(*field) for field in wanted.items() if field[0] not in keys]
        there = {column.name: column.type for column in own}
        declared = there | {name: keys[name] for name in keys.keys() & wanted.keys()}
        declared.pop(self.rescued, None)
        if not there or (wanted and declared != wanted):
            allowed = f"those of schema= of its dataset, {wanted or 'which has none'}"
            raise wrong(f"table {table.name!r}", "columns", declared, allowed)
        if self.rescues and self.rescued not in there:
            own = [*own, Column(self.rescued, "string")]
        return replace(table, columns=own)


def check_quarantine(of: str, quarantine: Folder, data: Iterable[Folder]) -> None:
    """Raise if a quarantine and data lie one within the other.

    Raises:
        JobDefinitionError: who reads the data would read what does not fit.
    """
    for other in data:
        one, two = quarantine.prefix, other.prefix
        is_nested = one.startswith(two) or two.startswith(one)
        if is_nested and bucket_name(quarantine.bucket) == bucket_name(other.bucket):
            raise JobDefinitionError(
                f"{of} has the quarantine {one!r}, which is one within the other with {two!r}; "
                "allowed: a folder that holds nothing else, outside of all data that its jobs read "
                "or write; give quarantine= another Dataset"
            )


def ddl_of_file(path: Path) -> str:
    """Return the columns as DDL.

    Raises:
        JobDefinitionError: the file is not there, or holds neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not text.lstrip().startswith("{"):
            return " ".join(re.sub("--.*", "", text).split())
        fields = json.loads(text)["fields"]
        return ", ".join(f"{field['name']} {_type(field['type'])}" for field in fields)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise wrong(f"the SchemaPolicy ({error})", "schema", str(path), FILE_FORMS) from error


def _type(kind: Any) -> str:
    match kind:
        case str():
            return SQL_NAMES.get(kind, kind)
        case {"type": "array", "elementType": element}:
            return f"array<{_type(element)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{_type(key)},{_type(value)}>"
    return struct_of({part["name"]: _type(part["type"]) for part in kind["fields"]})
