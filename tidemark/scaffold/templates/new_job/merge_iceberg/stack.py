"""The call of a job of kind merge into Iceberg."""

from tidemark.constructs import BookmarkOption, Dataset, IcebergTable, IncrementalJob, Lake
from tidemark.scaffold.templates.stack import PipelineStack


def add(self: PipelineStack, lake: Lake, upstream: list[IncrementalJob]) -> None:
    """Add the job."""
    template_job_source = Dataset(lake.raw, "template_job/", delivered=True)
    template_job_table = IcebergTable(lake.catalog_database, "template_job")
    self.pipeline.add_job(
        "template-job",
        script="glue_jobs/template_job.py",
        bookmark=BookmarkOption.ENABLE,
        watermark=True,
        after=upstream,
        reads=[template_job_source],
        writes=[Dataset(lake.curated, "template_job/", table=template_job_table, published=True)],
        arguments={
            "source_path": template_job_source,
            "target_table": template_job_table.spark_name,
        },
    ).acknowledge("reads-duplicates", "keeps the newest row of each key")
