"""The arguments of a job: which of them win, and what they say of its bookmark.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

from collections.abc import Mapping

from tidemark.model.assembly.definitions import JobDefinition

BOOKMARK_OPTIONS = ("job-bookmark-enable", "job-bookmark-disable", "job-bookmark-pause")
CONTINUATION_OPTIONS = {
    "continuation-enabled": "job-bookmark-enable",
    "continuation-readonly": "job-bookmark-pause",
    "continuation-ignore": "job-bookmark-disable",
}


def overlaid(job: JobDefinition, run_arguments: Mapping[str, str]) -> dict[str, str]:
    """Return NonOverridable over run over default arguments, key by key."""
    return {**job.default_arguments, **run_arguments, **job.non_overridable_arguments}


def bookmark_option(arguments: Mapping[str, str]) -> str:
    """Return the job-bookmark-option of merged arguments; the newer of the two parameters wins.

    Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1, awsglue/utils.py)
    """
    legacy = CONTINUATION_OPTIONS.get(arguments.get("--continuation-option", ""))
    return arguments.get("--job-bookmark-option") or legacy or "job-bookmark-disable"
