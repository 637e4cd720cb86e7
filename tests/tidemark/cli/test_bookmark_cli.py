"""`tidemark submit`, `bookmark` and `explain` on real runs of a script that needs no JVM."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.cli.main import main
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.stress  # starts many processes

SCRIPT = """
import sys
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from tidemark.glue_job.process.bookmark_session import files_to_read
from tidemark.local_state.bookmarks.sources import S3Source

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
job = Job(None)
job.init(args["JOB_NAME"], args)
files = files_to_read(S3Source(("s3://landing/in/",), "landing", "json")).files
print("read", *(file.path for file in files))
if "--fail" in sys.argv:
    raise RuntimeError("as asked")
job.commit()
"""
ENABLE = ("--job-bookmark-option", "job-bookmark-enable")


def tidemark(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin, env={"COLUMNS": "250"})


@pytest.fixture
def script(tmp_path: Path, home: Path) -> str:
    path = tmp_path / "ingest_orders.py"
    path.write_text(SCRIPT, encoding="utf-8")
    (home / "lake" / "landing" / "in").mkdir(parents=True)  # before the first command
    return str(path)


@pytest.fixture
def put(home: Path):
    def put(name: str, minutes_ago: int = 60) -> str:
        path = home / "lake" / "landing" / "in" / name
        path.write_text(name, encoding="utf-8")
        at = time.time() - 60 * minutes_ago
        os.utime(path, (at, at))
        return f"s3://landing/in/{name}"

    return put


def read(result: Result) -> list[str]:
    (line,) = [line for line in result.output.splitlines() if line.startswith("read")]
    return line.split()[1:]


def run_id(home: Path, number: int) -> str:
    with Store(home / "glue.sqlite") as store:
        return sorted(store.job_runs_since("ingest-orders", 0), key=lambda r: r.started_at_ms)[
            number - 1
        ].run_id


def test_submitted_script_reads_only_what_is_new_in_its_second_run(script, put):
    first = put("a.json")
    assert read(tidemark("submit", script, *ENABLE)) == [first]
    second = put("b.json", 0)

    result = tidemark("submit", script, *ENABLE)

    assert result.exit_code == 0
    assert "ingest-orders  SUCCEEDED" in result.output
    assert read(result) == [second]


@pytest.mark.nightly
def test_submitted_script_that_fails_shows_error_log_and_exit_code(script, put):
    name = put("a.json")
    failed = tidemark("submit", script, *ENABLE, "--fail")

    assert failed.exit_code == 1
    assert "RuntimeError: as asked (ingest_orders.py, line" in failed.output
    assert "stderr.log" in failed.output
    assert read(tidemark("submit", script, *ENABLE)) == [name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.py",), "there is no script nowhere.py"),
        ((None, "word"), "'word' is not an argument of a Glue job"),
        ((None, "--job-bookmark-option", "on"), "has --job-bookmark-option 'on'; allowed are job"),
        ((None, "--continuation-option", "on"), "has --continuation-option 'on'; allowed are con"),
        ((None, "--class", "a.B"), "--class, which does not work locally"),
    ],
)
def test_wrong_submission_is_one_clear_line_and_starts_nothing(script, home, arguments, message):
    result = tidemark("submit", *(script if word is None else word for word in arguments))

    assert result.exit_code in (1, 2)
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert not list((home / "runs").glob("jr_*"))


@pytest.mark.nightly
def test_legacy_continuation_option_enables_the_bookmark(script, put):
    put("a.json")
    legacy = ("--continuation-option", "continuation-enabled")
    tidemark("submit", script, *legacy)

    assert read(tidemark("submit", script, *legacy)) == []


@pytest.mark.nightly
def test_job_name_given_by_hand_is_the_key_of_the_bookmark(script, put):
    name = put("a.json")
    tidemark("submit", script, *ENABLE, "--JOB_NAME", "another")

    assert read(tidemark("submit", script, *ENABLE)) == [name]
    shown = tidemark("bookmark", "show", "another", "--format", "json")
    assert json.loads(shown.stdout)["JobBookmarkEntry"]["JobName"] == "another"


def test_reset_makes_the_next_run_read_everything(script, put):
    names = [put("a.json")]
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "reset", "ingest-orders", "--yes")

    assert "is at the beginning (version 2)" in result.output
    assert read(tidemark("submit", script, *ENABLE)) == names


def test_a_bookmark_that_is_reset_is_told_to_programs_as_it_is_now(script, put):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "reset", "ingest-orders", "--yes", "--format", "json")

    entry = json.loads(result.stdout)["JobBookmarkEntry"]
    assert (entry["JobName"], entry["Version"]) == ("ingest-orders", 2)


def test_rewind_makes_the_next_run_read_what_came_after_that_run(script, put, home):
    put("a.json")
    tidemark("submit", script, *ENABLE)
    second = put("b.json", 0)
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "rewind", "ingest-orders", "--to", run_id(home, 1), "--yes")
    again = tidemark("bookmark", "rewind", "ingest-orders", "--to", run_id(home, 1), "--yes")

    assert "it was there before" in again.output
    assert "it was there before" not in result.output
    assert f"is at the end of run {run_id(home, 1)} (version 3)" in result.output
    assert read(tidemark("submit", script, *ENABLE)) == [second]


@pytest.mark.nightly
def test_runs_are_meant_by_their_number_or_the_beginning_of_their_id(script, put, home):
    put("a.json")
    tidemark("submit", script, *ENABLE)
    tidemark("submit", script, *ENABLE)
    first = run_id(home, 1)

    rewound = tidemark("bookmark", "rewind", "ingest-orders", "--to", "2", "--yes")
    shown = tidemark("bookmark", "show", "ingest-orders", "--run", first[:12], "--format", "json")
    explained = tidemark("explain", "ingest-orders", "--run", first[:12], "--format", "json")

    assert f"is at the end of run {first} (version 3)" in rewound.output
    assert json.loads(shown.stdout)["JobBookmarkEntry"]["RunId"] == first
    assert json.loads(explained.stdout)["run_id"] == first


def test_run_that_is_not_there_is_refused_before_any_question(script, put, home):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "rewind", "ingest-orders", "--to", "jr_zzz", stdin="y\n")

    assert result.exit_code == 2
    assert "no run 'jr_zzz' of job ingest-orders; the nearest: jr_" in result.stderr
    numbers = tidemark("bookmark", "show", "ingest-orders", "--run", "2")
    assert "no run 2 of job ingest-orders: the numbers are 1 to 1" in numbers.stderr
    assert "[y/N]" not in result.output
    assert "[y/N]" not in tidemark("bookmark", "reset", "ingest-order", stdin="y\n").output


def test_name_of_no_job_is_answered_with_the_nearest(script, put):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    for command in (["explain"], ["bookmark", "show"], ["bookmark", "rewind"]):
        result = tidemark(*command, "ingest-order")

        assert result.exit_code == 2
        assert "did you mean ingest-orders?" in result.stderr


def test_explain_of_a_job_that_read_no_source_names_the_watermarks(home, tmp_path):
    (tmp_path / "customers.py").write_text("", encoding="utf-8")
    tidemark("submit", str(tmp_path / "customers.py"))

    result = tidemark("explain", "customers")

    assert result.exit_code == 2
    assert "never ran" not in result.stderr
    assert "tidemark watermark show customers" in result.stderr


def test_rewind_without_a_run_lists_the_runs_to_choose_from(script, put, home):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "rewind", "ingest-orders", "--yes")

    assert result.exit_code == 2
    assert run_id(home, 1)[:11] in result.stdout.split()
    assert "choose one of these runs: --to ID" in result.stderr


def test_set_back_that_is_not_confirmed_changes_nothing(script, put):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "reset", "ingest-orders", stdin="n\n")

    assert result.exit_code == 1
    assert read(tidemark("submit", script, *ENABLE)) == []


def test_show_tells_how_far_each_context_has_read(script, put):
    put("a.json")
    tidemark("submit", script, *ENABLE)

    result = tidemark("bookmark", "show", "ingest-orders")

    assert result.exit_code == 0
    for part in ("Bookmark of ingest-orders", "landing", "s3://landing/in/", "Runs to rewind to"):
        assert part in result.output


def test_explain_tells_what_the_next_run_would_read_and_why_a_file_is_skipped(script, put):
    first = put("a.json")
    tidemark("submit", script, *ENABLE)
    put("b.json", 0)

    table = tidemark("explain", "ingest-orders")
    one = tidemark("explain", "ingest-orders", "--file", first)
    document = json.loads(tidemark("explain", "ingest-orders", "--format", "json").stdout)

    assert "would read 1 of 2 files, 6 bytes" in table.output
    assert "counts as read" in one.output
    (source,) = document["sources"]
    assert [(file["file"], file["reason"]) for file in source["listed"]] == [
        ("s3://landing/in/a.json", "older than the mark"),
        ("s3://landing/in/b.json", "new"),
    ]
    assert (source["files"], source["bytes"], source["job_bookmark_option"]) == (
        1,
        6,
        "job-bookmark-enable",
    )


@pytest.mark.nightly
def test_explain_of_an_earlier_run_says_what_that_run_read(script, put, home):
    put("a.json")
    tidemark("submit", script, *ENABLE)
    tidemark("submit", script, *ENABLE)

    first = tidemark("explain", "ingest-orders", "--run", run_id(home, 1))
    second = tidemark("explain", "ingest-orders", "--run", run_id(home, 2))

    assert "read 1 of 1 file" in first.output
    assert "read 0 of 1 file" in second.output


@pytest.mark.nightly
def test_warnings_are_shown_at_the_end_of_a_run_once_each(script, put):
    put("a.json")
    tidemark("submit", script, *ENABLE)
    put("moved_here.json", 90)

    result = tidemark("submit", script, *ENABLE)

    assert (
        result.output.count("warning ingest-orders: s3://landing/in/moved_here.json arrived") == 1
    )
