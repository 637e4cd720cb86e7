"""The values bound to the names of a script, and which names are changed in place."""

import ast
from collections.abc import Collection, Iterable, Iterator

CHANGING_METHODS = {
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "add",
    "update",
    "setdefault",
}


def bindings(body: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that statements bind in their own scope, with the value if it is one."""
    left = [*body][::-1]
    while left:
        node = left.pop()
        inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
                inner = [value]
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(
                names
            ) == len(values):
                inner = [ast.Assign([name], value) for name, value in zip(names, values)]  # noqa: B905 (as many)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value:
                yield name, value
                inner = [value]
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                continue
        left += [*inner][::-1]


def attributes(tree: ast.Module) -> dict[str, list[ast.expr | None]]:
    """Return what attributes are bound to: in the body of a class, or as ``self.name = …``."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for name, value in bindings(node.body):
                found.setdefault(name, []).append(value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    found.setdefault(target.attr, []).append(node.value)
    return found


def changed_names(tree: ast.AST) -> set[str]:
    """Return the names that are changed in place, or bound by more than an assignment."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name) | ast.Attribute(attr=name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method)
            ) if method in CHANGING_METHODS:
                found.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                found.add(name)
    return found


def bound_once(body: Iterable[ast.AST], changed: Collection[str]) -> dict[str, ast.expr | None]:
    """Return the names that a scope binds with their values, None for several values."""
    found: dict[str, list[ast.expr | None]] = {}
    for name, value in bindings(body):
        found.setdefault(name, []).append(value)
    return {
        name: values[0] if len(values) == 1 and name not in changed else None
        for name, values in found.items()
    }
