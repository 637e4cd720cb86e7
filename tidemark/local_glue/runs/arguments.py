"""Merges the arguments of a run, and sorts Glue's own parameters from the user's.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import shlex
import sys
from collections.abc import Mapping

from tidemark.assembly.arguments import BOOKMARK_OPTIONS, CONTINUATION_OPTIONS, overlaid
from tidemark.assembly.definitions import SHELL, JobDefinition
from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_glue.runs.python_modules import missing_modules

# Parameters of the service that change what a job computes and that this machine cannot honour.
UNSUPPORTED = {
    "--python-virtual-env": "name its modules in --additional-python-modules instead",
    "--class": "only Python scripts run here",
    "--datalake-formats": "Hudi, Delta and Iceberg jars are not part of open-source Spark",
    "--enable-glue-datacatalog": (
        "Spark SQL does not see the tables of the local Data Catalog: leave the argument out and "
        "read them with create_dynamic_frame.from_catalog or create_data_frame.from_catalog"
    ),
    "--extra-files": "read the files from S3 instead",
    "--extra-jars": "put the jar into Spark's jars folder instead",
    "--scriptLocation": "set Command.ScriptLocation of the job",
}


def merge_arguments(job: JobDefinition, run_arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of one run, all of which this machine can honour.

    Raises:
        UnsupportedError: a parameter this machine cannot honour, or a wrong bookmark option.
        UsageError: a value is not text, the only type that Glue's arguments have.
    """
    merged = overlaid(job, run_arguments)
    for name, value in merged.items():
        if not isinstance(value, str):
            raise UsageError(
                f"job {job.name} has the argument {name} {value!r}; Glue's arguments are text, "
                "so put the value in quotes"
            )
        if name in UNSUPPORTED:
            raise UnsupportedError(
                f"job {job.name} has the argument {name}, which does not work locally; "
                f"{UNSUPPORTED[name]}"
            )
    if missing := missing_modules(merged.get("--additional-python-modules", "")):
        raise UnsupportedError(
            f"job {job.name} names in --additional-python-modules what the Python of local runs "
            f"has not: {', '.join(missing)}; install it with `{sys.executable} -m pip install`"
        )
    language = merged.get("--job-language", "python")
    if language != "python":
        raise UnsupportedError(f"job {job.name} is written in {language}; only python runs locally")
    for name, allowed in (
        ("--job-bookmark-option", BOOKMARK_OPTIONS),
        ("--continuation-option", tuple(CONTINUATION_OPTIONS)),
    ):
        if merged.get(name, allowed[0]) not in allowed:
            raise UnsupportedError(
                f"job {job.name} has {name} {merged[name]!r}; allowed are {', '.join(allowed)}"
            )
    return merged


def command_line(
    job: JobDefinition, job_id: str, run_id: str, arguments: Mapping[str, str]
) -> list[str]:
    """Return what follows the script's name in ``sys.argv``, in the order seen on AWS.

    The script of a Python shell job is not told its name and its run.
    Source: https://github.com/boto/boto3/issues/3506
    """
    argv = ["--JOB_NAME", job.name, "--JOB_ID", job_id, "--JOB_RUN_ID", run_id]
    if job.command == SHELL:
        argv = []
    for name, value in arguments.items():
        if not name.startswith("--"):  # library-set of Python shell jobs
            continue
        argv += [name, value] if not value.startswith("--") else [f"{name}={value}"]
    return argv


def spark_settings(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the Spark properties of ``--conf a=b --conf c=d``, Glue's way to pass several.

    Raises:
        UsageError: a part of it is no ``name=value``, or a quote is left open.
    """
    text = arguments.get("--conf", "")
    try:
        words = [word for word in shlex.split(text) if word != "--conf"]
    except ValueError:
        words = [""]  # a quote is left open
    pairs = [word.partition("=") for word in words]
    if not all(name and separator for name, separator, _ in pairs):
        raise UsageError(
            f"the argument --conf is {text!r}; write it as spark.a=1 --conf spark.b=2, values "
            "with spaces in quotes"
        )
    return {name: value for name, _, value in pairs}


def extra_py_files(arguments: Mapping[str, str]) -> list[str]:
    """Return the S3 URIs of ``--extra-py-files``, in order."""
    return [uri for uri in arguments.get("--extra-py-files", "").split(",") if uri]
