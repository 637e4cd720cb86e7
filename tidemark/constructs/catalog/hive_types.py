"""Parses column types of Hive, Athena and Glue: `decimal(10,2)`, `array<int>`.

Source: https://docs.aws.amazon.com/athena/latest/ug/data-types.html
"""

import re
from dataclasses import dataclass

from tidemark.model.hive_types import parts_of

PLAIN = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double"),
    *("string", "binary", "date", "timestamp"),
)
# Minimum and maximum of each number in parentheses.
SIZED = {"char": ((1, 255),), "varchar": ((1, 65_535),), "decimal": ((1, 38), (0, 38))}
FORMS = {
    "char": "char(n)",
    "varchar": "varchar(n)",
    "decimal": "decimal(p,s)",
    "array": "array<type>",
    "map": "map<type,type>",
    "struct": "struct<name:type,...>",
}
FIELD = re.compile(r"[a-z_][a-z0-9_]*")
NUMBER = re.compile(r"[0-9]{1,9}")
TYPE = re.compile(r"(\w+)\s*(.*)", re.DOTALL)
MAX_DEPTH = 32  # of nested types; Hive sets no limit, Python's stack has one
ALLOWED = ", ".join((*PLAIN, *FORMS.values()))


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


def parse_hive_type(text: str, depth: int = 0) -> HiveType:
    """Return the type that a string denotes.

    Raises:
        ValueError: it is not a type; the message says why.
    """
    name, parts = _name_and_parts(text.strip())
    if depth > MAX_DEPTH:
        raise ValueError(f"types are nested more than {MAX_DEPTH} deep")
    if name in SIZED:
        return HiveType(name, _sizes(name, parts))
    if name == "struct":
        return HiveType(name, inner=_fields(parts, depth + 1))
    inner = tuple(("", parse_hive_type(part, depth + 1)) for part in parts)
    if name == "map" and inner[0][1].is_nested:
        raise ValueError("the key of a map must be a type without others in it")
    return HiveType(name, inner=inner)


def _name_and_parts(text: str) -> tuple[str, list[str]]:
    match = TYPE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a type")
    name, rest = match[1].lower(), match[2]
    if name in PLAIN:
        if rest:
            raise ValueError(f"{rest!r} stands after {name}")
        return name, []
    if name not in FORMS:
        hint = "; Hive's name is int" if name == "integer" else ""
        raise ValueError(f"{name!r} is not a type of Hive{hint}")
    parts, form = parts_of(rest[1:-1]), FORMS[name]
    has_brackets = rest[:1] + rest[-1:] == ("()" if name in SIZED else "<>")
    if not has_brackets or (name != "struct" and len(parts) != form.count(",") + 1):
        raise ValueError(f"{text!r} does not have the form {form}")
    return name, parts


def _sizes(name: str, numbers: list[str]) -> tuple[int, ...]:
    for number, (least, most) in zip(numbers, SIZED[name], strict=True):
        if not NUMBER.fullmatch(number.strip()) or not least <= int(number) <= most:
            raise ValueError(
                f"{name} has {number.strip()!r} where a number of {least} to {most} belongs"
            )
    sizes = tuple(map(int, numbers))
    if name == "decimal" and sizes[1] > sizes[0]:
        raise ValueError(f"decimal has more digits after the point ({sizes[1]}) than in all")
    return sizes


def _fields(fields: list[str], depth: int) -> tuple[tuple[str, HiveType], ...]:
    types: dict[str, HiveType] = {}
    for written in fields:
        name, _, kind = (part.strip() for part in written.partition(":"))
        if not FIELD.fullmatch(name) or name in types:
            raise ValueError(
                f"a struct has the field {name!r}; each needs a different name, of lower case "
                "letters, digits and _"
            )
        if not kind:
            raise ValueError(f"the field {name!r} has no type")
        types[name] = parse_hive_type(kind, depth)
    return tuple(types.items())
