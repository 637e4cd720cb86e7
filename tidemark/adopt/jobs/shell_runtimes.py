"""The runtime of a Python shell job by its old definition, or the nearest to it."""

from tidemark.adopt.jobs.runtimes import queue, timeout_of
from tidemark.adopt.reading import Reading
from tidemark.model.stage.shell_runtime import GLUE_VERSION, PYTHON, ShellCapacity, ShellRuntime

SHELL_PYTHON = ".".join(map(str, PYTHON))
LIBRARIES = ("DefaultArguments", "library-set")


def shell_runtime_of(job: Reading) -> ShellRuntime:
    """Return the runtime of a Python shell job, and account for its properties."""
    if job.get("GlueVersion") == GLUE_VERSION:
        job.take("GlueVersion")
    else:
        job.differ(
            "GlueVersion",
            why=f"Python shell jobs get Glue {GLUE_VERSION}, the one with Python {SHELL_PYTHON}",
            do="see that the script runs on that Python",
        )
    sizes = {size.value: size for size in ShellCapacity}
    capacity = job.get("MaxCapacity")
    if capacity in sizes:
        job.take("MaxCapacity")
    else:
        least = f"allowed are {', '.join(map(str, sizes))}"
        job.differ(
            "MaxCapacity",
            why=f"{least}; the job gets {ShellCapacity.LARGE.value}",
            do="compare the memory that it takes; a sixteenth may do",
        )
    runtime = ShellRuntime(
        capacity=sizes.get(capacity, ShellCapacity.LARGE),
        timeout_minutes=timeout_of(job),
        max_retries=job.take("MaxRetries") or 0,
        analytics_libraries=_libraries(job),
    )
    queue(job, is_queued=runtime.max_retries == 0)
    return runtime


def _libraries(job: Reading) -> bool:
    found = job.get(*LIBRARIES)
    if found in ("analytics", "none"):
        return str(job.take(*LIBRARIES)) == "analytics"
    job.differ(
        *LIBRARIES,
        why="it is analytics or none; the job gets analytics, which has what either has",
        do="set analytics_libraries=False, if the script needs none of them",
    )
    return True
