"""Whether a type of a column holds the values of another one; pure, in the Data Catalog's types."""

import re

from tidemark.model.hive_types import fields_of, inside_of, is_a, parts_of

_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}  # digits
_ORDERS = (tuple(_INTEGERS), ("float", "double"))
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_AS_TEXT = {*_INTEGERS, "float", "double", "boolean", "date", "char", "varchar", "decimal"}


def is_promotion(old: str, new: str) -> bool:
    """Return whether files of an old type are read as a new one: integers, floats, decimals.

    Structs may get fields. Source: https://iceberg.apache.org/spec/#schema-evolution

    Example:
        >>> is_promotion("struct<a:int>", "struct<a:bigint,b:string>")
        True
    """
    if old == new:
        return True
    if is_a(old, "struct") and is_a(new, "struct"):
        now = dict(fields_of(new))
        return all(name in now and is_promotion(kind, now[name]) for name, kind in fields_of(old))
    for name in ("array", "map"):
        if is_a(old, name) and is_a(new, name):
            pairs = zip(parts_of(inside_of(old)), parts_of(inside_of(new)), strict=True)
            return all(is_promotion(*pair) for pair in pairs)
    was, now_ = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if was and now_:
        return was[2] == now_[2] and int(was[1]) <= int(now_[1])
    return any({old, new} <= {*order} and order.index(old) <= order.index(new) for order in _ORDERS)


def fits(old: str, new: str) -> bool:
    """Return whether every value of an old type is one of a new type, as contracts count.

    Example:
        >>> fits("int", "double"), fits("bigint", "double"), fits("timestamp", "string")
        (True, False, False)
    """
    if is_promotion(old, new):
        return True
    if new == "double":
        return old in _INTEGERS and old != "bigint"
    if new == "string":
        return old.partition("(")[0] in _AS_TEXT
    wide, was = _DECIMAL.fullmatch(new), _DECIMAL.fullmatch(old)
    digits, scale = (int(was[1]), int(was[2])) if was else (_INTEGERS.get(old, 0), 0)
    return bool(
        wide and digits and scale <= int(wide[2]) and digits - scale <= int(wide[1]) - int(wide[2])
    )
