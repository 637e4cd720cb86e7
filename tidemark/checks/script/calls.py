"""The calls of a chain, and their arguments."""

import ast
from collections.abc import Iterator

from tidemark.checks.script.expressions import Value
from tidemark.checks.script.literals import Scope, literal


def parts_of(call: ast.Call) -> Iterator[ast.Call]:
    """Yield the calls of a chain, the last first."""
    node: ast.expr = call
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call):
            yield node
        node = node.func if isinstance(node, ast.Call) else node.value


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """Return an argument by its name or its position; -1: it has none. None if it is not given."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = call.args[: position + 1] if position >= 0 else []
    is_open = any(isinstance(value, ast.Starred) for value in plain)
    return plain[position] if len(plain) > position >= 0 and not is_open else None


def given(call: ast.Call, name: str, position: int, scope: Scope) -> Value:
    """Return the constant value of an argument; None if it is not given or not known."""
    found = argument(call, name, position)
    return literal(found, scope) if found is not None else None
