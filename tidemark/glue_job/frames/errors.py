"""Records that a step could not process: kept apart, counted against thresholds.

Source: https://docs.aws.amazon.com/glue/latest/dg/glue-etl-scala-apis-glue-dynamicframe-class.html
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.errors import TidemarkError
from tidemark.glue_job.frames.absence import Absence
from tidemark.glue_job.frames.joins import union

# What Glue's error record has; source, input and bytesread are of a reader of files.
SHAPE = (
    "struct<callsite: struct<site: string, info: string>, msg: string, stackTrace: string, "
    "input: string, bytesread: bigint, source: string>"
)


READER_FIELDS = {"input": ("", "string"), "bytesread": (0, "bigint"), "source": ("", "string")}


class ErrorThresholdError(TidemarkError):
    """A step has more errors than its threshold, or with the steps before it than the total."""


@dataclass(frozen=True)
class Failed:
    """The records that one step could not process.

    Attributes:
        make: returns them: columns ``msg``, ``stackTrace`` and ``dynamicRecord``; of a reader also
            ``input`` (the text), ``bytesread`` (its length) and ``source`` (the file).
        step: the name of the step.
        info: what the script gave as info.
    """

    make: Callable[[], DataFrame]
    step: str
    info: str

    @cached_property
    def count(self) -> int:
        """The number of records; they are computed when it is first asked for."""
        return self.make().count()

    def frame(self) -> DataFrame:
        """Return the error records in Glue's shape."""
        made = self.make()
        error = F.struct(
            F.struct(F.lit(self.step).alias("site"), F.lit(self.info).alias("info")).alias(
                "callsite"
            ),
            F.col("msg"),
            F.col("stackTrace"),
            *(
                (F.col(name) if name in made.columns else F.lit(nothing)).cast(kind).alias(name)
                for name, (nothing, kind) in READER_FIELDS.items()
            ),
            F.col("dynamicRecord"),
        )
        return made.select(error.alias("error"))


class ReaderErrors(list[Failed]):
    """What a reader could not read, and what it knows of the fields that records lack.

    `is_of_records` says whether the schema is that of the records, not one of their files.
    """

    absence: Absence | None = None
    is_of_records = False

    def note_absence(self, absence: Absence, *, is_of_records: bool = True) -> None:
        """Take in what is known of the records of some files."""
        self.is_of_records |= is_of_records
        known = self.absence
        if known is None or absence == known:
            self.absence = absence
        else:  # formats or folders that were read apart
            there = known.there & absence.there
            mixed = known.mixed | absence.mixed | ((known.there | absence.there) - there)
            is_told = known.is_told and absence.is_told
            self.absence = Absence(True, there, mixed, is_told, known.null | absence.null)


def count_errors(failed: Sequence[Failed]) -> int:
    """Return the number of error records of some steps."""
    return sum(one.count for one in failed)


def errors_frame(spark: SparkSession, failed: Sequence[Failed]) -> DataFrame:
    """Return the error records of some steps, in a column ``error``."""
    if not failed:
        return spark.createDataFrame([], f"error {SHAPE}")
    return reduce(union, [one.frame() for one in failed])


def check_thresholds(
    failed: Sequence[Failed], own: Sequence[Failed], stage: int, total: int
) -> None:
    """Count errors where a threshold is set."""
    for which, threshold, steps in (("stage", stage, own), ("total", total, failed)):
        if threshold > 0 and (count := count_errors(steps)) > threshold:
            first = next(one for one in steps if one.count).make().first()
            text = first["msg"] if first else ""
            raise ErrorThresholdError(
                f"{count} records have errors and {which}Threshold allows {threshold}; the first "
                f"one is: {text}"
            )
