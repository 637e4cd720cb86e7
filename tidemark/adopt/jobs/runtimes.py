"""The runtime of a job by its old definition, or the nearest that can be declared."""

from collections.abc import Collection
from typing import Any

from tidemark.adopt.reading import Reading
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import (
    AUTO,
    DECLARABLE,
    DEFAULT_GLUE_VERSION,
    UNNAMED_GLUE_VERSION,
)
from tidemark.model.stage.runtime import (
    FLEX_WORKER_TYPES,
    GLUE_VERSION,
    MAX_MINUTES,
    PYTHON,
    WORKER_TYPES,
    JobRuntime,
    ShellCapacity,
    ShellRuntime,
    StreamingRuntime,
)

VERSIONS = "https://docs.aws.amazon.com/glue/latest/dg/release-notes.html"
MINUTES, OLD_MINUTES = 480, 2880  # Glue's default for a job, from 5.0 and before
AUTO_SCALING = ("DefaultArguments", "--enable-auto-scaling")


def runtime_of(job: Reading) -> JobRuntime:
    """Return the runtime of a job, and account for its properties."""
    do = f"read what changed since ({VERSIONS}), and run the script here: tidemark run"
    version = version_of(job, do)
    do = "compare the memory and the duration of its first run with those of the old job"
    worker = worker_type_of(job, WORKER_TYPES, do)
    runtime = JobRuntime(
        worker_type=worker,
        number_of_workers=_workers(job, worker),
        auto_scaling=auto_scaling_of(job),
        flex=_flex(job, worker),
        timeout_minutes=timeout_of(job),
        max_retries=retries_of(job, version),
        glue_version=version,
    )
    queue(job, is_queued=runtime.queues)
    return runtime


def version_of(job: Reading, do: str) -> str:
    """Return the version of Glue of a Spark job, as AWS runs it, and account for its property.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html (6.0 where a job names
    none)
    """
    version = job.get("GlueVersion")
    if version in DECLARABLE:
        return str(job.take("GlueVersion"))
    if version is None:
        what = f"it names none, and AWS creates such a job with {UNNAMED_GLUE_VERSION}, Spark 4, "
        why = f"{what}since August 2026; the job gets that"
        do = "set the one that `aws glue get-job` shows, if the job was made before"
        job.differ("GlueVersion", why=why, do=do)
        return UNNAMED_GLUE_VERSION
    allowed = f"the constructs declare Glue {', '.join(DECLARABLE)}"
    job.differ("GlueVersion", why=f"{allowed}; the job gets {DEFAULT_GLUE_VERSION}", do=do)
    return DEFAULT_GLUE_VERSION


def retries_of(job: Reading, version: str) -> int:
    """Return how often a failed run is tried again, and account for the property."""
    if version == AUTO and not job.get("MaxRetries"):
        why = f"Glue takes GlueVersion {AUTO} with 1 or more only; the job gets 1"
        job.differ("MaxRetries", why=why, do="nothing")
        return 1
    return int(job.take("MaxRetries") or 0)


def worker_type_of(job: Reading, allowed: Collection[str], do: str) -> str:
    """Return the worker type of a job, or G.1X where its own cannot be declared."""
    if job.get("WorkerType") in allowed:
        return str(job.take("WorkerType"))
    why = f"allowed are {', '.join(allowed)}; the job gets G.1X"
    job.differ("WorkerType", why=why, do=do)
    return "G.1X"


def _workers(job: Reading, worker: str) -> int:
    number, is_known = job.get("NumberOfWorkers"), worker == job.get("WorkerType")
    if number is None:
        is_known = False
        number = max(2, int(job.get("MaxCapacity") or job.get("AllocatedCapacity") or 10))
    why, do = "it follows from the workers", "nothing"
    if not is_known:
        why = f"jobs are declared by workers; the job gets {number} of {worker}"
        do = "compare the duration of its first run with that of the old job"
    for key in ("AllocatedCapacity", "MaxCapacity"):
        if job.get(key) is not None:
            job.differ(key, why=why, do=do)
    is_set = job.get("NumberOfWorkers") is not None
    allowed = number_of_workers(job, JobRuntime, worker, number)
    if not is_set and allowed == number:
        job.differ("NumberOfWorkers", why=f"it was not set; the job gets {number}", do=do)
    return allowed


def number_of_workers(
    job: Reading, runtime: type[JobRuntime | StreamingRuntime], worker: str, number: Any
) -> int:
    """Return a number of workers if a runtime may have it, else 2; account for the property."""
    try:
        runtime(worker_type=worker, number_of_workers=number)
    except JobDefinitionError as error:
        job.differ("NumberOfWorkers", why=f"{error}; the job gets 2", do="set the number it needs")
        return 2
    job.take("NumberOfWorkers")
    return int(number)


def auto_scaling_of(job: Reading) -> bool:
    """Return whether Glue adds and removes workers, and account for the argument."""
    is_on = job.takes(*AUTO_SCALING, values=["true"])
    if not is_on and job.get(*AUTO_SCALING) is not None:
        job.differ(*AUTO_SCALING, why="without it Glue does not scale either", do="nothing")
    return is_on


def _flex(job: Reading, worker: str) -> bool:
    job.takes("ExecutionClass", values=["STANDARD"])
    is_flex = job.get("ExecutionClass") == "FLEX"
    if is_flex and worker not in FLEX_WORKER_TYPES:
        why = f"FLEX has the workers {', '.join(FLEX_WORKER_TYPES)} only; the job gets STANDARD"
        job.differ("ExecutionClass", why=why, do="choose other workers to have FLEX")
        return False
    return is_flex and job.takes("ExecutionClass", values=["FLEX"])


def timeout_of(job: Reading) -> int:
    """Return the minutes after which Glue stops a run, and account for its property."""
    minutes = job.get("Timeout")
    if isinstance(minutes, int) and 1 <= minutes <= MAX_MINUTES:
        return int(job.take("Timeout"))
    version = str(job.get("GlueVersion") or UNNAMED_GLUE_VERSION)
    default = MINUTES if version in DECLARABLE or version >= "5" else OLD_MINUTES
    allowed = f"it has to be from 1 to {MAX_MINUTES:,} minutes"
    why = f"{allowed}; the job gets {default}, Glue's default"
    job.differ("Timeout", why=why, do="set the longest time of its runs")
    return default


def queue(job: Reading, *, is_queued: bool) -> None:
    """Account for whether runs wait for capacity."""
    is_same = job.takes("JobRunQueuingEnabled", values=[is_queued])
    if not is_same and job.get("JobRunQueuingEnabled") is not None:
        what = f"the job gets {is_queued}: runs wait for capacity where they may"
        why = f"{what}, that is, STANDARD and without retries"
        do = "nothing, unless a run has to fail rather than wait"
        job.differ("JobRunQueuingEnabled", why=why, do=do)


SHELL_PYTHON = ".".join(map(str, PYTHON))
LIBRARIES = ("DefaultArguments", "library-set")


def shell_runtime_of(job: Reading) -> ShellRuntime:
    """Return the runtime of a Python shell job, and account for its properties."""
    if not job.takes("GlueVersion", values=[GLUE_VERSION]):
        why = f"Python shell jobs get Glue {GLUE_VERSION}, the one with Python {SHELL_PYTHON}"
        job.differ("GlueVersion", why=why, do="see that the script runs on that Python")
    sizes = {size.value: size for size in ShellCapacity}
    if not job.takes("MaxCapacity", values=sizes):
        allowed = f"allowed are {', '.join(map(str, sizes))}"
        why = f"{allowed}; the job gets {ShellCapacity.LARGE.value}"
        do = "compare the memory that it takes; a sixteenth may do"
        job.differ("MaxCapacity", why=why, do=do)
    runtime = ShellRuntime(
        capacity=sizes.get(job.get("MaxCapacity"), ShellCapacity.LARGE),
        timeout_minutes=timeout_of(job),
        max_retries=job.take("MaxRetries") or 0,
        analytics_libraries=_libraries(job),
    )
    queue(job, is_queued=runtime.max_retries == 0)
    return runtime


def _libraries(job: Reading) -> bool:
    if job.get(*LIBRARIES) in ("analytics", "none"):
        return str(job.take(*LIBRARIES)) == "analytics"
    why = "it is analytics or none; the job gets analytics, which has what either has"
    do = "set analytics_libraries=False, if the script needs none of them"
    job.differ(*LIBRARIES, why=why, do=do)
    return True
