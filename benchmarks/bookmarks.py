"""Measures job bookmarks against Spark's own file stream: `python -m benchmarks.bookmarks`.

Both read the same one-row JSON files in one Spark session, by turns: the whole of a first read, a
read with nothing new, and a read with 100 new files. The session's start is not counted. What the
bookmark alone decides is measured without Spark, each time in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import PROJECT, Result
from tidemark.glue_job.process.spark import write_spark_conf
from tidemark.local_state.bookmarks.reading import read_s3_source
from tidemark.local_state.bookmarks.sources import Edges, S3Source
from tidemark.local_state.bookmarks.versions import pack, unpack
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.sites import SITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMAND = "python -m benchmarks.bookmarks"
FILES, MANY_FILES, NEW_FILES = 100_000, 1_000_000, 100
SIZES = (500, 2_000, 10_000, 50_000, 50_001)  # around MANY and where Glue begins to group
FOLDER_SIZE = 1_000
ROUNDS = 3
URI = "s3://bench/in/"
SCHEMA = "id BIGINT, name STRING"
LONG_AGO_S = 86_400


def put_files(folder: Path, first: int, count: int, age_s: float) -> None:
    """Write one-row JSON files, `FOLDER_SIZE` to a folder, last modified some seconds ago."""
    at = time.time() - age_s
    for number in range(first, first + count):
        path = folder / f"{number // FOLDER_SIZE:05}" / f"{number:08}.json"
        if number % FOLDER_SIZE == 0 or number == first:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"id": {number}, "name": "row {number}"}}\n', encoding="utf-8")
        os.utime(path, (at, at))


def measure() -> list[Result]:
    """Return what deciding costs, and both readers side by side with their ratios."""
    return [*_deciding(FILES), *_deciding(MANY_FILES), *_reading(), *measure_sizes()]


def _deciding(count: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "in"
        put_files(files, 0, count, LONG_AGO_S)
        first = _decide(files, "first")
        rounds = ROUNDS if count == FILES else 1
        known = [_decide(files, "known") for _ in range(rounds)]
        for path in files.rglob("*.json"):
            os.utime(path)
        _decide(files, "first")
        fresh = [_decide(files, "known") for _ in range(rounds)]
    target = "target 1.0 s" if count == FILES else "target 10 s, 500 MB"
    name = f"deciding, {count:,} known files"
    return [
        Result(f"{name}, first run", COMMAND, [first[0]], _note(first)),
        Result(name, COMMAND, [r[0] for r in known], f"{target}; {_note(known[-1])}"),
        Result(f"{name}, all in the band", COMMAND, [r[0] for r in fresh], _note(fresh[-1])),
    ]


def _decide(files: Path, what: str) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.bookmarks", "--decide", str(files), what]
    run = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)  # noqa: S603
    return list(json.loads(run.stdout))


def _decided(folder: Path, what: str) -> list[float]:
    """Decide what a run reads; return seconds, peak in MB, MB of it, files, bytes of the state.

    The seconds are of the processor, which waits for nothing. The MB are those for the files.
    """
    stored, source = folder.parent / "state", S3Source((URI,), "landing", "json", recurse=True)
    begin, before = time.process_time(), _peak_mb()
    low = None if what == "first" else unpack(stored.read_bytes())
    reading = read_s3_source(source, lambda _: folder, round(time.time() * 1000), Edges(low))
    packed = pack(reading.next_state)
    seconds, peak = time.process_time() - begin, _peak_mb()
    stored.write_bytes(packed)
    return [seconds, peak, peak - before, len(reading.files), len(packed)]


def _peak_mb() -> float:
    # Not getrusage, which counts the process that this one was forked from.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _note(result: list[float]) -> str:
    memory = f"peak {result[1]:.0f} MB, {result[2]:.0f} MB of it for the files"
    return f"of the processor; {memory}, state {result[4] / 1024:,.0f} KB"


def _reading() -> list[Result]:
    seconds: dict[str, list[list[float]]] = _in_spark("--reading", (FILES,))
    results = []
    for what, pairs in seconds.items():
        ours, peer = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        ratio = [b / a for a, b in pairs]
        target = "no slower" if what == "first read" else "target 5 times"
        results += [
            Result(f"{what} of {FILES:,} files, bookmark", COMMAND, ours),
            Result(f"{what} of {FILES:,} files, Spark's file stream", COMMAND, peer),
            Result(f"{what}, how many times faster", COMMAND, ratio, target),
        ]
    return results


def measure_sizes() -> list[Result]:
    """Return what a first read costs by the number of files: no more for one file less."""
    seconds: dict[str, float] = _in_spark("--sizes", SIZES)
    return [
        Result(f"first read of {int(count):,} files", f"{COMMAND} --by-size", [each])
        for count, each in seconds.items()
    ]


def _in_spark(what: str, counts: Sequence[int]) -> Any:
    """Return what this module prints in a process with a Spark session, and files in folders."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.open(Path(folder) / "home")
        for count in counts:
            put_files(home.lake / "bench" / _folder(count), 0, count, LONG_AGO_S)
        run_folder = home.runs / "bench"
        run_folder.mkdir()
        memory = {"spark.driver.memory": "4g"}
        spark_variables = write_spark_conf(run_folder, home, find_java_home(), memory)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(PROJECT), *map(str, SITES))),
            "TIDEMARK_HOME": str(home.root),
            **spark_variables,
        }
        command = [sys.executable, "-m", "benchmarks.bookmarks", what]
        run = subprocess.run(  # noqa: S603 (ourselves)
            command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(run.stdout.splitlines()[-1])


def _folder(count: int) -> str:
    return "in" if count == FILES else f"in-{count}"


def _read_by_size() -> dict[int, float]:
    """Return the seconds of a first read by the number of files, in a process with Spark."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    _ours(session, f"s3://bench/{_folder(min(SIZES))}/", "warm")

    def read(count: int) -> int:
        return _ours(session, f"s3://bench/{_folder(count)}/", f"of {count}")

    return {count: _timed(partial(read, count), count) for count in SIZES}


def _read_by_turns() -> dict[str, list[tuple[float, float]]]:
    """Return the seconds of both readers, called in the process that has the Spark session."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    home = Path(os.environ["TIDEMARK_HOME"])
    files, warm = home / "lake" / "bench" / "in", home / "lake" / "bench" / "warm"
    put_files(warm, 0, 2, LONG_AGO_S)
    _ours(session, "s3://bench/warm/", "warm")
    _peer(session, "s3://bench/warm/", home / "warm")

    def turn(expected: int) -> tuple[float, float]:
        ours = _timed(lambda: _ours(session, URI, "bench"), expected)
        return ours, _timed(lambda: _peer(session, URI, home / "checkpoint"), expected)

    seconds = {"first read": [turn(FILES)], "nothing new": [turn(0) for _ in range(ROUNDS)]}
    new = []
    for number in range(ROUNDS):
        put_files(files, FILES + number * NEW_FILES, NEW_FILES, 0)
        new.append(turn(NEW_FILES))
    return {**seconds, f"{NEW_FILES} new": new}


def _timed(read: Callable[[], int], expected: int) -> float:
    begin = time.monotonic()
    rows = read()
    seconds = time.monotonic() - begin
    if rows != expected:
        raise RuntimeError(f"read {rows} rows instead of {expected}")
    return seconds


def _ours(session: "SparkSession", uri: str, job_name: str) -> int:
    from awsglue.context import GlueContext
    from awsglue.job import Job

    glue_context = GlueContext(session.sparkContext)
    job = Job(glue_context)
    job.init(job_name, {"job_bookmark_option": "job-bookmark-enable", "JOB_RUN_ID": "jr_1"})
    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [uri], "recurse": True}, "json", transformation_ctx="landing"
    )
    rows = frame.toDF().agg({"*": "count"}).collect()[0][0] if frame.toDF().columns else 0
    job.commit()
    return int(rows)


def _peer(session: "SparkSession", uri: str, checkpoint: Path) -> int:
    rows: list[int] = []
    reader: Any = session.readStream.schema(SCHEMA).option("recursiveFileLookup", True)
    query = (
        reader.json(uri)
        .writeStream.trigger(availableNow=True)
        .option("checkpointLocation", checkpoint.as_uri())
        .foreachBatch(lambda batch, _: rows.append(batch.count()))
        .start()
    )
    query.awaitTermination()
    return sum(rows)


if __name__ == "__main__":
    if "--decide" in sys.argv:
        folder_of_files, case = sys.argv[-2:]
        print(json.dumps(_decided(Path(folder_of_files), case)))  # noqa: T201 (read by the parent)
    elif "--reading" in sys.argv:
        print(json.dumps(_read_by_turns()))  # noqa: T201 (read by the parent)
    elif "--sizes" in sys.argv:
        print(json.dumps(_read_by_size()))  # noqa: T201 (read by the parent)
    elif "--by-size" in sys.argv:
        for result in measure_sizes():
            print(result.row())  # noqa: T201 (a command)
    else:
        for result in measure():
            print(result.row())  # noqa: T201 (a command)
