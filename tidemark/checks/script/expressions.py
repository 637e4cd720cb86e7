"""The value of an expression that is written out: the one evaluator of scripts."""

import ast
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""A string, or a list or dict of values; None if it is not certain."""

Read: TypeAlias = Callable[[ast.expr], Value]


def written(node: ast.expr, read: Read) -> Value:
    """Return the value of an expression; None if it is not written out, or a part is uncertain."""
    match node:
        case ast.Constant(value=constant):
            return "" if constant is None else str(constant)
        case ast.JoinedStr(values=parts):
            texts = [read(part) for part in parts]
            return None if None in texts else "".join(map(str, texts))
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            return read(inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(read(left), read(right))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _items(items, read)
        case ast.Call(func=ast.Name(id="list"), args=[items], keywords=[]):
            found = read(items)
            return found if isinstance(found, list) else None
    return _dict(node, read)


def _items(nodes: Iterable[ast.expr], read: Read) -> list[Value] | None:
    found: list[Value] = []
    for node in nodes:
        value = read(node.value if isinstance(node, ast.Starred) else node)
        found += value if isinstance(node, ast.Starred) and isinstance(value, list) else [value]
    return None if None in found else found


def _sum(left: Value, right: Value) -> Value:
    is_sum = any(isinstance(left, kind) and isinstance(right, kind) for kind in (list, str))
    return left + right if is_sum else None


def _dict(node: ast.expr, read: Read) -> Value:
    """Return a dict that is written out, or its pairs; None for anything else."""
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return _merged((read(key) if key else None, read(value)) for key, value in pairs)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
            return _merged((word.arg, read(word.value)) for word in words)
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]):
            found = read(owner)
            return [list(pair) for pair in found.items()] if isinstance(found, dict) else None
    return None


def _merged(pairs: Iterable[tuple[Value, Value]]) -> dict[str, Value]:
    """Return a dict of pairs; a value without a key is a dict itself, as in ``**options``."""
    found: dict[str, Value] = {}
    for key, value in pairs:
        if key is not None:
            found[str(key)] = value
        elif isinstance(value, dict):
            found |= value
    return found
