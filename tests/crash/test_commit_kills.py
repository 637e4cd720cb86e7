"""A write that dies between any two objects of its commit, as S3 and its readers then are.

In one JVM for all: from the object on, the recorder lets the JVM change nothing more, which leaves
the lake as SIGKILL does. `matrix.md` has the table; TIDEMARK_WRITE_MATRIX=1 writes it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

import pytest

from tests.crash.commit_writes import NEW, PER_FILE, WRITES, Lake, Outcome, shown
from tests.edge import recording
from tests.waiting import wait_until
from tidemark.glue_service.runs.job_run_process import (
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
)
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.make import spark_for
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.definitions import JobDefinition
from watermarks import Watermarks

pytestmark = pytest.mark.spark

MATRIX = Path(__file__).parent / "matrix.md"
TITLE = "\n## Between two objects of a commit\n"
HEADER = """\
Six rows were there, and a write of six others, in two files, was killed after each object that it
put, copied or deleted, with S3's semantics (`--s3-semantics`). Then the same write ran again, as a
retry does. A reader sees old and new rows; equal: what a write that nothing killed leaves.

| write | killed after | a reader sees old, new | the retry leaves |
|---|---|---|---|
"""
# The most telling kills are tried at every change, all of them every night.
ON_EVERY_CHANGE = (
    ("Parquet, append, S3-optimized committer", 1),
    ("JSON, append, FileOutputCommitter 1", 6),
    ("DynamicFrame, JSON", 1),
)


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
def lake(spark, spark_home, s3) -> Iterator[Lake]:
    spark.conf.set(PER_FILE, "3")
    with ExitStack() as stack:

        def open_watermarks() -> Watermarks:
            endpoint = stack.enter_context(dynamodb_endpoint(spark_home))
            client = stack.enter_context(dynamodb_client(endpoint, "us-east-1"))
            create_tables(client, [watermark_table("kills")])
            return Watermarks("kills", client)

        yield Lake(spark, s3, open_watermarks)
    spark.conf.unset(PER_FILE)


@pytest.mark.parametrize(("name", "after"), ON_EVERY_CHANGE)
def test_kill_in_the_middle_of_a_commit_leaves_what_the_document_says(lake, name, after):
    outcome, _ = lake.killed(WRITES[name], after)

    assert outcome == documented()[name, after]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "after"), ON_EVERY_CHANGE[:2])
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
