"""`tidemark watermark`: what an operator sees of the watermarks of a job, and how to go back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from tests.fixtures.commands import TABLE
from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from watermarks import Watermarks

JOB = "ingest-orders"
DAYS = [datetime(2013, 1, day, 5, 15, tzinfo=UTC) for day in (1, 2, 3)]


def tidemark(*arguments: str, given: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["watermark", *arguments], input=given)
    # What went well prints to stdout; on stderr any thread of this process may say something.
    return result.exit_code, result.output if result.exit_code else result.stdout


@pytest.fixture
def engine(home):
    """Return the endpoint of a DynamoDB in which the job has two commits and an open window."""
    with (
        dynamodb_endpoint(Home.from_environment()) as endpoint,
        dynamodb_client(endpoint, region()) as dynamodb,
    ):
        create_tables(dynamodb, [TABLE])
        watermarks = Watermarks(TABLE.name, dynamodb)
        for number, day in enumerate(DAYS[:2], start=1):
            request = {"job_id": JOB, "run_id": f"jr_a{number}", "cursor": "updated_at"}
            with watermarks.window(**request, high=day):
                pass
        watermarks.open_window(job_id=JOB, run_id="jr_3", cursor="updated_at", high=DAYS[2])
        yield endpoint


def test_show_tells_what_holds_and_what_a_run_has_open(engine):
    code, output = tidemark("show", JOB)

    assert code == 0, output
    assert "updated_at=2013-01-02 05:15:00+00:00" in output
    assert "2013-01-02 05:15:00+00:00 to 2013-01-03 05:15:00+00:00" in output
    assert "jr_3" in output


def test_show_as_json_has_the_values(engine):
    code, output = tidemark("show", JOB, "--format", "json")

    answer = json.loads(output)
    assert code == 0
    assert answer["version"] == 2
    assert answer["watermarks"] == {"updated_at": "2013-01-02T05:15:00+00:00"}
    (window,) = answer["open_windows"]
    assert (window["run_id"], window["high"]) == ("jr_3", "2013-01-03T05:15:00+00:00")


def put_run(home, job: str) -> None:
    with Store(Home.open(home).database) as store:
        store.put_job_run(
            JobRun("jr_1", job, None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-disable")
        )


def test_job_that_ran_without_watermarks_will_load_everything(engine, home):
    put_run(home, "another-job")

    assert "none: the next run loads everything" in tidemark("show", "another-job")[1]


def test_job_that_has_not_committed_its_bookmark_yet_is_told_the_same(engine, home):
    definition = {"DefaultArguments": {"--job-bookmark-option": "job-bookmark-enable"}}
    with Store(Home.open(home).database) as store:
        put_entity(store, Entity(EntityKind.JOB, "curate-orders", definition, {}, 0, 0))
    put_run(home, "curate-orders")

    code, output = tidemark("show", "curate-orders")

    assert (code, "tidemark bookmark show curate-orders" in output) == (2, True)


def test_job_with_a_bookmark_is_told_where_that_is(engine, home):
    with Store(Home.open(home).database) as store:
        commit_bookmark(store, "curate-orders", "jr_1", {}, 0, 7)

    code, output = tidemark("show", "curate-orders")

    assert code == 2
    assert "tidemark bookmark show curate-orders" in output


def test_rewind_takes_the_beginning_of_an_id_that_no_other_run_shares(engine):
    arguments = ("rewind", JOB, "--reason", "why", "--yes", "--to")

    code, output = tidemark(*arguments, "jr_a")
    assert code == 2
    assert "2 runs of job ingest-orders begin with 'jr_a': jr_a2, jr_a1" in output
    assert tidemark("rewind", JOB, "--to", "a1", "--reason", "why", "--yes")[0] == 0
    assert "2013-01-01" in tidemark("show", JOB)[1]


def test_rewind_sets_the_watermarks_back_and_is_part_of_the_history(engine):
    arguments = ("rewind", JOB, "--to", "jr_a1", "--reason", "bad rates", "--actor", "ana")

    code, output = tidemark(*arguments, "--yes")

    assert code == 0, output
    assert "now updated_at=2013-01-02 05:15:00+00:00" in output
    assert "after the rewind: updated_at=2013-01-01 05:15:00+00:00" in output
    shown = json.loads(tidemark("show", JOB, "--format", "json")[1])
    assert shown["watermarks"] == {"updated_at": "2013-01-01T05:15:00+00:00"}
    assert shown["open_windows"] == []
    newest, *others = json.loads(tidemark("history", JOB, "--format", "json")[1])
    assert (newest["kind"], newest["run_id"]) == ("rewind", "jr_a1")
    assert (newest["actor"], newest["reason"]) == ("ana", "bad rates")
    assert [entry["run_id"] for entry in others] == ["jr_a2", "jr_a1"]


def test_rewind_to_the_beginning_lets_the_next_run_load_everything(engine):
    code, output = tidemark("rewind", JOB, "--to", "beginning", "--reason", "new key", "--yes")

    assert code == 0, output
    assert "none: the next run loads everything" in tidemark("show", JOB)[1]
    table = tidemark("history", JOB)[1]
    assert "the beginning" in table
    assert "new key" in table


def test_rewind_tells_programs_what_holds_now(engine):
    asked = ("--to", "jr_a1", "--reason", "why", "--yes", "--format", "json")

    result = CliRunner().invoke(main, ["watermark", "rewind", JOB, *asked])

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["watermarks"] == {"updated_at": "2013-01-01T05:15:00+00:00"}


def test_rewind_that_is_not_confirmed_changes_nothing(engine):
    before = tidemark("show", JOB)

    code, output = tidemark("rewind", JOB, "--to", "jr_a1", "--reason", "why", given="n\n")

    assert code == 1
    assert "read from there?" in output
    assert tidemark("show", JOB) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reason", "why"], "say where to: --to ID"),
        (
            ["--reason", "why", "--to", "jr_9"],
            "history ingest-orders` lists the runs",
        ),
        (["--reason", "", "--to", "jr_a1"], "reason"),
        (["--to", "jr_a1"], "Missing option '--reason'"),
    ],
    ids=["no target", "no such run", "empty reason", "no reason"],
)
def test_wrong_rewind_is_refused_and_changes_nothing(engine, arguments, message):
    before = tidemark("show", JOB)

    code, output = tidemark("rewind", JOB, "--yes", *arguments)

    assert code == 2, output
    assert message in output
    assert tidemark("show", JOB) == before


def test_table_that_is_not_there_is_one_clear_line(home):
    code, output = tidemark("show", JOB, "--table", "other")

    assert code == 2
    assert "there is no table 'other' in" in output
    assert "Traceback" not in output
