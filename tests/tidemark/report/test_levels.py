"""The graph as levels: what a job waits for and reads, and circles of jobs."""

from __future__ import annotations

from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.levels import before_of, levels_of

RAW, MART = "s3://b/raw/", "s3://b/mart/"


def levels(*jobs: PipelineJob) -> list[list[str]]:
    return levels_of(before_of(jobs))


def test_a_job_is_after_those_that_it_waits_for_and_those_whose_data_it_reads() -> None:
    jobs = (
        PipelineJob("publish", after=("curate",), reads=(RAW,)),
        PipelineJob("curate", after=("gone",)),
        PipelineJob("ingest", writes=(RAW,)),
    )

    assert before_of(jobs)["publish"] == ["curate", "ingest"]
    assert levels(*jobs) == [["curate", "ingest"], ["publish"]]


def test_a_job_that_merges_does_not_wait_for_itself() -> None:
    assert levels(PipelineJob("a", reads=(MART,), writes=(MART,))) == [["a"]]


def test_jobs_in_a_circle_are_each_shown_once() -> None:
    first = PipelineJob("a", reads=(RAW,), writes=(MART,))
    second = PipelineJob("b", reads=(MART,), writes=(RAW,))
    behind = PipelineJob("c", after=("b",))

    shown = levels(first, second, behind)

    assert sorted(name for level in shown for name in level) == ["a", "b", "c"]
    assert "c" in shown[-1]


def test_without_jobs_there_is_no_level() -> None:
    assert levels() == []
