"""The values of names while a script is followed from line to line."""

import ast
from collections.abc import Iterable, Mapping

from tidemark.checks.script.bindings import attributes, bound_once, changed_names
from tidemark.checks.script.expressions import Value, written

Scope = Mapping[str, Value]
"""The known names; attributes stand as ``.name``."""


def literal(node: ast.expr, scope: Scope) -> Value:
    """Return the constant value of an expression, None if it is not known."""
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(attr=name):
            return scope.get(f".{name}")
        case ast.Constant(value=constant) if not isinstance(constant, str):
            return constant if isinstance(constant, int) else None
    return written(node, lambda part: literal(part, scope))


def strings(node: ast.expr, scope: Scope) -> tuple[str, ...] | None:
    """Return the strings of a list that always has them, None if that is not known."""
    value = literal(node, scope)
    is_known = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return tuple(value) if is_known else None


def module_constants(tree: ast.Module) -> Scope:
    """Return the names of a module, and ``.attributes`` of its classes, with their values."""
    known: dict[str, Value] = {f".{name}": None for name in changed_names(tree)}
    for name, values in attributes(tree).items():
        one = values[0] if len(values) == 1 else None
        known.setdefault(f".{name}", literal(one, known) if one else None)
    return known | _constants(tree.body, known, changed_names(tree))


def local_constants(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Scope:
    """Return the names that a function binds, with their values; `scope` is around it."""
    return _constants(function.body, scope, changed_names(function))


def _constants(body: Iterable[ast.stmt], scope: Scope, changed: set[str]) -> dict[str, Value]:
    bound = bound_once(body, changed)
    known: dict[str, Value] = dict.fromkeys(bound)
    for name, value in bound.items():
        known[name] = literal(value, {**scope, **known}) if value else None
    return known
