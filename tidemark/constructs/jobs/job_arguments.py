"""The arguments of a Glue job: Glue's own, and those of the script.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import re
from collections.abc import Mapping, Sequence

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.table import Table
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.job_props import (
    BookmarkOption,
    SharedParts,
    SparkJobProps,
    StreamingJobProps,
)
from tidemark.constructs.jobs.own_arguments import Cluster, OwnArguments
from tidemark.constructs.references import asset_url
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS

FLAGS = (
    "delivered",
    "published",
    "table",
    "schema",
    "audit",
)  # of a dataset, in addition to its location
NAME = re.compile(r"--[A-Za-z]\w*", re.ASCII)
OPTION = re.compile(r"-(?!\d+$|\d*\.\d+$)")  # an option to argparse; numbers may be negative
# The limit of one argument of a program; https://man7.org/linux/man-pages/man2/execve.2.html
# (MAX_ARG_STRLEN), less its terminator.
MAX_BYTES = 131_071
# Names that Glue reads itself, the watermark table's, and argparse's own.
SKIP, SKIP_TABLE = "--skip_if_nothing_new", "--nothing_new_table"
RESERVED = {*GLUE_ARGUMENTS, "--watermark_table", SKIP, SKIP_TABLE, "--help", "--h"}


def spark_arguments(
    shared: SharedParts,
    props: SparkJobProps | StreamingJobProps,
    runtime: Cluster,
    *,
    bookmark: BookmarkOption,
    logs: str,
    metrics: bool,
) -> dict[str, str]:
    """Return the arguments that the construct sets for every Spark job, dashed name to value."""
    modules, temp = ",".join(props["python_modules"]), props["temp"]
    return {
        "--job-language": "python",
        "--job-bookmark-option": bookmark.value,
        "--extra-py-files": asset_url(shared.libs),
        "--custom-logGroup-prefix": logs,
        **({"--enable-auto-scaling": "true"} if runtime.auto_scaling else {}),
        **({"--enable-metrics": "true"} if metrics else {}),
        **({"--additional-python-modules": modules} if modules else {}),
        **({"--TempDir": temp.uri} if temp else {}),
    }


def merge_own(job: str, constructed: Mapping[str, str], own: OwnArguments) -> dict[str, str]:
    """Return the construct's arguments together with Glue's own arguments of a job.

    Raises:
        JobDefinitionError: an argument is in both.
    """
    for name in own.texts:
        if name in constructed or name in RESERVED - GLUE_ARGUMENTS.keys():
            known = GLUE_ARGUMENTS.get(name)
            raise JobDefinitionError(
                f"job '{job}' has {known.field if known else name} in its glue_arguments, but the "
                f"construct or the stage sets {name} to {constructed.get(name, 'what it needs')!r}"
                "; leave one of the two out"
            )
    shipped = constructed.get("--extra-py-files")
    # Modules of the job come after those that the pipeline ships.
    modules = [*([shipped] if shipped else []), *own.py_files]
    return {
        **constructed,
        **({"--extra-py-files": ",".join(modules)} if modules else {}),
        **own.texts,
    }


def render_arguments(
    name: str,
    arguments: Mapping[str, str | Dataset],
    declared: Sequence[Dataset],
    taken: Mapping[str, str],
) -> dict[str, str]:
    """Return the arguments of a script in Glue's form, dashed name to value.

    Args:
        name: the job.
        arguments: name without dashes to a string or a dataset.
        declared: the datasets that the job reads or writes.
        taken: arguments that the construct has set.

    Raises:
        JobDefinitionError: a name would replace another argument or is not readable by a script, or
            a value is data that the job does not declare.
    """
    for given in arguments:
        key = f"--{given}"
        if not NAME.fullmatch(key) or key in taken or key in RESERVED:
            raise JobDefinitionError(
                f"job '{name}' has the argument {given!r}; allowed: letters, digits and _, a "
                "letter first, and none of the arguments that Glue or the construct sets; rename it"
            )
    dashed = {f"--{key}": value for key, value in arguments.items()}
    return {key: _argument_string(name, key, value, declared) for key, value in dashed.items()}


def fixed_arguments(job: str, names: Sequence[str], arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a job that no start can change, dashed name to value.

    Args:
        job: its name.
        names: names of arguments; those of the script without dashes.
        arguments: all arguments of the job.

    Raises:
        JobDefinitionError: the job has no argument with a name.
    """
    # Glue spells `library-set` without dashes.
    dashed = [name if name in arguments or name.startswith("--") else f"--{name}" for name in names]
    for name, key in zip(names, dashed, strict=True):
        if key not in arguments:
            raise JobDefinitionError(
                f"job '{job}' has {name!r} in non_overridable, which is not one of its arguments; "
                f"allowed: {', '.join(arguments)}; add it to arguments=, or correct the name"
            )
    return {key: arguments[key] for key in dashed}


def _argument_string(name: str, key: str, value: str | Dataset, declared: Sequence[Dataset]) -> str:
    if isinstance(value, str):
        if not value or OPTION.match(value):
            raise JobDefinitionError(
                f"job '{name}' has the argument {key[2:]!r} with the value {value!r}, which "
                "getResolvedOptions takes for no value; allowed: a string that is not empty and "
                "does not start with -; leave it out, or write it in another form"
            )
        size = len(value.encode())
        if "\0" in value or size > MAX_BYTES:
            wrong = "a NUL" if "\0" in value else f"{size} bytes"
            raise JobDefinitionError(
                f"job '{name}' has the argument {key[2:]!r} with {wrong}; allowed: up to "
                f"{MAX_BYTES} bytes and no NUL, the limit of Linux for an argument; put the "
                "string into S3, and pass its address"
            )
        return value
    if alike := [
        dataset for dataset in declared if value not in declared and dataset.uri == value.uri
    ]:
        raise JobDefinitionError(
            f"job '{name}' has the argument {key[2:]!r} with the dataset {value.prefix!r}, which "
            f"differs from the one that it reads or writes there in {_differing(value, alike[0])}; "
            "create the Dataset once, and use it in both places"
        )
    if value not in declared:
        raise JobDefinitionError(
            f"job '{name}' has the argument {key[2:]!r} with the dataset {value.prefix!r}, which "
            "it neither reads nor writes; add it to reads= or writes="
        )
    return value.uri


def _differing(one: Dataset, other: Dataset) -> str:
    """Return the differences of two datasets with one folder, with both values."""
    pairs = [(key, getattr(one, key), getattr(other, key)) for key in FLAGS]
    named = [
        f"{key} ({_shown(mine)} and {_shown(theirs)})"
        for key, mine, theirs in pairs
        if mine != theirs
    ]
    return ", ".join(named) or "the construct of its bucket"


def _shown(value: object) -> str:
    return value.full_name if isinstance(value, Table | IcebergTable) else str(value)
