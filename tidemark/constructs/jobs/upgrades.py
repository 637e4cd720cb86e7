"""Warns at synthesis of jobs that AWS upgrades, where a retry can add rows twice."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from tidemark.checks.script.appends import appends_in
from tidemark.model.assembly.glue_versions import AUTO

RETRY_APPENDS = "tidemark:retry-appends"
AUTO_BY_CLOUDFORMATION = "tidemark:auto-by-cloudformation"


def warn_of_cloudformation(scope: Construct, job: str, glue_version: str) -> None:
    """Warn that CloudFormation may refuse a job with `auto`.

    The pattern of GlueVersion in its published schema of AWS::Glue::Job allows numbers with dots;
    that of Glue's own API has `|auto` too. AWS describes the console and the CLI only.
    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-turning-on-auto-upgrade-with-the-console-or-aws-cli.html
    """
    if glue_version == AUTO:
        cdk.Annotations.of(scope).add_warning_v2(
            AUTO_BY_CLOUDFORMATION,
            f"job {job} has GlueVersion {AUTO}, which CloudFormation's published schema of "
            "AWS::Glue::Job does not allow, so that a deployment may be refused: deploy it to a "
            "test account first, or name a version here and turn auto upgrade on with the console "
            "(docs/automatic-upgrades.md); acknowledge this once a deployment has passed",
        )


def warn_of_appends(scope: Construct, job: str, script: Path, glue_version: str) -> None:
    """Warn where a job with `auto` adds rows without a window or a key.

    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
    """
    found = appends_in(script.read_text(encoding="utf-8")) if glue_version == AUTO else ()
    if not found:
        return
    places = ", ".join(f"{one.name} on line {one.place.line}" for one in found)
    cdk.Annotations.of(scope).add_warning_v2(
        RETRY_APPENDS,
        f"job {job} has GlueVersion {AUTO} and adds rows ({script.name}: {places}): a retry after "
        "a failed upgrade can add its rows twice; write with write_window, merge_window or "
        "upsert_jdbc, or overwrite partitions (docs/automatic-upgrades.md), or acknowledge this",
    )
