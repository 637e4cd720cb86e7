"""The plan of a rewind on made-up facts: what it says, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.operate.rewind.model import past_run
from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten
from tidemark.operate.rewind.cut import RewindTo, previous
from tidemark.operate.rewind.facts import BOOKMARK, JobTrigger, Move, RewindFacts, Track
from tidemark.operate.rewind.planner import plan_rewind
from tidemark.operate.rewind.refusals import check_fits

FILES = {"kind": "files", "until_ms": 1}
KEYS = {"kind": "keys", "values": {"id": 1}}
LANDING, RAW, MART = "s3://l/landing/", "s3://l/raw/", "s3://l/mart/"
WINDOWS = "s3://l/windows/"
FILL = {"--backfill_from": "2026-01-01", "--backfill_to": "2026-01-02"}


def checkpoint(job, run, at, read, written, mode, position=FILES, files=2, rows=10):
    return Checkpoint(
        job,
        run,
        at,
        workflow_run_id="wr_1",
        read=(DatasetRead(read, "ctx", files=files, rows=rows, after=position),),
        written=(DatasetWritten(written, mode, rows=rows, files=files),),
    )


def track(job, *runs):
    moves = [Move(n + 1, "commit", run, at) for n, (run, at) in enumerate(runs)]
    return Track(job, BOOKMARK, moves[::-1])


@pytest.fixture
def facts():
    """Return two jobs, ingest and publish, that have run three times: at 100, 200, 300."""
    tracks, runs, checkpoints = [], [], []
    for number in (1, 2, 3):
        at = 100 * number
        for job, offset, read, written, mode in (
            ("ingest", 10, LANDING, RAW, "append"),
            ("publish", 20, RAW, MART, "overwrite_partitions"),
        ):
            run = f"jr_{job[0]}{number}"
            checkpoints.append(checkpoint(job, run, at + offset, read, written, mode))
            runs.append(past_run(run, job, at + offset - 5, ended_at_ms=at + offset + 1))
    for job, offset in (("ingest", 10), ("publish", 20)):
        tracks.append(track(job, *((f"jr_{job[0]}{n}", 100 * n + offset) for n in (1, 2, 3))))
    return RewindFacts(
        jobs=["ingest", "publish"],
        starts=[
            JobTrigger("begin", ("ingest",), (), "w"),
            JobTrigger("then", ("publish",), ("ingest",), "w"),
        ],
        tracks=tracks,
        checkpoints=checkpoints,
        runs=runs,
        now_ms=1000,
    )


def to(run):
    return RewindTo(run, run)


def of(plan, job):
    return next(one for one in plan.jobs if one.job == job)


def test_a_plan_says_what_is_read_again_and_where_rows_are_twice(facts):
    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))

    ingest, publish = of(plan, "ingest"), of(plan, "publish")
    (state,) = ingest.states
    assert (state.from_run, state.to_run, state.to_version) == ("jr_i3", "jr_i1", 1)
    assert state.undone == ("jr_i2", "jr_i3")
    assert [(one.files, one.rows, one.why) for one in ingest.reads_again] == [(4, 20, "")]
    assert [effect.verdict for effect in ingest.effects] == ["doubles"]
    assert "sees the files that are written again" in publish.sees
    assert [effect.verdict for effect in publish.effects] == ["unknown"]
    assert any("--clear" in text for text in plan.advice)
    assert not plan.is_right


def test_a_moment_takes_each_job_to_what_it_had_committed_by_then(facts):
    plan = plan_rewind(facts, ["ingest", "publish"], RewindTo("then", at_ms=215))

    assert [(one.job, one.to_run) for one in plan.states] == [
        ("ingest", "jr_i2"),
        ("publish", "jr_p1"),
    ]


def test_what_a_rewind_has_undone_is_not_counted_again(facts):
    ingest, publish = facts.tracks
    moves = [Move(5, "commit", "jr_i4", 500), Move(4, "rewind", "jr_i1", 400), *ingest.moves]
    again = checkpoint("ingest", "jr_i4", 500, LANDING, RAW, "append", files=4, rows=20)
    facts = replace(
        facts,
        tracks=[replace(ingest, moves=moves), publish],
        checkpoints=[*facts.checkpoints, again],
    )

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))
    assert plan.states[0].undone == ("jr_i4",)
    assert [(one.files, one.rows) for one in of(plan, "ingest").reads_again] == [(4, 20)]

    plan = plan_rewind(facts, ["ingest"], to("jr_i2"))
    assert "rewound since that run" in of(plan, "ingest").reads_again[0].why


def test_a_backfill_does_not_say_how_the_next_runs_write(facts):
    """The job of docs/backfill.md replaces days when it fills a range, and else appends."""
    filled = replace(
        checkpoint("ingest", "jr_i9", 400, f"{LANDING}day=1/", RAW, "overwrite_partitions", None),
        arguments=FILL,
    )
    facts = replace(facts, checkpoints=[*facts.checkpoints, filled])

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))
    cleared = plan_rewind(facts, ["ingest"], to("jr_i1"), with_downstream=True, clears=True)

    assert [effect.verdict for effect in of(plan, "ingest").effects] == ["doubles"]
    assert not plan.is_right
    (effect,) = of(cleared, "ingest").effects
    assert (effect.verdict, "run jr_i9 of a backfill" in effect.why) == ("unknown", True)


@pytest.mark.parametrize(
    ("beside", "verdict"), [("s3://l/lookup/", "unknown"), (LANDING, "right"), (None, "unknown")]
)
def test_a_job_that_replaces_all_by_its_new_rows_holds_one_run(facts, beside, verdict):
    """Whatever it looks up beside; not so if it reads the same dataset as a whole."""
    whole = (DatasetRead(beside),) if beside else ()
    replacing = [
        replace(one, read=(*one.read, *whole), written=(DatasetWritten(RAW, "overwrite"),))
        if one.job_name == "ingest"
        else one
        for one in facts.checkpoints
    ]

    plan = plan_rewind(replace(facts, checkpoints=replacing), ["ingest"], to("jr_i1"))

    assert [effect.verdict for effect in of(plan, "ingest").effects] == [verdict]


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED"])
def test_what_a_backfill_has_written_since_is_not_called_right(facts, state):
    """By the bad script too: its rows may lie before what is read again."""
    filled = past_run("jr_fill", "publish", 350, state, 360, arguments=FILL)
    facts = replace(facts, runs=[*facts.runs, filled])

    plan = plan_rewind(facts, ["publish"], to("jr_p2"))
    before = plan_rewind(replace(facts, runs=facts.runs[:-1]), ["publish"], to("jr_p2"))

    (effect,) = of(plan, "publish").effects
    assert effect.verdict == "unknown"
    assert "run jr_fill of a backfill" in effect.why
    assert "from 2026-01-01 to before 2026-01-02 again" in effect.why
    assert any("jr_fill" in text for text in plan.unknown)
    assert before.is_right


def test_a_backfill_that_wrote_to_what_others_merge_is_told_of_there(facts):
    """What is written again is merged; what the backfill has added is not written again."""
    merges = [
        replace(one, written=(DatasetWritten(MART, "merge"),)) if one.job_name == "publish" else one
        for one in facts.checkpoints
    ]
    filled = past_run("jr_fill", "ingest", 350, arguments=FILL)
    facts = replace(facts, checkpoints=merges)

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))
    after = plan_rewind(replace(facts, runs=[*facts.runs, filled]), ["ingest"], to("jr_i1"))

    assert [effect.verdict for effect in of(plan, "publish").effects] == ["right"]
    assert [effect.verdict for effect in of(after, "publish").effects] == ["unknown"]


@pytest.mark.parametrize("mode", ["overwrite", "overwrite_partitions"])
def test_a_job_that_reads_its_own_target_is_not_said_to_be_safe(facts, mode):
    """One that adds new rows to its totals counts them twice; one that merges by key does not."""
    checkpoints = [
        replace(one, read=(*one.read, DatasetRead(MART)), written=(DatasetWritten(MART, mode),))
        if one.job_name == "publish"
        else one
        for one in facts.checkpoints
    ]
    facts = replace(facts, checkpoints=checkpoints)

    rewound = plan_rewind(facts, ["publish"], to("jr_p1"))
    behind = plan_rewind(facts, ["ingest"], to("jr_i1"), clears=True)

    for plan in (rewound, behind):
        (effect,) = of(plan, "publish").effects
        assert effect.verdict == "unknown"
        assert "reads there what it has written" in effect.why
        assert not plan.is_right


def test_previous_is_before_the_last_run_that_read_anything(facts):
    last = next(one for one in facts.checkpoints if one.run_id == "jr_i3")
    nothing = replace(last, read=(replace(last.read[0], files=0, rows=0),))
    idle = replace(
        facts, checkpoints=[nothing if one == last else one for one in facts.checkpoints]
    )

    assert previous(facts, ["ingest"]).run_id == "jr_i2"
    assert previous(idle, ["ingest"]).run_id == "jr_i1"


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "STOPPED", "ERROR"])
def test_what_a_run_has_left_that_failed_is_not_cleared_so_the_target_is_not_safe(facts, state):
    dead = past_run("jr_dead", "ingest", 250, state, 260)
    facts = replace(facts, runs=[*facts.runs, dead])

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"), with_downstream=True, clears=True)
    later = plan_rewind(facts, ["ingest"], to("jr_i2"), with_downstream=True, clears=True)

    assert [effect.verdict for effect in of(plan, "ingest").effects] == ["unknown"]
    assert sum("jr_dead" in text for text in plan.unknown) == 1
    assert not plan.is_right
    assert not later.is_right
    assert plan_rewind(facts, ["ingest"], RewindTo("then", at_ms=315), clears=True).is_right


def test_without_checkpoints_the_declared_data_say_what_lies_behind_and_goes_along(facts):
    """On AWS a job with a bookmark records nothing by itself; another pipeline has no trigger."""
    facts = replace(
        facts,
        starts=[
            JobTrigger("begin", ("ingest",), (), "w"),
            JobTrigger("other", ("publish",), (), "v"),
        ],
        checkpoints=[],
        declared_reads={"ingest": [LANDING], "publish": [RAW]},
        declared_writes={"ingest": [RAW], "publish": [MART]},
    )

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))
    along = plan_rewind(facts, ["ingest"], to("jr_i1"), with_downstream=True)

    assert "sees the files that are written again" in of(plan, "publish").sees
    assert [(one.job, one.to_run) for one in along.states] == [
        ("ingest", "jr_i1"),
        ("publish", "jr_p1"),
    ]
    for one in (plan, along):
        verdicts = [effect.verdict for job in one.jobs for effect in job.effects]
        assert verdicts == ["unknown", "unknown"]
        assert not one.is_right
        assert "publish: no checkpoint says what it reads and writes, the template does" in (
            one.unknown
        )


def test_where_nothing_says_what_a_job_writes_the_plan_is_not_right(facts):
    plan = plan_rewind(replace(facts, checkpoints=[]), ["ingest"], to("jr_i1"))

    assert not any(job.effects for job in plan.jobs)
    assert not plan.is_right


def test_a_reader_in_another_app_is_named_although_it_is_not_planned(facts):
    other = checkpoint("theirs", "jr_t1", 150, RAW, "s3://theirs/", "append")
    facts = replace(facts, checkpoints=[*facts.checkpoints, other], others={"theirs": "stack x"})

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"))
    unread = plan_rewind(facts, ["publish"], to("jr_p1"))

    assert [one.job for one in plan.jobs] == ["ingest", "publish"]
    assert sum("theirs (stack x)" in text for text in plan.unknown) == 1
    assert not any("theirs" in text for text in unread.unknown)


def test_a_run_without_a_checkpoint_is_named(facts):
    kept = [one for one in facts.checkpoints if one.run_id != "jr_i2"]

    plan = plan_rewind(replace(facts, checkpoints=kept), ["ingest"], to("jr_i1"))

    (read,) = of(plan, "ingest").reads_again
    assert (read.files, read.why) == (2, "there is no checkpoint of run jr_i2")


@pytest.mark.parametrize(
    ("jobs", "target", "said"),
    [
        (["ingset"], to("jr_i1"), "there is no job 'ingset'; did you mean ingest?"),
        (["other"], to("jr_i1"), "job other is of stack Billing, not of this app"),
        (["ingest"], RewindTo("2099-01-01", at_ms=5000), "--to 2099-01-01 is in the future"),
        (["ingest"], to("jr_p1"), "run jr_p1 is of job publish, not of ingest"),
    ],
)
def test_what_cannot_be_is_refused_with_one_message(facts, jobs, target, said):
    facts = replace(facts, others={"other": "stack Billing"})

    with pytest.raises(UsageError) as caught:
        plan_rewind(facts, jobs, target)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_before_the_horizon_of_the_history_is_refused(facts):
    ingest, publish = facts.tracks
    facts = replace(facts, tracks=[replace(ingest, moves=ingest.moves[:2]), publish])

    with pytest.raises(UsageError, match=r"begins with version 2 \(run jr_i2\).*is not kept"):
        plan_rewind(facts, ["ingest"], to("jr_i1"))


def test_a_job_that_was_removed_or_added_since_is_named(facts):
    gone = checkpoint("old-name", "jr_o", 250, RAW, MART, "append")
    with pytest.raises(UsageError, match="old-name is gone or has another name"):
        plan_rewind(replace(facts, checkpoints=[*facts.checkpoints, gone]), ["ingest"], to("jr_i1"))

    later = added_late(facts)
    with pytest.raises(UsageError, match=r"publish was added.*--accept-changes"):
        plan_rewind(later, ["ingest"], to("jr_i1"))
    with pytest.raises(UsageError, match=r"publish was added"):
        plan_rewind(replace(later, created_at_ms={"publish": 205}), ["ingest"], to("jr_i1"))
    assert plan_rewind(later, ["ingest"], to("jr_i1"), accepts_changes=True).states


def added_late(facts: RewindFacts) -> RewindFacts:
    """Return the facts about a publish that has run the third time only."""
    earlier = ("jr_p1", "jr_p2")
    return replace(
        facts,
        checkpoints=[one for one in facts.checkpoints if one.run_id not in earlier],
        runs=[one for one in facts.runs if one.run_id not in earlier],
    )


@pytest.mark.parametrize("state", ["FAILED", "STOPPED", "TIMEOUT", "ERROR", "SUCCEEDED"])
def test_a_job_whose_first_run_committed_nothing_was_not_added(facts, state):
    late = added_late(facts)
    first = past_run("jr_p1", "publish", 115, state, 119)

    assert plan_rewind(replace(late, runs=[first, *late.runs]), ["ingest"], to("jr_i1")).states


def test_a_job_that_was_there_and_left_out_was_not_added(facts):
    late = replace(added_late(facts), created_at_ms={"ingest": 50, "publish": 50})

    assert plan_rewind(late, ["ingest"], to("jr_i1")).states


def test_a_job_without_state_cannot_be_rewound(facts):
    with pytest.raises(UsageError, match="job ingest keeps neither bookmark nor watermark"):
        plan_rewind(replace(facts, tracks=facts.tracks[1:]), ["ingest"], to("jr_i1"))


def test_a_job_that_never_committed_is_called_so(facts):
    rest = [one for one in facts.checkpoints if not one.run_id.startswith("jr_i")]

    with pytest.raises(UsageError, match="no run of job ingest has committed yet"):
        plan_rewind(replace(facts, tracks=facts.tracks[1:], checkpoints=rest), ["ingest"], to("b"))


def test_more_watermarks_than_a_transaction_moves_are_refused_before_anything_is(facts):
    by_source = [
        Track(
            "ingest",
            "marks",
            [Move(n, "commit", f"jr_i{n}", 100 * n + 10, {"id": str(n)}) for n in (2, 1)],
            source=f"s{number}",
        )
        for number in range(51)
    ]
    fits = plan_rewind(replace(facts, tracks=by_source[1:]), ["ingest"], to("jr_i1"))
    more = plan_rewind(replace(facts, tracks=by_source), ["ingest"], to("jr_i1"))

    check_fits(fits)
    with pytest.raises(UsageError, match=r"51 watermarks of table marks would go back.* moves 50"):
        check_fits(more)


def test_jobs_of_several_pipelines_are_refused(facts):
    starts = [JobTrigger("a", ("ingest",), (), "one"), JobTrigger("b", ("publish",), (), "two")]

    with pytest.raises(UsageError, match="are of several pipelines, one, two"):
        plan_rewind(replace(facts, starts=starts), ["ingest", "publish"], RewindTo("beginning"))


def test_jobs_behind_go_back_to_before_a_dead_run_too_for_it_may_have_written(facts):
    ingest, publish = facts.tracks
    meanwhile = Move(2, "commit", "jr_px", 160)
    moves = [*publish.moves[:2], meanwhile, publish.moves[2]]
    dead = past_run("jr_dead", "ingest", 150, "FAILED", 155)
    facts = replace(
        facts,
        tracks=[ingest, replace(publish, moves=moves)],
        runs=[*facts.runs, dead],
        checkpoints=[*facts.checkpoints, checkpoint("publish", "jr_px", 160, RAW, MART, "append")],
    )

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"), with_downstream=True)

    assert [one.to_run for one in plan.states] == ["jr_i1", "jr_p1"]
    assert any("jr_dead FAILED" in text for text in plan.unknown)


def test_a_job_behind_that_has_not_run_since_reads_all_of_it_as_new(facts):
    appends = [
        checkpoint("publish", one.run_id, one.committed_at_ms, RAW, MART, "append")
        if one.job_name == "publish"
        else one
        for one in facts.checkpoints
        if one.run_id not in ("jr_p2", "jr_p3")
    ]
    ingest, publish = facts.tracks
    facts = replace(
        facts, checkpoints=appends, tracks=[ingest, replace(publish, moves=publish.moves[2:])]
    )

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"), clears=True)

    (effect,) = of(plan, "publish").effects
    assert (effect.verdict, effect.why) == ("right", "has read nothing that is undone")


@pytest.mark.parametrize("with_downstream", [False, True])
@pytest.mark.parametrize(
    ("mode", "verdict"), [("append", "unknown"), ("overwrite_partitions", "right")]
)
@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_backfill_of_a_job_behind_may_have_read_what_is_undone(
    facts, with_downstream, mode, verdict, has_checkpoint
):
    """Its incremental runs have not, so they read all of it as new, and add it to what it wrote."""
    ingest, publish = facts.tracks
    kept = [one for one in facts.checkpoints if one.run_id not in ("jr_p2", "jr_p3")]
    kept = [
        replace(one, written=(DatasetWritten(MART, mode),)) if one.job_name == "publish" else one
        for one in kept
    ]
    by_fill = replace(
        checkpoint("publish", "jr_fill", 360, RAW, MART, "append", None), arguments=FILL
    )
    runs = [one for one in facts.runs if one.run_id not in ("jr_p2", "jr_p3")]
    facts = replace(
        facts,
        checkpoints=[*kept, by_fill] if has_checkpoint else kept,
        tracks=[ingest, replace(publish, moves=publish.moves[2:])],
        runs=[*runs, past_run("jr_fill", "publish", 350, "SUCCEEDED", 360, FILL)],
    )

    plan = plan_rewind(facts, ["ingest"], to("jr_i1"), clears=True, with_downstream=with_downstream)

    (effect,) = of(plan, "publish").effects
    assert effect.verdict == verdict
    assert ("run jr_fill of a backfill may have read" in effect.why) == (mode == "append")


def test_a_backfill_that_went_on_when_the_position_was_committed_has_written_since(facts):
    slow = past_run("jr_fill", "publish", 210, "SUCCEEDED", 230, FILL)

    plan = plan_rewind(replace(facts, runs=[*facts.runs, slow]), ["publish"], to("jr_p2"))

    assert [effect.verdict for effect in of(plan, "publish").effects] == ["unknown"]


@pytest.mark.parametrize(("position", "verdict"), [(FILES, "unknown"), (None, "right")])
def test_a_target_that_holds_what_one_run_has_read_is_not_called_safe(facts, position, verdict):
    replaced = [
        checkpoint("publish", one.run_id, one.committed_at_ms, RAW, MART, "overwrite", position)
        if one.job_name == "publish"
        else one
        for one in facts.checkpoints
    ]

    plan = plan_rewind(replace(facts, checkpoints=replaced), ["publish"], to("jr_p1"))

    assert [effect.verdict for effect in of(plan, "publish").effects] == [verdict]


def window_writer(*readers, kind="glue-watermarks", arguments=None):
    """Return a job that writes windows, rewound by a run, and those that read these."""
    moves = [Move(n, "commit", f"jr_w{n}", 100 * n, {"id": str(n)}) for n in (2, 1)]
    written = (DatasetWritten(WINDOWS, "window", rows=5, files=1),)
    own = (DatasetRead(LANDING, "id", rows=5),)
    checkpoints = [
        Checkpoint("load", f"jr_w{n}", 100 * n, read=own, written=written) for n in (1, 2)
    ]
    checkpoints[0] = replace(checkpoints[0], arguments=arguments or {})
    for name, is_committed, mode in readers:
        read = (DatasetRead(WINDOWS, rows=10, is_committed=is_committed),)
        mart = (DatasetWritten(f"s3://l/{name}/", mode, rows=10, files=1),)
        checkpoints += [
            Checkpoint(name, f"jr_{name}{at}", at, read=read, written=mart) for at in (150, 300)
        ]
    names = [name for name, *_ in readers]
    return RewindFacts(
        jobs=["load", *(name for name in names if not name.startswith("other"))],
        starts=[],
        tracks=[Track("load", kind, moves)],
        checkpoints=checkpoints,
        runs=[past_run(one.run_id, one.job_name, one.committed_at_ms - 5) for one in checkpoints],
        now_ms=1000,
        others={name: "app b" for name in names if name.startswith("other")},
    )


@pytest.mark.parametrize(
    ("readers", "verdicts"),
    [
        ([("a", True, "overwrite")], ["right", "right"]),
        ([("a", True, "append")], ["right", "unknown"]),
        ([("a", True, "merge"), ("b", True, "overwrite")], ["right", "right", "right"]),
        ([("a", True, "overwrite"), ("b", False, "overwrite")], ["doubles", "right", "unknown"]),
        ([("a", True, "overwrite"), ("other", False, "overwrite")], ["doubles", "right"]),
        ([("a", True, "overwrite"), ("other", True, "overwrite")], ["right", "right"]),
        ([("a", False, "overwrite")], ["doubles", "unknown"]),
        ([], ["doubles"]),
    ],
)
def test_windows_are_safe_for_those_who_read_committed_ones(readers, verdicts):
    plan = plan_rewind(window_writer(*readers), ["load"], to("jr_w1"))

    assert [effect.verdict for job in plan.jobs for effect in job.effects] == verdicts


@pytest.mark.parametrize("is_committed", [False, True])
def test_windows_of_a_dead_run_that_are_cleared_are_safe_for_committed_readers(is_committed):
    facts = window_writer(("a", is_committed, "overwrite"))
    died = past_run("jr_dead", "load", 250, "FAILED", ended_at_ms=260)

    plan = plan_rewind(replace(facts, runs=[*facts.runs, died]), ["load"], to("jr_w1"), clears=True)

    found = [effect.verdict for job in plan.jobs for effect in job.effects]
    assert found == (["right", "right"] if is_committed else ["unknown", "unknown"])


@pytest.mark.parametrize(
    "facts",
    [
        window_writer(("a", True, "overwrite"), kind=BOOKMARK),
        window_writer(("a", True, "overwrite"), arguments=FILL),
    ],
    ids=["rows come again by a bookmark", "a backfill has written windows"],
)
def test_windows_that_a_rewind_does_not_undo_are_not_safe(facts):
    plan = plan_rewind(facts, ["load"], to("jr_w1"))

    assert of(plan, "load").effects[0].verdict == "doubles"
    assert of(plan, "a").effects[0].verdict == "unknown"


def test_windows_of_rows_that_come_twice_are_not_safe():
    """Committed windows hold each row that was read: also twice, if the source has it twice."""
    writer = window_writer(("a", True, "overwrite"))
    moves = [Move(n, "commit", f"jr_s{n}", 100 * n - 20) for n in (2, 1)]
    source = [
        Checkpoint("source", f"jr_s{n}", 100 * n - 20, written=(DatasetWritten(LANDING, "append"),))
        for n in (1, 2)
    ]
    facts = replace(
        writer,
        jobs=["source", *writer.jobs],
        tracks=[Track("source", BOOKMARK, moves), *writer.tracks],
        checkpoints=[*source, *writer.checkpoints],
        runs=[*writer.runs, *(past_run(f"jr_s{n}", "source", 100 * n - 30) for n in (1, 2))],
    )

    plan = plan_rewind(facts, ["source"], to("jr_s1"), with_downstream=True)

    assert of(plan, "load").effects[0].verdict == "doubles"
    assert of(plan, "a").effects[0].verdict == "unknown"


@pytest.mark.parametrize(
    ("rows", "verdicts"), [(0, ["right", "right"]), (1, ["doubles", "unknown"])]
)
def test_runs_that_found_nothing_leave_nothing_twice(facts, rows, verdicts):
    """A job commits also where its source holds nothing new."""
    last = next(one for one in facts.checkpoints if one.run_id == "jr_i3")
    read = (replace(last.read[0], files=rows, rows=rows),)
    kept = [replace(one, read=read) if one == last else one for one in facts.checkpoints]
    found_nothing = replace(facts, checkpoints=kept)

    plan = plan_rewind(found_nothing, ["ingest"], to("jr_i2"))

    assert [effect.verdict for job in plan.jobs for effect in job.effects] == verdicts
    # A run that failed since may have appended.
    died = past_run("jr_i4", "ingest", 320, "FAILED", ended_at_ms=330)
    plan = plan_rewind(replace(found_nothing, runs=[*facts.runs, died]), ["ingest"], to("jr_i2"))
    assert of(plan, "ingest").effects[0].verdict == ("doubles" if rows else "unknown")
