"""Writes of rows to S3 that are killed between any two objects, and what a reader then sees."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JJavaError

from tests.edge import recording, s3_semantics
from tidemark.glue_job.process.lake_fs.semantics import OPTIMIZED
from tidemark.glue_job.writers.formats import write_format
from tidemark.glue_job.writers.s3_files import write_files
from tidemark.glue_service.runs.job_run_process import new_run_id
from watermarks import Watermarks, read_committed, rows_of, write_window

OLD, NEW = range(6), range(6, 12)
ALGORITHM = "mapreduce.fileoutputcommitter.algorithm.version"
V1, V2 = {OPTIMIZED: "false", ALGORITHM: "1"}, {OPTIMIZED: "false", ALGORITHM: "2"}
DYNAMIC = {"partitionOverwriteMode": "dynamic"}
PER_FILE = "spark.sql.files.maxRecordsPerFile"


@dataclass(frozen=True)
class Write:
    """A way to write rows to a folder.

    Attributes:
        options: of the write; None: a sink of DynamicFrames.
        mode: of the write.
        keys: columns of partitions.
        kind: the format.
    """

    options: dict[str, str] | None
    mode: str = "append"
    keys: tuple[str, ...] = ()
    kind: str = "parquet"

    def run(self, lake: Lake, numbers: range) -> None:
        """Write rows by one task, in two files: an order of objects that is always the same."""
        half = numbers.start + 3
        rows = lake.frame(numbers).selectExpr("id", f"IF(id < {half}, 0, 1) AS part")
        if self.options is None:
            write_files(rows, lake.uri, write_format(self.kind, {}, None))
            return
        writer = rows.write.mode(self.mode).options(**self.options)
        (writer.partitionBy(*self.keys) if self.keys else writer).save(lake.uri, format=self.kind)

    def read(self, lake: Lake) -> Any:
        """Return the frame that a reader sees."""
        return lake.spark.read.schema("id LONG").load(lake.uri, format=self.kind)

    def expected(self) -> Counter[int]:
        return Counter(NEW) + Counter(OLD if self.mode == "append" else ())


class WindowWrite(Write):
    """A write of watermarks, read by those who read committed windows."""

    def run(self, lake: Lake, numbers: range) -> None:
        run_id, high = new_run_id(), numbers.stop - 1
        for window in lake.watermarks.windows(lake.job, run_id=run_id, cursor="id", high=high):
            write_window(rows_of(lake.frame(numbers), window), lake.uri, window)

    def read(self, lake: Lake) -> Any:
        windows = lake.watermarks.committed_windows(lake.job)
        return read_committed(lake.spark, lake.uri, windows, schema="id LONG")


WRITES = {
    "Parquet, append, S3-optimized committer": Write({}),
    "Parquet, overwrite, S3-optimized committer": Write({}, "overwrite"),
    "JSON, append, FileOutputCommitter 1": Write(V1, kind="json"),
    "JSON, overwrite, FileOutputCommitter 1": Write(V1, "overwrite", kind="json"),
    "JSON, append, FileOutputCommitter 2": Write(V2, kind="json"),
    "JSON, overwrite, FileOutputCommitter 2": Write(V2, "overwrite", kind="json"),
    "Parquet, dynamic overwrite of partitions": Write(DYNAMIC, "overwrite", ("part",)),
    "DynamicFrame, JSON": Write(None, kind="json"),
    "write_window, read_committed": WindowWrite({}),
}


@dataclass(frozen=True)
class Outcome:
    """What a kill leaves: what readers see, and what the retry makes of it."""

    seen: str
    left: str


class Lake:
    """A folder of the test with the old rows, to which writes go."""

    def __init__(self, spark: Any, s3: Any, open_watermarks: Callable[[], Watermarks]) -> None:
        self.spark, self.uri, self.job = spark, s3.uri, ""
        self._folder, self._open_watermarks = s3.folder, open_watermarks

    @cached_property
    def watermarks(self) -> Watermarks:
        return self._open_watermarks()

    def frame(self, numbers: range) -> Any:
        return self.spark.range(numbers.start, numbers.stop, 1, 1)

    def begin(self, write: Write) -> None:
        """Have the old rows and nothing else."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self.job = f"job-{new_run_id()}"
        write.run(self, OLD)

    def killed(self, write: Write, after: int) -> tuple[Outcome, list[str]]:
        """Kill a write after so many changes; return the outcome, and the changes made."""
        self.begin(write)
        made = self._run(write, after)
        seen = self.seen(write)
        self._run(write, None)
        return Outcome(seen, difference(self.rows(write), write.expected())), made

    def seen(self, write: Write) -> str:
        """Return how many old and new rows a reader sees."""
        rows = self.rows(write)
        return ", ".join(str(sum(rows[number] for number in numbers)) for numbers in (OLD, NEW))

    def _run(self, write: Write, after: int | None) -> list[str]:
        with recording() as recorder, s3_semantics(self.spark, recorder):
            recorder.stop_after = after
            with suppress(Py4JJavaError) if after is not None else nullcontext():
                write.run(self, NEW)
            return [shown(one, self.uri) for one in recorder.changes]

    def changes(self, write: Write) -> list[str]:
        """Return the changes of a write that nothing kills."""
        return self.killed(write, 1000)[1]

    def rows(self, write: Write) -> Counter[int]:
        if not self._folder.is_dir():
            return Counter()
        return Counter(row.id for row in write.read(self).select("id").collect())


def shown(change: str, uri: str) -> str:
    """Return a change without what no two runs share."""
    names = {
        r"part-\d{5}-[^ /]*[-.]c(\d{3})[^ /]*": r"part-\1",
        r"attempt_[\d_]+m_\d+_\d+": "attempt",
        r"task_[\d_]+m_\d+": "task",
        r"\.spark-staging-[^/ ]*": "stage",
        r"window=[^/]*/attempt=\d+": "window",
    }
    change = change.replace(uri, "")
    for pattern, name in names.items():
        change = re.sub(pattern, name, change)
    return change


def difference(found: Counter[int], expected: Counter[int]) -> str:
    lost, more = (expected - found).total(), (found - expected).total()
    words = [f"{lost} lost" if lost else "", f"{more} doubled" if more else ""]
    return " and ".join(filter(None, words)) or "equal"
