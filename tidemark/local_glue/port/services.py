"""Which operations of AWS this machine answers, and by what."""

from collections.abc import Callable, Mapping
from typing import Any

from tidemark.local_glue.port import bookmarks, identity, job_runs, jobs, logs
from tidemark.local_glue.port.engine import Engine
from tidemark.local_glue.port.local_glue import LocalGlue
from tidemark.local_glue.port.models import find_operation
from tidemark.local_glue.port.service_errors import ServiceError

Request = Mapping[str, Any]
Answer = Mapping[str, Any]
GLUE: Mapping[str, Callable[[LocalGlue, Request], Answer]] = {
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchStopJobRun": job_runs.batch_stop_job_run,
    "CreateJob": jobs.create_job,
    "DeleteJob": jobs.delete_job,
    "GetJob": jobs.get_job,
    "GetJobBookmark": bookmarks.get_job_bookmark,
    "GetJobRun": job_runs.get_job_run,
    "GetJobRuns": job_runs.get_job_runs,
    "GetJobs": jobs.get_jobs,
    "GetTags": jobs.get_tags,
    "ListJobs": jobs.list_jobs,
    "ResetJobBookmark": bookmarks.reset_job_bookmark,
    "StartJobRun": job_runs.start_job_run,
    "TagResource": jobs.tag_resource,
    "UntagResource": jobs.untag_resource,
    "UpdateJob": jobs.update_job,
}
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
OPERATIONS = {
    "glue": tuple(GLUE),
    "logs": tuple(LOGS),
    **{service: tuple(operations) for service, operations in IDENTITY.items()},
}


def unsupported(service: str, operation: str) -> ServiceError:
    """Return the error for an operation that this machine does not answer."""
    if find_operation(service, operation) is None:
        text = f"{service} has no operation {operation!r}"
        return ServiceError("UnknownOperationException", text)
    return ServiceError(
        "UnknownOperationException",
        f"the local Glue does not have {operation} of {service}; it has "
        f"{', '.join(OPERATIONS[service])}",
    )


def call(engine: Engine, service: str, operation: str, request: Request) -> Answer:
    """Do an operation; return its answer.

    Raises:
        TidemarkError: it is refused; the text says why.
    """
    if service == "glue":
        function = GLUE[operation]
        return engine.ask(lambda glue: function(glue, request))
    if service == "logs":
        return LOGS[operation](engine, request)
    return IDENTITY[service][operation](request)
