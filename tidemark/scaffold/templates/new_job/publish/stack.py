"""The call of a job of kind publish."""

from infra.flights_stack import FlightsStack
from infra.storage_stack import StorageStack
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.incremental_job import BookmarkOption, IncrementalJob


def add(self: FlightsStack, storage: StorageStack, upstream: list[IncrementalJob]) -> None:
    """Add the job."""
    template_job_source = Dataset(storage.curated, "template_job/", delivered=True)
    template_job_target = Dataset(storage.mart, "template_job/", published=True)
    self.pipeline.add_job(
        "template-job",
        script="glue_jobs/template_job.py",
        bookmark=BookmarkOption.ENABLE,
        after=upstream,
        reads=[template_job_source],
        writes=[template_job_target],
        arguments={"source_path": template_job_source, "target_path": template_job_target},
    )
