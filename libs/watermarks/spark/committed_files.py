"""The rows in the folders of many windows, by the names of their columns.

Most targets have one schema, which one look at all files finds. Where that does not do, windows
are read in groups of one schema each, and cast to one that holds them all.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import TYPE_CHECKING, Any

from .columns import escaped
from .schemas import merged_schema, read_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

WINDOW = "window"
ATTEMPT = "attempt"
_GLOB = re.compile(r"[\\\[\]{}*?]")
_SIDE_BY_SIDE = 8


def load_windows(
    spark: SparkSession,
    reader: DataFrameReader,
    folders: list[str],
    file_format: str,
    schema: StructType | None,
    *,
    is_positional: bool,
) -> DataFrame | None:
    """Return the rows in some folders; None if no folder exists, or without schema no file does.

    Args:
        spark: the session.
        reader: has the format and the options.
        folders: of the windows, oldest first.
        file_format: of the files.
        schema: the columns to return, with those of the folders; None takes them from the files.
        is_positional: whether Spark takes the columns of a file by position, though the files name
            them: then windows are always read by the names that they have.
    """
    if not folders:
        return None
    if schema is not None and not is_positional:
        return _load_with(spark, reader, folders, schema)
    if is_positional:
        return _load_in_groups(spark, reader, folders, schema)
    # A schema of all windows together is the first choice.
    try:
        merged = reader.option("mergeSchema", "true").load([_path(folder) for folder in folders])
    except Exception:  # noqa: BLE001 (of Java, too: reading the windows one by one shows the cause)
        merged_schema = None
    else:
        merged_schema = merged.drop(WINDOW, ATTEMPT).schema
    if merged_schema is not None and file_format == "json" and len(folders) > 1:
        # Its types are found, but the reader takes each name in one case only.
        return _load_in_groups(spark, reader, folders, with_folders(merged_schema), is_text=True)
    if merged_schema is None or _is_in_doubt(spark, merged_schema, file_format):
        return _load_in_groups(spark, reader, folders, None)
    return reader.schema(with_folders(merged_schema)).load([_path(folder) for folder in folders])


def with_folders(schema: StructType) -> StructType:
    """Return a schema with the columns that the folders of a window are."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    folders = [StructField(WINDOW, StringType()), StructField(ATTEMPT, LongType())]
    return StructType([*schema.fields, *folders])


def hadoop_path(spark: SparkSession, folder: str) -> tuple[Any, Any]:
    """Return a folder and its file system, as Hadoop has them."""
    session: Any = spark
    path = session.sparkContext._jvm.org.apache.hadoop.fs.Path(folder)
    return path, path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())


def _load_with(
    spark: SparkSession, reader: DataFrameReader, folders: list[str], schema: StructType
) -> DataFrame | None:
    from pyspark.errors import AnalysisException

    try:
        return reader.schema(schema).load([_path(folder) for folder in folders])
    except AnalysisException as error:
        existing = [folder for folder in folders if _exists(spark, folder)]
        if _condition(error) != "PATH_NOT_FOUND" or existing == folders:
            raise
    return _load_with(spark, reader, existing, schema) if existing else None


def _condition(error: Any) -> str | None:
    # Spark 4 has another method for it, and warns of the old one.
    ask = getattr(error, "getCondition", None) or error.getErrorClass
    name: str | None = ask()
    return name


def _load_in_groups(
    spark: SparkSession,
    reader: DataFrameReader,
    folders: list[str],
    schema: StructType | None,
    *,
    is_text: bool = False,
) -> DataFrame | None:
    is_exact = _is_case_sensitive(spark)
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        kinds = list(pool.map(lambda folder: _schema_of(reader, folder), folders))
    by_folder = {folder: own for folder, own in zip(folders, kinds, strict=True) if own is not None}
    if not by_folder:
        return None
    if schema is None:
        by_window = {
            folder.rpartition(f"/{WINDOW}=")[2].partition("/")[0]: own
            for folder, own in by_folder.items()
        }
        schema = with_folders(merged_schema(by_window, is_case_sensitive=is_exact))
    groups: dict[str, list[str]] = {}
    for folder, own in by_folder.items():
        groups.setdefault(own.json(), []).append(folder)
    frames = [
        _in_columns(
            reader, by_folder[members[0]], members, schema, is_exact=is_exact, is_text=is_text
        )
        for members in groups.values()
    ]
    return reduce(lambda left, right: left.union(right), frames)


def _in_columns(
    reader: DataFrameReader,
    own: StructType,
    folders: list[str],
    schema: StructType,
    *,
    is_exact: bool,
    is_text: bool,
) -> DataFrame:
    """Return the rows of windows that have one schema, in the columns of another."""
    from pyspark.sql import functions
    from pyspark.sql.types import StructType

    def key(name: str) -> str:
        return name if is_exact else name.lower()

    wanted = {key(field.name): field for field in schema.fields}
    known = StructType([field for field in own.fields if key(field.name) in wanted])
    shaped = read_schema(known, schema, is_case_sensitive=is_exact, is_text=is_text)
    shapes = {field.name: field for field in shaped.fields}
    full = StructType([shapes.get(field.name, field) for field in own.fields])
    frame = reader.schema(with_folders(full)).load([_path(folder) for folder in folders])
    names = {key(name): name for name in frame.columns}
    columns = []
    for field in schema.fields:
        name = names.get(key(field.name))
        column = functions.col(escaped(name)) if name is not None else functions.lit(None)
        columns.append(column.cast(field.dataType).alias(field.name))
    return frame.select(*columns)


def _schema_of(reader: DataFrameReader, folder: str) -> StructType | None:
    """Return the schema of the files of one window, None if it has none."""
    from pyspark.errors import AnalysisException

    try:
        return reader.load(_path(folder)).drop(WINDOW, ATTEMPT).schema
    except AnalysisException as error:
        if _condition(error) in {"UNABLE_TO_INFER_SCHEMA", "PATH_NOT_FOUND"}:
            return None
        raise


def _is_in_doubt(spark: SparkSession, schema: StructType, file_format: str) -> bool:
    """Return whether the files may not be readable with a schema that Spark merged from them."""
    names = schema.names if _is_case_sensitive(spark) else [name.lower() for name in schema.names]
    # Spark merges decimals of different precisions, and its Parquet reader then fails.
    has_decimal = file_format == "parquet" and "decimal(" in schema.simpleString()
    return has_decimal or len(set(names)) < len(names)


def _is_case_sensitive(spark: SparkSession) -> bool:
    return str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"


def _exists(spark: SparkSession, folder: str) -> bool:
    path, files = hadoop_path(spark, folder)
    return bool(files.exists(path))


def _path(folder: str) -> str:
    # Spark's readers take a path as a pattern.
    return _GLOB.sub(lambda match: "\\" + match.group(), folder)
