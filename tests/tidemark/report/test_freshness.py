from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten
from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.rewind.cleared import Cleared
from tidemark.report.commits import JobCommit, PipelineRun, commits_of, last_runs
from tidemark.report.freshness import Freshness, freshness_of, published_datasets

RAW, SIDE, CURATED, MART = "s3://b/raw/", "s3://b/side/", "s3://b/curated/", "s3://b/mart/"
INGEST = PipelineJob("ingest", reads=("s3://b/landing/",), writes=(RAW,))
ENRICH = PipelineJob("enrich", reads=("s3://b/other/",), writes=(SIDE,))
CURATE = PipelineJob("curate", reads=(RAW, SIDE), writes=(CURATED,))
PUBLISH = PipelineJob("publish", reads=(CURATED,), writes=(MART,), tables={MART: "shop.mart"})
JOBS = (INGEST, ENRICH, CURATE, PUBLISH)


def run(job: str, start: int, end: int | None = None, state: str = "SUCCEEDED") -> PipelineRun:
    return PipelineRun(job, f"jr_{job}_{start}", state, start, start + 1 if end is None else end)


def fresh(*runs: PipelineRun, now: int = 1000) -> Freshness:
    (found,) = freshness_of(JOBS, commits_of(runs, ()), last_runs(runs), now)
    return found


GOOD = (run("ingest", 10), run("enrich", 12), run("curate", 20), run("publish", 30))


def test_a_dataset_is_complete_up_to_the_start_of_the_first_run_on_the_way_to_it() -> None:
    found = fresh(*GOOD)

    assert (found.as_of_ms, found.next_job) == (10, "ingest")
    assert (found.table, found.changed_at_ms) == ("shop.mart", 31)


def test_the_job_that_has_not_read_what_its_inputs_hold_holds_it_back() -> None:
    found = fresh(*GOOD, run("ingest", 40), run("enrich", 42))

    assert (found.as_of_ms, found.held_back_by) == (10, "curate")
    assert found.reason == "it has not run since"


def test_nothing_holds_back_what_has_all_that_is_known_to_be_there() -> None:
    assert (fresh(*GOOD).held_back_by, fresh(*GOOD).reason) == ("", "")


def test_a_job_that_has_not_run_for_a_day_holds_back_what_nothing_else_does() -> None:
    found = fresh(*GOOD, now=3 * 86_400_000)

    assert (found.held_back_by, found.reason) == ("ingest", "it has not run for 2 days")


def test_rows_that_a_rewind_has_deleted_are_not_there_until_the_job_has_run_again() -> None:
    runs, cleared = [*GOOD, run("ingest", 40), run("curate", 50)], [Cleared("ingest", 11, 60)]

    def found(*more: PipelineRun) -> Freshness:
        every = [*runs, *more]
        commits = commits_of(every, (), cleared)
        datasets = freshness_of([INGEST], commits, last_runs(every), 1000, cleared)
        return datasets[0]

    rewound, again = found(), found(run("ingest", 70))

    assert (rewound.as_of_ms, rewound.held_back_by) == (10, "ingest")
    assert "rewind" in rewound.reason
    assert (again.as_of_ms, again.held_back_by) == (70, "")


@pytest.mark.parametrize("job", ["ingest", "enrich", "publish"])
def test_a_dataset_is_not_complete_while_a_job_on_the_way_has_left_input_out(job: str) -> None:
    commits = commits_of(GOOD, ())
    (mart,) = freshness_of(JOBS, commits, last_runs(GOOD), 1000, left_out={job, "elsewhere"})
    (before,) = freshness_of(JOBS, commits, last_runs(GOOD), 1000, left_out={"elsewhere"})

    assert (mart.as_of_ms, mart.held_back_by) == (None, job)
    assert "its warnings say what" in mart.reason
    assert before.as_of_ms == 10


@given(st.sampled_from(["FAILED", "STOPPED", "TIMEOUT", "RUNNING", "WAITING"]), st.integers(0, 3))
def test_whatever_keeps_a_job_from_its_commit_is_named(state: str, number: int) -> None:
    name = ("ingest", "enrich", "curate", "publish")[number]
    later = [run(one, 100 + n * 10) for n, one in enumerate(("ingest", "enrich", "curate"))]
    runs = [it for it in later[:number] if it.job != name]
    ended = None if state in ("RUNNING", "WAITING") else 300
    found = fresh(*GOOD, *runs, PipelineRun(name, "jr_late", state, 200, ended))

    assert found.reason
    if number != 1:  # the other input is as old, and comes first
        assert found.held_back_by == name


def test_a_job_whose_last_run_failed_is_named_with_that() -> None:
    failed = run("ingest", 50, state="FAILED")
    found = fresh(*GOOD, run("enrich", 42), failed, run("curate", 60), run("publish", 70))

    assert (found.as_of_ms, found.held_back_by) == (10, "ingest")
    assert found.reason == "its last run FAILED"


def test_a_run_that_succeeded_and_committed_nothing_is_the_reason() -> None:
    read = DatasetRead("s3://b/landing/", source="landed", files=1, after={"kind": "files"})
    last = run("ingest", 50)
    nothing = Checkpoint("ingest", last.run_id, 51, read=(read,), is_committed=False)
    runs = (*GOOD[1:], last)

    (found,) = freshness_of(JOBS, commits_of(runs, (nothing,)), last_runs(runs), 1000)

    assert (found.as_of_ms, found.held_back_by) == (None, "ingest")
    assert found.reason == "its last run has committed nothing"


def test_a_run_that_goes_on_is_the_reason() -> None:
    going = replace(run("ingest", 50, state="RUNNING"), ended_at_ms=None)

    assert fresh(*GOOD, going).reason == "its run is RUNNING"


def test_where_nothing_ran_the_first_job_is_named() -> None:
    found = fresh()

    assert found.as_of_ms is None
    assert (found.held_back_by, found.reason) == ("ingest", "it has never run")


def test_the_slower_of_two_inputs_counts() -> None:
    later = (run("enrich", 100), run("curate", 110), run("publish", 120))

    assert fresh(*GOOD, *later).as_of_ms == 10


def test_a_job_that_reads_its_own_target_does_not_wait_for_itself() -> None:
    merge = PipelineJob("merge", reads=("s3://b/in/", MART), writes=(MART,), published=(MART,))
    runs = (run("merge", 5), run("merge", 50))
    (found,) = freshness_of([merge], commits_of(runs, ()), last_runs(runs), 100)

    assert (found.as_of_ms, found.next_job) == (50, "merge")


def test_jobs_that_read_each_other_are_answered() -> None:
    one = PipelineJob("one", reads=(RAW,), writes=(SIDE,), published=(SIDE,))
    two = PipelineJob("two", reads=(SIDE,), writes=(RAW,))
    runs = (run("one", 5), run("two", 10), run("one", 20))

    (found,) = freshness_of([one, two], commits_of(runs, ()), last_runs(runs), 100)

    assert found.held_back_by in ("one", "two")


def test_a_checkpoint_that_read_nothing_is_a_commit_that_changed_nothing() -> None:
    nothing = Checkpoint("publish", "jr_publish_60", 61, read=(DatasetRead(CURATED, files=0),))
    runs = (*GOOD, run("publish", 60))
    (found,) = freshness_of(JOBS, commits_of(runs, [nothing]), last_runs(runs), 100)

    assert found.changed_at_ms == 31


def test_a_run_without_rows_is_a_commit_that_changed_nothing() -> None:
    nothing = replace(run("publish", 60), rows_read=0, rows_written=0)

    found = fresh(*GOOD, nothing)

    assert found.changed_at_ms == 31


def test_a_run_that_failed_after_its_commit_counts() -> None:
    failed = run("publish", 60, state="FAILED")
    committed = Checkpoint("publish", failed.run_id, 61)

    assert commits_of([failed], [committed]) == {"publish": (JobCommit(60, 61),)}
    assert commits_of([failed], []) == {}


@pytest.mark.parametrize(
    ("members", "counts"),
    [
        ({"read": (DatasetRead(CURATED, "ctx", files=1, after={"kind": "files"}),)}, False),
        ({"read": (DatasetRead(CURATED, "ctx", files=0, after={"kind": "files"}),)}, True),
        ({"read": (DatasetRead(CURATED, files=1),)}, True),  # it reads everything each time
        ({"written": (DatasetWritten(MART),), "arguments": {"--watermark_table": "t"}}, False),
        ({"read": (DatasetRead(CURATED, rows=1),), "arguments": {"--watermark_table": "t"}}, True),
        ({}, True),
    ],
)
@pytest.mark.parametrize("is_listed", [True, False])
def test_a_run_that_has_not_moved_its_position_has_not_committed(members, counts, is_listed):
    ended = run("publish", 60)
    checkpoint = Checkpoint("publish", ended.run_id, 61, is_committed=False, **members)

    assert bool(commits_of([ended] if is_listed else [], [checkpoint])) == counts
    committed = replace(checkpoint, is_committed=True)
    assert commits_of([ended] if is_listed else [], [committed])


def test_a_run_that_filled_a_range_makes_nothing_fresher():
    """It has read the days that it was told, whatever had arrived by then."""
    filled = replace(run("publish", 60), is_filling=True)
    told = {"--backfill_from": "2013-01-01", "--backfill_to": "2013-01-02"}
    committed = Checkpoint("publish", filled.run_id, 61, arguments=told)

    assert commits_of([filled], [committed]) == {}
    assert commits_of([], [committed]) == {}


def test_published_is_what_is_declared_and_what_no_job_reads() -> None:
    declared = replace(INGEST, published=(RAW,))

    assert published_datasets([INGEST, ENRICH, CURATE, PUBLISH]) == [MART]
    assert published_datasets([declared, ENRICH, CURATE, PUBLISH]) == [RAW, MART]


@dataclass(frozen=True)
class Story:
    """Jobs in layers, each with a dataset of its own, and runs of them in the order of commits."""

    jobs: tuple[PipelineJob, ...]
    runs: tuple[PipelineRun, ...]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    jobs: list[PipelineJob] = []
    for number in range(draw(st.integers(1, 5))):
        earlier = [job.writes[0] for job in jobs] + ["s3://x/one/", "s3://x/two/"]
        reads = draw(st.lists(st.sampled_from(earlier), min_size=1, max_size=3, unique=True))
        jobs.append(PipelineJob(f"j{number}", reads=tuple(reads), writes=(f"s3://b/{number}/",)))
    runs: list[PipelineRun] = []
    free = dict.fromkeys((job.name for job in jobs), 2)  # one run of a job at a time
    for name in draw(st.lists(st.sampled_from(list(free)), max_size=12)):
        start = free[name] + draw(st.integers(0, 2))
        free[name] = start + draw(st.integers(1, 3))
        runs.append(run(name, start, free[name]))
    return Story(tuple(jobs), tuple(runs))


def first_missing(story: Story, uri: str, now: int) -> int:
    """Copy deliveries, one per source and moment, as the runs would; return the first that lacks.

    0 if a source was never read.
    """
    held: dict[str, list[tuple[int, frozenset[tuple[str, int]]]]] = {}

    def content(dataset: str, at: int) -> frozenset[tuple[str, int]]:
        if dataset.startswith("s3://x/"):
            return frozenset((dataset, moment) for moment in range(at))
        states = [found for moment, found in held.get(dataset, []) if moment <= at]
        return frozenset().union(*states)

    by_name = {job.name: job for job in story.jobs}
    for one in sorted(story.runs, key=lambda it: it.ended_at_ms or 0):
        job = by_name[one.job]
        found = frozenset().union(*(content(it, one.started_at_ms) for it in job.reads))
        held.setdefault(job.writes[0], []).append((one.ended_at_ms or 0, found))

    def sources(dataset: str) -> set[str]:
        writers = [job for job in story.jobs if dataset in job.writes]
        return set().union(*(sources(it) for it in writers[0].reads)) if writers else {dataset}

    there = content(uri, now)
    return min(
        next(moment for moment in range(now + 1) if (source, moment) not in there)
        for source in sources(uri)
    )


@given(stories())
def test_it_is_complete_up_to_the_first_delivery_that_lacks(story: Story) -> None:
    now = 100
    found = freshness_of(story.jobs, commits_of(story.runs, ()), last_runs(story.runs), now)

    # A delivery of another path may have come earlier: what is said is never too much.
    for one in found:
        lacks = first_missing(story, one.dataset, now)
        assert (one.as_of_ms or 0) <= lacks
        if len(story.jobs) == 1:
            assert (one.as_of_ms or 0) == lacks


@given(stories())
def test_runs_of_the_holder_and_what_follows_it_bring_newer_data(story: Story) -> None:
    """Whoever is named, one run after the other, leads to data that is complete up to now."""
    now, runs = 100, list(story.runs)
    uri = story.jobs[-1].writes[0]
    for _ in range(40):
        (found,) = (
            it
            for it in freshness_of(story.jobs, commits_of(runs, ()), last_runs(runs), now)
            if it.dataset == uri
        )
        if (found.as_of_ms or 0) >= 100:
            return
        runs.append(run(found.next_job, now, now + 1))
        now += 2
    raise AssertionError(f"{found.next_job} is named again and again")
