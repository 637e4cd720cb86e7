"""Evaluates with Spark which partitions a push_down_predicate selects, as the job itself does."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidemark.glue_job.process.lake_fs.jar import lake_jar
from tidemark.glue_job.readers.tables.partitions import partitions_to_read
from tidemark.local_state.bookmarks.explain import PredicateOf
from tidemark.local_state.bookmarks.sources import Predicate, S3Source
from tidemark.local_state.catalog.tables import find_table, table_or_none
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.store.database import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.master": "local[1]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
}


@contextmanager
def predicates_of(home: Home) -> Iterator[PredicateOf]:
    """Yield a function that prepares the predicate of a source; Spark starts on demand."""
    sessions: list[SparkSession] = []

    def predicate_of(source: S3Source) -> Predicate | None:
        chosen = None
        if source.push_down_predicate:
            if not sessions:
                sessions.append(start_spark())
            from tidemark.glue_job.readers.files.partitions import SparkPredicate

            chosen = SparkPredicate(sessions[0], source.push_down_predicate, _types(home, source))
        if not source.table:
            return chosen
        database, _, name = source.table.partition(".")
        with Store(home.database) as store:
            table = table_or_none(store, database, name)
            if table is None:
                return chosen
            return partitions_to_read(store, table, chosen, home.existing_path).predicate

    try:
        yield predicate_of
    finally:
        for session in sessions:
            session.stop()


def start_spark() -> "SparkSession":
    """Return a small session of this process, for evaluations outside a job."""
    java_home = find_java_home()
    os.environ["JAVA_HOME"] = str(java_home)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tidemark explain")
    classes = {"spark.driver.extraClassPath": str(lake_jar(java_home))}  # casts are among them
    for name, value in (SETTINGS | classes).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _types(home: Home, source: S3Source) -> dict[str, str] | None:
    if not source.table:
        return None
    database, _, name = source.table.partition(".")
    with Store(home.database) as store:
        return dict(find_table(store, database, name).partition_keys)
