"""Which calls of a script add rows to what is there, so that a retry may add them twice.

Windows and keys make a write safe: `write_window`, `merge_window` and `upsert_jdbc` are no calls of
Spark or Glue, and so are not found. What is not certain, such as a mode that an argument sets, is
not found either.

Sources: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
("for targets written in append mode, the failed run and the retry can both add records"),
https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrameWriter.mode.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
(sinks of files add files; `purge_s3_path` deletes)
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.checks.script.calls import argument, given, parts_of
from tidemark.checks.script.literals import Scope, literal
from tidemark.checks.script.operators import chain_of
from tidemark.checks.script.place import Place, place_of
from tidemark.checks.script.script_names import identifier, names_of

# Where the mode stands among the arguments of what ends a DataFrameWriter.
MODE_AT = {
    "csv": 1,
    "json": 1,
    "orc": 1,
    "parquet": 1,
    "text": -1,
    "xml": 2,
    "save": 2,
    "saveAsTable": 2,
    "jdbc": 2,
}
BY_KEY = {"hudi", "dynamodb"}  # formats and types that write a row in the place of its key
# Types whose sinks add; of others it is not certain what they do.
ADDING_TYPES = {"s3", "parquet", "orc", "jdbc"}
ADDING_TYPES |= {"mysql", "postgresql", "oracle", "sqlserver", "redshift"}
ADDING_ACTIONS = {"preactions", "postactions"}  # SQL around the write, which may make it safe
PURGES = {"purge_s3_path", "purge_table"}
SQL_INSERT = re.compile(r"(\s|--.*\n)*INSERT\s+INTO\b", re.IGNORECASE)
# Methods of Glue, and where the type of the connection stands; None without a type.
SINKS: dict[str, int | None] = {
    "write_dynamic_frame.from_options": 1,
    "write_dynamic_frame_from_options": 1,
    "write_data_frame.from_options": 1,
    "write_data_frame_from_options": 1,
    "write_from_options": 1,
    "write_dynamic_frame.from_catalog": None,
    "write_dynamic_frame_from_catalog": None,
    "write_data_frame.from_catalog": None,
    "write_data_frame_from_catalog": None,
    "write_dynamic_frame.from_jdbc_conf": None,
    "write_dynamic_frame_from_jdbc_conf": None,
    "write_from_jdbc_conf": None,
    "getSink": 0,
}


@dataclass(frozen=True)
class Append:
    """One call that adds rows, and its name as messages show it."""

    place: Place
    name: str


def appends_in(text: str) -> tuple[Append, ...]:
    """Return the calls of a script that add rows to what is there, by line.

    Example:
        `appends_in("df.write.mode('append').parquet(path)")` finds `write.parquet` on line 1.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    scope = names_of(tree).constants
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    purges = any(identifier(call.func) in PURGES for call in calls)
    found = (
        Append(place_of(call), name)
        for call in calls
        if (name := _by_spark(call, scope) or ("" if purges else _by_glue(call, scope)))
    )
    return tuple(sorted(found, key=lambda one: (one.place.line, one.name)))


def _by_spark(call: ast.Call, scope: Scope) -> str:
    """Return the name of a call that adds by Spark, ``""`` of any other."""
    chain, method = chain_of(call), identifier(call.func) or ""
    if method == "append" and "writeTo()" in chain:
        return "writeTo.append"
    if method == "sql" and len(chain) > 1:
        return "INSERT INTO" if SQL_INSERT.match(_start_of_query(call, scope)) else ""
    if "write" not in chain:
        return ""
    parts = list(parts_of(call))
    if any(given(one, "source", 0, scope) in BY_KEY for one in parts if _is(one, "format")):
        return ""
    if method == "insertInto":
        return "" if _overwrites(call, parts, scope) else "write.insertInto"
    if method in MODE_AT and _mode(call, method, parts, scope) == "append":
        return f"write.{method}"
    return ""


def _start_of_query(call: ast.Call, scope: Scope) -> str:
    """Return a query as it is written out; of an f-string what stands before its first value."""
    query = argument(call, "sqlQuery", 0)
    if isinstance(query, ast.JoinedStr) and query.values:
        query = query.values[0]
    found = literal(query, scope) if query is not None else None
    return found if isinstance(found, str) else ""


def _overwrites(call: ast.Call, parts: list[ast.Call], scope: Scope) -> bool:
    """Return whether insertInto replaces, or may: it adds unless it is told otherwise."""
    told = argument(call, "overwrite", 1)
    if told is not None:
        return not (isinstance(told, ast.Constant) and told.value is False)
    modes = [given(one, "saveMode", 0, scope) for one in parts if _is(one, "mode")]
    return bool(modes) and modes[0] != "append"


def _mode(call: ast.Call, method: str, parts: list[ast.Call], scope: Scope) -> str | None:
    """Return the mode that a DataFrameWriter has at its end, None if it is not known."""
    last = argument(call, "mode", MODE_AT[method])
    if last is not None:
        found = literal(last, scope)
    else:
        found = next((given(one, "saveMode", 0, scope) for one in parts if _is(one, "mode")), None)
    return found.lower() if isinstance(found, str) else None


def _by_glue(call: ast.Call, scope: Scope) -> str:
    """Return the name of a sink of Glue that adds, ``""`` of any other call."""
    chain = chain_of(call)
    names = [identifier(call.func) or "", ".".join(reversed(chain[:2])).replace("()", "")]
    name = next((one for one in names if one in SINKS), "")
    if not name:
        return ""
    if ADDING_ACTIONS & set(_words(call)):
        return ""
    if given(call, "format", -1, scope) in BY_KEY:
        return ""
    at = SINKS[name]
    kind = "s3" if at is None else given(call, "connection_type", at, scope)
    return name if isinstance(kind, str) and kind.lower() in ADDING_TYPES else ""


def _words(call: ast.Call) -> Iterator[str]:
    """Yield the strings that stand in the arguments of a call, and the names of its keywords."""
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg


def _is(call: ast.Call, method: str) -> bool:
    return identifier(call.func) == method
