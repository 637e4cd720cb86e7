"""What the pages of a report know of a job besides its template."""

from __future__ import annotations

from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten
from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.model import with_datasets


def test_a_run_with_nothing_new_leaves_the_datasets_of_a_job_as_they_were():
    written = DatasetWritten("s3://b/out/", "append")
    first = Checkpoint("load", "jr_1", 1, read=(DatasetRead("s3://b/in/"),), written=(written,))
    nothing = Checkpoint("load", "jr_2", 2, read=(DatasetRead("s3://b/in/", files=0),))

    (job,) = with_datasets([PipelineJob("load")], [nothing, first])

    assert (job.reads, job.writes) == (("s3://b/in/",), ("s3://b/out/",))
