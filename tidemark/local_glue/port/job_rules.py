"""What Glue refuses of jobs and of their runs, as plain data, beyond the shapes of its model.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html
Source: https://docs.aws.amazon.com/glue/latest/dg/add-job.html
Source: https://github.com/aws-samples/cql-replicator/issues/181 (a text of Glue, as are those of
    the other checks of workers)
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidemark.assembly.definitions import SHELL, SPARK, STREAMING
from tidemark.assembly.glue_versions import GLUE_VERSIONS
from tidemark.local_glue.port.protocol.service_errors import InvalidInputError

Members = Mapping[str, Any]
COMMANDS = (SPARK, STREAMING, SHELL, "glueray")
OLDER_VERSIONS = ("0.9", "1.0", "2.0", "3.0", "4.0")
VERSIONS = (*OLDER_VERSIONS, *GLUE_VERSIONS, "auto")
MOST_RETRIES = 10
LONGEST_MINUTES = 10_080  # seven days
DPU_OF_SHELL, DPU_OF_SPARK = (0.0625, 1.0), (2, 100)
OF_SPARK = (SPARK, STREAMING)
LEAST_WORKERS = 2  # of the types for Spark, whose names begin with
WORKERS_OF_SPARK = ("G.", "R.")
MOST_TAGS = 50
OF_AWS = "aws:"


def check_job(definition: Members) -> None:
    """Refuse a job that Glue would refuse.

    Args:
        definition: the members of CreateJob, or of JobUpdate.

    Raises:
        InvalidInputError: all that is wrong with it.
    """
    _raise(_of_job(definition))


def check_run(definition: Members, request: Members) -> None:
    """Refuse a run that Glue would refuse.

    Args:
        definition: of the job.
        request: of StartJobRun.

    Raises:
        InvalidInputError: all that is wrong with it.
    """
    command = command_of(definition)
    number = {"WorkerType": definition.get("WorkerType"), **request}
    _raise(
        [
            *of_timeout(request),
            *_of_class(command, request),
            *_of_capacity(command, request),
            *_of_workers(command, number),
        ]
    )


def check_tags(tags: Iterable[str]) -> None:
    """Refuse the keys of tags that a client may not give or take.

    Raises:
        InvalidInputError: all that is wrong with them.
    """
    reserved = sorted(key for key in tags if key.lower().startswith(OF_AWS))
    _raise(f"the tag {key!r} begins with {OF_AWS}, which only AWS may do" for key in reserved)


def command_of(definition: Members) -> str:
    """Return the command of a job."""
    return str(definition["Command"].get("Name", SPARK))


def of_timeout(members: Members) -> Iterator[str]:
    """Yield what is wrong with the timeout of a job, a run or an action of a trigger."""
    minutes = members.get("Timeout", 0)
    if minutes > LONGEST_MINUTES:
        yield f"Timeout is {minutes} minutes; allowed: at most {LONGEST_MINUTES}, seven days"


def _raise(faults: Iterator[str] | list[str]) -> None:
    if found := list(faults):
        raise InvalidInputError("; ".join(found))


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
    if not 0 <= retries <= MOST_RETRIES:
        yield f"MaxRetries is {retries}; allowed: 0 to {MOST_RETRIES}"
    most = definition.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)
    if most < 1:
        yield f"ExecutionProperty.MaxConcurrentRuns is {most}; allowed: 1 or more"
    yield from of_timeout(definition)
    yield from _of_class(command, definition)
    yield from _of_capacity(command, definition)
    yield from _of_workers(command, definition)
    if ("WorkerType" in definition) != ("NumberOfWorkers" in definition):
        yield "Please set both Worker Type and Number of Workers."


def _of_class(command: str, members: Members) -> Iterator[str]:
    if members.get("ExecutionClass") == "FLEX" and command != SPARK:
        yield f"ExecutionClass FLEX is for the command {SPARK}; the job has {command}"


def _of_capacity(command: str, members: Members) -> Iterator[str]:
    stated = {"MaxCapacity": "Max Capacity", "AllocatedCapacity": "Allocated Capacity"}
    given = [text for name, text in stated.items() if name in members]
    if {"WorkerType", "NumberOfWorkers"} & set(members):
        for text in given:
            yield f"Please do not set {text} if using Worker Type and Number of Workers."
        return
    if len(given) > 1:
        yield f"{' and '.join(given)} are set; set Max Capacity only"
        return
    (least, most), (small, large) = DPU_OF_SPARK, DPU_OF_SHELL
    for name, dpu in members.items():
        if name == "MaxCapacity" and command == SHELL and dpu not in DPU_OF_SHELL:
            yield f"{name} is {dpu}; allowed for {SHELL}: {small} or {large:g}"
        elif name in stated and command in OF_SPARK and (dpu % 1 or not least <= dpu <= most):
            yield f"{name} is {dpu}; allowed for {command}: {least} to {most}, in whole DPUs"


def _of_workers(command: str, members: Members) -> Iterator[str]:
    kind, number = members.get("WorkerType"), members.get("NumberOfWorkers")
    if command == SHELL and (kind is not None or number is not None):
        yield f"Worker Type is not supported for Job Command {SHELL}"
    elif number is not None:
        least = LEAST_WORKERS if str(kind).startswith(WORKERS_OF_SPARK) else 1
        if number < least:
            text = "minimum allowed value of Number of Workers is"
            yield f"To use Worker Type {kind}, {text} {least}."
