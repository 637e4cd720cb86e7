"""Appending a window to a table of Iceberg, once however often it is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from watermarks import run_notes
from watermarks.errors import WatermarksError, WatermarkValueError
from watermarks.schema.targets import rows_for_table
from watermarks.windows.bookmark_option import check_is_kept
from watermarks.windows.window import Window, edges

from .audits import Audit, audits_of
from .columns import escaped
from .files import quarantine
from .iceberg_tables import iceberg_table
from .iceberg_target import IcebergTarget
from .tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from watermarks.schema import Contract

_PROPERTY = "snapshot-property."
_appended: set[tuple[str, str, str, int]] = set()  # by this process


def append_window(
    frame: DataFrame,
    table: str,
    window: Window,
    *,
    part: str = "",
    schema: Contract | None = None,
    audit: Audit | Sequence[Audit] | None = None,
) -> bool:
    """Append the rows of a window to a table of Iceberg, in one commit that names the window.

    A window that is in the table already is not appended again, whichever attempt wrote it; an
    attempt that a later one or a later window has superseded is refused, whenever it wakes up.

    Args:
        frame: the rows of the window; columns as in the table, by name. One that the table got
            after its first columns may be missing, and is null.
        table: name of the table, as SQL takes it, such as `glue_catalog.sales.orders`.
        window: the window that the run holds; commit it afterwards.
        part: a name for each of several appends of one window to the same table.
        schema: a contract, without a schema of its own that of the table: what of the frame comes
            in. The table gets the columns and the wider types that evolve.
        audit: what holds for all rows of the table afterwards, one or a list: a condition of SQL,
            such as `amount >= 0`, which is true for every row; a query of wrong rows, such as
            `SELECT id FROM new_state GROUP BY id HAVING count(*) > 1`; rules in DQDL, such as
            `Rules = [IsUnique "id"]`; or a function that gets the frame of all rows, and returns
            None or True, else False, a reason, or the wrong rows.
            Readers see the rows only if all hold.

    Returns:
        Whether the rows were appended; False if an earlier attempt has done it.

    Raises:
        ValueError: the window is empty.
        WatermarkValueError: the table is not one of Iceberg; a column is missing, or the table
            lacks one of the frame.
        SchemaContractError: the contract refuses the frame; nothing was written.
        SnapshotExpiredError: an earlier attempt has written the window, and whether the table was
            rolled back to before it is not known any more.
        SnapshotRolledBackError: the table was rolled back to before the last committed window.
        WatermarksError: this run has appended the window with this part before; the window is
            that of a run with job-bookmark-disable; or an earlier attempt has appended it under
            another contract, and one of both takes rows out.
        WatermarkSupersededError: a later attempt or window of the job is in the table; nothing was
            changed.
        WatermarkConflictError: other writers of the table were faster, time and again.
        AuditFailedError: an audit does not hold; nothing was published, and the error names the
            branch with the rows.
    """
    audits = audits_of(audit)
    edges(window)
    check_is_kept(
        window, "append_window", "overwrite the table with spark.table(...) of the source"
    )
    iceberg = iceberg_table(frame.sparkSession, table)
    if iceberg is None:
        raise WatermarkValueError(
            f"the table {table} is not one of Iceberg, so an append could not be told from its "
            "repetition: write files with write_window, or merge by key with merge_window"
        )
    takes_out = schema is not None and schema.types == "discard_row"
    digest = sha256(repr(schema).encode()).hexdigest()[:16] if takes_out else ""
    target = IcebergTarget(iceberg, window, part, contract=digest)
    done = (iceberg.name, target.note_name, window.window_id, window.attempt)
    if done in _appended:
        raise WatermarksError(
            f"window {window.window_id} was appended to {table} before by this run, and only one "
            "of two appends would count after a crash: put the rows into one frame, or give each "
            f"append its own part= (this one has {part!r})"
        )
    options = {f"{_PROPERTY}{name}": value for name, value in target.summary.items()}

    frame, aside = rows_for_table(frame, schema, table, iceberg, window, part)
    quarantine(aside, schema, window, f"{table} {part}")
    tally = Tally.of_rescued(frame, schema)
    frame = tally.frame if tally else frame

    def into(branch: str) -> None:
        columns = iceberg.columns(table, frame.sparkSession.table(branch).schema)
        columns.check_no_others(frame)
        rows = columns.filled(frame).select(*map(escaped, columns.schema.names))
        rows.writeTo(branch).options(**options).append()

    is_written = target.write(into, audits, is_repeatable=False)
    if tally and is_written:
        tally.report(window, table)
    _appended.add(done)
    run_notes.note_written(window, run_notes.table(table), "append", frame)
    return is_written
