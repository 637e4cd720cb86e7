"""Which lines of a script write to a database, or to another store outside of the lake.

What is not certain, such as a type that an argument gives, and a table by the name of its catalog,
is not found. A module that is the client of a database counts where it is imported.
"""

import ast
from collections.abc import Collection, Iterator

from tidemark.checks.script.chains import chain_of, given
from tidemark.checks.script.expressions import Scope, literal
from tidemark.checks.script.script_names import identifier, names_of
from tidemark.model.programs import program_of

# The data sources and types of connections that are files of the lake, or written nowhere. What
# DynamoDB holds is copied with the home.
LAKE_FORMATS = {"avro", "binaryfile", "console", "csv", "delta", "dynamodb", "glueparquet", "hudi"}
LAKE_FORMATS |= {"iceberg", "json", "memory", "noop", "orc", "parquet", "rate", "s3", "text", "xml"}
LAKE_FORMATS |= {"org.apache.hudi", "org.apache.iceberg.spark.source.icebergsource"}
WRITERS = {"write", "writeStream", "DataFrameWriter"}
# Methods of Glue, and where the type of the connection stands.
SINKS = {
    "write_dynamic_frame.from_options": 1,
    "write_dynamic_frame_from_options": 1,
    "write_data_frame.from_options": 1,
    "write_data_frame_from_options": 1,
    "write_from_options": 1,
    "getSink": 0,
}
JDBC_SINKS = {"from_jdbc_conf", "write_dynamic_frame_from_jdbc_conf", "write_from_jdbc_conf"}
UPSERT = "upsert_jdbc"
JAVA = "DriverManager"
# What Spark or Glue sends through a driver of JDBC.
BY_JDBC = {
    "custom.jdbc",
    "jdbc",
    "marketplace.jdbc",
    "mysql",
    "oracle",
    "org.apache.spark.sql.jdbc",
}
BY_JDBC |= {"postgresql", "redshift", "sqlserver"}
CLIENTS = {
    "cassandra",
    "cx_Oracle",
    "elasticsearch",
    "jaydebeapi",
    "kafka",
    "mysql",
    "opensearchpy",
}
CLIENTS |= {"oracledb", "pg8000", "psycopg", "psycopg2", "pymongo", "pymssql", "pymysql", "pyodbc"}
CLIENTS |= {"redis", "redshift_connector", "snowflake", "sqlalchemy", "sqlite3"}
TYPES_ONLY = {"sqlalchemy.types", "sqlalchemy.sql.sqltypes"}


def database_writes_in(text: str, *, is_without_jdbc: bool = False) -> tuple[int, ...]:
    """Return the lines of a script on which it writes to a database, or imports a client of one.

    Example:
        `database_writes_in("df.write.jdbc(url, 'orders')")` returns `(1,)`.
    """
    try:
        tree = program_of(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    scope = names_of(tree).constants
    places = LAKE_FORMATS | BY_JDBC if is_without_jdbc else LAKE_FORMATS
    lines = {line for node in ast.walk(tree) for line in _lines(node, scope, places)}
    for node in () if is_without_jdbc else ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, end_lineno=int(line)) if name == JAVA:
                lines.add(line)
            case ast.Call(lineno=line):
                method, chain = identifier(node.func) or "", chain_of(node)
                is_sink = method in JDBC_SINKS and "create_dynamic_frame" not in chain
                if method == UPSERT or is_sink or (method == "jdbc" and WRITERS & set(chain)):
                    lines.add(line)
    return tuple(sorted(lines))


def _lines(node: ast.AST, scope: Scope, places: Collection[str]) -> Iterator[int]:
    match node:
        case ast.Import(names=names, lineno=line):
            if any(name.name.partition(".")[0] in CLIENTS for name in names):
                yield line
        case ast.ImportFrom(module=str(module), level=0, lineno=line):
            if module.partition(".")[0] in CLIENTS and module not in TYPES_ONLY:
                yield line
        case ast.Call(lineno=line) if _writes(node, scope, places):
            yield line


def _writes(call: ast.Call, scope: Scope, places: Collection[str]) -> bool:
    method, chain = identifier(call.func) or "", chain_of(call)
    if method == "format":
        is_writer = bool(WRITERS & set(chain))
        return is_writer and _is_elsewhere(given(call, "source", 0, scope), places)
    if method in ("save", "start") and WRITERS & set(chain):
        return _is_elsewhere(given(call, "format", 1, scope), places)
    names = (method, ".".join(reversed(chain[:2])).replace("()", ""))
    name = next((name for name in names if name in SINKS), None)
    return name is not None and _is_elsewhere(_type(call, SINKS[name], scope), places)


def _type(call: ast.Call, at: int, scope: Scope) -> object:
    """Return the type of the connection of a sink, as far as it is known."""
    if (kind := given(call, "connection_type", at, scope)) is not None:
        return kind
    for keyword in call.keywords:
        options = literal(keyword.value, scope) if keyword.arg is None else None
        if isinstance(options, dict):
            return options.get("connection_type")
    return None


def _is_elsewhere(kind: object, places: Collection[str]) -> bool:
    return isinstance(kind, str) and kind.lower() not in places
