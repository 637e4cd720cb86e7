"""Which lines of a script write to a database, or to another store outside of the lake.

What is not certain, such as a type that an argument gives, and a table by the name of its catalog,
is not found. A module that is the client of a database counts where it is imported.
"""

import ast
from collections.abc import Collection, Iterator

from tidemark.checks.script.appends import SINKS
from tidemark.checks.script.chains import chain_of, given
from tidemark.checks.script.expressions import Scope, literal
from tidemark.checks.script.script_names import identifier, names_of
from tidemark.model.programs import nodes_of, readable_program

# The data sources and types of connections that are files of the lake, or written nowhere. What
# DynamoDB holds is copied with the home.
LAKE_FORMATS = {"avro", "binaryfile", "console", "csv", "delta", "dynamodb", "glueparquet", "hudi"}
LAKE_FORMATS |= {"iceberg", "json", "memory", "noop", "orc", "parquet", "rate", "s3", "text", "xml"}
LAKE_FORMATS |= {"org.apache.hudi", "org.apache.iceberg.spark.source.icebergsource"}
WRITERS = {"write", "writeStream", "DataFrameWriter"}
JDBC_SINKS = {name.rpartition(".")[2] for name in SINKS if name.endswith("from_jdbc_conf")}
UPSERT = "upsert_jdbc"
# What Spark or Glue sends through a driver of JDBC.
BY_JDBC = {"jdbc", "mysql", "oracle", "postgresql", "redshift", "sqlserver"}
BY_JDBC |= {"custom.jdbc", "marketplace.jdbc", "org.apache.spark.sql.jdbc"}
CLIENTS = {"cassandra", "cx_Oracle", "elasticsearch", "jaydebeapi", "kafka", "mysql", "oracledb"}
CLIENTS |= {"opensearchpy", "pg8000", "psycopg", "psycopg2", "pymongo", "pymssql", "pymysql"}
CLIENTS |= {"pyodbc", "redis", "redshift_connector", "snowflake", "sqlalchemy", "sqlite3"}
TYPES_ONLY = {"sqlalchemy.types", "sqlalchemy.sql.sqltypes"}


def database_writes_in(text: str, *, is_without_jdbc: bool = False) -> tuple[int, ...]:
    """Return the lines of a script on which it writes to a database, or imports a client of one.

    Example:
        `database_writes_in("df.write.jdbc(url, 'orders')")` returns `(1,)`.
    """
    tree = readable_program(text)
    scope = names_of(tree).constants
    places = LAKE_FORMATS | BY_JDBC if is_without_jdbc else LAKE_FORMATS
    lines = {line for node in nodes_of(tree) for line in _lines(node, scope, places)}
    for node in () if is_without_jdbc else nodes_of(tree):
        match node:
            case ast.Attribute(attr=name, end_lineno=int(line)) if name == "DriverManager":
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
    kind: object = None
    if WRITERS & set(chain):
        of_writer = {"format": ("source", 0), "save": ("format", 1), "start": ("format", 1)}
        kind = given(call, *of_writer[method], scope) if method in of_writer else None
    names = (method, ".".join(reversed(chain[:2])).replace("()", ""))
    at = next((SINKS[name] for name in names if name in SINKS), None)
    if at is not None:
        # The type of the connection may stand among options that the call unpacks.
        unpacked = (literal(word.value, scope) for word in call.keywords if word.arg is None)
        options = next((options for options in unpacked if isinstance(options, dict)), {})
        kind = given(call, "connection_type", at, scope)
        kind = options.get("connection_type") if kind is None else kind
    return isinstance(kind, str) and kind.lower() not in places
