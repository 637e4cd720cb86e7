"""Types of columns as the Data Catalog writes them, and what holds the values of two; pure.

An empty string is the type of values that are all null, and fits any type.
"""

NUMBERS = ("int", "bigint", "double")


def common_type(one: str, other: str) -> str:
    """Return a type that holds the values of both; string, if nothing else does."""
    if one == other or not one or not other:
        return one or other
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    if is_a(one, "struct") and is_a(other, "struct"):
        fields: dict[str, str] = {}
        for name, kind in (*fields_of(one), *fields_of(other)):
            fields[name] = common_type(fields.get(name, ""), kind)
        return struct_of(fields)
    if is_a(one, "array") and is_a(other, "array"):
        return f"array<{common_type(inside_of(one), inside_of(other))}>"
    return "string"


def known_type(kind: str) -> str:
    """Return a type with string in place of unknown types."""
    if is_a(kind, "struct"):
        return struct_of({name: known_type(one) for name, one in fields_of(kind)})
    if is_a(kind, "array"):
        return f"array<{known_type(inside_of(kind))}>"
    return kind or "string"


def struct_of(fields: dict[str, str]) -> str:
    """Return the type of an object with these fields."""
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"


def is_a(kind: str, name: str) -> bool:
    """Return whether a type is a struct, array or map."""
    return kind.startswith(f"{name}<")


def inside_of(kind: str) -> str:
    """Return the part between the outermost brackets of a type."""
    return kind[kind.index("<") + 1 : -1]


def fields_of(struct: str) -> list[tuple[str, str]]:
    """Return names and types of the fields of a struct, which may be nested."""
    parts = (part.partition(":") for part in parts_of(inside_of(struct)))
    return [(name, kind) for name, _, kind in parts if name]


def parts_of(inside: str) -> list[str]:
    """Return what commas separate, except for those in brackets."""
    parts, depth, begin = list[str](), 0, 0
    for place, letter in enumerate(f"{inside},"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append(inside[begin:place])
            begin = place + 1
    return parts if not depth else [*parts, inside[begin:]]
