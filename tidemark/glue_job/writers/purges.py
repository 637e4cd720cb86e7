"""Deletes files of S3 by age, like Glue's purges; moves no file to another storage class.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.edge.announce import announced
from tidemark.glue_job.process.failures import note_deletion
from tidemark.glue_job.readers.files.partitions import SparkPredicate
from tidemark.glue_job.readers.files.s3_options import (
    LOCAL_STORAGE_CLASS,
    STORAGE_CLASSES,
    hours,
    storage_classes,
)
from tidemark.local_state.bookmarks.datasets_read import dataset_of_path
from tidemark.local_state.catalog.partitions import (
    Partition,
    partitions_of,
    registered_partitions,
    unregister_partitions,
)
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.job_run import job_home
from tidemark.local_state.operations import DELETE
from tidemark.local_state.run_notes import note_written
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.checkpoints.checkpoint import OVERWRITE, DatasetWritten
from tidemark.model.messages import plural

RETENTION_HOURS = 7 * 24
SECONDS_PER_HOUR = 3600
MANIFEST = "manifestFilePath"
SUCCESS, FAILED = "Success.csv", "Failed.csv"  # the files of a manifest
OPTIONS = ("retentionPeriod", "excludeStorageClasses", MANIFEST)
TABLE_OPTIONS = (*OPTIONS, "partitionPredicate")
TRANSITION_OPTIONS = (*TABLE_OPTIONS, "accountId", "roleArn")
TRANSITION_STORAGE_CLASSES = tuple(name for name in STORAGE_CLASSES if name != "OUTPOSTS")


@dataclass(frozen=True)
class Purge:
    """The rules for files to delete.

    Attributes:
        retention_hours: younger files are kept.
        is_excluded: whether no local file is deleted, because all have one excluded storage class.
        manifest: the URI of the folder for the lists of files; empty: no lists are written.
    """

    retention_hours: float = RETENTION_HOURS
    is_excluded: bool = False
    manifest: str = ""


def purge_path(uri: str, options: Mapping[str, Any]) -> None:
    """Delete the files below a path that are older than ``retentionPeriod``, in hours."""
    purge = _purge(options, OPTIONS)
    _delete([job_home().existing_path(uri)], purge)
    _note_emptied(uri, purge)


def purge_table_files(
    spark: SparkSession, database: str, table_name: str, options: Mapping[str, Any]
) -> None:
    """Delete the old files of a table; remove partitions without files from the Data Catalog."""
    home = job_home()
    with Store(home.database) as store:
        table = find_table(store, database, table_name)
    if table.is_jdbc:
        raise UnsupportedError(
            f"the table {table.full_name} is in a database ({table.classification}), and only "
            "files are purged; delete its rows there"
        )
    purge = _purge(options, TABLE_OPTIONS)
    if not table.partition_keys:
        _delete([home.existing_path(table.location)], purge)
        _note_emptied(table.location, purge)
        return
    with Store(home.database) as store:
        partitions = partitions_of(store, table, home.existing_path)
        chosen = _chosen(spark, table, partitions, options.get("partitionPredicate") or "")
        _delete([home.existing_path(partition.location) for partition in chosen], purge)
        empty = []
        for partition in chosen:
            folder = home.existing_path(partition.location)
            if not any(files for _, _, files in os.walk(folder)):
                empty.append(partition.values)
                _remove_folders(folder, home.existing_path(table.location))
        if registered_partitions(store, table) is not None:
            unregister_partitions(store, table, empty, home.existing_path)


def _note_emptied(uri: str, purge: Purge) -> None:
    if purge.retention_hours == 0 and not purge.is_excluded:
        # Rows that the run appends now are not more, but instead of the old ones.
        note_written(DatasetWritten(dataset_of_path(uri), OVERWRITE, rows=0, files=0))


def _chosen(
    spark: SparkSession, table: CatalogTable, partitions: list[Partition], text: str
) -> list[Partition]:
    if not text:
        return partitions
    keys = [name.lower() for name, _ in table.partition_keys]
    predicate = SparkPredicate(spark, text, dict(table.partition_keys))
    values = [dict(zip(keys, partition.values, strict=True)) for partition in partitions]
    return list(compress(partitions, predicate.select(values)))


def _remove_folders(folder: Path, root: Path) -> None:
    """Remove an empty folder, and its parents below a root that are empty then."""
    while folder != root and folder.is_relative_to(root):
        if folder.is_dir():
            if any(folder.iterdir()):
                return
            folder.rmdir()
        folder = folder.parent


def leave_storage_class(place: str, transition_to: object, options: Mapping[str, Any]) -> None:
    """Warn that nothing was moved: the lake of this machine has one storage class."""
    if str(transition_to) not in TRANSITION_STORAGE_CLASSES:
        raise UsageError(
            f"transition_to is {transition_to!r}; allowed are "
            f"{', '.join(TRANSITION_STORAGE_CLASSES)}"
        )
    _purge(options, TRANSITION_OPTIONS)
    note(RunWarning.STORAGE_CLASS, f"{place} ({transition_to})")


def _purge(options: Mapping[str, Any], known: tuple[str, ...]) -> Purge:
    if unknown := sorted(set(options) - set(known)):
        raise UsageError(f"there are no options {unknown} of a purge; allowed are {known}")
    retention = hours(options, "retentionPeriod")
    is_excluded = LOCAL_STORAGE_CLASS in storage_classes(options)
    manifest = str(options.get(MANIFEST) or "")
    if manifest:
        job_home().existing_path(manifest)  # before a file is deleted
    return Purge(RETENTION_HOURS if retention is None else retention, is_excluded, manifest)


def _delete(roots: Iterable[Path], purge: Purge) -> None:
    if purge.is_excluded:
        return
    newest = time.time() - purge.retention_hours * SECONDS_PER_HOUR
    lists: dict[str, list[Path]] = {SUCCESS: [], FAILED: []}
    for root in roots:
        for file in [root] if root.is_file() else _files(root):
            if file.lstat().st_mtime <= newest:
                lists[_unlinked(file)].append(file)
        if lists[SUCCESS]:
            note_deletion(job_home().uri_of(root))
        # S3 has no folders; the root itself stays, for it is a bucket or the location of a table.
        _remove_empty(root)
    if purge.manifest:
        _write_manifest(purge.manifest, lists)
    elif failed := lists[FAILED]:
        raise TidemarkError(f"{plural(len(failed), 'file')} cannot be deleted, such as {failed[0]}")


def _write_manifest(uri: str, lists: Mapping[str, Iterable[Path]]) -> None:
    home = job_home()
    folder = home.existing_path(uri)
    folder.mkdir(parents=True, exist_ok=True)
    for name, files in lists.items():
        lines = (f"{home.uri_of(file)}\n" for file in files)
        (folder / name).write_text("".join(lines), encoding="utf-8")


def _unlinked(file: Path) -> str:
    try:
        with announced((DELETE, job_home().uri_of(file))):
            file.unlink()
    except OSError:
        return FAILED
    return SUCCESS


def _remove_empty(root: Path) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        if Path(folder) != root and not any(Path(folder).iterdir()):
            Path(folder).rmdir()


def _files(root: Path) -> list[Path]:
    return [Path(folder) / name for folder, _, names in os.walk(root) for name in names]
