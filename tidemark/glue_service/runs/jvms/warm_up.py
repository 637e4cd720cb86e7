"""Keeps a pool for other commands, and runs a sample job in each JVM beforehand."""

import os
import queue
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import NoReturn, TypeAlias

from tidemark.errors import UsageError
from tidemark.glue_job.process.class_archive.make import SAMPLE_JOB
from tidemark.glue_job.process.pool import PoolGoneError, PoolSilentError, connect, read_pool_file
from tidemark.glue_job.process.spark import has_little_data
from tidemark.glue_service.entities import EntityKind, list_entities
from tidemark.glue_service.runs.job_run_process import (
    JobProcess,
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
    stop_job_run,
)
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import Jvms, memory_shortage
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.home import JVM_POOL_FILE, JVMS_FOLDER, Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark, installed_spark, own_glue_version
from tidemark.local_state.sparks.make import spark_for
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import SPARK, JobDefinition
from tidemark.model.assembly.glue_versions import RUN_HERE, version_of_job

NOWHERE = "http://127.0.0.1:9"  # the sample job uses no watermarks
BUCKET = "sample"
Over: TypeAlias = queue.SimpleQueue[Exception]
"""Gets the error that ends a command while it waits; of C, so that a signal leaves no lock held."""


@contextmanager
def pool_for_home(home: Home, size: int) -> Iterator[Jvms]:
    """Keep a pool that the commands of a home find, as long as the block runs."""
    file = home.root / JVM_POOL_FILE
    if (owner := _owner(file)) is not None:
        raise UsageError(
            f"process {owner} keeps JVMs for {home.root} already; stop it first, or set "
            "TIDEMARK_HOME to another folder"
        )
    if why := memory_shortage():
        raise UsageError(f"no pool of JVMs can be opened: {why}; run jobs without `serve`")
    with ExitStack() as stack:
        try:
            is_quick = partial(has_little_data, home)
            pool, _ = stack.enter_context(
                serve_pool(home.root / JVMS_FOLDER, find_java_home(), size, file, is_quick)
            )
        except OSError as error:
            raise UsageError(f"no pool of JVMs can be opened: {error.strerror or error}") from error
        yield Jvms(file, pool=pool)


def _owner(file: Path) -> int | None:
    try:
        # The process id of a killed owner may be another process by now.
        connect(file).close()
    except PoolSilentError:
        pass  # suspended: it continues later
    except PoolGoneError:
        return None
    pool = read_pool_file(file)
    return pool.pid if pool else None


def versions_to_warm(home: Home, size: int) -> list[str]:
    """Return a version of Glue for each JVM to warm: those of the jobs of a home, by turns.

    One of each Spark that is installed; without a job that of this Python.
    """
    with Store(home.database) as store:
        jobs = [entity.definition for entity in list_entities(store, EntityKind.JOB)]
    stated = {version_of_job(job) for job in jobs if job["Command"].get("Name", SPARK) == SPARK}
    by_spark = {
        spark: version
        for version in sorted(stated & set(RUN_HERE), reverse=True)
        if (spark := installed_spark(version)) is not None
    }
    versions = sorted(by_spark.values()) or [own_glue_version()]
    return list(islice(cycle(versions), size))


def keep_warm(
    home: Home, jvms: Jvms, size: int, say: Callable[[str], None], over: Over
) -> NoReturn:
    """Run the sample job in ``size`` JVMs at once, then replace those that end."""
    begin = time.monotonic()
    versions = versions_to_warm(home, size)
    wanted = Counter(map(spark_for, versions))
    _want(jvms, wanted)
    for run in warm_up(home, jvms, versions, over):
        if run.state != "SUCCEEDED":
            say(f"a JVM is not warm yet: {run.error_message}")
    say(f"warm JVMs: {size} ({time.monotonic() - begin:.0f} s)")
    while True:
        _want(jvms, wanted)
        _pause(over)


def _pause(over: Over) -> None:
    with suppress(queue.Empty):
        raise over.get(timeout=0.2)


def _want(jvms: Jvms, wanted: Mapping[Spark, int]) -> None:
    for spark, number in wanted.items():
        jvms.want(number, spark)


def warm_up(home: Home, jvms: Jvms, versions: Sequence[str], over: Over) -> list[JobRun]:
    """Run the sample job on versions of Glue at once, each in a temporary home."""
    # Named like the folders of pools: if this process is killed, the next one deletes it.
    with tempfile.TemporaryDirectory(
        dir=home.root / JVMS_FOLDER, prefix=f"{os.getpid()}-"
    ) as folder:
        running: list[JobProcess] = []
        try:
            for number, version in enumerate(versions):
                running.append(_start(jvms, Home.open(Path(folder) / str(number)), version))
            finished: list[JobRun] = []
            while running:
                _pause(over)
                ended = [(process, poll_job_run(process)) for process in running]
                finished += [run for _, run in ended if run is not None]
                running = [process for process, run in ended if run is None]
        finally:
            for process in running:
                stop_job_run(process)
    return finished


def _start(jvms: Jvms, home: Home, version: str) -> JobProcess:
    home.create_bucket(BUCKET)
    shutil.copyfile(SAMPLE_JOB, home.lake / BUCKET / SAMPLE_JOB.name)
    job = JobDefinition("sample", f"s3://{BUCKET}/{SAMPLE_JOB.name}", version)
    machine = Machine(home, find_java_home(), NOWHERE, "us-east-1", jvms)
    return start_job_run(machine, job, {}, plan_job_run(machine, job, {}, new_run_id(), 0))
