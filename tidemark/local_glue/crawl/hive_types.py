"""Types of columns as the Data Catalog writes them, and what holds the values of two; pure.

Empty text is the type of values that are all null, so of any.
"""

NUMBERS = ("int", "bigint", "double")


def common_type(one: str, other: str) -> str:
    """Return a type that holds the values of both; text, if nothing else does."""
    if one == other or not one or not other:
        return one or other
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    if _is(one, "struct") and _is(other, "struct"):
        fields: dict[str, str] = {}
        for name, kind in (*_fields(one), *_fields(other)):
            fields[name] = common_type(fields.get(name, ""), kind)
        return struct_of(fields)
    if _is(one, "array") and _is(other, "array"):
        return f"array<{common_type(_inside(one), _inside(other))}>"
    return "string"


def known_type(kind: str) -> str:
    """Return a type with text in the place of what is of any type."""
    if _is(kind, "struct"):
        return struct_of({name: known_type(one) for name, one in _fields(kind)})
    if _is(kind, "array"):
        return f"array<{known_type(_inside(kind))}>"
    return kind or "string"


def struct_of(fields: dict[str, str]) -> str:
    """Return the type of an object with these fields."""
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"


def _is(kind: str, name: str) -> bool:
    return kind.startswith(f"{name}<")


def _inside(kind: str) -> str:
    return kind[kind.index("<") + 1 : -1]


def _fields(struct: str) -> list[tuple[str, str]]:
    """Return names and types of the fields of a struct, which may be nested."""
    found, depth, begin = [], 0, 0
    inside = f"{_inside(struct)},"
    for place, letter in enumerate(inside):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            name, _, kind = inside[begin:place].partition(":")
            begin = place + 1
            if name:
                found.append((name, kind))
    return found
