"""The runtime of a streaming job, its checkpoint, and the streams it reads: pure.

Sources: https://docs.aws.amazon.com/glue/latest/dg/add-job-streaming.html,
https://docs.aws.amazon.com/glue/latest/dg/glue-streaming-tutorial-studio.html (the script that Glue
Studio writes keeps its checkpoint below TempDir, by the name of the job)
"""

import re
from dataclasses import dataclass, replace

from tidemark.adopt.jobs.options import DEFAULTS, FIXED
from tidemark.adopt.jobs.runtimes import (
    auto_scaling_of,
    number_of_workers,
    retries_of,
    version_of,
    worker_type_of,
)
from tidemark.adopt.model import AdoptedJob, Folder, Guess, Reason
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.definitions import STREAMING
from tidemark.model.stage.runtime import (
    MAX_MINUTES,
    STREAMING_WORKER_TYPES,
    WINDOW,
    StreamingRuntime,
)

STREAM = re.compile(r"arn:[\w-]+:kinesis:[\w-]+:\d{12}:stream/[\w.-]{1,128}", re.ASCII)
NAMED = re.compile(r"""["']checkpointLocation["']\s*[:,]\s*["'](s3[an]?://[^"'{}\s]+)["']""")
STUDIO_CHECKPOINT = re.compile(
    r"""["']checkpointLocation["']\s*[:,]\s*args\[["']TempDir["']\]\s*\+\s*["']/["']\s*\+\s*"""
    r"""args\[["']JOB_NAME["']\]\s*\+\s*["']/checkpoint/?["']"""
)


@dataclass(frozen=True)
class Checkpoint:
    """Where a streaming job keeps how far it has come.

    Attributes:
        place: until now.
        moves: whether its script makes the place of the job's name, so that a new name is a new
            place.
    """

    place: Folder
    moves: bool = False

    def of(self, name: str) -> Folder:
        """Return the place of a job with a new name."""
        if not self.moves:
            return self.place
        above = self.place.prefix.removesuffix("checkpoint/").rstrip("/").rpartition("/")[0]
        return Folder(self.place.bucket, f"{above}/{name}/checkpoint/".lstrip("/"))


def checkpoint_of(job: Reading, script: str | None) -> Checkpoint | None:
    """Return the checkpoint of a streaming job, by its arguments or its script; None if unknown."""
    arguments = {**(job.get(DEFAULTS) or {}), **(job.get(FIXED) or {})}
    for name, value in arguments.items():
        place = place_of(str(value))
        if "checkpoint" in name.lower() and place and place.uri.rstrip("/") == value.rstrip("/"):
            return Checkpoint(place)
    match = NAMED.search(script or "")
    if match and (place := place_of(match[1])):
        return Checkpoint(place)
    temp = place_of(str(arguments.get("--TempDir", "")))
    is_studio = temp and STUDIO_CHECKPOINT.search(script or "")
    own = place_of(f"{temp.uri}{job.get('Name')}/checkpoint/") if temp and is_studio else None
    return Checkpoint(own, moves=True) if own else None


def streaming_refusal(job: Reading, script: str | None) -> Reason | None:
    """Return why a streaming job cannot be declared, and what to do; None if it can."""
    if checkpoint_of(job, script):
        return None
    return (
        "it is a streaming job, and neither an argument nor its script shows which folder its "
        "checkpoint is",
        "declare it with pipeline.add_streaming_job(...); it continues from the checkpoint of the "
        "old one, which has to be stopped first",
    )


def guess_of_streams(job: AdoptedJob) -> Guess:
    """Return what is guessed of the streams that a job reads."""
    what = f"it reads {', '.join(job.streams)}, which it names"
    if not job.streams:
        what = "which stream it reads, only a table of the catalog or its connection says"
        is_connected = job.connections or job.tables
        what = what if is_connected else "nothing shows which stream it reads"
    do = (
        "see that these are all: sources=[KinesisStream(arn, key_arn=...), MskTopics(...)]; Kafka "
        "without IAM access control needs connections= only"
    )
    return Guess(f"job {job.old}", what, do)


def is_streaming(job: Reading) -> bool:
    """Return whether a job is a streaming job."""
    return bool(job.get("Command", "Name") == STREAMING)


def streaming_job(job: AdoptedJob, reading: Reading, script: str | None) -> AdoptedJob:
    """Return a job with its checkpoint, which a new name may move, and the streams it names."""
    checkpoint = checkpoint_of(reading, script)
    if checkpoint is None:  # then it is left out
        return job
    arguments = {k: v for k, v in job.arguments.items() if k != "checkpoint"}  # the construct's own
    texts = [*arguments.values(), script or ""]
    return replace(
        job,
        arguments=arguments,
        checkpoint=checkpoint.of(job.name),
        old_checkpoint=checkpoint.place,
        streams=tuple(dict.fromkeys(arn for text in texts for arn in STREAM.findall(text))),
    )


def streaming_runtime_of(job: Reading) -> StreamingRuntime:
    """Return the runtime of a streaming job, and account for its properties."""
    older = "Spark reads a checkpoint of an older version, and an older one may not read it after"
    version = version_of(job, f"read what changed since; {older} that: keep a copy of it")
    do = "compare how it keeps up with that of the old job"
    worker = worker_type_of(job, STREAMING_WORKER_TYPES, do)
    window = job.get("MaintenanceWindow")
    if isinstance(window, str) and WINDOW.fullmatch(window):
        job.take("MaintenanceWindow")
    elif window is not None:
        job.differ("MaintenanceWindow", why="it is a day and an hour, Sun:10", do="set another")
        window = None
    runtime = StreamingRuntime(
        worker_type=worker,
        number_of_workers=_workers(job, worker),
        auto_scaling=auto_scaling_of(job),
        max_retries=retries_of(job, version),
        maintenance_window=window,
        timeout_minutes=_timeout(job, has_window=window is not None),
        glue_version=version,
    )
    for key in ("ExecutionClass", "JobRunQueuingEnabled", "NotificationProperty"):
        if job.get(key) is not None:
            job.differ(key, why="a run of a streaming job does not end: it has none", do="nothing")
    return runtime


def _workers(job: Reading, worker: str) -> int:
    number = job.get("NumberOfWorkers")
    for key in ("AllocatedCapacity", "MaxCapacity"):
        if job.get(key) is not None:
            job.differ(key, why="jobs are declared by workers", do="compare the two")
    return number_of_workers(job, StreamingRuntime, worker, number)


def _timeout(job: Reading, *, has_window: bool) -> int | None:
    minutes = job.get("Timeout")
    if isinstance(minutes, int) and 1 <= minutes < MAX_MINUTES and not has_window:
        return int(job.take("Timeout"))
    if minutes is not None:
        why = "a run does not end without a failure; Glue restarts it in its maintenance window"
        job.differ("Timeout", why=why, do="set timeout_minutes for a stream that is to end")
    return None
