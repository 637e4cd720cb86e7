"""What a file of Parquet, ORC or Avro is, by the schema in it."""

import re
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tidemark.glue_job.crawl.layout import Kind
from tidemark.glue_job.process.failures import cause_of
from tidemark.glue_job.readers.files.avro import schema_in
from tidemark.glue_job.readers.files.read_errors import unreadable
from tidemark.glue_job.readers.tables.explained_predicates import start_spark
from tidemark.glue_job.writers.table_updates import hive_type


class Columnar:
    """Reads schemas; Spark starts for the first file of Parquet or ORC, until `close`."""

    def __init__(self) -> None:
        self._spark: SparkSession | None = None

    def kind(self, format_name: str, file: Path, uri: str) -> Kind:
        """Return what a file is."""
        schema = (
            schema_in(str(file), uri)
            if format_name == "avro"
            else self._read(format_name, file, uri)
        )
        columns = tuple((one.name.lower(), hive_type(one.dataType)) for one in schema)
        return Kind(format_name, columns, (), (("serialization.format", "1"),))

    def _read(self, format_name: str, file: Path, uri: str) -> StructType:
        if self._spark is None:
            self._spark = start_spark()
        plain = re.sub(r"([\[\]{}*?\\])", r"\\\1", str(file))  # no pattern
        try:
            return self._spark.read.format(format_name).load(f"file:{plain}").schema
        except (Py4JJavaError, PySparkException) as error:
            raise unreadable(uri, format_name, cause_of(error)) from error

    def close(self) -> None:
        """Stop Spark, if it was started."""
        if self._spark is not None:
            self._spark.stop()
