"""What expressions of a script are worth, as far as that can be told without running it."""

import ast
from collections.abc import Iterable, Iterator, Mapping

Literal = str | tuple[str, ...] | None  # a text, a list of texts, or unknown
Scope = Mapping[str, Literal]

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


def literal(node: ast.expr, scope: Scope) -> Literal:
    """Return the text or the list of texts that an expression always has, None if unknown.

    Args:
        node: the expression.
        scope: the known names; attributes are looked up as ``.name``.
    """
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(attr=name):
            return scope.get(f".{name}")
        case ast.JoinedStr(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return _together(node, [literal(part, scope) for part in parts])
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return literal(value, scope)
        case ast.Starred(value=value) | ast.Call(func=ast.Name(id="list"), args=[value]):
            return literal(value, scope)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(literal(left, scope), literal(right, scope))
    return None


def _together(node: ast.expr, parts: list[Literal]) -> Literal:
    if isinstance(node, ast.JoinedStr):
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if len(texts) == len(parts) else None
    flat: list[str] = []
    for part in parts:
        if part is None:
            return None
        flat += [part] if isinstance(part, str) else part
    return tuple(flat)


def _sum(left: Literal, right: Literal) -> Literal:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return None


def module_constants(tree: ast.Module) -> dict[str, Literal]:
    """Return the names of a module, and ``.attributes`` of its classes, with what they hold."""
    known: dict[str, Literal] = {f".{name}": None for name in changed_names(tree)}
    for name, values in attributes(tree).items():
        known.setdefault(f".{name}", _only(values, known))
    return known | _constants(tree.body, known, changed_names(tree))


def local_constants(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Scope:
    """Return the names that a function binds itself, with what they hold."""
    return _constants(function.body, scope, changed_names(function))


def _constants(body: list[ast.stmt], scope: Scope, changed: set[str]) -> dict[str, Literal]:
    bound: dict[str, list[ast.expr | None]] = {}
    for name, value in bindings(body):
        bound.setdefault(name, []).append(value)
    known: dict[str, Literal] = dict.fromkeys(bound)
    for name, values in bound.items():
        if name not in changed:
            known[name] = _only(values, {**scope, **known})
    return known


def _only(values: list[ast.expr | None], scope: Scope) -> Literal:
    return literal(values[0], scope) if len(values) == 1 and values[0] is not None else None


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
    """Return the names of what is changed in place, or bound by more than an assignment."""
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
