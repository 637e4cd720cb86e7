"""Judges a job by its version of Glue and its retries, together with its script."""

from collections.abc import Iterator

from tidemark.checks.lint.findings import Finding, warning
from tidemark.checks.script.appends import appends_in
from tidemark.checks.script.place import Place
from tidemark.model.assembly.definitions import SPARK, STREAMING
from tidemark.model.assembly.glue_versions import AUTO, UNNAMED_GLUE_VERSION


def version_findings(command: str, stated: str | None) -> Iterator[Finding]:
    """Yield whether a Spark job names no version of Glue, so that AWS chooses.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html
    """
    if stated is None and command in (SPARK, STREAMING):
        text = (
            f"the job names no GlueVersion: this job runs on Spark 4 (Glue {UNNAMED_GLUE_VERSION}) "
            "from now on"
        )
        yield warning("glue-version-missing", Place(1, 1), text)


def retry_findings(script: str, stated: str | None, max_retries: int) -> Iterator[Finding]:
    """Yield the writes that add rows, of a job whose failed runs are tried again.

    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
    """
    if max_retries < 1:
        return
    why = "after a failed upgrade" if stated == AUTO else f"(MaxRetries is {max_retries})"
    for one in appends_in(script):
        text = f"{one.name} adds rows: a retry {why} can add its rows twice"
        yield warning("retry-appends", one.place, text)
