"""The arguments of a Glue job: Glue's own, and those of the script.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import re
from collections.abc import Mapping, Sequence

from tidemark.constructs.dataset import Dataset
from tidemark.errors import JobDefinitionError

NAME = re.compile(r"--[A-Za-z]\w*", re.ASCII)
OPTION = re.compile(r"-(?!\d+$|\d*\.\d+$)")  # what argparse takes for one; numbers may be negative
# Names that Glue passes to every script or takes for itself, and argparse's own.
RESERVED = {"--JOB_NAME", "--JOB_ID", "--JOB_RUN_ID", "--WORKFLOW_NAME", "--WORKFLOW_RUN_ID"}
RESERVED |= {"--SECURITY_CONFIGURATION", "--TempDir", "--RedshiftTempDir", "--scriptLocation"}
RESERVED |= {"--watermark_table"}  # of the table that the job's role may use: watermark=True
RESERVED |= {"--class", "--conf", "--debug", "--endpoint", "--mode", "--help", "--h"}


def construct_arguments(
    *,
    bookmark: str,
    libs_url: str,
    log_group_prefix: str,
    auto_scaling: bool,
    metrics: bool,
    python_modules: Sequence[str],
    temp: Dataset | None,
    watermark_table: str | None,
    installer_options: Sequence[str] = (),
) -> dict[str, str]:
    """Return what the construct sets, dashed name to text."""
    return {
        "--job-language": "python",
        "--job-bookmark-option": bookmark,
        "--extra-py-files": libs_url,
        "--custom-logGroup-prefix": log_group_prefix,
        **({"--enable-auto-scaling": "true"} if auto_scaling else {}),
        **({"--enable-metrics": "true"} if metrics else {}),
        **({"--additional-python-modules": ",".join(python_modules)} if python_modules else {}),
        **(
            {"--python-modules-installer-option": " ".join(installer_options)}
            if installer_options
            else {}
        ),
        **({"--TempDir": temp.uri} if temp else {}),
        **({"--watermark_table": watermark_table} if watermark_table else {}),
    }


def render_arguments(
    name: str,
    arguments: Mapping[str, object],
    declared: Sequence[Dataset],
    taken: Mapping[str, str],
) -> dict[str, str]:
    """Return the arguments of a script as Glue wants them, dashed name to text.

    Args:
        name: the job.
        arguments: name without dashes to a text or a dataset.
        declared: the datasets that the job reads or writes.
        taken: arguments that the construct has set.

    Raises:
        JobDefinitionError: a name would replace another argument or cannot be read by a script, or
            a value is neither text nor declared data.
    """
    dashed = {f"--{key}": value for key, value in arguments.items()}
    for key in dashed:
        if not NAME.fullmatch(key) or key in taken or key in RESERVED:
            raise JobDefinitionError(
                f"job '{name}' has the argument {key[2:]!r}; allowed: letters, digits and _, a "
                "letter first, and none of the arguments that Glue or the construct sets; rename it"
            )
    return {key: _text(name, key, value, declared) for key, value in dashed.items()}


def _text(name: str, key: str, value: object, declared: Sequence[Dataset]) -> str:
    if isinstance(value, str):
        if not value or OPTION.match(value):
            raise JobDefinitionError(
                f"job '{name}' has the argument {key[2:]!r} with the value {value!r}, which "
                "getResolvedOptions takes for no value; allowed: a string that is not empty and "
                "does not begin with -; leave it out, or write it in another form"
            )
        return value
    if not isinstance(value, Dataset):
        raise JobDefinitionError(
            f"job '{name}' has the argument {key[2:]!r} with the value {value!r}; allowed: a "
            "string (Glue's arguments are text), a Dataset, or a job"
        )
    if value not in declared:
        raise JobDefinitionError(
            f"job '{name}' has the argument {key[2:]!r} with the dataset {value.prefix!r}, which "
            "it neither reads nor writes; add it to reads= or writes="
        )
    return value.uri
