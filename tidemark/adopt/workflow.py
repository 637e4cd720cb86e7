"""Translates a workflow itself into options of a pipeline: pure, on plain data."""

from tidemark.adopt.jobs.fields import FACT, SECRET, UNKNOWN
from tidemark.adopt.jobs.job import rest
from tidemark.adopt.model import Difference, Found
from tidemark.adopt.reading import Reading
from tidemark.model.plain_secrets import shows_secret

WORKFLOW_FIELDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("CreatedOn", "LastModifiedOn", "LastRun", "Graph"), FACT),
    "BlueprintDetails": (
        "a blueprint made the workflow; the pipeline replaces both",
        "do not run the blueprint again",
    ),
    "Description": ("the workflow of a pipeline has none", "write it into the docstring"),
    "MaxConcurrentRuns": (
        "a pipeline runs once at a time: two runs would read the same input",
        "see that nothing counts on runs that overlap",
    ),
    "Name": (
        "CloudFormation cannot import a Glue workflow, nor create one whose name is taken",
        "see the steps: the new workflow takes over, and then the old one is deleted",
    ),
    "Tags": ("tags are set for the whole stage", 'add it to "tags" of the stage in cdk.json'),
}


def workflow_of(found: Found) -> tuple[dict[str, str], list[Difference]]:
    """Return the initial properties of every run, and the differences of the workflow."""
    if found.workflow is None:
        return {}, []
    reading = Reading(f"workflow {found.workflow['Name']}", found.workflow)
    properties = {}
    for name, value in (reading.get("DefaultRunProperties") or {}).items():
        if shows_secret(name, str(value)):
            reading.differ("DefaultRunProperties", name, why=SECRET[0], do=SECRET[1])
        else:
            properties[name] = str(reading.take("DefaultRunProperties", name))
    if reading.get("MaxConcurrentRuns") == 1:
        reading.take("MaxConcurrentRuns")
    elif reading.get("MaxConcurrentRuns") is None:
        why, do = WORKFLOW_FIELDS["MaxConcurrentRuns"]
        reading.differ("MaxConcurrentRuns", why=f"it was not limited; {why}", do=do)
    rest(reading, WORKFLOW_FIELDS, UNKNOWN)
    return properties, reading.differences
