"""What a script does with tables of Iceberg: the catalogs it names, sets, and reads from."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidemark.checks.script.chains import argument
from tidemark.checks.script.script_names import READERS, ScriptPlace, given_to, identifier, place_of
from tidemark.checks.script.sql import HOLE, UNKNOWN, creates_unplaced, tables_named_in
from tidemark.checks.script.values import ScriptValues, with_arguments
from tidemark.model.assembly.iceberg import FORMAT, METADATA_TABLES
from tidemark.model.programs import nodes_of, program_of

SETTING = "spark.sql.catalog."
CLASSES = "org.apache.iceberg."
# Calls that name a table, and where; of `sql` the name stands in a query.
NAMING = {"table": ("tableName", 0), "insertInto": ("tableName", 0), "writeTo": ("table", 0)}
NAMING |= {"saveAsTable": ("name", 0), "load": ("path", 0)}
BY_WATERMARKS = ("merge_window", "append_window", "newest_snapshot", "read_snapshots")
NAMING |= dict.fromkeys(BY_WATERMARKS, ("table", 1))
NAME = re.compile(r"`?([A-Za-z_]\w*)`?\.([^.]+)\.([^.]+)")
# Packages whose modules set no catalog; those of others may.
FOREIGN = {"awsglue", "boto3", "botocore", "delta", "numpy", "pandas", "pyarrow", "pyspark", "py4j"}
FOREIGN |= {"requests", "watermarks", *sys.stdlib_module_names}
PARAMETERS = {
    "catalog": ("database", "table_name", "redshift_tmp_dir", "transformation_ctx"),
    "options": ("connection_type", "connection_options", "format", "format_options", "ctx"),
}


@dataclass(frozen=True)
class Use:
    """A table that a script names by its catalog; whether it is created without a LOCATION."""

    place: ScriptPlace
    catalog: str
    is_unplaced: bool = False


@dataclass(frozen=True)
class IcebergRead:
    """A table that Glue reads, as `database.table`, or empty for one that is of Iceberg anyway."""

    place: ScriptPlace
    table: str
    has_ctx: bool


@dataclass(frozen=True)
class IcebergScript:
    """What a script does with Iceberg.

    Attributes:
        uses: tables by their catalogs.
        reads: tables that Glue reads.
        catalogs: those that the script sets; None if their names are not known.
        has_warehouse: whether the script sets one.
        has_classes: whether it names classes of Iceberg.
    """

    uses: tuple[Use, ...] = ()
    reads: tuple[IcebergRead, ...] = ()
    catalogs: frozenset[str] | None = frozenset()
    has_warehouse: bool = False
    has_classes: bool = False


def iceberg_in(text: str, arguments: Mapping[str, str]) -> IcebergScript:
    """Return what a script does with Iceberg, by its text and the arguments of its job."""
    try:
        tree = program_of(text)
        script = ScriptValues(tree, UNKNOWN)
        named = _names_and_queries(script, arguments)
        uses = dict.fromkeys(use for call in named for use in _uses(*call))
        reads = dict.fromkeys(_reads(script, arguments))
    except (SyntaxError, ValueError, RecursionError):
        return IcebergScript()
    constants = [node.value for node in nodes_of(tree) if isinstance(node, ast.Constant)]
    texts = [text for text in constants if isinstance(text, str)]
    settings = [text.removeprefix(SETTING) for text in texts if text.startswith(SETTING)]
    catalogs = frozenset(setting.partition(".")[0] for setting in settings)
    # A name that is put together as the script runs leaves an end open.
    is_open = "" in catalogs or _imports_own(tree) or _sets_unknown(tree)
    return IcebergScript(
        tuple(uses),
        tuple(reads),
        None if is_open else catalogs,
        any(".warehouse" in text for text in texts),
        any(text.startswith(CLASSES) for text in texts),
    )


def _imports_own(tree: ast.Module) -> bool:
    """Return whether a script imports modules that may set up its session."""
    modules: set[str] = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add("" if node.level else node.module or "")  # "": one beside the script
    return not {module.partition(".")[0] for module in modules} <= FOREIGN


def _sets_unknown(tree: ast.Module) -> bool:
    """Return whether a script gives its session settings whose names it does not say."""
    for node in nodes_of(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="config"), args=[ast.Name() | ast.Subscript(), *_]
            ):
                return True
            case ast.Call(
                func=ast.Attribute(attr="set" | "setAll", value=owner),
                args=[ast.Name() | ast.Call() | ast.Subscript(), *_],
            ) if "conf" in (identifier(owner) or "").lower():
                return True
    return False


def _names_and_queries(
    script: ScriptValues, arguments: Mapping[str, str]
) -> Iterator[tuple[ast.Call, str, bool]]:
    """Yield the names and queries of calls, and whether it is a query."""
    for call, place in script.calls:
        method = identifier(call.func) or ""
        is_query = method == "sql"
        parameter, position = ("sqlQuery", 0) if is_query else NAMING.get(method, ("", 0))
        if not parameter:
            continue
        node = argument(call, parameter, position)
        words = {str(part.value) for part in ast.walk(call) if isinstance(part, ast.Constant)}
        # A read names its format somewhere in the call.
        if node is None or (method == "load" and FORMAT not in map(str.lower, words)):
            continue
        for bound in script.bindings(place):
            yield call, with_arguments(str(script.read(node, place, bound)), arguments), is_query


def _uses(call: ast.Call, text: str, is_query: bool) -> Iterator[Use]:
    whole = NAME.fullmatch(text)
    named = tables_named_in(text) if is_query else [whole.groups()] if whole else []
    for catalog, *names in named:
        is_metadata = len(names) == 2 and names[1].strip("`").lower() in METADATA_TABLES
        if len(names) < 2 or is_metadata or catalog == "spark_catalog" or HOLE.search(catalog):
            continue
        yield Use(place_of(call), catalog, is_query and creates_unplaced(text))


def _reads(script: ScriptValues, arguments: Mapping[str, str]) -> Iterator[IcebergRead]:
    for call, place in script.calls:
        kind = _kind_of_read(call)
        if not kind:
            continue
        given = given_to(PARAMETERS[kind], call)
        has_ctx = bool({"transformation_ctx", "ctx"} & given.keys())
        for bound in script.bindings(place):
            values = {
                key: with_arguments(str(script.read(node, place, bound)), arguments)
                for key, node in given.items()
            }
            if kind == "options":
                if FORMAT in (values.get("connection_type"), values.get("format")):
                    yield IcebergRead(place_of(call), "", has_ctx)
                continue
            database = values.get("database") or values.get("name_space", "")
            yield IcebergRead(place_of(call), f"{database}.{values.get('table_name', '')}", has_ctx)


def _kind_of_read(call: ast.Call) -> str:
    """Return `catalog` or `options` if Glue reads there, else an empty string."""
    name = identifier(call.func) or ""
    if isinstance(call.func, ast.Attribute) and name.startswith("from_"):
        name = f"{identifier(call.func.value)}_{name}"
    kinds = (kind for kind in PARAMETERS for reader in READERS if name == f"{reader}_from_{kind}")
    return next(kinds, "")
