"""A home knows what it has had: no file of its state vanishes without a word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.fixtures.commands import TABLE
from tests.sampled import sampled
from tidemark.cli.main import main
from tidemark.emulated.journal import Journal, JournalEntry
from tidemark.errors import DamagedDatabaseError, UsageError
from tidemark.glue_service.backups import back_up
from tidemark.glue_service.s3.records import Record, Records
from tidemark.local_state.access_key import access_key
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import (
    DATABASES,
    KEPT_BY,
    KEY_FILE,
    OBJECTS_FILE,
    SERVICES,
    STORE_FILE,
    TABLES,
)
from tidemark.local_state.machine.own_files import write_own_file
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.state_record import (
    COPIES,
    check_state,
    note,
    read_record,
    shortfall,
)

RUN = JobRun("jr_1", "one", None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-enable")
ITEM = {"jobName": {"S": "ingest"}, "runId": {"S": "~HEAD"}}
FILES = (STORE_FILE, TABLES, OBJECTS_FILE, SERVICES, KEY_FILE, KEPT_BY)
WITH_EVIDENCE = (STORE_FILE, TABLES)  # other files tell of these


@pytest.fixture
def environment(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """Return a home that has every file of a state."""
    root = tmp_path_factory.mktemp("filled") / "home"
    home = Home.open(root)
    check_state(root)
    with Store(home.database) as store:
        store.put_job_run(RUN)
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        create_tables(client, [TABLE])
        client.put_item(TableName=TABLE.name, Item=ITEM)
    records = Records(root / OBJECTS_FILE)
    records.put("lake", "a", (root / STORE_FILE).stat(), Record("etag", {"x-amz-meta-a": "1"}))
    records._connection().close()
    with Journal(root / SERVICES).locked() as turn:
        turn.add(JournalEntry("ssm", "/", {}, b"{}", 1))
        turn.add(JournalEntry("ssm", "/", {}, b"{}", 2))
    access_key(home)
    write_own_file(root / KEPT_BY, {"url": "http://127.0.0.1:1", "home": "h", "starts": 1})
    note(root, KEPT_BY, 0)
    return root


@pytest.fixture
def state(filled, environment) -> Path:
    shutil.copytree(filled, environment)
    Home.from_environment()
    return environment


def half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut in half": half,
    "one byte is left": lambda file: file.write_bytes(file.read_bytes()[:1]),
    "zeroed": zeroed,
    "another file": lambda file: file.write_text("no such thing \xff\n" * 9, "latin-1"),
}
# What shows at its first use only: a journal's lines are read by the service, a page by a query.
FIRST_USE = {(SERVICES, "zeroed"), (SERVICES, "another file")}


def tidemark(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "400"})


def damage(root: Path, name: str, how: str) -> None:
    for suffix in ("-wal", "-shm"):
        (root / f"{name}{suffix}").unlink(missing_ok=True)
    DAMAGES[how](root / name)


@pytest.mark.parametrize("how", sampled(DAMAGES, "gone", "empty", "cut in half"))
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_lost_what_it_had_is_refused_by_name_with_the_ways_out(state, name, how):
    if (name, how) in FIRST_USE:
        pytest.skip("see test_services")
    damage(state, name, how)

    with pytest.raises(DamagedDatabaseError) as refused:
        opened(name)

    assert str(state / name) in str(refused.value)
    assert "tidemark home restore" in str(refused.value)
    assert "tidemark home accept-loss" in str(refused.value)


def opened(name: str) -> None:
    """Open the home as a command does, and the file as whoever uses it."""
    home = Home.from_environment()
    if name == STORE_FILE:
        Store(home.database).close()
    elif name == OBJECTS_FILE:
        Records(home.root / name).bucket_tags("lake")
    elif name == TABLES:
        (home.root / KEPT_BY).unlink(missing_ok=True)
        with dynamodb_endpoint(home):
            pass


PAIRS = {" and ".join(pair): pair for pair in combinations(FILES, 2)}


@pytest.mark.parametrize("names", sampled(PAIRS, f"{STORE_FILE} and {TABLES}"))
@pytest.mark.parametrize("copy", COPIES)
def test_two_files_that_vanish_together_with_a_copy_of_the_record_are_refused(state, names, copy):
    for name in (*PAIRS[names], copy):
        (state / name).unlink()

    with pytest.raises(DamagedDatabaseError, match="is gone"):
        Home.from_environment()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_a_damaged_copy_of_the_record_is_read_from_the_other(state, content):
    (state / COPIES[0]).write_bytes(content)
    (state / STORE_FILE).unlink()

    with pytest.raises(DamagedDatabaseError, match="is gone"):
        Home.from_environment()


def forget_record(root: Path) -> None:
    """Make a home as an older Tidemark has left it."""
    for copy in COPIES:
        (root / copy).unlink()
    if (root / STORE_FILE).is_file():
        with Store(root / STORE_FILE) as store:
            store.query("DROP TABLE IF EXISTS change_count")


def test_a_home_of_an_older_tidemark_goes_on_and_gets_a_record(state):
    forget_record(state)

    Home.from_environment()

    record = read_record(state)
    assert record is not None
    assert set(record) == set(FILES)
    with Store(state / STORE_FILE) as store:
        store.put_job_run(replace(RUN, run_id="jr_2"))
    Home.from_environment()
    (state / STORE_FILE).unlink()
    with pytest.raises(DamagedDatabaseError, match="is gone"):
        Home.from_environment()


@pytest.mark.parametrize("how", ["gone", "empty"])
@pytest.mark.parametrize("name", WITH_EVIDENCE)
def test_a_home_of_an_older_tidemark_is_refused_by_what_else_is_there(state, name, how):
    (state / "runs" / "jr_1").mkdir()
    (state / KEPT_BY).unlink()  # its tables are here
    forget_record(state)
    damage(state, name, how)

    with pytest.raises(DamagedDatabaseError, match="accept-loss"):
        Home.from_environment()


@pytest.mark.parametrize("is_home_new", [True, False])
def test_a_home_without_state_is_not_refused(environment, is_home_new):
    if not is_home_new:
        (environment / "lake" / "landing").mkdir(parents=True)  # as a lake is laid out before

    Home.from_environment()
    Home.from_environment()

    assert read_record(environment) == {}


COMMANDS = (
    "status",
    "runs",
    "watermark show one",
    "bookmark show one",
    "submit script.py",
    "run",
    "serve --port 0 --jvms 0",
    "home backup b.tgz",
    "env",
)


@pytest.mark.parametrize("line", sampled(COMMANDS, "status", "run", "home backup b.tgz"))
def test_every_command_refuses_and_changes_nothing(state, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("print(1)", encoding="utf-8")
    (state / TABLES).write_bytes(b"")

    result = tidemark(*line.split())

    assert result.exit_code == 1, result.output
    assert f"{state / TABLES} is empty" in result.stderr
    assert (state / TABLES).stat().st_size == 0


@pytest.mark.parametrize("name", [STORE_FILE, TABLES, SERVICES])
def test_a_restored_backup_is_the_way_back(state, name, tmp_path):
    (state / KEPT_BY).unlink()
    assert tidemark("home", "accept-loss", KEPT_BY, "--yes").exit_code == 0
    back_up(Home.open(state), tmp_path / "b", with_lake=False)
    with Store(state / STORE_FILE) as store:
        store.put_job_run(replace(RUN, run_id="jr_2"))
    before = (state / name).stat().st_size
    (state / name).unlink()

    restored = tidemark("home", "restore", str(tmp_path / "b"), "--yes")

    assert restored.exit_code == 0, restored.output
    Home.from_environment()
    assert (state / name).stat().st_size == before


@pytest.mark.parametrize("how", ["gone", "empty", "cut in half"])
@pytest.mark.parametrize("name", FILES)
def test_a_loss_is_accepted_by_the_command_that_the_error_names(state, name, how):
    others = {other: (state / other).read_bytes() for other in FILES if other != name}
    damage(state, name, how)
    said = tidemark("status").stderr if (name, how) not in FIRST_USE else ""
    assert f"tidemark home accept-loss {name}" in said or Path(name).name in said

    if how == "cut in half" and name in (STORE_FILE, TABLES, OBJECTS_FILE):
        (state / name).rename(state / f"{name}.aside")  # as its error says
    accepted = tidemark("home", "accept-loss", name, "--yes")

    assert accepted.exit_code == 0, accepted.output
    Home.from_environment()
    assert {other: (state / other).read_bytes() for other in others} == others


def test_nothing_is_accepted_where_nothing_is_lost(state):
    result = tidemark("home", "accept-loss", "tables.db", "--yes")

    assert result.exit_code == 2
    assert "has lost nothing" in result.stderr


def test_reset_and_the_deletion_of_the_home_ask_for_no_acceptance(state):
    (state / TABLES).unlink()

    assert tidemark("home", "reset", "--yes").exit_code == 0
    Home.from_environment()
    shutil.rmtree(state)
    Home.from_environment()


def change(root: Path, name: str) -> None:
    """Change one database of a home, as a command does."""
    home = Home.from_environment()
    if name == STORE_FILE:
        with Store(home.database) as store:
            store.put_job_run(RUN)
    elif name == OBJECTS_FILE:
        records = Records(root / name)
        records.tag_bucket("lake", {"a": "1"})
        records._connection().close()
    else:
        with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
            create_tables(client, [TABLE])
            client.put_item(TableName=TABLE.name, Item=ITEM)


@pytest.mark.parametrize("name", DATABASES)
def test_an_older_copy_of_a_database_is_refused_until_it_is_accepted(environment, name):
    change(environment, name)
    older = (environment / name).read_bytes()
    change(environment, name)
    newer = (environment / name).read_bytes()
    Home.from_environment()

    (environment / name).write_bytes(older)

    with pytest.raises(DamagedDatabaseError, match=rf"{name} has \d of the \d .* that it had"):
        Home.from_environment()
    (environment / name).write_bytes(newer)
    Home.from_environment()
    (environment / name).write_bytes(older)
    assert tidemark("home", "accept-loss", name, "--yes").exit_code == 0
    change(environment, name)
    Home.from_environment()


def test_a_table_that_a_client_deletes_is_not_lost(environment):
    change(environment, TABLES)
    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        client.delete_table(TableName=TABLE.name)

    Home.from_environment()


def test_services_whose_journal_is_zeroed_are_refused_at_their_first_use(state):
    zeroed(state / SERVICES)

    with (
        pytest.raises(UsageError, match=r"home accept-loss services\.jsonl"),
        Journal(state / SERVICES).locked() as turn,
    ):
        list(turn.unread())


@pytest.mark.parametrize(
    ("had", "now", "expected"),
    [
        (3, 3, ""),
        (3, 4, ""),
        (3, 2, "has 2 of the 3 changes that it had"),
        (0, None, "has no content"),
        (["of an older Tidemark"], None, "has no content"),
        (["of an older Tidemark"], 0, ""),
    ],
)
def test_less_than_before_is_a_loss_and_more_is_not(had, now, expected):
    assert shortfall(had, now, "changes") == expected


WRITE_AND_HANG = """
import sys, time
from tests.tidemark.local_state.store.test_state_record import *
home = Home.from_environment()
with Store(home.database) as store:
    store.put_job_run(replace(RUN, run_id="jr_of_the_killed"))
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        create_tables(client, [TABLE])
        client.put_item(TableName=TABLE.name, Item={**ITEM, "jobName": {"S": "of the killed"}})
        print("written", flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> Path:
    """Return a home whose last command was killed after its commits."""
    root = tmp_path_factory.mktemp("killed") / "home"
    command, variables = [sys.executable, "-c", WRITE_AND_HANG], {"TIDEMARK_HOME": str(root)}
    pipe, environment = subprocess.PIPE, {**os.environ, **variables}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdout.readline() == b"written\n"
        process.kill()
    return root


def test_the_commits_of_a_killed_command_are_there(killed, environment):
    shutil.copytree(killed, environment)

    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        items = client.scan(TableName=TABLE.name)["Items"]

    assert [item["jobName"]["S"] for item in items] == ["of the killed"]
    Home.from_environment()


@pytest.mark.parametrize("name", [STORE_FILE, TABLES])
def test_the_commits_of_a_killed_command_are_missed_without_its_wal(killed, environment, name):
    shutil.copytree(killed, environment)
    assert (environment / f"{name}-wal").stat().st_size > 0
    for suffix in ("-wal", "-shm"):
        (environment / f"{name}{suffix}").unlink()

    with pytest.raises(DamagedDatabaseError, match=f"{name} "):
        Home.from_environment()
    assert tidemark("home", "accept-loss", name, "--yes").exit_code == 0
    Home.from_environment()


def test_the_record_holds_no_secret(state):
    key = json.loads((state / KEY_FILE).read_bytes())["secret_access_key"]

    assert all(key not in (state / copy).read_text("utf-8") for copy in COPIES)


GARBLED = b'{"pid": 1, "caf\xe9": "\xff\xfe"}'
FILES_OF_PROCESSES = ("port.json", "jvm-pool.json", "deployed-apps.json", "lock", "events.jsonl")


@pytest.mark.parametrize("command", sampled(["status", "env", "runs"], "status"))
@pytest.mark.parametrize("name", [*FILES_OF_PROCESSES, KEY_FILE, KEPT_BY, SERVICES, *COPIES])
def test_a_byte_that_is_not_utf_8_in_a_file_of_the_home_is_no_traceback(state, name, command):
    (state / name).write_bytes(GARBLED)
    (state / name).chmod(0o600)

    result = tidemark(*command.split())

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
