"""Which calls of a script open a source, read or write past Glue, or take a transformation_ctx."""

import ast
import difflib
import re
from dataclasses import dataclass
from enum import Enum

from tidemark.checks.script import script_names
from tidemark.checks.script.chains import argument, chain_of, given
from tidemark.checks.script.expressions import Scope, literal

CTX = "transformation_ctx"
# Where transformation_ctx stands if it is not given by name.
SOURCE_METHODS = {"getSource": 2}
SOURCE_METHODS |= {f"{reader}_from_options": 4 for reader in script_names.READERS}
SOURCE_METHODS |= {f"{reader}_from_catalog": 3 for reader in script_names.READERS}
# The connection types that AWS documents job bookmarks for; getSource takes formats as well.
BOOKMARKED_TYPES = {"s3", "parquet", "orc", "jdbc", "mysql", "postgresql", "oracle", "sqlserver"}
TABLE_FORMATS = {"hudi", "delta", "iceberg"}  # formats that bookmarks leave out
SPARK_READS = {"csv", "json", "parquet", "orc", "text", "table", "load", "jdbc", "xml"}
SPARK_WRITES = {"csv", "json", "parquet", "orc", "text", "save", "saveAsTable", "insertInto"}
SPARK_WRITES |= {"append", "create", "createOrReplace", "jdbc", "overwrite", "overwritePartitions"}
GLUE_WRITES = re.compile(
    r"writeFrame|write_(dynamic_frame|data_frame|from)_(from_)?\w+"
    r"|(write_dynamic_frame|write_data_frame)\.from_\w+"
)


class Ctx(Enum):
    """The knowledge about the transformation_ctx of an operator."""

    LITERAL = "a literal"
    MISSING = "missing or empty"
    CHANGING = "built when the script runs"
    NEW_EACH_RUN = "another one in every run"
    UNKNOWN = "hidden in *args or **kwargs"


@dataclass(frozen=True)
class Operator:
    """A call that takes a transformation_ctx."""

    name: str  # such as create_dynamic_frame.from_options
    place: script_names.ScriptPlace
    ctx: Ctx
    text: str  # the ctx itself if it is a literal, else its source code
    is_source: bool
    is_bookmarked: bool  # job bookmarks keep a state for it


def operator_of(call: ast.Call, names: script_names.Names, scope: Scope) -> Operator | None:
    """Return the operator of a call if it takes a transformation_ctx."""
    name, position = _source(call, names)
    is_source = bool(name)
    is_bookmarked = is_source and _is_bookmarked_source(call, name, scope)
    method = script_names.identifier(call.func)
    if method == "relationalize" or chain_of(call)[:2] == ["apply()", "Relationalize"]:
        name, position, is_bookmarked = "relationalize", 3 if method == "relationalize" else 4, True
    elif not is_source and any(keyword.arg == CTX for keyword in call.keywords):
        name, position = method or "", -1
    if not name:
        return None
    ctx, text = _ctx(call, position, names, scope)
    return Operator(name, script_names.place_of(call), ctx, text, is_source, is_bookmarked)


def _source(call: ast.Call, names: script_names.Names) -> tuple[str, int]:
    """Return the name of the method that opens a source and where its ctx stands, or ``""``."""
    method = script_names.identifier(call.func) or ""
    if method in SOURCE_METHODS:
        return method, SOURCE_METHODS[method]
    if method in {"from_options", "from_catalog"} and isinstance(call.func, ast.Attribute):
        reader = names.reader(call.func.value)
        if reader in script_names.READERS:
            return f"{reader}.{method}", SOURCE_METHODS[f"{reader}_{method}"]
    return "", -1


def _is_bookmarked_source(call: ast.Call, name: str, scope: Scope) -> bool:
    """Return False only if the connection type is known to have no bookmarks."""
    if name.endswith("from_catalog"):
        return True
    type_name = given(call, "connection_type", 0, scope)
    format_name = given(call, "format", 1 if name == "getSource" else 2, scope)
    if isinstance(format_name, str) and format_name.lower() in TABLE_FORMATS:
        return False
    return not isinstance(type_name, str) or type_name.lower() in BOOKMARKED_TYPES


def _ctx(call: ast.Call, position: int, names: script_names.Names, scope: Scope) -> tuple[Ctx, str]:
    ctx = argument(call, CTX, position)
    if ctx is None:
        keywords = [keyword.arg for keyword in call.keywords]
        positional = call.args[: position + 1]
        if None in keywords or any(isinstance(item, ast.Starred) for item in positional):
            return Ctx.UNKNOWN, ""
        # It may be misspelt: Glue takes any keyword, and ignores it.
        near = difflib.get_close_matches(CTX, filter(None, keywords), 1, 0.85)
        return Ctx.MISSING, next(iter(near), "")
    if isinstance(ctx, ast.Constant) and not ctx.value:
        return Ctx.MISSING, ""
    value = literal(ctx, scope)
    if isinstance(value, str):
        return (Ctx.LITERAL, value) if value else (Ctx.MISSING, "")
    variables = {part.id for part in ast.walk(ctx) if isinstance(part, ast.Name)}
    is_new = script_names.is_of_this_run(ctx) or bool(names.of_this_run & variables)
    return Ctx.NEW_EACH_RUN if is_new else Ctx.CHANGING, ast.unparse(ctx)


def is_spark_read(call: ast.Call, names: script_names.Names) -> bool:
    """Return whether a call reads with Spark, whatever the session is called."""
    chain = chain_of(call)
    if script_names.identifier(call.func) in {"sql", "table"} and "read" not in chain:
        return bool(call.args) and len(chain) > 1 and chain[-1] not in names.imports
    return script_names.identifier(call.func) in SPARK_READS and "read" in chain


def is_write(call: ast.Call) -> bool:
    """Return whether a call writes, by Glue or by a DataFrame."""
    chain = chain_of(call)
    if script_names.identifier(call.func) in SPARK_WRITES and {"write", "writeTo()"} & set(chain):
        return True
    names = [name.removesuffix("()") for name in chain[:2]]
    return any(GLUE_WRITES.fullmatch(".".join(names[:n][::-1])) for n in (1, 2))
