"""The value of an expression that is written out: the one evaluator of scripts."""

import ast
import posixpath
import re
import string
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tidemark.model.programs import nodes_of

Value: TypeAlias = Any
"""A string, or a list or dict of values; None if it is not certain."""

STRIPS = {"lstrip", "rstrip", "strip"}
STRING_METHODS = {"format", "join", "lower", "replace", "title", "upper", *STRIPS}

ReadValue: TypeAlias = Callable[[ast.expr], Value]


def written(node: ast.expr, read: ReadValue) -> Value:
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
            value = read(items)
            return value if isinstance(value, list) else None
    value = _dict(node, read)
    return _string(node, read) if value is None else value


def _string(node: ast.expr, read: ReadValue) -> str | None:
    """Return the string that `"%s" % a`, `"{}".format(a)`, `", ".join(…)` and the like give."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            parts = right.elts if isinstance(right, ast.Tuple) else [right]
            return _percent(read(left), [read(part) for part in parts])
        case ast.Call(func=ast.Name(id="str" | "dedent") | ast.Attribute(attr="dedent"), args=[of]):
            text = read(of)
            return textwrap.dedent(str(text)) if isinstance(text, str | int) else None
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="path"), attr="join"), args=parts
        ):
            names = [read(part) for part in parts]
            return posixpath.join(*names) if _are_strings(names) else None
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in STRING_METHODS:
            text = read(owner)
            return _called(node, method, text, read) if isinstance(text, str) else None
    return None


def _called(call: ast.Call, method: str, text: str, read: ReadValue) -> str | None:
    values = [read(value) for value in call.args]
    if method == "format":
        words = {word.arg or "": read(word.value) for word in call.keywords}
        return _formatted(text, values, words)
    if method == "join":
        return text.join(values[0]) if len(values) == 1 and _are_strings(values[0]) else None
    is_certain = method in STRIPS or not set("<{\0") & set(text)
    try:
        return str(getattr(text, method)(*values)) if is_certain and _are_strings(values) else None
    except TypeError:  # it would fail in every run, too
        return None


def _are_strings(values: Value) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _formatted(template: str, values: Sequence[Value], words: dict[str, Value]) -> str | None:
    """Return a filled template of plain fields: a width or an attribute is not computed."""
    try:
        fields = [field[1:] for field in string.Formatter().parse(template) if field[1] is not None]
        is_plain = all(re.fullmatch(r"\w*", str(n)) and not s and not c for n, s, c in fields)
        is_known = None not in [*values, *words.values()]
        return template.format(*map(str, values), **words) if is_plain and is_known else None
    except (ValueError, LookupError):
        return None


def _percent(template: Value, values: Sequence[Value]) -> str | None:
    if not isinstance(template, str) or None in values:
        return None
    parts = re.split(r"%[sd]", template)
    is_plain = len(parts) == len(values) + 1 and not any("%" in part for part in parts)
    pairs = zip(parts, [*map(str, values), ""], strict=False)
    return "".join(part for pair in pairs for part in pair) if is_plain else None


def _items(nodes: Iterable[ast.expr], read: ReadValue) -> list[Value] | None:
    items: list[Value] = []
    for node in nodes:
        value = read(node.value if isinstance(node, ast.Starred) else node)
        items += value if isinstance(node, ast.Starred) and isinstance(value, list) else [value]
    return None if None in items else items


def _sum(left: Value, right: Value) -> Value:
    is_sum = any(isinstance(left, kind) and isinstance(right, kind) for kind in (list, str))
    return left + right if is_sum else None


def _dict(node: ast.expr, read: ReadValue) -> Value:
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
    merged: dict[str, Value] = {}
    for key, value in pairs:
        if key is not None:
            merged[str(key)] = value
        elif isinstance(value, dict):
            merged |= value
    return merged


CHANGING_METHODS = {"append", "extend", "insert", "remove", "pop", "clear"}
CHANGING_METHODS |= {"add", "update", "setdefault"}


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
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                if len(names) == len(values):
                    pairs = zip(names, values, strict=True)
                    inner = [ast.Assign([name], value) for name, value in pairs]
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
    held: dict[str, list[ast.expr | None]] = {}
    for node in nodes_of(tree):
        if isinstance(node, ast.ClassDef):
            for name, value in bindings(node.body):
                held.setdefault(name, []).append(value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    held.setdefault(target.attr, []).append(node.value)
    return held


def changed_names(tree: ast.AST) -> set[str]:
    """Return the names that are changed in place, or bound by more than an assignment."""
    changed: set[str] = set()
    for node in nodes_of(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name) | ast.Attribute(attr=name)):
                changed.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                changed.update(names)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method)
            ) if method in CHANGING_METHODS:
                changed.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed.add(name)
    return changed


def bound_once(body: Iterable[ast.AST], changed: Collection[str]) -> dict[str, ast.expr | None]:
    """Return the names that a scope binds with their values, None for several values."""
    values_of: dict[str, list[ast.expr | None]] = {}
    for name, value in bindings(body):
        values_of.setdefault(name, []).append(value)
    return {
        name: values[0] if len(values) == 1 and name not in changed else None
        for name, values in values_of.items()
    }


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
    return tuple(value) if _are_strings(value) else None


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
