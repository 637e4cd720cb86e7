"""Rows that a contract rescues or takes out, counted while they are written: nothing is read twice.

A repeat of a window counts its rows again. What `Contract.apply` and `split` make is not counted:
who writes it, and when, is not known here.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from threading import Thread
from typing import TYPE_CHECKING

from watermarks.metrics import RESCUED, rows_report

from .columns import escaped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from watermarks.schema import Contract
    from watermarks.windows.window import Window

_WAIT_S = 30  # Spark drops events where it has too many: no count is worth a run that hangs


class Tally:
    """A frame that counts some of its rows while it is written.

    Attributes:
        frame: the frame to write.
    """

    def __init__(self, frame: DataFrame, metric: str, column: str = "") -> None:
        """Count the rows that have a value in a column; without a column all rows."""
        from pyspark.sql import Observation, functions

        self._metric, self._observation = metric, Observation()
        counted = functions.count(escaped(column) if column else functions.lit(1)).alias("rows")
        self.frame = frame.observe(self._observation, counted)

    @classmethod
    def of_rescued(cls, frame: DataFrame, schema: Contract | None) -> Tally | None:
        """Return the frame with its rescued rows counted; None if its contract rescues nothing."""
        if schema is None or "rescue" not in (schema.columns, schema.types):
            return None
        return cls(frame, RESCUED, schema.rescued)

    def report(self, window: Window, target: str) -> None:
        """Write a line of the job's log if there were such rows; the frame has been written."""
        counts = list[int]()
        waiting = Thread(target=lambda: counts.append(self._observation.get["rows"]), daemon=True)
        waiting.start()
        waiting.join(_WAIT_S)
        if any(counts):
            line = rows_report(window.job_id, self._metric, counts[0], target, datetime.now(UTC))
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
