"""Which watermarks a run has moved, read back from the table, whose word is the truth."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from tidemark.checkpoints.checkpoint import WatermarkMove
from tidemark.local_glue.dynamodb import dynamodb_client
from watermarks import TABLE_NAME, WatermarkAdmin, WatermarksError, WatermarkTableError

if TYPE_CHECKING:
    from watermarks import HistoryEntry

ARGUMENT = "--watermark_table"
NEWEST = 50  # entries of a history among which those of a run that has just ended are


def watermark_moves(
    endpoint: str, region: str, job_name: str, run_id: str, arguments: Mapping[str, str]
) -> tuple[WatermarkMove, ...]:
    """Return what a run has moved in the table of its argument, or in the library's own.

    Args:
        endpoint: of the local DynamoDB.
        region: of its client.
        job_name: the job, under whose name the library keeps its watermarks.
        run_id: the run, which has just ended.
        arguments: of the run; `--watermark_table` counts.

    Raises:
        TidemarkError: DynamoDB does not answer.
        WatermarksError: the rows of the job cannot be read.
    """
    table = arguments.get(ARGUMENT) or TABLE_NAME
    with dynamodb_client(endpoint, region) as client:
        try:
            return tuple(_moves(WatermarkAdmin(table, client), job_name, run_id))
        except WatermarkTableError as error:
            if error.reason == "not_found":
                return ()
            raise


def _moves(admin: WatermarkAdmin, job_name: str, run_id: str) -> Iterator[WatermarkMove]:
    for source in ("", *admin.sources(job_name)):
        newest = islice(admin.history(job_name, source=source), NEWEST)
        if move := move_of(newest, run_id, admin.table_name, source):
            yield move


def move_of(
    history: "Iterable[HistoryEntry]", run_id: str, table: str, source: str
) -> WatermarkMove | None:
    """Return what a run has done to watermarks, by their history; None if nothing.

    Args:
        history: newest first; not more of it is asked for than is needed.
        run_id: the run.
        table: the DynamoDB table.
        source: the source that they are of; empty for the job's own.
    """
    mine: list[HistoryEntry] = []
    before: HistoryEntry | None = None
    for entry in history:
        if entry.kind == "commit" and entry.run_id == run_id:
            mine.append(entry)
        elif mine:
            before = entry
            break
    if not mine:
        return None
    windows = [window for entry in reversed(mine) for window in entry.windows]
    return WatermarkMove(
        table,
        source,
        before=texts_of(before.watermarks) if before and before.watermarks else None,
        after=texts_of(mine[0].watermarks),
        before_version=before.version if before else 0,
        after_version=mine[0].version,
        windows=tuple(
            {
                "cursor": window.cursor,
                "window_id": window.window_id,
                "low": None if window.low is None else str(window.low),
                "high": str(window.high),
            }
            for window in windows
        ),
    )


def texts_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as text by name, the names of nested ones joined by dots."""
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": text for inner, text in texts_of(value).items()}
        else:
            found[name] = str(value)
    return found


__all__ = ["WatermarksError", "move_of", "texts_of", "watermark_moves"]
