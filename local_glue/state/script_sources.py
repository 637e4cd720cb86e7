"""Reads the bookmarked sources of a job script from its text: nothing is run.

What a name stands for is followed where that is certain: constants, names that are assigned once,
and the arguments with which the script calls a function of its own. What a run is given stands as
``{--name}``, and what only a run knows as ``<its expression>``.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from local_glue.errors import UsageError

CTX = "transformation_ctx"
# The parameters of what opens a source, in order; AWS's own names.
OPTIONS_PARAMETERS = ("connection_type", "connection_options", "format", "format_options", CTX)
CATALOG_PARAMETERS = ("database", "table_name", "redshift_tmp_dir", CTX)
READERS: Mapping[str, Sequence[str]] = {
    "create_dynamic_frame_from_options": OPTIONS_PARAMETERS,
    "create_data_frame_from_options": OPTIONS_PARAMETERS,
    "create_dynamic_frame.from_options": OPTIONS_PARAMETERS,
    "create_data_frame.from_options": OPTIONS_PARAMETERS,
    "create_dynamic_frame_from_catalog": CATALOG_PARAMETERS,
    "create_data_frame_from_catalog": CATALOG_PARAMETERS,
    "create_dynamic_frame.from_catalog": CATALOG_PARAMETERS,
    "create_data_frame.from_catalog": CATALOG_PARAMETERS,
    "getSource": ("connection_type", "format", CTX),
    "Relationalize.apply": ("frame", "staging_path", "name", "options", CTX),
    "relationalize": ("root_table_name", "staging_path", "options", CTX),
}
DEEPEST = 5  # calls and names through which a value is followed

Scope: TypeAlias = ast.FunctionDef | None
"""The function in which something stands; None for the module."""


@dataclass(frozen=True, order=True)
class ScriptSource:
    """One source that a script reads through the job bookmark.

    Attributes:
        transformation_ctx: its name in the bookmark.
        kind: what it is: ``s3``, ``jdbc`` and so on, ``catalog``, ``relationalize``.
        places: where it reads: paths, or the table, sorted.
        keys: its jobBookmarkKeys, in order.
    """

    transformation_ctx: str
    kind: str
    places: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def sources_of_script(text: str, name: str) -> tuple[ScriptSource, ...]:
    """Return the sources of a script that have a transformation_ctx, sorted.

    Args:
        text: the script.
        name: what people know it by.

    Raises:
        UsageError: the text is not Python.
    """
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(f"the script of job {name} is not Python: {error}; mend it") from error
    script = _Script(module)
    found = {
        source
        for call, scope in script.calls
        if (parameters := READERS.get(_reader_of(call))) is not None
        for source in _sources(script, call, scope, parameters)
    }
    return tuple(sorted(found))


class _Script:
    """The calls of a script, and what its names stand for."""

    def __init__(self, module: ast.Module) -> None:
        self.calls = list(_calls(module, None))
        functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        self._assigned = {function: _assigned_once(function) for function in functions}
        self._constants = _assigned_once(module)

    def bindings(self, scope: Scope, depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """Yield what the parameters of a function stand for, once for each way it is called."""
        calls = [
            (call, outer)
            for call, outer in self.calls
            if scope is not None and outer is not scope and _callee(call) == scope.name
        ]
        if scope is None or not calls or depth == DEEPEST:
            yield {}
            return
        names = [argument.arg for argument in scope.args.args]
        defaults = dict(zip(names[::-1], scope.args.defaults[::-1], strict=False))
        for call, outer in calls:
            given = _given(_without_self(names, call), call)
            for bound in self.bindings(outer, depth + 1):
                values = {name: self.read(node, None, {}) for name, node in defaults.items()}
                yield values | {name: self.read(node, outer, bound) for name, node in given.items()}

    def read(self, node: ast.expr, scope: Scope, bound: Mapping[str, Any], depth: int = 0) -> Any:
        """Return a value: text, or a list or dict of values; as ``<code>`` what is not certain."""

        def read(inner: ast.expr) -> Any:
            return self.read(inner, scope, bound, depth)

        match node:
            case ast.Name(id=name) if name in bound:
                return bound[name]
            case ast.Name(id=name) if depth < DEEPEST:
                assigned = self._assigned.get(scope, {}).get(name) if scope else None
                if assigned is not None:
                    return self.read(assigned, scope, bound, depth + 1)
                if name in self._constants:
                    return self.read(self._constants[name], None, {}, depth + 1)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [read(item) for item in items]
            case ast.Dict(keys=keys, values=values):
                return {read(k): read(v) for k, v in zip(keys, values, strict=True) if k}
        return _text(node, read)


def _text(node: ast.expr, read: Callable[[ast.expr], Any]) -> str:
    match node:
        case ast.Constant(value=constant):
            return "" if constant is None else str(constant)
        case ast.JoinedStr(values=parts):
            return "".join(str(read(part)) for part in parts)
        case ast.FormattedValue(value=inner):
            return str(read(inner))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{read(left)}{read(right)}"
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return f"{{--{name}}}"
    return f"<{ast.unparse(node)}>"


def _sources(
    script: _Script, call: ast.Call, scope: Scope, parameters: Sequence[str]
) -> Iterator[ScriptSource]:
    given = _given(parameters, call)
    for bound in script.bindings(scope):
        values = {name: script.read(node, scope, bound) for name, node in given.items()}
        if ctx := values.get(CTX):
            yield _source(_reader_of(call), str(ctx), values)


def _source(reader: str, ctx: str, values: Mapping[str, Any]) -> ScriptSource:
    if "elationalize" in reader:
        return ScriptSource(ctx, "relationalize")
    if "catalog" in reader:
        database = values.get("database", values.get("name_space", ""))
        options = values.get("additional_options")
        place = f"{database}.{values.get('table_name', '')}"
        return ScriptSource(ctx, "catalog", (place,), _keys(options))
    kind = str(values.get("connection_type", "?"))
    options = values.get("connection_options", values)  # getSource takes them as keywords
    if not isinstance(options, dict):
        return ScriptSource(ctx, kind, (str(options),))
    found = options.get("paths") or options.get("path") or options.get("dbtable") or []
    places = found if isinstance(found, list) else [found]
    return ScriptSource(ctx, kind, tuple(sorted(map(str, places))), _keys(options))


def _keys(options: Any) -> tuple[str, ...]:
    found = options.get("jobBookmarkKeys", []) if isinstance(options, dict) else []
    return tuple(map(str, found if isinstance(found, list) else [found]))


def _calls(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    """Yield every call below a node, with the function in which it stands."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, scope
        yield from _calls(child, child if isinstance(child, ast.FunctionDef) else scope)


def _reader_of(call: ast.Call) -> str:
    """Return the name by which a call is known in READERS, if it is there."""
    match call.func:
        case ast.Attribute(value=ast.Attribute(attr=outer) | ast.Name(id=outer), attr=name):
            return f"{outer}.{name}" if f"{outer}.{name}" in READERS else name
        case ast.Attribute(attr=name):
            return name
    return ""


def _callee(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _without_self(names: Sequence[str], call: ast.Call) -> Sequence[str]:
    is_method = isinstance(call.func, ast.Attribute) and names[:1] == ["self"]
    return names[1:] if is_method else names


def _given(parameters: Sequence[str], call: ast.Call) -> dict[str, ast.expr]:
    """Return what a call gives for each parameter."""
    given = dict(zip(parameters, call.args, strict=False))
    return given | {word.arg: word.value for word in call.keywords if word.arg}


def _assigned_once(scope: ast.AST) -> dict[str, ast.expr]:
    """Return the names that are assigned exactly once in a scope, with what they are assigned."""
    found: dict[str, list[ast.expr]] = {}
    for statement in _statements(scope):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
            case (
                ast.For(target=ast.Name(id=name), iter=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
            ):
                found.setdefault(name, []).extend([value, value])  # it has no one value
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _statements(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what is below a scope, and not in a function of its own."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _statements(child)
