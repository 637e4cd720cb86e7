"""The watermarks that a run has moved, read back from the table, which is the truth."""

from collections.abc import Mapping
from typing import NamedTuple

from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.model.assembly.arguments import WATERMARK_TABLE
from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten, WatermarkMove
from tidemark.model.checkpoints.from_watermarks import moves_of, reads_of, writes_of


class Recorded(NamedTuple):
    """The library's records about one run."""

    moves: tuple[WatermarkMove, ...] = ()
    read: tuple[DatasetRead, ...] = ()
    written: tuple[DatasetWritten, ...] = ()


def recorded_by_library(
    endpoint: str, region: str, job_name: str, run_id: str, arguments: Mapping[str, str]
) -> Recorded:
    """Return what a run has recorded in the table of its argument, or in the library's own."""
    from watermarks import TABLE_NAME, WatermarkAdmin, WatermarkTableError  # few jobs have any

    table = arguments.get(WATERMARK_TABLE) or TABLE_NAME
    with dynamodb_client(endpoint, region) as client:
        try:
            records = WatermarkAdmin(table, client).run_records(job_name, run_id)
        except WatermarkTableError as error:
            if error.reason == "not_found":
                return Recorded()
            raise
    return Recorded(moves_of(records, table), reads_of(records), writes_of(records))
