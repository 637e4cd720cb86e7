"""Carrying watermarks over to another job name, on the embedded DynamoDB."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watermarks import (
    AmbiguousWatermarkError,
    OpenWindow,
    WatermarkAdmin,
    WatermarkConflictError,
)


class ProcessKilled(BaseException):
    """Ends a carry-over between two of its requests, as kill -9 does."""


@pytest.fixture
def renamed() -> str:
    return f"renamed-{uuid.uuid4().hex}"


@pytest.fixture
def killed_after(new_client, table_name):
    """Return a maker of watermarks whose process dies after so many writes were sent."""

    def make(writes: int) -> WatermarkAdmin:
        client = new_client()
        left = [writes]

        def die(**_: object) -> None:
            if left[0] == 0:
                raise ProcessKilled
            left[0] -= 1

        for operation in ("TransactWriteItems", "UpdateItem", "PutItem"):
            client.meta.events.register(f"before-call.dynamodb.{operation}", die)
        return WatermarkAdmin(table_name, client)

    return make


def run(watermarks, job, run_id, high):
    """Read everything up to `high`; return the ranges of the windows of this run."""
    request = {"job_id": job, "run_id": run_id, "cursor": "id", "high": high}
    return [(window.low, window.high) for window in watermarks.windows(**request)]


def test_next_window_under_the_new_name_begins_where_the_old_one_ended(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    run(watermarks, job, "jr_2", 20)

    latest = watermarks.rename_job(job, renamed)

    assert (latest.version, latest.run_id, latest.watermarks) == (2, "jr_2", {"id": 20})
    assert run(watermarks, renamed, "jr_3", 30) == [(20, 30)]


def test_history_and_committed_windows_are_those_of_the_old_name(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    run(watermarks, job, "jr_2", 20)
    watermarks.rewind(job, to_run="jr_1", reason="bad file", actor="ada")
    run(watermarks, job, "jr_3", 15)
    history, windows = list(watermarks.history(job)), watermarks.committed_windows(job)

    watermarks.rename_job(job, renamed)

    assert list(watermarks.history(renamed)) == history
    assert watermarks.committed_windows(renamed) == windows
    run(watermarks, renamed, "jr_4", 30)
    assert watermarks.committed_windows(renamed)[:-1] == windows
    assert watermarks.rewind(renamed, to_run="jr_1", reason="x", actor="y").watermarks == {"id": 10}


def test_window_left_open_is_taken_over_under_the_new_name(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    dead = watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20)

    watermarks.rename_job(job, renamed)
    taken = watermarks.open_window(job_id=renamed, run_id="jr_3", cursor="id", high=99)

    assert (taken.window_id, taken.low, taken.high) == (dead.window_id, 10, 20)
    assert taken.is_recovered
    assert taken.attempt > dead.attempt


def test_run_of_the_old_name_in_flight_can_no_longer_commit(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    window = watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20)
    base = watermarks.latest(job)

    watermarks.rename_job(job, renamed)

    with pytest.raises(WatermarkConflictError, match=f"carried over to job '{renamed}'"):
        watermarks.commit_window(window)
    with pytest.raises(WatermarkConflictError):
        watermarks.advance(job_id=job, run_id="jr_2", to={"id": 20}, base=base)
    assert watermarks.latest(renamed).watermarks == {"id": 10}


def test_first_window_in_flight_can_no_longer_commit(watermarks, job, renamed):
    window = watermarks.open_window(job_id=job, run_id="jr_1", cursor="id", high=20)

    assert watermarks.rename_job(job, renamed).version == 0

    with pytest.raises(WatermarkConflictError):
        watermarks.commit_window(window)
    assert run(watermarks, renamed, "jr_2", 30) == [(None, 20), (20, 30)]


def test_old_name_is_refused_instead_of_beginning_anew(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    watermarks.rename_job(job, renamed)

    for use in (
        lambda: run(watermarks, job, "jr_2", 20),
        lambda: watermarks.latest(job),
        lambda: watermarks.rewind(job, to_run=None, reason="x", actor="y"),
        lambda: watermarks.add_watermark(watermarks.create_watermark_item(job, "jr_2", id=20)),
    ):
        with pytest.raises(WatermarkConflictError, match="run that job, or carry them back"):
            use()


def test_doing_it_again_changes_nothing(watermarks, job, renamed, client, table_name):
    run(watermarks, job, "jr_1", 10)
    watermarks.rename_job(job, renamed)
    run(watermarks, renamed, "jr_2", 20)
    before = stored(client, table_name, renamed)

    assert watermarks.rename_job(job, renamed).watermarks == {"id": 20}
    assert stored(client, table_name, renamed) == before


def test_job_that_never_ran_has_nothing_to_carry(watermarks, job, renamed):
    assert watermarks.rename_job(job, renamed) is None
    assert run(watermarks, renamed, "jr_1", 10) == [(None, 10)]


def test_watermarks_of_the_new_name_are_never_replaced(watermarks, job, renamed, rows):
    run(watermarks, job, "jr_1", 10)
    run(watermarks, renamed, "jr_2", 5)
    before = rows()

    with pytest.raises(WatermarkConflictError, match="has its own watermarks, version 1"):
        watermarks.rename_job(job, renamed)

    assert rows() == before
    assert watermarks.latest(renamed).watermarks == {"id": 5}


def test_rows_of_the_original_class_are_refused_on_either_side(
    watermarks, job, renamed, put_legacy
):
    put_legacy("jr_1", id={"N": "1"})
    run(watermarks, renamed, "jr_2", 5)

    with pytest.raises(AmbiguousWatermarkError, match=r"call adopt\('job-.*first"):
        watermarks.rename_job(job, renamed)
    with pytest.raises(AmbiguousWatermarkError, match="delete these rows"):
        watermarks.rename_job(renamed, job)


def test_carrying_back_after_runs_under_the_new_name_undoes_a_rename(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    watermarks.rename_job(job, renamed)
    run(watermarks, renamed, "jr_2", 20)

    watermarks.rename_job(renamed, job)

    assert run(watermarks, job, "jr_3", 30) == [(20, 30)]
    assert len(watermarks.committed_windows(job)) == 3
    with pytest.raises(WatermarkConflictError):
        watermarks.latest(renamed)


def test_second_rename_goes_on_and_the_first_can_be_repeated(watermarks, job, renamed):
    run(watermarks, job, "jr_1", 10)
    watermarks.rename_job(job, renamed)
    watermarks.rename_job(renamed, f"{renamed}-2")

    watermarks.rename_job(job, renamed)
    watermarks.rename_job(renamed, f"{renamed}-2")

    assert run(watermarks, f"{renamed}-2", "jr_2", 20) == [(10, 20)]
    with pytest.raises(WatermarkConflictError, match=f"carried over to job '{renamed}'"):
        watermarks.rename_job(job, f"{renamed}-3")


def test_backfill_goes_on_under_the_new_name(watermarks, job, renamed):
    request = {"backfill_id": "b", "cursor": "id", "low": 0, "high": 10, "parts": 2}
    first = watermarks.backfill(job, run_id="jr_1", **request)
    assert next(first).attempt == 1
    next(first)  # part 1 is done
    run(watermarks, job, "jr_2", 10)
    watermarks.rename_job(job, renamed)

    parts = [w.window_id for w in watermarks.backfill(renamed, run_id="jr_3", **request)]
    watermarks.rename_job(renamed, job)

    done = [window_id for window_id, _ in watermarks.backfilled_windows(job, "b")]
    assert [window_id.rpartition("-")[2] for window_id in done] == ["1", "2"]
    assert parts == done[1:]


@pytest.mark.parametrize("writes", range(6))
def test_carry_over_that_dies_anywhere_is_finished_by_doing_it_again(
    watermarks, job, renamed, killed_after, writes
):
    for number in (1, 2, 3):
        run(watermarks, job, f"jr_{number}", 10 * number)
    history = list(watermarks.history(job))

    dies = writes < 4  # the transaction, and three rows of history
    if dies:
        with pytest.raises(ProcessKilled):
            killed_after(writes).rename_job(job, renamed)
    else:
        killed_after(writes).rename_job(job, renamed)

    if writes:  # the new name goes on from the first write on, whether or not it is finished
        assert run(watermarks, renamed, "jr_4", 40) == [(30, 40)]
    watermarks.rename_job(job, renamed)
    assert run(watermarks, renamed, "jr_5", 50) == [(40 if writes else 30, 50)]
    assert list(watermarks.history(renamed))[-3:] == history


def test_response_that_was_lost_is_no_failure(watermarks, lossy_client, table_name, job, renamed):
    run(watermarks, job, "jr_1", 10)

    lossy = WatermarkAdmin(table_name, lossy_client(2), sleep=lambda _: None)

    assert lossy.rename_job(job, renamed).watermarks == {"id": 10}
    assert run(watermarks, renamed, "jr_2", 20) == [(10, 20)]


def test_run_that_commits_meanwhile_is_carried_too(
    new_client, table_name, watermarks, job, renamed
):
    run(watermarks, job, "jr_1", 10)
    client = new_client()
    pending = ["jr_2", "jr_3"]

    def overtake(**_: object) -> None:
        if pending:
            run(watermarks, job, pending.pop(0), 10 * (4 - len(pending)))

    client.meta.events.register("before-call.dynamodb.TransactWriteItems", overtake)
    busy = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    assert busy.rename_job(job, renamed).watermarks == {"id": 40}
    assert len(watermarks.committed_windows(renamed)) == 3


def test_window_that_is_opened_meanwhile_is_carried_too(
    new_client, table_name, watermarks, job, renamed
):
    run(watermarks, job, "jr_1", 10)
    client, opened = new_client(), []

    def overtake(**_: object) -> None:
        if not opened:
            request = {"job_id": job, "run_id": "jr_2", "cursor": "id", "high": 20}
            opened.append(watermarks.open_window(**request))

    client.meta.events.register("before-call.dynamodb.TransactWriteItems", overtake)
    WatermarkAdmin(table_name, client, sleep=lambda _: None).rename_job(job, renamed)
    taken = watermarks.open_window(job_id=renamed, run_id="jr_3", cursor="id", high=99)

    # Without it both runs would write into the folder of one attempt.
    assert (taken.window_id, taken.high) == (opened[0].window_id, 20)
    assert taken.attempt > opened[0].attempt


def test_several_at_once_are_one(watermarks, job, renamed):
    for number in range(1, 6):
        run(watermarks, job, f"jr_{number}", number)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: watermarks.rename_job(job, renamed), range(4)))

    assert {latest.watermarks["id"] for latest in found} == {5}
    assert len(watermarks.committed_windows(renamed)) == 5


@pytest.mark.parametrize(("old", "new"), [("", "b"), ("a", ""), ("a", "a")])
def test_names_are_checked(watermarks, old, new):
    with pytest.raises(ValueError, match="give"):
        watermarks.rename_job(old, new)


STEPS = st.lists(
    st.sampled_from(["run", "die", "rewind", "carry", "killed"]), min_size=1, max_size=8
)


@pytest.mark.nightly
@pytest.mark.stress
@given(steps=STEPS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_every_row_is_read_in_one_committed_window(
    watermarks, killed_after, steps
):
    """Runs, dead runs, rewinds to the beginning and carry-overs in any order lose no row."""
    job, other = f"a-{uuid.uuid4().hex}", f"b-{uuid.uuid4().hex}"
    for number, step in enumerate(steps, start=1):
        if step in ("run", "die"):
            request = {"run_id": f"jr_{number}", "cursor": "id", "high": 10 * number}
            window = watermarks.open_window(job_id=job, **request)
            if step == "run":
                watermarks.commit_window(window)
        elif step == "rewind" and watermarks.latest(job):
            watermarks.rewind(job, to_run=None, reason=str(number), actor="ada")
        elif step in ("carry", "killed"):
            if step == "killed":
                with suppress(ProcessKilled):
                    killed_after(1).rename_job(job, other)
            watermarks.rename_job(job, other)
            job, other = other, job

    run(watermarks, job, "jr_last", 1000)
    reached = None
    for window in in_force(watermarks, job):
        assert window.low == reached
        reached = window.high
    assert reached == 1000


def in_force(watermarks, job):
    """Return the ranges of the committed windows of a job, in order, from its history."""
    known = {
        (window.window_id, window.attempt): window
        for entry in watermarks.history(job)
        for window in entry.windows
    }
    return [known[found] for found in watermarks.committed_windows(job)]


def stored(client, table_name, job):
    """Return all rows of a job as they are stored."""
    return client.query(
        TableName=table_name,
        KeyConditionExpression="jobName = :job",
        ExpressionAttributeValues={":job": {"S": job}},
        ConsistentRead=True,
    )["Items"]


def test_open_windows_are_copied_as_they_are_stored(watermarks, client, table_name, job, renamed):
    window = watermarks.open_window(job_id=job, run_id="jr_1", cursor="id", high=20)

    watermarks.rename_job(job, renamed)

    (head,) = stored(client, table_name, renamed)
    found = OpenWindow.from_attribute(head["wmWindows"]["M"]["id"])
    assert (found.window_id, found.run_id) == (window.window_id, "jr_1")
    assert head["wmCarriedFrom"] == {"S": job}
