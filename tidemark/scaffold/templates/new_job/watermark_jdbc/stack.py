"""The call of a job of kind watermark-jdbc."""

from tidemark.constructs import BookmarkOption, Dataset, IncrementalJob, Lake
from tidemark.scaffold.templates.stack import PipelineStack


def add(self: PipelineStack, lake: Lake, upstream: list[IncrementalJob]) -> None:
    """Add the job."""
    template_job_target = Dataset(lake.raw, "template_job/", published=True)
    self.pipeline.add_job(
        "template-job",
        script="glue_jobs/template_job.py",
        bookmark=BookmarkOption.DISABLE,
        watermark=True,
        after=upstream,
        writes=[template_job_target],
        arguments={
            # Two rows of an embedded database, so that the job runs at once: put the address,
            # driver and table of yours here; connections= and secrets= of add_job lead to it.
            "jdbc_url": "jdbc:derby:memory:sample;create=true",
            "jdbc_driver": "org.apache.derby.jdbc.EmbeddedDriver",
            "jdbc_table": (
                "(VALUES (1, 'open', TIMESTAMP('2013-01-01 10:00:00')),"
                " (2, 'open', TIMESTAMP('2013-01-02 10:00:00')))"
                " AS sample(id, status, updated_at)"
            ),
            "target_path": template_job_target,
            # `tidemark backfill` sets them, to load days again: `tidemark backfill --help`.
            "backfill_from": "none",
            "backfill_to": "none",
        },
    )
