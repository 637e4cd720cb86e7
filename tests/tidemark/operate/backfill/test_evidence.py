"""What runs, checkpoints, bookmarks and watermarks say of the ranges of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    WatermarkMove,
)
from tidemark.operate.backfill.contract import Fillable, fillable_of, filled_range
from tidemark.operate.backfill.evidence import BookmarkReach, JobFacts, known_of
from tidemark.operate.backfill.ledger import ledger
from tidemark.operate.backfill.ranges import Span, Unit
from tidemark.operate.job_runs import Run

LANDING = "s3://landing/orders/"
BOOKMARK = Fillable("orders", is_declared=True, has_bookmark=True)
WATERMARK = Fillable("orders", is_declared=True, watermark_table="glue-watermarks")
DAY = date(2013, 1, 1).toordinal() - 1  # DAY + 1 is the first of January


def files(*days: int, at: int) -> list[tuple[str, int]]:
    return [(f"dt=2013-01-{day:02}/{at}.json", at) for day in days]


def states(facts: JobFacts, last: int, landed=()) -> str:
    """Return a letter for each day of January up to ``last``: d, m, r, s."""
    known = known_of(facts, {LANDING: landed})
    entries = ledger(Span(DAY + 1, DAY + last + 1), known.evidence)
    return "".join(it.state.value[0] * it.range.size for it in entries)


def read(run_id: str, until_ms: int, at: int = 0, **others) -> Checkpoint:
    after = {"kind": "files", "until_ms": until_ms}
    source = DatasetRead(LANDING, "landed", files=1, after=after)
    move = BookmarkMove("job-bookmark-enable", 0, 1)
    return Checkpoint("orders", run_id, at, bookmark=move, read=(source,), **others)


def ran(run_id: str, state: str, at_ms: int, arguments: Mapping[str, str]) -> Run:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return Run(run_id, "orders", state, at, arguments=arguments)


def filling(run_id: str, low: str, high: str, state: str = "SUCCEEDED", at: int = 50) -> Run:
    return ran(run_id, state, at, {"--backfill_from": low, "--backfill_to": high})


def test_days_of_a_bookmark_job_are_done_up_to_the_position_in_force():
    landed = [*files(1, 2, at=10), *files(2, 3, at=30), *files(5, at=40)]
    checkpoints = [read("jr_1", 20), read("jr_2", 30, at=1)]

    facts = JobFacts(BOOKMARK, checkpoints=checkpoints, bookmark=BookmarkReach("jr_2"))
    rewound = replace(facts, bookmark=BookmarkReach("jr_1"))
    reset = replace(facts, bookmark=BookmarkReach(""))
    here = replace(facts, bookmark=BookmarkReach("jr_9", {"landed": 40}))

    assert states(facts, 5, landed) == "dddmm"
    assert states(rewound, 5, landed) == "dsmmm"
    assert states(reset, 5, landed) == "mmmmm"
    assert states(here, 5, landed) == "dddmd"


def test_a_file_that_arrives_too_old_to_be_read_makes_its_day_one_to_load():
    """As `cp -p` or `mv` brings it: incremental runs look at later files only."""
    landed = [*files(1, 2, at=10), *files(3, at=11), *files(4, at=25), *files(5, at=10)]
    arrived = {landed[1][0]: 70, landed[2][0]: 60, landed[3][0]: 61, landed[4][0]: 40}
    bookmark = BookmarkReach("jr_1", {"landed": 50}, {"landed": 20})
    facts = JobFacts(BOOKMARK, (), [read("jr_1", 50)], bookmark)

    def found(runs=()):
        known = known_of(
            replace(facts, runs=runs),
            {LANDING: landed},
            lambda uri: arrived.get(uri.removeprefix(LANDING), 10),
        )
        return [
            (it.range.size, it.state.value, it.is_ahead)
            for it in ledger(Span(DAY + 1, DAY + 6), known.evidence)
        ]

    # The fourth is young enough that the next run looks at it, and the fifth came in time.
    assert found() == [(1, "done", False), (2, "missing", False), (2, "done", False)]
    filled = [filling("jr_2", "2013-01-02", "2013-01-03", at=75)]
    assert [it for _, it, _ in found(filled)] == ["done", "missing", "done"]
    landed += files(2, at=9)
    assert [it for _, it, _ in found()] == ["done", "stale", "missing", "done"]


def test_only_runs_that_succeeded_have_filled_their_range():
    runs = [
        filling("jr_5", "2013-01-05", "2013-01-06", "RUNNING"),
        filling("jr_4", "2013-01-04", "2013-01-05", "FAILED"),
        filling("jr_3", "2013-01-03", "2013-01-04", "STOPPED"),
        filling("jr_1", "2013-01-01", "2013-01-03"),
        ran("jr_0", "SUCCEEDED", 1, {"--backfill_from": "none", "--backfill_to": "none"}),
    ]

    assert states(JobFacts(BOOKMARK, runs), 6) == "ddmmrm"


def test_a_run_that_glue_has_forgotten_counts_by_its_checkpoint_and_one_that_failed_does_not():
    told = {"--backfill_from": "2013-01-01", "--backfill_to": "2013-01-03"}
    later = {"--backfill_from": "2013-01-03", "--backfill_to": "2013-01-04"}
    checkpoints = [
        Checkpoint("orders", "jr_1", 50, arguments=told),
        Checkpoint("orders", "jr_2", 60, arguments=later),
    ]

    facts = JobFacts(BOOKMARK, [filling("jr_2", "2013-01-03", "2013-01-04", "FAILED")], checkpoints)

    assert states(facts, 4) == "ddmm"


def test_a_filled_day_is_stale_when_a_file_came_after_the_run_began():
    landed = [*files(1, 2, at=10), *files(2, at=51)]
    facts = JobFacts(
        BOOKMARK,
        [filling("jr_1", "2013-01-01", "2013-01-03", at=50)],
        [read("jr_0", 5)],
        BookmarkReach("jr_0"),
    )

    assert states(facts, 2, landed) == "ds"


def test_on_aws_a_source_is_read_up_to_when_the_run_of_the_bookmark_began():
    """Glue's own document of a bookmark is not public; the job names its source."""
    landed = [*files(1, 2, at=10), *files(2, 4, at=30)]
    named = replace(BOOKMARK, source=LANDING)
    runs = [ran("jr_1", "SUCCEEDED", 20, {})]

    facts = JobFacts(named, runs, (), BookmarkReach("jr_1"))

    assert states(facts, 4, landed) == "dsmm"
    assert states(replace(facts, bookmark=None), 4, landed) == "mmmm"
    assert states(replace(facts, bookmark=BookmarkReach("jr_gone")), 4, landed) == "mmmm"


def test_only_the_source_that_a_job_names_counts():
    other = DatasetRead("s3://landing/days/", "days", after={"kind": "files", "until_ms": 5})
    both = read("jr_1", 20)
    named = replace(BOOKMARK, source=LANDING)

    facts = JobFacts(named, (), [replace(both, read=(*both.read, other))], BookmarkReach("jr_1"))

    assert [(it.dataset, until) for it, until in facts.sources()] == [(LANDING, 20)]


def window(low, high) -> dict[str, str]:
    return {"cursor": "updated_at", "window_id": "w", "low": low, "high": high}


def moved(run_id: str, low, high: str, at: int, **others) -> Checkpoint:
    before = {"updated_at": low} if low else None
    move = WatermarkMove(
        "t", before=before, after={"updated_at": high}, windows=(window(low, high),)
    )
    return Checkpoint("orders", run_id, at, watermarks=(move,), **others)


HEAD = {"": {"updated_at": datetime(2013, 1, 5, 10, tzinfo=UTC)}}


def ahead(facts: JobFacts, last: int, landed=()) -> str:
    """Return ``x`` for each day of January that the next run reads."""
    entries = ledger(Span(DAY + 1, DAY + last + 1), known_of(facts, {LANDING: landed}).evidence)
    return "".join(".x"[it.is_ahead] * it.range.size for it in entries)


def test_what_the_next_run_reads_is_told():
    landed = [*files(1, 2, at=10), *files(2, 4, at=30)]
    facts = JobFacts(BOOKMARK, (), [read("jr_1", 20)], BookmarkReach("jr_1"))

    assert ahead(facts, 5, landed) == ".x.x."
    assert ahead(replace(facts, bookmark=None), 5, landed) == "xx.x."
    assert ahead(JobFacts(WATERMARK, watermarks=HEAD), 7) == ".....xx"
    filled = [filling("jr_1", "2013-01-02", "2013-01-03")]
    assert ahead(JobFacts(WATERMARK, filled), 3) == "x.x"


def test_days_up_to_the_watermark_are_done_and_the_day_it_lies_in():
    assert states(JobFacts(WATERMARK, watermarks=HEAD), 7) == "dddddmm"


def test_a_first_window_that_began_at_a_value_leaves_what_is_before_it():
    first = WatermarkMove("t", windows=(window("2013-01-03T00:00:00+00:00", "2013-01-04"),))
    checkpoint = Checkpoint("orders", "jr_1", 1, watermarks=(first,))

    assert states(JobFacts(WATERMARK, (), [checkpoint], watermarks=HEAD), 7) == "mmdddmm"


def test_the_source_that_is_furthest_behind_counts():
    values = {**HEAD, "returns": {"updated_at": datetime(2013, 1, 2, tzinfo=UTC)}}

    assert states(JobFacts(WATERMARK, watermarks=values), 5) == "ddmmm"


def test_files_tell_what_changed_behind_a_watermark_where_the_job_says_their_column():
    by_column = replace(WATERMARK, column="dt")
    source = (DatasetRead(LANDING),)
    checkpoints = [
        moved("jr_1", None, "2013-01-02T12:00:00+00:00", 100, read=source),
        moved("jr_2", "2013-01-02T12:00:00+00:00", "2013-01-05T10:00:00+00:00", 200, read=source),
    ]
    landed = [*files(1, 2, 3, 5, at=90), *files(3, 5, at=300)]

    facts = JobFacts(by_column, (), checkpoints, watermarks=HEAD)

    assert states(facts, 6, landed) == "ddsddm"
    assert states(replace(facts, job=WATERMARK), 6, landed) == "dddddm"


def test_numbers_are_known_by_the_key_of_a_bookmark_and_by_filled_ranges():
    keys = DatasetRead("jdbc:x#orders", "orders", after={"kind": "keys", "values": {"id": 10}})
    checkpoint = Checkpoint("orders", "jr_1", 1, read=(keys,))
    runs = [filling("jr_2", "21", "31")]

    known = known_of(JobFacts(BOOKMARK, runs, [checkpoint], BookmarkReach("jr_1")), {})

    assert known.unit is Unit.NUMBER
    entries = ledger(Span(1, 41), known.evidence)
    assert [(it.range.low, it.range.high, it.state.value) for it in entries] == [
        (1, 11, "done"),
        (11, 21, "missing"),
        (21, 31, "done"),
        (31, 41, "missing"),
    ]


def test_a_text_is_neither_a_day_nor_a_number():
    assert known_of(JobFacts(WATERMARK, watermarks={"": {"name": "abc"}}), {}).unit is None


def test_a_job_is_read_from_the_answer_of_glue():
    answer = {
        "Name": "orders",
        "DefaultArguments": {
            "--backfill_from": "none",
            "--backfill_to": "none",
            "--backfill_by": "dt",
            "--backfill_source": "s3://landing/orders",
            "--job-bookmark-option": "job-bookmark-enable",
        },
        "NonOverridableArguments": {"--watermark_table": "t"},
        "ExecutionProperty": {"MaxConcurrentRuns": 3},
    }

    job = fillable_of(answer)

    fixed = frozenset({"--watermark_table"})
    assert job == Fillable("orders", True, "dt", LANDING, True, fixed, "t", 3)
    assert job.arguments(Span(DAY + 1, DAY + 2), Unit.DAY) == {
        "--backfill_from": "2013-01-01",
        "--backfill_to": "2013-01-02",
        "--job-bookmark-option": "job-bookmark-disable",
    }
    assert WATERMARK.arguments(Span(1, 3), Unit.NUMBER) == {
        "--backfill_from": "1",
        "--backfill_to": "3",
    }


def test_a_bookmark_that_no_run_can_turn_off_is_refused():
    fixed = replace(BOOKMARK, fixed=frozenset({"--job-bookmark-option"}))

    with pytest.raises(UsageError, match="--job-bookmark-option in its NonOverridableArguments"):
        fixed.check()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"--backfill_from": "none", "--backfill_to": "none"},
        {"--backfill_from": "2013-01-01"},
        {"--backfill_from": "2013-01-02", "--backfill_to": "2013-01-01"},
        {"--backfill_from": "1", "--backfill_to": "2013-01-01"},
    ],
)
def test_other_arguments_are_those_of_an_incremental_run(arguments):
    assert filled_range(arguments) is None
