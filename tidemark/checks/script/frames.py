"""What a frame of a script will read: Spark and Glue read when a frame is written, not before."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from tidemark.checks.script.chains import Chains, Link, argument, written_chain
from tidemark.checks.script.operators import SOURCE_METHODS, SPARK_READS
from tidemark.checks.script.reaching import Position, position
from tidemark.checks.script.script_names import (
    Function,
    bound_arguments,
    called_functions,
    identifier,
    names_of,
    returned,
)
from tidemark.checks.script.sql import UNKNOWN, Query, read_query
from tidemark.checks.script.values import Enclosing, ScriptValues, with_arguments

DEEPEST = 3  # functions that call each other, around a write
KEEPS = {"cache", "persist"}
# What ends a frame: its rows are here, or are kept, and nothing of it is read again.
ENDS = {"checkpoint", "collect", "count", "first", "head", "isEmpty", "localCheckpoint", *KEEPS}
ENDS |= {"show", "tail", "take", "toLocalIterator", "toPandas"}
GROUPS = {"cube", "groupBy", "groupby", "rollup"}  # the count of these is a frame
ABOUT = {"columns", "dtypes", "schema", "storageLevel"}  # of a frame, without its rows
FILE_FORMATS = {"csv", "json", "orc", "parquet", "text"}
OTHER_FORMATS = {"delta", "hudi", "iceberg", "jdbc"}  # whose readers keep what they began to read
VIEWS = {"createOrReplaceTempView", "createTempView", "createOrReplaceGlobalTempView"}


@dataclass(frozen=True, eq=False)
class Context:
    """A function as one call of it runs; the whole script without a function."""

    function: Function | None = None
    call: ast.Call | None = None
    given: Mapping[str, ast.expr] = field(default_factory=dict)
    outer: "Context | None" = None


@dataclass(frozen=True)
class Data:
    """A folder, or a table of the Data Catalog, as a script names it.

    Attributes:
        address: without scheme, with marks for what only a run knows.
        node: the expression that names it; None if it is a part of one.
        function: where that stands.
    """

    address: str
    node: ast.expr | None = None
    function: Function | None = None
    is_table: bool = False


@dataclass(frozen=True)
class FrameRead:
    """What a frame reads, on which line, and from where on, in each function around its use."""

    data: Data
    line: int
    at: Mapping[Function | None, Position]


class Frames:
    """The frames of one script."""

    def __init__(self, tree: ast.Module, arguments: Mapping[str, str]) -> None:
        self.names = names_of(tree)
        self.script = ScriptValues(tree, UNKNOWN)
        self.chains = Chains(tree, self.names)
        self.place = self.chains.places
        self.calls = [call for call, _ in self.script.calls]
        self._callers: dict[Function, list[ast.Call]] = {}
        for call in self.calls:
            for function in called_functions(call, self.names):
                self._callers.setdefault(function, []).append(call)
        self._arguments = arguments
        self._views: dict[str, ast.expr] = {}
        # Variables whose frame is kept by a statement such as `df.cache()`.
        self._kept: set[str | None] = set()
        for call in self.calls:
            if isinstance(call.func, ast.Attribute):
                self._note_method(call, call.func.attr, call.func.value)

    def _note_method(self, call: ast.Call, method: str, owner: ast.expr) -> None:
        """Note a view with its frame, or a variable whose frame is kept."""
        name = argument(call, "name", 0)
        if method in VIEWS and name is not None:
            self._views[str(self.value(name, Context())).lower()] = owner
        elif method == "sql" and (query := self.query(call, Context())) and query.view:
            self._views[query.view[-1].lower()] = call
        elif method in KEEPS:
            self._kept.add(identifier(owner))

    def query(self, call: ast.Call, context: Context) -> Query | None:
        """Return what the SQL of a call does; None if that is not known."""
        text = argument(call, "sqlQuery", 0)
        return read_query(str(self.value(text, context))) if text else None

    def sites(self, call: ast.expr, context: Context) -> dict[Function | None, ast.expr]:
        """Return the calls through which a call runs, by the functions that they stand in."""
        sites = {context.function: call}
        while context.call is not None and context.outer is not None:
            sites.setdefault(context.outer.function, context.call)
            context = context.outer
        return sites

    def contexts(self, node: ast.AST, depth: int = 0) -> list[Context]:
        """Return the ways in which the function around a node runs."""
        function = self.place.function_of(node)
        if function is None or depth >= DEEPEST:
            return [Context(function)]
        return [
            self._called(function, call, outer)
            for call in self._callers.get(function, ())
            for outer in self.contexts(call, depth + 1)
        ] or [Context(function)]

    def _called(self, function: Function, call: ast.Call, outer: Context) -> Context:
        return Context(function, call, bound_arguments(function, call, self.names), outer)

    def value(self, node: ast.expr, context: Context) -> Any:
        """Return the value of an expression, with marks for what only a run knows."""
        outer = context.outer or Context()
        bound = {name: self.value(given, outer) for name, given in context.given.items()}
        inside = Enclosing((context.function,) if context.function else ())
        value = self.script.read(node, inside, bound)
        return with_arguments(value, self._arguments) if isinstance(value, str) else value

    def data(
        self, node: ast.expr | None, context: Context, *, is_table: bool = False
    ) -> list[Data]:
        """Return the folders, or the table, that an argument names."""
        if isinstance(node, ast.List | ast.Tuple):
            return [data for part in node.elts for data in self.data(part, context)]
        value = self.value(node, context) if node else []
        if isinstance(value, list):
            return [Data(address_of(str(path))) for path in value]
        address = str(value).lower() if is_table else address_of(str(value))
        return [Data(address, node, context.function, is_table)]

    def table(self, call: ast.Call, position: int, context: Context) -> list[Data]:
        """Return the table of the catalog whose database and name stand from a position on."""
        parts = argument(call, "database", position), argument(call, "table_name", position + 1)
        values = [str(self.value(part, context)) for part in parts if part]
        return [Data(".".join(values).lower(), is_table=True)]

    def of_jdbc(self, call: ast.Call, context: Context) -> list[Data]:
        """Return the table of `jdbc(url, table)`."""
        url, table = argument(call, "url", 0), argument(call, "table", 1)
        where = f"{ast.unparse(url)}: " if url else ""
        return [Data(f"{where}{self.value(table, context)}", is_table=True)] if table else []

    def reads(
        self, node: ast.AST, context: Context, at: Position, seen: set[object] | None = None
    ) -> Iterator[FrameRead]:
        """Yield what a frame reads when it is written; `at` is where the frame is used."""
        seen = set() if seen is None else seen
        match node:
            case ast.Name(id=name):
                yield from self._held(name, node, context, at, seen)
            case ast.Attribute(attr=name) if name in ABOUT:
                return
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                yield from self._held(f".{name}", node, context, at, seen)
            case ast.Call():
                yield from self._reads_of_call(node, context, at, seen)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from self.reads(child, context, at, seen)

    def _held(
        self, name: str, use: ast.AST, context: Context, at: Position, seen: set[object]
    ) -> Iterator[FrameRead]:
        """Yield what a frame reads that a variable, or a `.attribute`, holds."""
        values = self.place.values(name, context.function, use, at)
        for value in values if name.removeprefix(".") not in self._kept else ():
            function = self.place.function_of(value)
            inside = context if function is context.function else Context(function)
            yield from self._once(value, inside, seen)
        if name in context.given and context.outer:
            for read in self._once(context.given[name], context.outer, seen):
                yield replace(read, at={**read.at, context.function: (0, 0)})

    def _once(self, value: ast.expr, context: Context, seen: set[object]) -> Iterator[FrameRead]:
        key = value, context.call
        if key not in seen:
            seen.add(key)
            yield from self.reads(value, context, position(value), seen)

    def _reads_of_call(
        self, call: ast.Call, context: Context, at: Position, seen: set[object]
    ) -> Iterator[FrameRead]:
        functions = called_functions(call, self.names)
        for function, value in product(functions, returned(call, self.names)):
            for read in self._once(value, self._called(function, call, context), seen):
                yield replace(read, at={context.function: at})
        if functions or _ends(call) or self._is_foreign(call):
            return
        opened = self._opened(call, context)
        for child in ast.iter_child_nodes(call) if opened is None else ():
            yield from self.reads(child, context, at, seen)
        for data in opened or ():
            view = self._views.get(data.address) if data.is_table else None
            if view is None:
                yield FrameRead(data, call.lineno, {context.function: at})
            else:
                own = context if self.place.function_of(view) else Context()
                yield from self._once(view, own, seen)

    def _is_foreign(self, call: ast.Call) -> bool:
        """Return whether a call is of another module: what it returns may be no frame."""
        root = written_chain(call)[-1].name
        origin = self.names.imports.get(root, "functools")
        return not self.names.is_from_aws(root) and not origin.startswith("functools")

    def _opened(self, call: ast.Call, context: Context) -> list[Data] | None:
        """Return what a call opens; None if it opens nothing."""
        first, *rest = next(iter(self.chains.of(call)))
        if first.call is not call or not rest:
            return None
        if first.name == "sql":
            query = self.query(call, context)
            return [table_of(names) for names in (query.reads if query else ())]
        if first.name == "table":
            return self.data(argument(call, "tableName", 0), context, is_table=True)
        if first.name == "jdbc" and any(link.name == "read" for link in rest):
            return self.of_jdbc(call, context)
        if first.name in SPARK_READS and any(link.name == "read" for link in rest):
            words = {str(node.value) for node in ast.walk(call) if isinstance(node, ast.Constant)}
            paths = call.args if first.name in {"orc", "parquet"} else [argument(call, "path", 0)]
            is_file = not OTHER_FORMATS & words
            return [data for path in paths if is_file for data in self.data(path, context)]
        return self.opened_by_glue(call, context)

    def opened_by_glue(self, call: ast.Call, context: Context) -> list[Data] | None:
        """Return what a call of Glue opens; None if it opens nothing."""
        method, owner = [link.name for link in (*written_chain(call), Link(""))[:2]]
        name = next((name for name in (method, f"{owner}_{method}") if name in SOURCE_METHODS), "")
        if not name:
            return None
        if name.endswith("from_catalog"):
            return self.table(call, 0, context)
        return self.option(argument(call, "connection_options", 1), "paths", context)

    def option(self, options: ast.expr | None, key: str, context: Context) -> list[Data]:
        """Return the folders of an option of a connection."""
        if isinstance(options, ast.Dict):
            pairs = zip(options.keys, options.values, strict=True)
            values = [value for name, value in pairs if getattr(name, "value", None) == key]
            return [data for value in values for data in self.data(value, context)]
        value = self.value(options, context) if options else None
        paths = value.get(key) if isinstance(value, dict) else None
        paths = paths if isinstance(paths, list) else [paths] if paths else []
        return [Data(address_of(str(path))) for path in paths]


def table_of(names: Sequence[str]) -> Data:
    """Return the table, or the folder, that a query names."""
    if names[0].startswith("s3"):
        return Data(address_of(names[0]))
    if names[0] in FILE_FORMATS and len(names) == 2:  # parquet.`s3://lake/orders/`
        return Data(address_of(names[1]))
    return Data(".".join(names).lower(), is_table=True)


def address_of(path: str) -> str:
    """Return a folder without its scheme, the slash at its end and what matches all of it."""
    return re.sub(r"(/\*[\w.*]*)*/*$", "", re.sub(r"^s3[an]?://", "", path))


def _ends(call: ast.Call) -> bool:
    first, *rest = written_chain(call)
    is_counted = first.name == "count" and bool(GROUPS & {link.name for link in rest})
    return first.name in ENDS and not is_counted
