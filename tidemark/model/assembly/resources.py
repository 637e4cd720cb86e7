"""Facts about the resources of a template, and the reading of those of one type."""

from collections.abc import Iterator, Mapping
from typing import Any

Templates = Mapping[str, Mapping[str, Any]]
"""Stack name to its synthesized template."""

METADATA = "Tidemark"  # key of a job's metadata: facts of the constructs that Glue does not have
PIPELINE_TAG = "tidemark:pipeline"  # of all resources of a pipeline: the name of its workflow
MISSING_GRANTS = "TidemarkMissingGrants"  # likewise: the statements that a job's role lacks
STARTS_WORKFLOW = ":aws-sdk:glue:startWorkflowRun"  # the end of the ARN of a schedule's target
# The event with which a schedule, or a person, starts a pipeline with an EVENT trigger.
REQUEST_SOURCE, REQUEST_TYPE = "tidemark", "Pipeline Start Requested"
DYNAMODB_TABLES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
# The property with the name of a resource, which is also the value of a reference to it.
NAME_PROPERTIES = {
    **dict.fromkeys(DYNAMODB_TABLES, "TableName"),
    "AWS::Glue::Crawler": "Name",
    "AWS::Glue::Connection": "ConnectionInput.Name",
    "AWS::Glue::Database": "DatabaseInput.Name",
    "AWS::Glue::Job": "Name",
    "AWS::Glue::Table": "TableInput.Name",
    "AWS::Glue::Trigger": "Name",
    "AWS::Glue::Workflow": "Name",
    "AWS::IAM::Role": "RoleName",
    "AWS::S3::Bucket": "BucketName",
}


def stated_name(resource: Mapping[str, Any]) -> Any:
    """Return the name of a resource in the template; None if it has none."""
    stated: Any = resource.get("Properties", {})
    for step in NAME_PROPERTIES.get(resource.get("Type", ""), "").split("."):
        stated = stated.get(step) if isinstance(stated, Mapping) else None
    return stated


def resources_of(templates: Templates, kind: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield stack, logical id and resource of one type, in the order of the templates."""
    for stack, template in templates.items():
        for logical_id, resource in template.get("Resources", {}).items():
            if resource["Type"] == kind:
                yield stack, logical_id, resource
