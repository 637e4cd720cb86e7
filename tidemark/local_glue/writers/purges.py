"""Deletes files of S3 by their age, as Glue's purges do; moves none to another storage class.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_glue.bookmarks.session import job_home
from tidemark.local_glue.bookmarks.sources import Predicate, partition_values
from tidemark.local_glue.catalog.partitions import (
    registered_partitions,
    unregister_partitions,
)
from tidemark.local_glue.catalog.tables import find_table
from tidemark.local_glue.readers.predicates import SparkPredicate
from tidemark.local_glue.readers.s3_options import (
    LOCAL_STORAGE_CLASS,
    STORAGE_CLASSES,
    storage_classes,
    whole_number,
)
from tidemark.local_glue.runs.run_warnings import RunWarning, note
from tidemark.local_glue.store.database import Store

RETENTION_HOURS = 7 * 24
SECONDS_PER_HOUR = 3600
OPTIONS = ("retentionPeriod", "excludeStorageClasses")
TABLE_OPTIONS = (*OPTIONS, "partitionPredicate")
TRANSITION_OPTIONS = (*TABLE_OPTIONS, "accountId", "roleArn")
STORAGE_CLASS_OF_TRANSITIONS = tuple(name for name in STORAGE_CLASSES if name != "OUTPOSTS")


@dataclass(frozen=True)
class Purge:
    """Which files go.

    Attributes:
        retention_hours: files that are younger stay.
        is_excluded: whether no file of this machine goes, as all are of one storage class.
        predicate: which partitions lose their files; None: all.
    """

    retention_hours: int = RETENTION_HOURS
    is_excluded: bool = False
    predicate: Predicate | None = None


def purge_path(uri: str, options: Mapping[str, Any]) -> None:
    """Delete the files below a path that are older than ``retentionPeriod``, in hours.

    Raises:
        UsageError: the path or a value is wrong, or there is no such option.
        UnsupportedError: an option that this machine does not run.
    """
    _delete(job_home().existing_path(uri), _purge(options, OPTIONS))


def purge_table_files(
    spark: SparkSession, database: str, table_name: str, options: Mapping[str, Any]
) -> None:
    """Delete the old files of a table; a partition without files leaves the Data Catalog.

    Args:
        spark: evaluates ``partitionPredicate``.
        database: of the table.
        table_name: its name.
        options: ``retentionPeriod`` in hours, ``partitionPredicate``, ``excludeStorageClasses``.

    Raises:
        EntityNotFoundError: there is no such table.
        UsageError: a value is wrong, or there is no such option.
        UnsupportedError: an option that this machine does not run, or a table in a database.
    """
    home = job_home()
    with Store(home.database) as store:
        table = find_table(store, database, table_name)
    if table.is_jdbc:
        raise UnsupportedError(
            f"the table {table.full_name} is in a database ({table.classification}), and files "
            "are purged only; delete its rows there"
        )
    text = options.get("partitionPredicate") or ""
    predicate = SparkPredicate(spark, text, dict(table.partition_keys)) if text else None
    _delete(home.existing_path(table.location), _purge(options, TABLE_OPTIONS, predicate))
    with Store(home.database) as store:
        registered = registered_partitions(store, table) or []
        gone = [one.values for one in registered if not home.local_path(one.location).exists()]
        if gone:
            unregister_partitions(store, table, gone, home.existing_path)


def leave_storage_class(place: str, transition_to: object, options: Mapping[str, Any]) -> None:
    """Warn that nothing was moved: the lake of this machine has one storage class.

    Raises:
        UsageError: there is no such storage class or option.
        UnsupportedError: an option that this machine does not run.
    """
    if str(transition_to) not in STORAGE_CLASS_OF_TRANSITIONS:
        raise UsageError(
            f"transition_to is {transition_to!r}; allowed are "
            f"{', '.join(STORAGE_CLASS_OF_TRANSITIONS)}"
        )
    _purge(options, TRANSITION_OPTIONS)
    note(RunWarning.STORAGE_CLASS, f"{place} ({transition_to})")


def _purge(
    options: Mapping[str, Any], known: tuple[str, ...], predicate: Predicate | None = None
) -> Purge:
    if "manifestFilePath" in options:
        raise UnsupportedError(
            "the option manifestFilePath, the list of the files of a purge, is not written by the "
            "local Glue; leave it out"
        )
    if unknown := sorted(set(options) - set(known)):
        raise UsageError(f"there are no options {unknown} of a purge; allowed are {known}")
    hours = whole_number(options, "retentionPeriod", at_least=0)
    excluded = storage_classes(options)
    return Purge(
        RETENTION_HOURS if hours is None else hours, LOCAL_STORAGE_CLASS in excluded, predicate
    )


def _delete(root: Path, purge: Purge) -> None:
    """Delete the files, then the folders that are empty, which S3 does not know; never the root."""
    if purge.is_excluded:
        return
    newest = time.time() - purge.retention_hours * SECONDS_PER_HOUR
    files = [root] if root.is_file() else list(_files(root, purge.predicate))
    for file in files:
        if file.lstat().st_mtime <= newest:
            file.unlink()
    for folder, _, _ in os.walk(root, topdown=False):
        if Path(folder) != root and not any(Path(folder).iterdir()):
            Path(folder).rmdir()


def _files(root: Path, predicate: Predicate | None) -> Iterator[Path]:
    folders = {Path(folder): names for folder, _, names in os.walk(root)}
    if predicate is not None:
        values = {folder: partition_values(str(folder.relative_to(root))) for folder in folders}
        asked = [folder for folder in folders if predicate.columns <= set(values[folder])]
        answers = predicate.select([values[folder] for folder in asked])
        chosen = [folder for folder, is_chosen in zip(asked, answers, strict=True) if is_chosen]
        folders = {folder: folders[folder] for folder in chosen}
    for folder, names in folders.items():
        yield from (folder / name for name in names)
