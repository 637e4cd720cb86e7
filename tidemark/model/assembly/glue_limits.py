"""Checks declarations of a template by the limits of Glue's API and its rules of jobs.

The port asks the same functions of its requests.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.model.assembly.glue_shapes import REQUESTS, request_of, shape_of
from tidemark.model.assembly.job_rules import faults_of_job
from tidemark.model.assembly.shape_limits import beyond_limits

NESTED = ("array", "map", "struct", "uniontype")  # types that are not primitive
JOB = "AWS::Glue::Job"


def refused_by_glue(kind: str, properties: Mapping[str, Any]) -> list[str]:
    """Return the reasons why Glue refuses a resource of a template.

    What only a deployment knows is not judged.
    """
    request = request_of(kind, properties)
    found = list(beyond_limits(shape_of(REQUESTS[kind]), request))
    found += faults_of_partition_keys(request.get("TableInput", {}).get("PartitionKeys"))
    if kind == JOB:
        role = {} if "Role" in request else {"Role": "of the deployment"}
        found += faults_of_job({"Command": {}, **role, **request})
    return found


def faults_of_partition_keys(keys: Any) -> Iterator[str]:
    """Yield the partition keys whose type is not primitive, which Glue does not support."""
    for key in keys if isinstance(keys, list) else ():
        kind = key.get("Type") if isinstance(key, Mapping) else None
        if isinstance(kind, str) and kind.strip().lower().startswith(NESTED):
            yield (
                f"the partition key {key.get('Name')!r} has type {kind[:80]!r}; allowed: a "
                "primitive type such as string, int or date"
            )
