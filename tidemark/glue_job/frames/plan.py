"""The rows of a DynamicFrame, computed on demand, and the errors of the steps to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from tidemark.errors import ArgumentError, ArgumentTypeError
from tidemark.glue_job.frames.absence import ALL_THERE, Absence
from tidemark.glue_job.frames.choices import schema_of
from tidemark.glue_job.frames.errors import Failed, ReaderErrors, check_thresholds
from tidemark.glue_job.frames.record_schemas import schema_of_records, seen_in
from tidemark.glue_job.frames.types import Steps, as_struct_type


@dataclass(frozen=True)
class StepLimits:
    """Arguments that every transform takes: a note for its errors, and how many are allowed.

    0 allows any number. A threshold may be a string, like a job argument: AWS's library parses it.

    Raises:
        ArgumentError: it is not a number; also a ValueError.
        ArgumentTypeError: it has another type; also a TypeError.
    """

    step: str = ""
    info: str = ""
    stage: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        """Convert the thresholds to numbers."""
        object.__setattr__(self, "stage", _number(self.stage, "stageThreshold"))
        object.__setattr__(self, "total", _number(self.total, "totalThreshold"))


def _number(value: object, name: str) -> int:
    text = f"{name} is {value!r}; it must be a whole number, 0 for any number of errors"
    if not isinstance(value, int | float | str):
        raise ArgumentTypeError(text)
    try:
        return int(value)
    except ValueError as error:
        raise ArgumentError(text) from error


@dataclass(frozen=True)
class Plan:
    """Rows with marked choices, and the errors of the steps that led to them.

    Attributes:
        make: returns the rows; called at most once.
        failed: records that failed in any step, those of the last step at the end.
        own: records that failed in the last step.
        limits: limits of the last step.
        absence_of: returns the meaning of nulls in the rows.
        is_dynamic: whether the schema comes from the records, not from a definition.
        boxes: fields of unboxed strings, whose schema always comes from the records.
    """

    make: Callable[[], DataFrame]
    failed: tuple[Failed, ...] = ()
    own: tuple[Failed, ...] = ()
    limits: StepLimits = field(default_factory=StepLimits)
    absence_of: Callable[[], Absence] = lambda: ALL_THERE
    is_dynamic: bool = False
    boxes: frozenset[Steps] = frozenset()

    @classmethod
    def of(cls, frame: DataFrame) -> "Plan":
        """Return the plan of existing rows."""
        return cls(lambda: frame)

    @classmethod
    def of_source(cls, frame: DataFrame, failed: ReaderErrors) -> "Plan":
        """Return the plan of the rows of a source, and of the records that its reader rejected."""
        absence, records = failed.absence or ALL_THERE, tuple(failed)
        return cls(
            lambda: frame,
            records,
            records,
            absence_of=lambda: absence,
            is_dynamic=failed.is_of_records,
        )

    def first(self, number: int | None) -> "Plan":
        """Return the plan of the first rows only; None means all."""
        if number is None:
            return self
        return replace(self, make=lambda: self.frame.limit(number)).of_some_records()

    @cached_property
    def frame(self) -> DataFrame:
        """The rows, with marked choices."""
        return self.make()

    @cached_property
    def absence(self) -> Absence:
        """The meaning of nulls in the rows."""
        return self.absence_of()

    @cached_property
    def schema(self) -> StructType:
        """The schema of the records; computes them if it depends on them."""
        if not self.is_dynamic and not self.boxes:
            return self.frame_schema
        seen = schema_of_records(self.frame, self.absence)
        if self.is_dynamic:
            return seen
        return as_struct_type(seen_in(self.frame_schema, seen, self.boxes))

    @property
    def frame_schema(self) -> StructType:
        """The schema of the rows, including fields that no record has."""
        return schema_of(self.frame)

    def with_absence(self, absence_of: Callable[[], Absence]) -> "Plan":
        """Return the plan with another meaning of its nulls."""
        return replace(self, absence_of=absence_of)

    def of_some_records(self) -> "Plan":
        """Return the plan of a step that drops records."""
        absence_of = self.absence_of
        return self.with_absence(lambda: absence_of().of_some_records())

    def then(
        self,
        make: Callable[[], DataFrame],
        limits: StepLimits,
        *others: "Plan",
        own: tuple[Failed, ...] = (),
    ) -> "Plan":
        """Return the plan of the next step."""
        failed = [*self.failed, *(step for plan in others for step in plan.failed), *own]
        plan = replace(self, make=make, failed=tuple(failed), own=own, limits=limits)
        if others:
            is_dynamic = any(plan.is_dynamic for plan in (self, *others))
            plan = replace(plan, is_dynamic=is_dynamic).with_absence(
                lambda: self._absence_with(others)
            )
        # This computes the rows, if a threshold is set; else nothing is computed yet.
        plan.check()
        return plan

    def _absence_with(self, others: "Sequence[Plan]") -> Absence:
        absence, kind = self.absence, schema_of(self.frame)
        for plan in others:
            other = schema_of(plan.frame)
            absence = absence.with_other(plan.absence, kind, other)
            kind = StructType([*kind, *other])
        return absence

    def check(self) -> None:
        """Count errors if a threshold is set."""
        check_thresholds(self.failed, self.own, self.limits.stage, self.limits.total)


def check_frame(kind: type, frame: object, step: str) -> None:
    """Raise AttributeError, like AWS's library, if an argument is not a DynamicFrame."""
    if not isinstance(frame, kind):
        raise AttributeError(
            f"{step} needs a DynamicFrame, and got {type(frame).__name__}: convert a Spark "
            "DataFrame with DynamicFrame.fromDF"
        )
