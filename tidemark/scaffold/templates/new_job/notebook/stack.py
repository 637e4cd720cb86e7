"""The call of a job that the cells of a notebook make."""

from tidemark.constructs import BookmarkOption, IncrementalJob, Lake
from tidemark.scaffold.templates.stack import PipelineStack


def add(self: PipelineStack, lake: Lake, upstream: list[IncrementalJob]) -> None:
    """Add the job."""
    self.pipeline.add_job(
        "template-job",
        script="glue_jobs/template_job.py",
        bookmark=BookmarkOption.DISABLE,
        after=upstream,
    )
