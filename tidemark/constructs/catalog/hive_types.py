"""Parses column types of Hive, Athena and Glue: `decimal(10,2)`, `array<int>`.

Source: https://docs.aws.amazon.com/athena/latest/ug/data-types.html
"""

import re
from dataclasses import dataclass

PLAIN = frozenset(
    {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"}
    | {"binary", "date", "timestamp"}
)
# Minimum and maximum of each number in parentheses.
SIZED = {"char": ((1, 255),), "varchar": ((1, 65_535),), "decimal": ((1, 38), (0, 38))}
FIELD = re.compile(r"[a-z_][a-z0-9_]*")
TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(\d+)|([<>(),:]))")
MAX_DEPTH = 32  # of nested types; Hive sets no limit, Python's stack has one
ALLOWED = (
    "boolean, tinyint, smallint, int, bigint, float, double, string, binary, date, timestamp, "
    "char(n), varchar(n), decimal(p,s), array<type>, map<type,type>, struct<name:type,...>"
)


@dataclass(frozen=True)
class HiveType:
    """One type; its string is Glue's form of it.

    Attributes:
        name: its name, such as `int` or `struct`.
        sizes: the numbers in parentheses.
        inner: the types in angle brackets, each with the name of its field; empty without any.
    """

    name: str
    sizes: tuple[int, ...] = ()
    inner: tuple[tuple[str, "HiveType"], ...] = ()

    @property
    def is_nested(self) -> bool:
        """Whether it contains other types."""
        return bool(self.inner)

    def __str__(self) -> str:
        if self.sizes:
            return f"{self.name}({','.join(map(str, self.sizes))})"
        if self.inner:
            parts = (f"{field}:{kind}" if field else str(kind) for field, kind in self.inner)
            return f"{self.name}<{','.join(parts)}>"
        return self.name


def parse_hive_type(text: str) -> HiveType:
    """Return the type that a string denotes.

    Raises:
        ValueError: it is not a type; the message says why.
    """
    reader = _Reader(_tokens(text))
    found = reader.type(0)
    if reader.rest:
        raise ValueError(f"{reader.rest[0]!r} stands after its end")
    return found


def _tokens(text: str) -> list[str]:
    tokens, end = [], 0
    while end < len(text.rstrip()):
        match = TOKEN.match(text, end)
        if match is None:
            raise ValueError(f"{text[end:].strip()[0]!r} is not part of a type")
        tokens.append(match[0].strip())
        end = match.end()
    return tokens


class _Reader:
    """Takes tokens from the left."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens

    def type(self, depth: int) -> HiveType:
        if depth > MAX_DEPTH:
            raise ValueError(f"types are nested more than {MAX_DEPTH} deep")
        name = self._next("a type").lower()
        if name in PLAIN:
            return HiveType(name)
        if name in SIZED:
            return HiveType(name, self._sizes(name))
        if name == "array":
            return HiveType(name, inner=self._inner(depth, 1))
        if name == "map":
            found = HiveType(name, inner=self._inner(depth, 2))
            if found.inner[0][1].is_nested:
                raise ValueError("the key of a map must be a type without others in it")
            return found
        if name == "struct":
            return HiveType(name, inner=self._fields(depth))
        hint = "; Hive's name is int" if name == "integer" else ""
        raise ValueError(f"{name!r} is not a type of Hive{hint}")

    def _next(self, what: str) -> str:
        if not self.rest:
            raise ValueError(f"it ends where {what} should be")
        return self.rest.pop(0)

    def _expect(self, sign: str) -> None:
        if (found := self._next(repr(sign))) != sign:
            raise ValueError(f"{found!r} stands where {sign!r} should be")

    def _sizes(self, name: str) -> tuple[int, ...]:
        sizes = []
        for number, (least, most) in enumerate(SIZED[name]):
            self._expect("," if number else "(")
            text = self._next("a number")
            if not text.isdigit() or not least <= int(text) <= most:
                raise ValueError(f"{name} has {text!r} where a number of {least} to {most} belongs")
            sizes.append(int(text))
        self._expect(")")
        if name == "decimal" and sizes[1] > sizes[0]:
            raise ValueError(f"decimal has more digits after the point ({sizes[1]}) than in all")
        return tuple(sizes)

    def _inner(self, depth: int, count: int) -> tuple[tuple[str, HiveType], ...]:
        inner = []
        for number in range(count):
            self._expect("," if number else "<")
            inner.append(("", self.type(depth + 1)))
        self._expect(">")
        return tuple(inner)

    def _fields(self, depth: int) -> tuple[tuple[str, HiveType], ...]:
        fields: dict[str, HiveType] = {}
        self._expect("<")
        while True:
            name = self._next("the name of a field")
            if not FIELD.fullmatch(name) or name in fields:
                raise ValueError(
                    f"a struct has the field {name!r}; each needs a different name, of lower case "
                    "letters, digits and _"
                )
            self._expect(":")
            fields[name] = self.type(depth + 1)
            if (sign := self._next("',' or '>'")) == ">":
                return tuple(fields.items())
            if sign != ",":
                raise ValueError(f"{sign!r} stands where ',' or '>' should be")
