"""What Glue refuses of jobs and of their runs, as plain data, beyond the shapes of its model.

Synthesis and the port ask the same functions.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html (also the needs of a
    worker type or FLEX)
Source: https://docs.aws.amazon.com/glue/latest/dg/add-job.html
Source: https://github.com/aws-samples/cql-replicator/issues/181 (Glue's own words, as in the other
    checks of workers)
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.model.assembly.definitions import SHELL, SPARK, STREAMING
from tidemark.model.assembly.glue_versions import AUTO, GLUE_VERSIONS

Members = Mapping[str, Any]
RAY = "glueray"
COMMANDS = (SPARK, STREAMING, SHELL, RAY)
OLDER_VERSIONS = ("0.9", "1.0", "2.0", "3.0", "4.0")
VERSIONS = (*OLDER_VERSIONS, *GLUE_VERSIONS, AUTO)
MAX_RETRIES = 10
MAX_MINUTES = 10_080  # seven days
SHELL_DPU, DPU_OF_SPARK = (0.0625, 1.0), (2, 100)
SPARK_COMMANDS = (SPARK, STREAMING)
MIN_WORKERS = 2  # of the types for Spark, whose names start with
SPARK_WORKERS = ("G.", "R.")
# By worker type: the commands that may have it, and the least version of Glue.
WORKERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Standard": (SPARK_COMMANDS, "0.9"),
    "G.025X": ((STREAMING,), "3.0"),
    **dict.fromkeys(("G.1X", "G.2X"), (SPARK_COMMANDS, "0.9")),
    **dict.fromkeys(("G.4X", "G.8X"), (SPARK_COMMANDS, "3.0")),
    **dict.fromkeys(("G.12X", "G.16X", "R.1X", "R.2X", "R.4X", "R.8X"), (SPARK_COMMANDS, "4.0")),
    "Z.2X": ((RAY,), "4.0"),
}
FIRST_WITHOUT_CAPACITY = "2.0"  # version whose Spark jobs have workers only
FIRST_WITH_FLEX = "3.0"


def faults_of_job(definition: Members) -> list[str]:
    """Return what Glue refuses of a job: the members of CreateJob, or of JobUpdate."""
    return list(_of_job(definition))


def faults_of_run(definition: Members, request: Members) -> list[str]:
    """Return what Glue refuses of a run."""
    command, version = command_of(definition), definition.get("GlueVersion")
    number = {"WorkerType": definition.get("WorkerType"), **request}
    return [
        *of_timeout(request),
        *_of_class(command, version, request),
        *_of_capacity(command, version, request),
        *_of_workers(command, version, number),
    ]


def command_of(definition: Members) -> str:
    """Return the command of a job."""
    return str(definition["Command"].get("Name", SPARK))


def of_timeout(members: Members) -> Iterator[str]:
    """Yield the problem with the timeout of a job, a run or an action of a trigger."""
    minutes = members.get("Timeout", 0)
    if minutes > MAX_MINUTES:
        yield f"Timeout is {minutes} minutes; allowed: at most {MAX_MINUTES}, seven days"


def _of_job(definition: Members) -> Iterator[str]:
    command = command_of(definition)
    if command not in COMMANDS:
        yield f"Command.Name is {command!r}; allowed: {', '.join(COMMANDS)}"
    if not definition["Role"]:
        yield "Role is empty; give the name or the ARN of an IAM role"
    version = definition.get("GlueVersion")
    if version is not None and version not in VERSIONS:
        yield f"GlueVersion is {version!r}; allowed: {', '.join(VERSIONS)}"
    retries = definition.get("MaxRetries", 0)
    if not 0 <= retries <= MAX_RETRIES:
        yield f"MaxRetries is {retries}; allowed: 0 to {MAX_RETRIES}"
    most = definition.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)
    if most < 1:
        yield f"ExecutionProperty.MaxConcurrentRuns is {most}; allowed: 1 or more"
    yield from of_timeout(definition)
    if version == AUTO:
        yield from _of_auto(command, retries)
    yield from _of_class(command, version, definition)
    yield from _of_capacity(command, version, definition)
    yield from _of_workers(command, version, definition)
    if ("WorkerType" in definition) != ("NumberOfWorkers" in definition):
        yield "Please set both Worker Type and Number of Workers."


def _of_auto(command: str, retries: int) -> Iterator[str]:
    """Yield what keeps a job from being upgraded by AWS."""
    # Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades.html (jobs of Glue
    # for Apache Spark, with a number of retries of 1 or higher)
    if command in COMMANDS and command not in SPARK_COMMANDS:
        yield f"GlueVersion {AUTO} is for {' and '.join(SPARK_COMMANDS)}; the job has {command}"
    if retries < 1:
        yield f"MaxRetries is {retries}; GlueVersion {AUTO} needs 1 or more"


def _of_class(command: str, version: str | None, members: Members) -> Iterator[str]:
    if members.get("ExecutionClass") != "FLEX":
        return
    if command != SPARK:
        yield f"ExecutionClass FLEX is for the command {SPARK}; the job has {command}"
    elif _is_before(version, FIRST_WITH_FLEX):
        yield f"ExecutionClass FLEX needs GlueVersion {FIRST_WITH_FLEX} or later; it is {version}"


def _is_before(version: str | None, other: str) -> bool:
    """Return whether a stated version is older; another check reports one that is not a number."""
    return version in OLDER_VERSIONS and float(version) < float(other)


def _of_capacity(command: str, version: str | None, members: Members) -> Iterator[str]:
    stated = {"MaxCapacity": "Max Capacity", "AllocatedCapacity": "Allocated Capacity"}
    given = [text for name, text in stated.items() if name in members]
    if {"WorkerType", "NumberOfWorkers"} & set(members):
        for text in given:
            yield f"Please do not set {text} if using Worker Type and Number of Workers."
        return
    if len(given) > 1:
        yield f"{' and '.join(given)} are set; set Max Capacity only"
        return
    is_late = version is not None and not _is_before(version, FIRST_WITHOUT_CAPACITY)
    if given and command in SPARK_COMMANDS and is_late:
        yield (
            f"{given[0]} is set, and GlueVersion is {version}; from {FIRST_WITHOUT_CAPACITY} on "
            "set Worker Type and Number of Workers"
        )
        return
    (least, most), (small, large) = DPU_OF_SPARK, SHELL_DPU
    for name, dpu in members.items():
        if name == "MaxCapacity" and command == SHELL and dpu not in SHELL_DPU:
            yield f"{name} is {dpu}; allowed for {SHELL}: {small} or {large:g}"
        elif name in stated and command in SPARK_COMMANDS and (dpu % 1 or not least <= dpu <= most):
            yield f"{name} is {dpu}; allowed for {command}: {least} to {most}, in whole DPUs"


def _of_workers(command: str, version: str | None, members: Members) -> Iterator[str]:
    kind, number = members.get("WorkerType"), members.get("NumberOfWorkers")
    if command == SHELL and (kind is not None or number is not None):
        yield f"Worker Type is not supported for Job Command {SHELL}"
        return
    if number is not None:
        least = MIN_WORKERS if str(kind).startswith(SPARK_WORKERS) else 1
        if number < least:
            text = "minimum allowed value of Number of Workers is"
            yield f"To use Worker Type {kind}, {text} {least}."
    if kind is None or command not in COMMANDS:
        return
    if kind not in WORKERS:
        yield f"WorkerType is {kind!r}; allowed: {', '.join(WORKERS)}"
        return
    commands, first = WORKERS[kind]
    if command not in commands:
        yield f"WorkerType {kind} is for {' and '.join(commands)}; the job has {command}"
    elif _is_before(version, first):
        yield f"WorkerType {kind} needs GlueVersion {first} or later; it is {version}"
