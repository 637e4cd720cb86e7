"""The call of a job of kind merge."""

from tidemark.constructs import BookmarkOption, Dataset, IncrementalJob, Lake
from tidemark.scaffold.templates.stack import PipelineStack


def add(self: PipelineStack, lake: Lake, upstream: list[IncrementalJob]) -> None:
    """Add the job."""
    template_job_source = Dataset(lake.raw, "template_job/", delivered=True)
    template_job_target = Dataset(lake.curated, "template_job/", published=True)
    self.pipeline.add_job(
        "template-job",
        script="glue_jobs/template_job.py",
        bookmark=BookmarkOption.ENABLE,
        after=upstream,
        reads=[template_job_source],
        writes=[template_job_target],
        arguments={"source_path": template_job_source, "target_path": template_job_target},
    ).acknowledge("reads-duplicates", "keeps the newest row of each key")
