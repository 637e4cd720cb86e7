"""Whether a type of a column holds the values of another one; pure, in the Data Catalog's types."""

import re

from tidemark.model.hive_types import fields_of, inside_of, is_a, parts_of

_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}  # digits
_ORDERS = (tuple(_INTEGERS), ("float", "double"))
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_HELD = {"double": "tinyint smallint int", "string": "boolean date char varchar decimal"}
_HELD["string"] += " tinyint smallint int bigint float double"
_HELD |= {"float": "tinyint smallint", "binary": "string char varchar"}


def is_promotion(old: str, new: str) -> bool:
    """Return whether files of an old type are read as a new one: integers, floats, decimals.

    Structs may get fields. Source: https://iceberg.apache.org/spec/#schema-evolution

    Example:
        >>> is_promotion("struct<a:int>", "struct<a:bigint,b:string>")
        True
    """
    if old == new:
        return True
    for name in ("struct", "array", "map"):
        if is_a(old, name) and is_a(new, name):
            now = _parts(new)
            return all(
                part in now and is_promotion(of, now[part]) for part, of in _parts(old).items()
            )
    was, wide = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if was and wide:
        return was[2] == wide[2] and int(was[1]) <= int(wide[1])
    order = next((order for order in _ORDERS if {old, new} <= {*order}), ())
    return bool(order) and order.index(old) < order.index(new)


def _parts(kind: str) -> dict[str, str]:
    """Return the types inside of a type, by field or by position."""
    if is_a(kind, "struct"):
        return dict(fields_of(kind))
    return {str(number): part for number, part in enumerate(parts_of(inside_of(kind)))}


def fits(old: str, new: str) -> bool:
    """Return whether every value of an old type is one of a new type, as contracts count.

    Example:
        >>> fits("int", "double"), fits("bigint", "double"), fits("timestamp", "string")
        (True, False, False)
    """
    for name in ("struct", "array", "map"):
        if is_a(old, name) and is_a(new, name):
            was_of, now_of = _parts(old), _parts(new)
            is_key_kept = name != "map" or was_of["0"] == now_of["0"]
            return is_key_kept and all(
                part in now_of and fits(of, now_of[part]) for part, of in was_of.items()
            )
    if is_promotion(old, new):
        return True
    if new in _HELD:
        return old.partition("(")[0] in _HELD[new].split()
    as_decimal = f"decimal({_INTEGERS[old]},0)" if old in _INTEGERS else old
    was, wide = _DECIMAL.fullmatch(as_decimal), _DECIMAL.fullmatch(new)
    if not was or not wide:
        return False
    more = int(wide[2]) - int(was[2])
    return 0 <= more <= int(wide[1]) - int(was[1])
