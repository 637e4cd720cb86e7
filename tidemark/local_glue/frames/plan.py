"""The rows of a DynamicFrame, computed when they are needed, and the errors on the way to them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyspark.sql import DataFrame

from tidemark.local_glue.frames.errors import Failed, check_thresholds


@dataclass(frozen=True)
class Limits:
    """What every transform takes: a text for its errors, and how many are too many; 0 is any."""

    step: str = ""
    info: str = ""
    stage: int = 0
    total: int = 0


@dataclass(frozen=True)
class Plan:
    """Rows with marked choices, and the errors of the steps that led to them.

    Attributes:
        make: returns the rows; called at most once.
        failed: of all steps, the last one's at the end.
        own: of the last step.
        limits: of the last step.
    """

    make: Callable[[], DataFrame]
    failed: tuple[Failed, ...] = ()
    own: tuple[Failed, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(cls, frame: DataFrame) -> "Plan":
        """Return the plan of rows that are there."""
        return cls(lambda: frame)

    @classmethod
    def read(cls, read: Callable[[list[Failed]], DataFrame]) -> "Plan":
        """Return the plan of a source: its rows, and what its reader could not read."""
        failed: list[Failed] = []
        frame = read(failed)
        return cls(lambda: frame, tuple(failed), tuple(failed))

    def first(self, number: int | None) -> "Plan":
        """Return the plan of the first rows only; of all for None."""
        return self if number is None else replace(self, make=lambda: self.frame.limit(number))

    @cached_property
    def frame(self) -> DataFrame:
        """The rows, with marked choices."""
        return self.make()

    def then(
        self,
        make: Callable[[], DataFrame],
        limits: Limits,
        *others: "Plan",
        own: tuple[Failed, ...] = (),
    ) -> "Plan":
        """Return the plan of a next step.

        Args:
            make: returns its rows.
            limits: what its call says of errors.
            others: plans that it takes beside this one.
            own: the errors of the step.

        Raises:
            ErrorThresholdError: there are too many errors.
        """
        failed = [*self.failed, *(one for other in others for one in other.failed), *own]
        plan = replace(self, make=make, failed=tuple(failed), own=own, limits=limits)
        plan.check()
        return plan

    def check(self) -> None:
        """Count errors where a threshold is set.

        Raises:
            ErrorThresholdError: there are too many.
        """
        check_thresholds(self.failed, self.own, self.limits.stage, self.limits.total)
