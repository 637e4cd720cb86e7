"""A write that dies between any two objects of its commit, as S3 and its readers then are.

In one JVM for all: from the object on, the recorder lets the JVM change nothing more, which leaves
the lake as SIGKILL does. `docs/crash-matrix.md` has the table; TIDEMARK_WRITE_MATRIX=1 writes it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from tests.edge import recording, s3_semantics
from tests.waiting import wait_until
from tidemark.glue_job.process.lake_fs.semantics import OPTIMIZED
from tidemark.glue_job.writers.formats import write_format
from tidemark.glue_job.writers.s3_files import write_files
from tidemark.glue_service.runs.job_run_process import (
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
)
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.make import spark_for
from tidemark.model.assembly.definitions import JobDefinition

pytestmark = pytest.mark.spark

MATRIX = Path(__file__).parents[2] / "docs" / "crash-matrix.md"
TITLE = "\n## Between two objects of a commit\n"
HEADER = """\
Six rows were there, and a write of six others, in two files, was killed after each object that it
put, copied or deleted, with S3's semantics (`--s3-semantics`). Then the same write ran again, as a
retry does. A reader sees old and new rows; equal: what a write that nothing killed leaves.

| write | killed after | a reader sees old, new | the retry leaves |
|---|---|---|---|
"""
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

    def run(self, spark: Any, uri: str, numbers: range) -> None:
        """Write rows by one task, in two files: an order of objects that is always the same."""
        half = numbers.start + 3
        rows = spark.range(numbers.start, numbers.stop, 1, 1)
        rows = rows.selectExpr("id", f"IF(id < {half}, 0, 1) AS part")
        if self.options is None:
            write_files(rows, uri, write_format(self.kind, {}, None))
            return
        writer = rows.write.mode(self.mode).options(**self.options)
        (writer.partitionBy(*self.keys) if self.keys else writer).save(uri, format=self.kind)

    def expected(self) -> Counter[int]:
        return Counter(NEW) + Counter(OLD if self.mode == "append" else ())


WRITES = {
    "Parquet, append, S3-optimized committer": Write({}),
    "Parquet, overwrite, S3-optimized committer": Write({}, "overwrite"),
    "JSON, append, FileOutputCommitter 1": Write(V1, kind="json"),
    "JSON, overwrite, FileOutputCommitter 1": Write(V1, "overwrite", kind="json"),
    "JSON, append, FileOutputCommitter 2": Write(V2, kind="json"),
    "JSON, overwrite, FileOutputCommitter 2": Write(V2, "overwrite", kind="json"),
    "Parquet, dynamic overwrite of partitions": Write(DYNAMIC, "overwrite", ("part",)),
    "DynamicFrame, JSON": Write(None, kind="json"),
}
# The most telling kills are tried at every change, all of them every night.
OF_EVERY_CHANGE = (
    ("Parquet, append, S3-optimized committer", 1),
    ("JSON, append, FileOutputCommitter 1", 6),
    ("DynamicFrame, JSON", 1),
)


@dataclass(frozen=True)
class Outcome:
    """What a kill leaves: what readers see, and what the retry makes of it."""

    seen: str
    left: str


class Lake:
    """A folder of the test with the old rows, to which writes go."""

    def __init__(self, spark: Any, s3: Any) -> None:
        self._spark, self._s3 = spark, s3

    def begin(self, write: Write) -> None:
        """Have the old rows and nothing else."""
        shutil.rmtree(self._s3.folder, ignore_errors=True)
        self._s3.folder.mkdir(parents=True)
        write.run(self._spark, self._s3.uri, OLD)

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
        with recording() as recorder, s3_semantics(self._spark, recorder):
            recorder.stop_after = after
            with suppress(Py4JJavaError) if after is not None else nullcontext():
                write.run(self._spark, self._s3.uri, NEW)
            return [shown(one, self._s3.uri) for one in recorder.changes]

    def changes(self, write: Write) -> list[str]:
        """Return the changes of a write that nothing kills."""
        return self.killed(write, 1000)[1]

    def rows(self, write: Write) -> Counter[int]:
        if not self._s3.folder.is_dir():
            return Counter()
        found = self._spark.read.schema("id LONG").load(self._s3.uri, format=write.kind)
        return Counter(row.id for row in found.select("id").collect())


def shown(change: str, uri: str) -> str:
    """Return a change without what no two runs share."""
    names = {
        r"part-\d{5}-[^ /]*[-.]c(\d{3})[^ /]*": r"part-\1",
        r"attempt_[\d_]+m_\d+_\d+": "attempt",
        r"task_[\d_]+m_\d+": "task",
        r"\.spark-staging-[^/ ]*": "stage",
    }
    change = change.replace(uri, "")
    for pattern, name in names.items():
        change = re.sub(pattern, name, change)
    return change


def difference(found: Counter[int], expected: Counter[int]) -> str:
    lost, more = (expected - found).total(), (found - expected).total()
    words = [f"{lost} lost" if lost else "", f"{more} doubled" if more else ""]
    return " and ".join(filter(None, words)) or "equal"


def documented() -> dict[tuple[str, int], Outcome]:
    """Return the outcomes in the document by write and number of changes made."""
    found, numbers = {}, Counter[str]()
    for line in MATRIX.read_text(encoding="utf-8").partition(TITLE)[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0] in WRITES:
            found[cells[0], numbers[cells[0]]] = Outcome(cells[2], cells[3])
            numbers[cells[0]] += 1
    return found


@pytest.fixture
def lake(spark, s3) -> Iterator[Lake]:
    spark.conf.set(PER_FILE, "3")
    yield Lake(spark, s3)
    spark.conf.unset(PER_FILE)


@pytest.mark.parametrize(("name", "after"), OF_EVERY_CHANGE)
def test_kill_in_the_middle_of_a_commit_leaves_what_the_document_says(lake, name, after):
    outcome, _ = lake.killed(WRITES[name], after)

    assert outcome == documented()[name, after]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "after"), OF_EVERY_CHANGE[:2])
def test_jvm_that_is_killed_leaves_what_one_does_that_may_change_nothing(
    lake, spark_home, s3, jvms, name, after
):
    write = WRITES[name]
    expected = lake.killed(write, after)[0].seen
    lake.begin(write)
    script = spark_home.lake / "assets" / "write_once.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(
        "from pyspark.sql import SparkSession\n"
        f"spark = SparkSession.builder.config({PER_FILE!r}, 3).getOrCreate()\n"
        f"rows = spark.range({NEW.start}, {NEW.stop}, 1, 1)\n"
        f"rows.write.mode({write.mode!r}).options(**{write.options!r})"
        f".save({s3.uri!r}, format={write.kind!r})\n",
        encoding="utf-8",
    )
    machine = Machine(
        spark_home, find_java_home(), "http://127.0.0.1:9", "us-east-1", jvms, semantics="s3"
    )

    with recording() as recorder:
        recorder.stop_after, recorder.on_stop = after, lambda jvm: os.kill(jvm, SIGKILL)
        edge = f"spark.hadoop.tidemark.edge={recorder.path}"
        job = JobDefinition("write-once", "s3://assets/write_once.py", "5.1", {"--conf": edge})
        process = start_job_run(machine, job, {}, plan_job_run(machine, job, {}, new_run_id(), 0))
        finished = wait_until(lambda: poll_job_run(process))
        made = [shown(one, s3.uri) for one in recorder.changes]
    jvms.want(1, spark_for("5.1"))  # for the next test: that of this run was killed

    assert finished.state == "FAILED", finished
    assert len(made) == after
    assert lake.seen(write) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("name", WRITES)
def test_kill_between_any_two_objects_leaves_what_the_document_says(lake, name):
    write = WRITES[name]
    changes = lake.changes(write)
    outcomes = [lake.killed(write, after) for after in range(len(changes) + 1)]

    for after, (_, made) in enumerate(outcomes):
        assert made == changes[:after]
    if os.environ.get("TIDEMARK_WRITE_MATRIX"):
        write_table(name, ["nothing", *changes], [outcome for outcome, _ in outcomes])
    found = {(name, after): outcome for after, (outcome, _) in enumerate(outcomes)}
    assert found == {key: value for key, value in documented().items() if key[0] == name}


def write_table(name: str, changes: list[str], outcomes: list[Outcome]) -> None:
    """Write the rows of one write into the document, in the order of WRITES."""
    before, _, table = MATRIX.read_text(encoding="utf-8").partition(TITLE)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    lines = [line for line in lines if line.split("|")[1].strip() != name]
    lines += [
        f"| {name} | {change} | {outcome.seen} | {outcome.left} |"
        for change, outcome in zip(changes, outcomes, strict=True)
    ]
    order = list(WRITES)
    kept = [line for line in lines if line.split("|")[1].strip() in WRITES]
    kept.sort(key=lambda line: order.index(line.split("|")[1].strip()))
    rows = "".join(f"{line}\n" for line in kept)
    MATRIX.write_text(f"{before}{TITLE}{HEADER}{rows}", encoding="utf-8")
