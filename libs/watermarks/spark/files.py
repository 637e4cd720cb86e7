"""Files that are replaced window by window, and a reader that sees committed windows only.

    <path>/window=<window id>/attempt=<attempt>/...

No window of another job, table or stage has the same id: several jobs may write below one path, and
none touches the files of another. Every attempt at a window writes to its own folder. So a
superseded run that wakes up late cannot mix its files with those that a later attempt wrote and
committed: no one reads its folder.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from watermarks import run_notes
from watermarks.errors import WatermarksError, WatermarkSupersededError
from watermarks.metrics import QUARANTINED
from watermarks.schema.plan import told_as_json
from watermarks.schema.targets import place_of, rows_for_folder
from watermarks.windows.bookmark_option import check_is_kept
from watermarks.windows.window import edges

from .audits import Audit, audits_of, changed_by_audit, check_audits
from .columns import escaped
from .committed_files import ATTEMPT, WINDOW, hadoop_path, load_windows, with_folders
from .tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from watermarks.schema import Contract
    from watermarks.windows.window import Window

FileFormat: TypeAlias = Literal["parquet", "orc", "json", "csv"]
"""The formats that a window can be written in."""

_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_ATTEMPT_FOLDER = re.compile(rf"{ATTEMPT}=([0-9]+)")
# Without these, Spark writes no column names, and cuts microseconds off.
_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_CSV = {
    "header": "true",
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_WRITE_OPTIONS = {"csv": _CSV | _TIMES, "json": _TIMES}
_quarantined: dict[tuple[str, str, int], str] = {}  # by this process
STAGING = "_audit"  # Spark reads no folder whose name begins so
_READ_OPTIONS = {"csv": {**_CSV, "multiLine": "true"}}


def write_window(
    frame: DataFrame,
    path: str,
    window: Window,
    file_format: FileFormat = "parquet",
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    schema: Contract | None = None,
    audit: Audit | Sequence[Audit] | None = None,
) -> str:
    """Write a frame as the files of a window, in place of all that was written for it before.

    Doing it twice is doing it once; other windows are left alone. What earlier attempts at this
    window left is deleted: by the time a run holds the window, they can no longer commit.

    Args:
        frame: the rows of the window.
        path: the folder of all windows, on any file system that Spark writes to.
        window: the window that the run holds; commit it afterwards.
        file_format: parquet, orc, json or csv. CSV has no empty strings: they come back as NULL.
            With one column it has no NULLs: an empty line is not a row.
        partition_by: columns that become folders inside the window. An empty string in one comes
            back as NULL: both have one folder.
        options: options of Spark's writer. CSV has a header, and files of text have microseconds,
            unless the options say otherwise.
        schema: a contract: what of the frame comes in, and where the other rows go, as a part of
            the same window. It starts from the columns that the watermark keeps of the folder, and
            the commit of the window keeps what evolves.
        audit: what holds for all rows of the window afterwards, one or a list: a condition of SQL,
            such as `amount >= 0`, which is true for every row; a query of wrong rows, such as
            `SELECT id FROM new_state GROUP BY id HAVING count(*) > 1`; rules in DQDL, such as
            `Rules = [IsUnique "id"]`; or a function that gets the frame of all rows, and returns
            None or True, else False, a reason, or the wrong rows. They
            are written below `_audit`, which readers leave out, and take their place if all hold.

    Returns:
        The folder of this attempt.

    Raises:
        ValueError: the window is empty, the format is not allowed, or the frame has a column
            named like the folders.
        WatermarksError: the window is that of a run with job-bookmark-disable: no reader of
            committed windows would find it.
        SchemaContractError: the contract refuses the frame; nothing was written.
        WatermarkSupersededError: a later attempt at this window has written already; nothing was
            written.
        AuditFailedError: an audit does not hold; nothing was published, and the error names the
            folder with the rows.

    Example:
        >>> for window in watermarks.windows("orders", run_id="jr_1", cursor="id", high=2):
        ...     folder = write_window(rows_of(spark.range(5), window), path, window)
        >>> folder.removeprefix(f"{path}/").startswith(f"window={window.window_id}/attempt=")
        True
    """
    audits = audits_of(audit)
    edges(window)
    check_is_kept(
        window, "write_window", 'write the frame with mode("overwrite") to another folder'
    )
    _check_format(file_format)
    frame, aside = rows_for_folder(frame, schema, path, window)
    _check_columns(frame.columns)
    quarantine(aside, schema, window, path)
    tally = Tally.of_rescued(frame, schema)
    folder = _folder(path, window.window_id, window.attempt)
    _delete_earlier_attempts(frame.sparkSession, path, window)
    staging = f"{path.rstrip('/')}/{STAGING}"
    staged = _folder(staging, window.window_id, window.attempt) if audits else folder
    _delete_earlier_attempts(frame.sparkSession, staging, window)  # what an audit has left
    writer = (tally.frame if tally else frame).write.format(file_format).mode("overwrite")
    writer = writer.options(**_WRITE_OPTIONS.get(file_format, {})).options(**(options or {}))
    # Static, whatever the session's setting: dynamic would keep files of an earlier try.
    writer = writer.option("partitionOverwriteMode", "static")
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    writer.save(staged)
    if audits:
        reader = frame.sparkSession.read.format(file_format).schema(frame.schema)
        reader = reader.options(**_READ_OPTIONS.get(file_format, {})).options(**(options or {}))
        _audit(reader.load(staged), audits, window, staged)
        _publish(frame.sparkSession, staged, folder)
    if tally:
        tally.report(window, path)
    run_notes.note_written(window, run_notes.folder(path), "window", frame)
    return folder


def quarantine(
    aside: DataFrame | None, schema: Contract | None, window: Window, target: str
) -> None:
    """Write the rows of a window that its contract takes out, once like the others."""
    if aside is None or schema is None:
        return
    place = (place_of(schema.quarantine), window.window_id, window.attempt)
    if _quarantined.setdefault(place, target) != target:
        raise WatermarksError(
            f"the quarantine {schema.quarantine} has rows of window {window.window_id} for "
            f"{_quarantined[place]} already, and those for {target} would replace them: give each "
            "target, and each part, a quarantine of its own"
        )
    tally = Tally(told_as_json(aside), QUARANTINED)
    write_window(tally.frame, schema.quarantine, window, "json")
    tally.report(window, target)


def read_committed(
    spark: SparkSession,
    path: str,
    committed: Iterable[tuple[str, int]],
    file_format: FileFormat = "parquet",
    schema: StructType | str | None = None,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the rows of committed windows; files that no run committed are not looked at.

    A committed window without a folder, written elsewhere or with no file at all, has no rows.

    Args:
        spark: the session.
        path: the folder of all windows, as `write_window` was given it.
        committed: window id and attempt of every window to read.
        file_format: the format of the windows' files.
        schema: of the frames that were written; None takes the columns of all windows from the
            files, each with a type that holds its values in all of them, and then there must be
            some.
        options: of Spark's reader; CSV has a header unless they say otherwise.

    Returns:
        One row per row written; columns of the schema, NULL in the windows that lack one, then
        window STRING and attempt BIGINT.

    Raises:
        ValueError: the format is not allowed, a window was committed by two attempts, or there is
            nothing to read and no schema.
        WatermarkValueError: a column has types in different windows that no type holds both.

    Example:
        >>> for window in watermarks.windows("orders", run_id="jr_1", cursor="id", high=2):
        ...     _ = write_window(rows_of(spark.range(5), window), path, window)
        >>> orders = read_committed(spark, path, watermarks.committed_windows("orders"))
        >>> orders.columns, orders.count()
        (['id', 'window', 'attempt'], 3)
    """
    _check_format(file_format)
    attempts = _attempts_by_window(committed)
    folders = [_folder(path, window_id, attempt) for window_id, attempt in attempts.items()]
    reader = spark.read.format(file_format)
    reader = reader.options(**_READ_OPTIONS.get(file_format, {})).options(**(options or {}))
    reader = reader.option("basePath", path)
    full_schema = None
    if schema is not None:
        full_schema = _with_window(spark.createDataFrame([], schema).schema)
    frame = load_windows(
        spark,
        reader,
        folders,
        file_format,
        full_schema,
        is_positional=_is_positional(file_format, options),
    )
    if frame is None:
        if full_schema is None:
            raise ValueError(
                f"there is no file of a committed window in {path!r}, so its columns are not "
                "known: give schema"
            )
        return spark.createDataFrame([], full_schema)
    run_notes.note_committed(run_notes.folder(path), frame)
    names = [name for name in frame.columns if name not in {WINDOW, ATTEMPT}]
    if full_schema is not None:
        names = full_schema.names[:-2]
    return frame.select(*map(escaped, [*names, WINDOW, ATTEMPT]))


def _with_window(schema: StructType) -> StructType:
    _check_columns(schema.names)
    return with_folders(schema)


def _is_positional(file_format: str, options: Mapping[str, str] | None) -> bool:
    """Return whether the files have a header, and Spark takes their columns by position."""
    given = {name.lower(): str(value) for name, value in (options or {}).items()}
    return file_format == "csv" and given.get("header", "true").lower() == "true"


def _attempts_by_window(committed: Iterable[tuple[str, int]]) -> dict[str, int]:
    attempts: dict[str, int] = {}
    for window_id, attempt in committed:
        if attempts.setdefault(window_id, attempt) != attempt:
            raise ValueError(
                f"window {window_id!r} is committed by the attempts {attempts[window_id]} and "
                f"{attempt}: one attempt commits a window; give the pairs that history lists"
            )
    return attempts


def _audit(rows: DataFrame, audits: Sequence[Audit], window: Window, staged: str) -> None:
    before = _files_in(rows.sparkSession, staged)
    check_audits(rows, audits, window, staged)
    if _files_in(rows.sparkSession, staged) != before:
        raise changed_by_audit(window, staged)


def _files_in(spark: SparkSession, folder: str) -> set[tuple[str, int, int]]:
    place, files = hadoop_path(spark, folder)
    listed, there = files.listFiles(place, True), set()
    while listed.hasNext():
        status = listed.next()
        there.add((str(status.getPath()), status.getLen(), status.getModificationTime()))
    return there


def _publish(spark: SparkSession, staged: str, folder: str) -> None:
    """Move what audits have let through; it counts from the commit of the window on."""
    (source, files), (target, _) = hadoop_path(spark, staged), hadoop_path(spark, folder)
    files.delete(target, True)  # of an earlier try of this attempt
    files.mkdirs(target.getParent())
    if not files.rename(source, target):
        raise WatermarksError(f"{staged} could not be moved to {folder}: run the job again")


def _delete_earlier_attempts(spark: SparkSession, path: str, window: Window) -> None:
    folder, files = hadoop_path(spark, _window_folder(path, window.window_id))
    if not files.exists(folder):
        return
    earlier = []
    for status in files.listStatus(folder):
        name = _ATTEMPT_FOLDER.fullmatch(status.getPath().getName())
        attempt = int(name[1]) if name else window.attempt
        if attempt > window.attempt:
            raise WatermarkSupersededError(
                f"attempt {attempt} at window {window.window_id} has written to {path!r}: another "
                f"run took the window over from run {window.run_id!r} (attempt {window.attempt}), "
                "which can no longer commit it; nothing was written"
            )
        if attempt < window.attempt:
            earlier.append(status.getPath())
    for left_over in earlier:
        # No one reads what remains if this fails.
        files.delete(left_over, True)


def _folder(path: object, window_id: object, attempt: object) -> str:
    if isinstance(attempt, bool) or not isinstance(attempt, int) or attempt < 0:
        raise ValueError(f"the attempt at window {window_id!r} is {attempt!r}: give its number")
    return f"{_window_folder(path, window_id)}/{ATTEMPT}={attempt:010d}"


def _window_folder(path: object, window_id: object) -> str:
    if not isinstance(path, str) or not path:
        raise ValueError(f"path is {path!r}: give the folder of all windows")
    if not isinstance(window_id, str) or not _ID.fullmatch(window_id):
        raise ValueError(
            f"the window id is {window_id!r}: a folder is named by it, so give letters, digits, "
            "'_', '-' and '.'"
        )
    return f"{path.rstrip('/')}/{WINDOW}={window_id}"


def _check_format(file_format: str) -> None:
    allowed = get_args(FileFormat)
    if file_format not in allowed:
        raise ValueError(f"file_format is {file_format!r}: allowed are {', '.join(allowed)}")


def _check_columns(names: list[str]) -> None:
    if clashes := [name for name in names if name.lower() in {WINDOW, ATTEMPT}]:
        raise ValueError(
            f"the frame has the column {clashes[0]!r}: the folders of a window have the columns "
            f"{WINDOW!r} and {ATTEMPT!r}; rename yours"
        )
