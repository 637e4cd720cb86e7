"""Records that a step could not process: kept apart, counted against thresholds.

Source: https://docs.aws.amazon.com/glue/latest/dg/glue-etl-scala-apis-glue-dynamicframe-class.html
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.errors import TidemarkError
from tidemark.glue_job.frames.absence import Absence
from tidemark.glue_job.frames.joins import union
from tidemark.model.checkpoints import schemas

# The fields of Glue's error record; source, input and bytesread come from a reader of files.
SHAPE = (
    "struct<callsite: struct<site: string, info: string>, msg: string, stackTrace: string, "
    "input: string, bytesread: bigint, source: string>"
)


READER_FIELDS = {"input": ("", "string"), "bytesread": (0, "bigint"), "source": ("", "string")}


def error_records(
    rows: DataFrame, message: Column, record: Column | None = None, **columns: Column
) -> DataFrame:
    """Return rows in the shape of `Failed`: the message, and columns such as ``stackTrace``.

    Without a record that a step has got, there is none: a reader has only a string.
    """
    nothing = F.when(F.lit(True), F.struct())
    return rows.select(
        message.alias("msg"),
        columns.pop("stackTrace", F.lit("")).alias("stackTrace"),
        (nothing if record is None else record).alias("dynamicRecord"),
        *(value.alias(name) for name, value in columns.items()),
    )


def reader_errors(rows: DataFrame, message: Column, text: Column, file: Column) -> DataFrame:
    """Return the strings that a reader could not parse, in the shape of `Failed`."""
    return error_records(rows, message, input=text, bytesread=F.octet_length(text), source=file)


class ErrorThresholdError(TidemarkError):
    """A step has more errors than its threshold allows, or all steps so far more than the total."""


@dataclass(frozen=True)
class Failed:
    """The records that one step could not process.

    Attributes:
        make: returns them: columns ``msg``, ``stackTrace`` and ``dynamicRecord``; a reader adds
            ``input`` (the string), ``bytesread`` (its length) and ``source`` (the file).
        step: the name of the step.
        info: the `info` argument of the script.
    """

    make: Callable[[], DataFrame]
    step: str
    info: str

    @cached_property
    def count(self) -> int:
        """The number of records; computed at the first access."""
        return self.make().count()

    def frame(self) -> DataFrame:
        """Return the error records in Glue's shape."""
        rows = self.make()
        error = F.struct(
            F.struct(F.lit(self.step).alias("site"), F.lit(self.info).alias("info")).alias(
                "callsite"
            ),
            F.col("msg"),
            F.col("stackTrace"),
            *(
                (F.col(name) if name in rows.columns else F.lit(nothing)).cast(kind).alias(name)
                for name, (nothing, kind) in READER_FIELDS.items()
            ),
            F.col("dynamicRecord"),
        )
        return rows.select(error.alias("error"))


class ReaderErrors(list[Failed]):
    """Records that a reader could not read, and which fields the others may lack.

    `is_of_records` is whether the schema describes the records, not only one of their files.
    `columns` are those of records of JSON before a type was made up for what is always null.
    """

    absence: Absence | None = None
    is_of_records = False
    columns: tuple[schemas.Column, ...] = ()

    def note_absence(self, absence: Absence, *, is_of_records: bool = True) -> None:
        """Add the absence of the records of some files."""
        self.is_of_records |= is_of_records
        before = self.absence
        if before is None or absence == before:
            self.absence = absence
        else:  # formats or folders that were read separately
            there = before.there & absence.there
            mixed = before.mixed | absence.mixed | ((before.there | absence.there) - there)
            is_told = before.is_told and absence.is_told
            self.absence = Absence(True, there, mixed, is_told, before.null | absence.null)


def count_errors(failed: Sequence[Failed]) -> int:
    """Return the number of error records of some steps."""
    return sum(step.count for step in failed)


def errors_frame(spark: SparkSession, failed: Sequence[Failed]) -> DataFrame:
    """Return the error records of some steps, in a column ``error``."""
    if not failed:
        return spark.createDataFrame([], f"error {SHAPE}")
    return reduce(union, [step.frame() for step in failed])


def check_thresholds(
    failed: Sequence[Failed], own: Sequence[Failed], stage: int, total: int
) -> None:
    """Count errors if a threshold is set, and raise above it."""
    for which, threshold, steps in (("stage", stage, own), ("total", total, failed)):
        if threshold > 0 and (count := count_errors(steps)) > threshold:
            first = next(step for step in steps if step.count).make().first()
            text = first["msg"] if first else ""
            raise ErrorThresholdError(
                f"{count} records have errors and {which}Threshold allows {threshold}; the first "
                f"one is: {text}"
            )
