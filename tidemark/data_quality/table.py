"""The columns of a frame, by name and type, and SQL over its rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.data_quality.sql import quoted
from tidemark.model.dqdl.rules import Rule

NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
STRING = ("string",)
# Words of Spark's SQL -> the names of its types.
_TYPES = {
    "tinyint": "ByteType",
    "smallint": "ShortType",
    "int": "IntegerType",
    "bigint": "LongType",
    "float": "FloatType",
    "double": "DoubleType",
    "decimal": "DecimalType",
    "string": "StringType",
    "boolean": "BooleanType",
    "date": "DateType",
    "timestamp": "TimestampType",
    "binary": "BinaryType",
    "array": "ArrayType",
    "map": "MapType",
    "struct": "StructType",
}


@dataclass(frozen=True)
class Column:
    """A column: its name, and its type in words of Spark's SQL."""

    name: str
    kind: str

    @property
    def sql(self) -> str:
        """Return it as SQL."""
        return quoted(self.name)

    @property
    def base(self) -> str:
        """Return the word of its type without parameters."""
        return self.kind.partition("<")[0].partition("(")[0]


@dataclass(frozen=True)
class Table:
    """The columns of a frame, in order."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, types: Iterable[tuple[str, str]]) -> "Table":
        """Return the table of pairs of name and type, as `DataFrame.dtypes` has them."""
        return cls(tuple(Column(name, kind) for name, kind in types))

    def find(self, name: str) -> Column | None:
        """Return a column by its name in any case, None if it is missing."""
        plain = name.strip("`").lower()
        return next((one for one in self.columns if one.name.lower() == plain), None)

    def sql(self, name: str) -> str:
        """Return an existing column as SQL."""
        column = self.find(name)
        assert column is not None, name  # noqa: S101 (`missing` was asked)
        return column.sql

    def missing(self, names: Iterable[str]) -> str | None:
        """Return why columns cannot be looked at, as Glue says it; None: all are there.

        Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-labels-api-response
        """
        absent = [name for name in names if self.find(name) is None]
        return "\n".join(f"Input data does not include column {one}!" for one in absent) or None

    def other_type(self, names: Iterable[str], allowed: tuple[str, ...]) -> str | None:
        """Return why columns are not of a type, in deequ's words; None: all are."""
        words = ",".join(_TYPES[one] for one in allowed)
        found = [column for column in map(self.find, names) if column]
        return (
            "\n".join(
                f"Expected type of column {one.name} to be one of ({words}), "
                f"but found {_TYPES.get(one.base, one.kind)} instead!"
                for one in found
                if one.base not in allowed
            )
            or None
        )


def share(test: str, where: str | None) -> str:
    """Return the SQL of the share of rows that meet a test; null without rows."""
    value = f"CASE WHEN {test} THEN 1D ELSE 0D END"
    return f"avg(CASE WHEN {where} THEN {value} END)" if where else f"avg({value})"


def only(value: str, where: str | None) -> str:
    """Return the SQL of a value that is null in rows that are left out."""
    return f"CASE WHEN {where} THEN {value} END" if where else value


def row_of(rule: Rule, test: str) -> str:
    """Return the SQL of a rule about rows: null of rows that its where clause leaves out."""
    return only(test, rule.where)
