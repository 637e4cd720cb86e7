"""Which calls of a script add rows to what is there, so that a retry may add them twice.

Windows and keys make a write safe: `write_window`, `merge_window` and `upsert_jdbc` are no calls of
Spark or Glue, and so are not found. What only a run knows, such as a mode that an argument sets or
a query of a file, is not certain.

Sources: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
("for targets written in append mode, the failed run and the retry can both add records"),
https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrameWriter.mode.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
(sinks of files add files; `purge_s3_path` deletes)
"""

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from tidemark.checks.script.chains import Chains, Link, argument
from tidemark.checks.script.script_names import ScriptPlace, identifier, names_of, place_of
from tidemark.checks.script.sql import HOLE, UNKNOWN, may_insert, read_query
from tidemark.checks.script.values import ScriptValues
from tidemark.model.programs import UNREADABLE, program_of

# Where the mode stands among the arguments of what ends a DataFrameWriter.
MODE_AT = {"csv": 1, "json": 1, "orc": 1, "parquet": 1, "text": -1, "xml": 2}
MODE_AT |= {"save": 2, "saveAsTable": 2, "jdbc": 2}
BY_KEY = {"hudi", "dynamodb"}  # formats and types that write a row in the place of its key
# Types whose sinks add; of others it is not certain what they do.
ADDING_TYPES = {"s3", "parquet", "orc", "jdbc"}
ADDING_TYPES |= {"mysql", "postgresql", "oracle", "sqlserver", "redshift"}
ADDING_ACTIONS = {"preactions", "postactions"}  # SQL around the write, which may make it safe
PURGES = {"purge_s3_path", "purge_table"}
FRAMES = ("dynamic", "data")
# Methods of Glue, and where the type of the connection stands; None without a type.
SINKS: dict[str, int | None] = {"getSink": 0, "write_from_options": 1, "write_from_jdbc_conf": None}
SINKS |= {f"write_{kind}_frame{mark}from_options": 1 for kind in FRAMES for mark in "._"}
SINKS |= {f"write_{kind}_frame{mark}from_catalog": None for kind in FRAMES for mark in "._"}
SINKS |= {f"write_dynamic_frame{mark}from_jdbc_conf": None for mark in "._"}
METHODS = {"append", "insertInto", "sql", *MODE_AT, *(name.rpartition(".")[2] for name in SINKS)}


@dataclass(frozen=True)
class Append:
    """One call that adds rows, and its name as messages show it; or one that may add them."""

    place: ScriptPlace
    name: str
    is_certain: bool = True


def appends_in(text: str) -> tuple[Append, ...]:
    """Return the calls of a script that certainly add rows to what is there, by line.

    Example:
        `appends_in("df.write.mode('append').parquet(path)")` finds `write.parquet` on line 1.
    """
    return tuple(append for append in possible_appends_in(text) if append.is_certain)


@lru_cache(maxsize=64)  # several checks ask, and many jobs may have one script
def possible_appends_in(text: str) -> tuple[Append, ...]:
    """Return the calls of a script that add rows, and those that only a run can judge, by line."""
    certainty: dict[tuple[ScriptPlace, str], bool] = {}
    with suppress(*UNREADABLE):
        for append in [*_Reader(program_of(text)).appends()]:
            key = append.place, append.name
            certainty[key] = append.is_certain or certainty.get(key, False)
    appends = [Append(*key, is_certain) for key, is_certain in certainty.items()]
    return tuple(sorted(appends, key=lambda append: (append.place.line, append.name)))


class _Reader:
    """Judges the calls of one script by their chains and the values of their arguments."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = names_of(tree)
        self._chains = Chains(tree, self._names)
        self._script = ScriptValues(tree, UNKNOWN)
        self._at = dict(self._script.calls)
        self._purges = any(identifier(call.func) in PURGES for call in self._at)

    def appends(self) -> Iterator[Append]:
        """Yield the calls that add rows, or may add them."""
        for call in self._at:
            is_alias = isinstance(call.func, ast.Name) and bool(self._chains.values_of(call.func))
            if not is_alias and identifier(call.func) not in METHODS:
                continue
            for first, *rest in self._chains.of(call):
                name, adds = self._by_spark(first, rest)
                if not name and not self._purges:
                    name, adds = self._by_glue(first, rest)
                if True in adds or None in adds:
                    yield Append(place_of(call), name, is_certain=True in adds)

    def _by_spark(self, first: Link, rest: list[Link]) -> tuple[str, list[bool | None]]:
        """Return the name of a call of Spark, and for each of its values whether it adds rows."""
        method, call = first.name, first.call
        if call is None:
            return "", []
        if method == "append" and "writeTo" in {link.name for link in rest}:
            return "writeTo.append", [True]
        if method == "sql" and rest and not self._is_foreign(rest[-1].name):
            return "INSERT INTO", [_query_adds(text) for text in self._strings(call, "sqlQuery", 0)]
        is_writer = any(link.name == "write" and link.call is None for link in rest)
        formats = self._of(rest, "format", "source") + self._strings(call, "format", -1)
        if not is_writer or BY_KEY & set(formats):
            return "", []
        set_modes = self._of(rest, "mode", "saveMode")
        if method == "insertInto":  # it adds unless it is told otherwise
            told = self._strings(call, "overwrite", 1)
            adds = [_is(text, {"False"}) for text in told]
            adds = adds or [_is(mode, {"append"}) for mode in set_modes]
            return "write.insertInto", adds or [True]
        if method not in MODE_AT:
            return "", []
        modes = self._strings(call, "mode", MODE_AT[method]) or set_modes
        return f"write.{method}", [_is(mode, {"append"}) for mode in modes]

    def _by_glue(self, first: Link, rest: list[Link]) -> tuple[str, list[bool | None]]:
        """Return the name of a sink of Glue, and for each of its types whether it adds rows."""
        names = (first.name, f"{rest[0].name}.{first.name}" if rest else "")
        name, call = next((name for name in names if name in SINKS), ""), first.call
        if not name or call is None or ADDING_ACTIONS & set(_words(call)):
            return "", []
        if BY_KEY & set(self._strings(call, "format", -1)):
            return "", []
        at = SINKS[name]
        kinds = ["s3"] if at is None else self._strings(call, "connection_type", at)
        return name, [_is(kind, ADDING_TYPES) for kind in kinds]

    def _of(self, rest: list[Link], method: str, parameter: str) -> list[str]:
        """Return the values that the last call of a method in a chain may be given."""
        calls = [link.call for link in rest if link.name == method and link.call]
        return self._strings(calls[0], parameter, 0) if calls else []

    def _strings(self, call: ast.Call, name: str, position: int) -> list[str]:
        """Return the values that an argument may have, with marks for what only a run knows."""
        node = argument(call, name, position)
        at = self._at[call]
        if node is not None:
            nodes = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
            ways = product(nodes, self._script.bindings(at))
            return [str(self._script.read(part, at, bound)) for part, bound in ways]
        is_open = any(isinstance(value, ast.Starred) for value in call.args)
        return ["\0\0"] if is_open or any(word.arg is None for word in call.keywords) else []

    def _is_foreign(self, root: str) -> bool:
        return root in self._names.imports and not self._names.is_from_aws(root)


def _query_adds(text: str) -> bool | None:
    query = read_query(text)
    return bool(query.adds) if query else (None if may_insert(text) else False)


def _is(text: str, wanted: set[str]) -> bool | None:
    """Return whether a string is one of some; None if only a run knows it."""
    if HOLE.search(text):
        return None
    return text in wanted or text.lower() in wanted


def _words(call: ast.Call) -> Iterator[str]:
    """Yield the strings that stand in the arguments of a call, and the names of its keywords."""
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
