"""What the jobs of one pipeline share."""

from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_s3_assets as assets

from tidemark.constructs.security.security import JobSecurity
from tidemark.constructs.watermark_table import WatermarkTable


@dataclass(frozen=True)
class SharedParts:
    """What the jobs of one pipeline share.

    Attributes:
        root: folder of the project, which the scripts are in.
        libs: the zip of shared packages put on a script's path.
        security: how logs, bookmarks and data are encrypted, and where logs go.
        watermarks: the table for jobs that keep watermarks, or None if none does.
        workflow_name: the Glue workflow that starts the jobs.
        metrics: True publishes Glue's job metrics to CloudWatch.
    """

    root: Path
    libs: assets.Asset
    security: JobSecurity
    watermarks: WatermarkTable | None
    workflow_name: str
    metrics: bool = False
