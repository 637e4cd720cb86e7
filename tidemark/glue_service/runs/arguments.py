"""Merges the arguments of a run, and separates Glue's own parameters from the user's.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import re
import shlex
from collections.abc import Mapping

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.assembly.definitions import (
    BOOKMARK_OPTIONS,
    CONTINUATION_OPTIONS,
    SHELL,
    JobDefinition,
    overlaid,
)
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS, Here

# Arguments that change what a job computes and that this machine cannot honour, and the remedy.
UNSUPPORTED = {
    argument.name: argument.remedy
    for argument in GLUE_ARGUMENTS.values()
    if argument.here is Here.REFUSED
}
MODULES = "--additional-python-modules"
DRIVER_VARIABLES, EXECUTOR_VARIABLES = "--customer-driver-env-vars", "--customer-executor-env-vars"
VARIABLE_PREFIX = "CUSTOMER_"
# One environment variable in a comma-separated list.
VARIABLE = re.compile(r'(\w+)=(?:"([^"]*)"|([^",]*))(?:,|$)', re.ASCII)


def merge_arguments(job: JobDefinition, run_arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of one run; this machine can honour each of them."""
    merged = overlaid(job, run_arguments)
    for name, value in merged.items():
        if not isinstance(value, str):
            raise UsageError(
                f"job {job.name} has the argument {name} {value!r}; Glue's arguments are strings, "
                "so put the value in quotes"
            )
        if name in UNSUPPORTED:
            raise UnsupportedError(
                f"job {job.name} has the argument {name}, which does not work locally; "
                f"{UNSUPPORTED[name]}"
            )
    language = merged.get("--job-language", "python")
    if language != "python":
        raise UnsupportedError(f"job {job.name} is written in {language}; only python runs locally")
    _check_values(job.name, merged)
    return merged


def _check_values(job: str, merged: Mapping[str, str]) -> None:
    for name, allowed in (
        ("--job-bookmark-option", BOOKMARK_OPTIONS),
        ("--continuation-option", tuple(CONTINUATION_OPTIONS)),
    ):
        if merged.get(name, allowed[0]) not in allowed:
            raise UnsupportedError(
                f"job {job} has {name} {merged[name]!r}; allowed are {', '.join(allowed)}"
            )
    spark_settings(merged)
    for name in (DRIVER_VARIABLES, EXECUTOR_VARIABLES):
        variables(merged, name)


def command_line(
    job: JobDefinition, job_id: str, run_id: str, arguments: Mapping[str, str]
) -> list[str]:
    """Return the arguments after the script's name in ``sys.argv``, in the order seen on AWS.

    The script of a Python shell job does not get its name and its run.
    Source: https://github.com/boto/boto3/issues/3506
    """
    argv = ["--JOB_NAME", job.name, "--JOB_ID", job_id, "--JOB_RUN_ID", run_id]
    if job.command == SHELL:
        argv = []
    for name, value in arguments.items():
        # Without hyphens it is library-set, of Python shell jobs.
        if not name.startswith("--"):
            continue
        argv += [name, value] if not value.startswith("--") else [f"{name}={value}"]
    return argv


def spark_settings(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the Spark properties of ``--conf a=b --conf c=d``, Glue's way to pass several."""
    text = arguments.get("--conf", "")
    try:
        words = [word for word in shlex.split(text) if word != "--conf"]
    except ValueError:
        words = [""]  # an open quote
    pairs = [word.partition("=") for word in words]
    if not all(name and separator for name, separator, _ in pairs):
        raise UsageError(
            f"the argument --conf is {text!r}; write it as spark.a=1 --conf spark.b=2, values "
            "with spaces in quotes"
        )
    return {name: value for name, _, value in pairs}


def listed(arguments: Mapping[str, str], name: str) -> list[str]:
    """Return the S3 URIs of an argument with a list, such as ``--extra-jars``, in order."""
    text = arguments.get(name, "")
    uris = [uri for uri in text.split(",") if uri]
    if any(uri != uri.strip() for uri in uris):
        raise UsageError(
            f"the argument {name} is {text!r}: Glue takes the space beside a comma for a part of "
            "the path; write the paths with commas only"
        )
    return uris


def variables(arguments: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the environment variables of an argument such as ``--customer-driver-env-vars``."""
    text = arguments.get(name, "")
    values: dict[str, str] = {}
    place = 0
    while place < len(text):
        match = VARIABLE.match(text, place)
        if match is None or not match[1].startswith(VARIABLE_PREFIX):
            raise UsageError(
                f'the argument {name} is {text!r}; write it as CUSTOMER_A=1,CUSTOMER_B="2, 3": '
                f"Glue sets names that begin with {VARIABLE_PREFIX} only"
            )
        values[match[1]] = match[3] if match[2] is None else match[2]
        place = match.end()
    return values
