"""attachFilename and attachTimestamp: the file of a row and when it changed, as columns.

AWS says that the value is the name of the column, and nothing of types: text and a timestamp here.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-csv-home.html
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemark.errors import UsageError
from tidemark.glue_job.readers.files.formats import ATTACHED, Format
from tidemark.glue_job.readers.files.mixed_types import uri_of_row
from tidemark.local_state.bookmarks.files import FileVersion

FILE = "file of tidemark"


def attaches(file_format: Format) -> bool:
    """Return whether rows get a column of their file."""
    return any(file_format.options.get(option) for option in ATTACHED)


def with_attached(frame: DataFrame, files: Sequence[FileVersion], file_format: Format) -> DataFrame:
    """Return the rows with the columns of their file that the format options name."""
    if not attaches(file_format) or not frame.columns:
        return frame
    name, time = (file_format.options.get(one) for one in ("attachFilename", "attachTimestamp"))
    for option, column in (("attachFilename", name), ("attachTimestamp", time)):
        if column and (not isinstance(column, str) or _is_taken(column, frame)):
            raise UsageError(
                f"format_options[{option!r}] is {column!r}; it must be the name of a column that "
                f"the rows do not have; they have {', '.join(frame.columns)}"
            )
    rows = [f"`{column}`" for column in frame.columns]
    frame = frame.withColumn(FILE, uri_of_row())
    if time:
        changed = [(file.path, file.modified_ms) for file in files]
        times = frame.sparkSession.createDataFrame(changed, [FILE, time])
        frame = frame.join(F.broadcast(times), FILE, "left")
    of_name = [F.col(f"`{FILE}`").alias(name)] if name else []
    of_time = [F.timestamp_millis(f"`{time}`").alias(time)] if time else []
    return frame.select(*rows, *of_name, *of_time)


def _is_taken(name: str, frame: DataFrame) -> bool:
    return name.lower() in {one.lower() for one in frame.columns}
