"""Committed windows of a long history: what is final is kept in blocks, and read from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watermarks import RefusedSchema, WatermarkAdmin, WatermarkNotFoundError
from watermarks.windows import committed
from watermarks.windows.held import note_refused

WHY = {"reason": "test", "actor": "ada"}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(committed, "_WORTH_A_BLOCK", 5)
    monkeypatch.setattr(committed, "_MAX_BLOCK_WINDOWS", 4)
    monkeypatch.setattr(committed, "_READ_ONE_BY_ONE", 8)


@pytest.fixture
def requests(new_client, table_name):
    """Return watermarks and the list of the requests they make."""
    client, sent = new_client(), []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: sent.append(model.name))
    return WatermarkAdmin(table_name, client), sent


def run(watermarks, job, number, source=""):
    request = {"run_id": f"jr_{number}", "cursor": "id", "high": number + 1, "source": source}
    for window in watermarks.windows(job, **request):
        return_value = (window.window_id, window.attempt)
    return return_value


@pytest.mark.parametrize("source", ["", "orders"])
def test_later_reads_need_few_requests_and_find_the_same(requests, watermarks, job, source):
    expected = [run(watermarks, job, number, source) for number in range(30)]
    counting, sent = requests

    assert counting.committed_windows(job, source=source) == expected
    first = len(sent)
    sent.clear()
    assert counting.committed_windows(job, source=source) == expected
    expected += [run(watermarks, job, 30, source)]
    assert len(sent) <= 5 < first
    assert watermarks.committed_windows(job, source=source) == expected


def test_a_rewind_behind_a_block_undoes_what_the_block_has(watermarks, job):
    ids = [run(watermarks, job, number) for number in range(20)]
    watermarks.committed_windows(job)

    watermarks.rewind(job, to_run="jr_9", **WHY)

    assert watermarks.committed_windows(job) == ids[:10]
    again = [run(watermarks, job, number) for number in range(20, 40)]
    assert watermarks.committed_windows(job) == ids[:10] + again
    assert watermarks.committed_windows(job) == ids[:10] + again


def test_acceptances_between_the_runs_leave_their_windows_in_force(watermarks, job):
    ids = []
    for number in range(30):
        if number % 3 == 0:
            window = watermarks.open_window(job, run_id="jr_x", cursor="id", high=number + 1)
            note_refused(window, RefusedSchema("s3://lake/out/", {f"c{number}": "int"}))
            watermarks.accept_schema(job, **WHY)
        ids.append(run(watermarks, job, number))

    assert watermarks.committed_windows(job) == ids
    assert watermarks.committed_windows(job) == ids
    assert [entry.kind for entry in watermarks.history(job)].count("accept") == 10


def test_windows_in_blocks_outlive_the_rows_of_their_runs(watermarks, job, client, table_name):
    ids = [run(watermarks, job, number) for number in range(20)]
    watermarks.committed_windows(job)
    for number in range(10):
        key = {"jobName": {"S": job}, "runId": {"S": f"jr_{number}"}}
        client.delete_item(TableName=table_name, Key=key)

    assert watermarks.committed_windows(job) == ids
    with pytest.raises(WatermarkNotFoundError):
        watermarks.rewind(job, to_run="jr_3", **WHY)


def test_an_expired_head_row_is_an_error_and_no_empty_list(client, table_name, job):
    watermarks = WatermarkAdmin(table_name, client, history_days=1)
    run(watermarks, job, 0)
    later = WatermarkAdmin(table_name, client, now=lambda: datetime.now(UTC) + timedelta(days=2))

    with pytest.raises(WatermarkNotFoundError, match="has expired"):
        later.committed_windows(job)


def test_a_reader_that_may_not_write_reads_all_the_same(new_client, table_name, watermarks, job):
    ids = [run(watermarks, job, number) for number in range(20)]
    client = new_client()

    def refuse(**_):
        error = {"Error": {"Code": "AccessDeniedException", "Message": "not allowed"}}
        return type("Answer", (), {"status_code": 400})(), error

    client.meta.events.register("before-call.dynamodb.PutItem", refuse)

    assert WatermarkAdmin(table_name, client).committed_windows(job) == ids


def test_blocks_are_carried_along_when_the_job_is_renamed(watermarks, job):
    ids = [run(watermarks, job, number) for number in range(20)]
    watermarks.committed_windows(job)

    watermarks.rename_job(job, f"{job}-2")

    assert watermarks.committed_windows(f"{job}-2") == ids


@pytest.mark.nightly
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.sampled_from(["run", "run", "run", "read", "rewind"]), max_size=40))
def test_blocks_change_no_answer(watermarks, steps):
    job = f"blocks-{datetime.now(UTC).timestamp()}"
    in_force: list[tuple[str, tuple[str, int]]] = []
    for number, step in enumerate(steps):
        if step == "run":
            high = (in_force[-1][1][2] if in_force else 0) + 1
            request = {"run_id": f"jr_{number}", "cursor": "id", "high": high}
            window = watermarks.open_window(job, **request)
            watermarks.commit_window(window)
            in_force.append((f"jr_{number}", (window.window_id, window.attempt, high)))
        elif step == "rewind" and in_force:
            keep = (number * 7) % len(in_force)
            watermarks.rewind(job, to_run=in_force[keep][0], reason=str(number), actor="ada")
            in_force = in_force[: keep + 1]
        found = watermarks.committed_windows(job)
        assert found == [window[:2] for _, window in in_force]


def test_a_run_that_commits_while_the_windows_are_read_does_not_hide_them(
    new_client, table_name, watermarks, job
):
    run(watermarks, job, 0)
    request = {"run_id": "jr_same", "cursor": "id"}
    first = watermarks.open_window(job, high=10, **request)
    watermarks.commit_window(first)
    client, is_done = new_client(), []

    def commit_another(**_):
        if not is_done:
            is_done.append(True)
            watermarks.commit_window(watermarks.open_window(job, high=20, **request))

    client.meta.events.register("after-call.dynamodb.GetItem", commit_another)

    assert len(WatermarkAdmin(table_name, client).committed_windows(job)) == 3
    is_done.clear()
    assert len(list(WatermarkAdmin(table_name, client).history(job))) == 2


def test_a_run_id_that_is_used_again_hides_no_windows(watermarks, job, client, table_name):
    for number in range(3):
        run(watermarks, job, number)
    client.delete_item(TableName=table_name, Key={"jobName": {"S": job}, "runId": {"S": "jr_0"}})
    window = watermarks.open_window(job, run_id="jr_0", cursor="id", high=50)
    watermarks.commit_window(window)
    run(watermarks, job, 60)

    with pytest.raises(WatermarkNotFoundError, match="are not known any more"):
        watermarks.committed_windows(job)


def test_a_run_id_that_ended_a_block_may_be_used_again(watermarks, job, client, table_name):
    ids = [run(watermarks, job, number) for number in range(20)]
    watermarks.committed_windows(job)
    for number in range(20):
        key = {"jobName": {"S": job}, "runId": {"S": f"jr_{number}"}}
        if number < 19:
            client.delete_item(TableName=table_name, Key=key)
    for number in range(18):
        window = watermarks.open_window(job, run_id=f"jr_{number}", cursor="id", high=100 + number)
        watermarks.commit_window(window)
        ids.append((window.window_id, window.attempt))

    assert watermarks.committed_windows(job) == ids


def test_windows_survive_renames_there_and_back_under_one_run_id(watermarks, job):
    renamed, ids = f"{job}-2", []
    for name, high in ((job, 1), (renamed, 2), (job, 3)):
        if high > 1:
            watermarks.rename_job(renamed if name == job else job, name)
        window = watermarks.open_window(name, run_id="manual", cursor="id", high=high)
        watermarks.commit_window(window)
        ids.append((window.window_id, window.attempt))

    assert watermarks.committed_windows(job) == ids


def test_a_block_that_is_lost_is_an_error_and_no_shorter_list(
    watermarks, job, client, table_name, rows
):
    for number in range(20):
        run(watermarks, job, number)
    watermarks.committed_windows(job)
    blocks = sorted(name for name in rows() if name.startswith("~COMMITTED#"))
    client.delete_item(TableName=table_name, Key={"jobName": {"S": job}, "runId": {"S": blocks[1]}})

    with pytest.raises(WatermarkNotFoundError, match="are not known any more"):
        watermarks.committed_windows(job)
