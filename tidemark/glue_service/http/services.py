"""The operations of AWS that this machine answers, and their functions."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from tidemark.glue_service import identity, jobs, security_configurations, tags, upgrades
from tidemark.glue_service.catalog_api import (
    connections,
    databases,
    partitions,
    table_versions,
    tables,
)
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.eventbridge import service as events
from tidemark.glue_service.eventbridge import tags as rule_tags
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.logs import service as logs
from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.runs import job_runs
from tidemark.glue_service.workflows import resume, triggers, workflows

Request = Mapping[str, Any]
Answer = Mapping[str, Any]
GLUE: Mapping[str, Callable[[GlueState, Request], Answer]] = {
    "BatchCreatePartition": partitions.batch_create_partition,
    "BatchDeleteConnection": connections.batch_delete_connection,
    "BatchDeletePartition": partitions.batch_delete_partition,
    "BatchDeleteTable": tables.batch_delete_table,
    "BatchDeleteTableVersion": table_versions.batch_delete_table_version,
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchGetPartition": partitions.batch_get_partition,
    "BatchGetTriggers": triggers.batch_get_triggers,
    "BatchGetWorkflows": workflows.batch_get_workflows,
    "BatchStopJobRun": job_runs.batch_stop_job_run,
    "BatchUpdatePartition": partitions.batch_update_partition,
    "CreateConnection": connections.create_connection,
    "CreateDatabase": databases.create_database,
    "CreateJob": jobs.create_job,
    "CreatePartition": partitions.create_partition,
    "CreateSecurityConfiguration": security_configurations.create_security_configuration,
    "CreateTable": tables.create_table,
    "CreateTrigger": triggers.create_trigger,
    "CreateWorkflow": workflows.create_workflow,
    "DeleteConnection": connections.delete_connection,
    "DeleteDatabase": databases.delete_database,
    "DeleteJob": jobs.delete_job,
    "DeletePartition": partitions.delete_partition,
    "DeleteSecurityConfiguration": security_configurations.delete_security_configuration,
    "DeleteTable": tables.delete_table,
    "DeleteTableVersion": table_versions.delete_table_version,
    "DeleteTrigger": triggers.delete_trigger,
    "DeleteWorkflow": workflows.delete_workflow,
    "GetConnection": connections.get_connection,
    "GetConnections": connections.get_connections,
    "GetDatabase": databases.get_database,
    "GetDatabases": databases.get_databases,
    "GetJob": jobs.get_job,
    "GetJobBookmark": jobs.get_job_bookmark,
    "GetJobRun": job_runs.get_job_run,
    "GetJobRuns": job_runs.get_job_runs,
    "GetJobUpgradeAnalysis": upgrades.get_job_upgrade_analysis,
    "GetJobs": jobs.get_jobs,
    "GetPartition": partitions.get_partition,
    "GetPartitionIndexes": tables.get_partition_indexes,
    "GetPartitions": partitions.get_partitions,
    "GetSecurityConfiguration": security_configurations.get_security_configuration,
    "GetSecurityConfigurations": security_configurations.get_security_configurations,
    "GetTable": tables.get_table,
    "GetTableVersion": table_versions.get_table_version,
    "GetTableVersions": table_versions.get_table_versions,
    "GetTables": tables.get_tables,
    "GetTags": tags.get_tags,
    "GetTrigger": triggers.get_trigger,
    "GetTriggers": triggers.get_triggers,
    "GetWorkflow": workflows.get_workflow,
    "GetWorkflowRun": workflows.get_workflow_run,
    "GetWorkflowRunProperties": workflows.get_workflow_run_properties,
    "GetWorkflowRuns": workflows.get_workflow_runs,
    "ListJobs": jobs.list_jobs,
    "ListTriggers": triggers.list_triggers,
    "ListWorkflows": workflows.list_workflows,
    "PutWorkflowRunProperties": workflows.put_workflow_run_properties,
    "ResetJobBookmark": jobs.reset_job_bookmark,
    "ResumeWorkflowRun": resume.resume_workflow_run,
    "SearchTables": tables.search_tables,
    "StartJobRun": job_runs.start_job_run,
    "StartTrigger": triggers.start_trigger,
    "StartWorkflowRun": workflows.start_workflow_run,
    "StopTrigger": triggers.stop_trigger,
    "StopWorkflowRun": workflows.stop_workflow_run,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateConnection": connections.update_connection,
    "UpdateDatabase": databases.update_database,
    "UpdateJob": jobs.update_job,
    "UpdatePartition": partitions.update_partition,
    "UpdateTable": tables.update_table,
    "UpdateTrigger": triggers.update_trigger,
    "UpdateWorkflow": workflows.update_workflow,
}
EVENTS: Mapping[str, Callable[[GlueState, Request], Answer]] = {
    "DeleteRule": events.delete_rule,
    "DescribeRule": events.describe_rule,
    "ListRules": events.list_rules,
    "ListTagsForResource": rule_tags.list_tags_for_resource,
    "ListTargetsByRule": events.list_targets_by_rule,
    "PutEvents": events.put_events,
    "PutRule": events.put_rule,
    "PutTargets": events.put_targets,
    "RemoveTargets": events.remove_targets,
    "TagResource": rule_tags.tag_resource,
    "UntagResource": rule_tags.untag_resource,
}
ENGINE_SERVICES = {"glue": GLUE, "events": EVENTS}
LOGS: Mapping[str, Callable[[Engine, Request], Answer]] = {
    "DescribeLogGroups": logs.describe_log_groups,
    "DescribeLogStreams": logs.describe_log_streams,
    "FilterLogEvents": logs.filter_log_events,
    "GetLogEvents": logs.get_log_events,
}
IDENTITY: Mapping[str, Mapping[str, Callable[[Mapping[str, str]], Answer]]] = {
    "sts": {"GetCallerIdentity": identity.get_caller_identity},
    "iam": {"GetRole": identity.get_role},
}
FEW = 6
OPERATIONS = {
    **{service: tuple(operations) for service, operations in ENGINE_SERVICES.items()},
    "logs": tuple(LOGS),
    **{service: tuple(operations) for service, operations in IDENTITY.items()},
}


_NO_POLICIES = "policies are not evaluated here: any ARN of a role is accepted"
_IDENTITIES: Mapping[tuple[str, ...], str] = {("Role", "User", "Polic"): _NO_POLICIES}
# Words in the names of missing operations of a service -> why, and the alternative.
INSTEAD: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "glue": {
        ("Session", "Statement"): "interactive sessions do not run here: run the code as a job, "
        "or with `tidemark submit`",
        ("Crawl", "Classifier"): "crawlers do not run here: define tables with CreateTable, "
        "or with `tidemark catalog crawl`",
        ("Registr", "Schema"): "schema registries are on AWS only: columns are in tables of the "
        "Data Catalog here",
        ("Policy", "Policies"): _NO_POLICIES,
    },
    "events": {
        ("Archive", "Replay", "Bus"): "there is only the default event bus; others are on AWS only"
    },
    "iam": _IDENTITIES,
    "sts": _IDENTITIES,
}
_WORD = re.compile("[A-Z][a-z]+|[A-Z]+(?![a-z])")


def unsupported(service: str, operation: str) -> ServiceError:
    """Return the error for an operation that this machine does not answer.

    It names the alternative, or the operations of the service on the same subject.
    """
    code = "UnknownOperationException"
    if find_operation(service, operation) is None:
        return ServiceError(code, f"{service} has no operation {operation!r}")
    instead = INSTEAD.get(service, {}).items()
    why = next((why for words, why in instead if any(word in operation for word in words)), "")
    if not why:
        alike = OPERATIONS[service]
        if len(alike) > FEW:
            same = [name for name in alike if _subject(name) == _subject(operation)]
            alike = tuple(get_close_matches(operation, same, FEW, cutoff=0))
        why = f"it has {', '.join(alike)}" if alike else "no operation here is like it"
    text = f"the local Glue does not have {operation} of {service}; {why}; all that it has: "
    return ServiceError(code, f"{text}docs/local.md")


def _subject(operation: str) -> str:
    """Return the first word after the verb, in the singular: Table of BatchDeleteTables."""
    words = _WORD.findall(operation.removeprefix("Batch"))
    return words[1].removesuffix("s") if len(words) > 1 else operation


def call(engine: Engine, service: str, operation: str, request: Request) -> Answer:
    """Run an operation; return its answer."""
    if service in ENGINE_SERVICES:
        function = ENGINE_SERVICES[service][operation]
        return engine.ask(lambda glue: function(glue, request))
    if service == "logs":
        return LOGS[operation](engine, request)
    return IDENTITY[service][operation](request)
