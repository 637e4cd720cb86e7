"""The arguments of a job: which of them win, and their bookmark option.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

from collections.abc import Mapping

from tidemark.model.assembly.definitions import JobDefinition

BOOKMARK_OPTION = "--job-bookmark-option"
WATERMARK_TABLE = "--watermark_table"  # of a job that keeps watermarks
ENABLE, DISABLE, PAUSE = "job-bookmark-enable", "job-bookmark-disable", "job-bookmark-pause"
BOOKMARK_OPTIONS = (ENABLE, DISABLE, PAUSE)
CONTINUATION_OPTIONS = {
    "continuation-enabled": ENABLE,
    "continuation-readonly": PAUSE,
    "continuation-ignore": DISABLE,
}


def overlaid(job: JobDefinition, run_arguments: Mapping[str, str]) -> dict[str, str]:
    """Return NonOverridable over run over default arguments, key by key."""
    return {**job.default_arguments, **run_arguments, **job.non_overridable_arguments}


def bookmark_option(arguments: Mapping[str, str]) -> str:
    """Return the job-bookmark-option of merged arguments; the newer of the two parameters wins.

    Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1, awsglue/utils.py)
    """
    legacy = CONTINUATION_OPTIONS.get(arguments.get("--continuation-option", ""))
    return arguments.get(BOOKMARK_OPTION) or legacy or DISABLE


FROM, TO = "--backfill_from", "--backfill_to"
NOT_GIVEN = "none"


def is_filling(arguments: Mapping[str, str]) -> bool:
    """Return whether a run with these arguments fills a range and is not incremental."""
    return arguments.get(FROM, NOT_GIVEN) != NOT_GIVEN
