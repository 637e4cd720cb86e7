"""Limits of Glue's API on what a template declares, and what is beyond them.

The port refuses the same by the shapes of botocore's model, with which a test compares this table.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.assembly.job_rules import faults_of_job

LONGEST_NAME = 255
LONGEST_DESCRIPTION = 2_048
LONGEST_TYPE = 131_072
LONGEST_COMMENT = 255
LONGEST_LOCATION = 2_056
LONGEST_KEY = 255
LONGEST_VALUE = 512_000  # of a parameter
NUMBERS = {"AllocatedCapacity", "MaxCapacity", "MaxConcurrentRuns", "MaxRetries"}
NUMBERS |= {"NumberOfWorkers", "Timeout"}
NESTED = ("array", "map", "struct", "uniontype")  # types that are not primitive
JOB = "AWS::Glue::Job"
OF_COLUMN = {"Name": LONGEST_NAME, "Type": LONGEST_TYPE, "Comment": LONGEST_COMMENT}
NAMED = {"Name": LONGEST_NAME, "Description": LONGEST_DESCRIPTION}
# By resource type: the path of a text, and its most characters; `[]` stands for each of a list.
LIMITS: Mapping[str, Mapping[str, int]] = {
    JOB: NAMED,
    "AWS::Glue::Crawler": {**NAMED, "TablePrefix": 128},
    "AWS::Glue::Trigger": NAMED,
    "AWS::Glue::Workflow": {"Name": LONGEST_NAME},
    "AWS::Glue::Connection": {f"ConnectionInput.{name}": size for name, size in NAMED.items()},
    "AWS::Glue::Database": {f"DatabaseInput.{name}": size for name, size in NAMED.items()},
    "AWS::Glue::Table": {
        **{f"TableInput.{name}": size for name, size in NAMED.items()},
        "TableInput.StorageDescriptor.Location": LONGEST_LOCATION,
        **{f"TableInput.PartitionKeys[].{name}": size for name, size in OF_COLUMN.items()},
        **{
            f"TableInput.StorageDescriptor.Columns[].{name}": size
            for name, size in OF_COLUMN.items()
        },
    },
}
# By resource type: where parameters of a table or a column are.
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "AWS::Glue::Database": ("DatabaseInput.Parameters",),
    "AWS::Glue::Table": (
        "TableInput.Parameters",
        "TableInput.StorageDescriptor.Parameters",
        "TableInput.StorageDescriptor.SerdeInfo.Parameters",
    ),
}


def refused_by_glue(kind: str, properties: Mapping[str, Any]) -> list[str]:
    """Return what Glue refuses of a resource of a template, one text each.

    What only a deployment knows is not judged.
    """
    found = [
        f"{where} has {len(value):,} characters; allowed: up to {most:,}"
        for path, most in LIMITS.get(kind, {}).items()
        for where, value in _texts(properties, path)
        if len(value) > most
    ]
    for path in PARAMETERS.get(kind, ()):
        for where, value in _at(properties, path):
            found += _of_parameters(where, value)
    for _, keys in _at(properties, "TableInput.PartitionKeys"):
        found += faults_of_partition_keys(keys)
    if kind == JOB:
        found += faults_of_job(_known_job(properties))
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


def _of_parameters(where: str, parameters: Any) -> Iterator[str]:
    if not isinstance(parameters, Mapping):
        return
    for name, value in parameters.items():
        if len(name) > LONGEST_KEY:
            allowed = f"allowed: up to {LONGEST_KEY}"
            yield f"a name of {where} has {len(name):,} characters; {allowed}: {name[:40]!r}"
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            allowed = f"allowed: up to {LONGEST_VALUE:,}"
            yield f"{where}.{name} has {len(value):,} characters; {allowed}"


def _known_job(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a job that are known now; a template may write numbers as texts."""
    known = _known(properties)
    known["Command"] = known.get("Command", {})
    known["Role"] = known.get("Role", "of the deployment")
    return known


def _known(members: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in members.items():
        if _is_late(value):
            continue
        if isinstance(value, Mapping):
            found[name] = _known(value)
        else:
            found[name] = _number(value) if name in NUMBERS and isinstance(value, str) else value
    return found


def _number(value: str) -> Any:
    """Return a text that is a number as that."""
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value


def _is_late(value: Any) -> bool:
    """Return whether a value is an intrinsic function, which a deployment evaluates."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (name,) = value
    return str(name) == "Ref" or str(name).startswith("Fn::")


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    return ((where, one) for where, one in _at(value, path) if isinstance(one, str))


def _at(value: Any, path: str, begin: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what stands at a path, each with where it is."""
    step, _, rest = path.partition(".")
    name = step.removesuffix("[]")
    if not isinstance(value, Mapping) or name not in value:
        return
    found = [(f"{begin}{name}", value[name])]
    if step.endswith("[]"):
        items = value[name] if isinstance(value[name], list) else []
        found = [(f"{begin}{name}[{number}]", one) for number, one in enumerate(items)]
    for where, one in found:
        if rest:
            yield from _at(one, rest, f"{where}.")
        else:
            yield where, one
