"""`tidemark home backup|restore`, and what a full or damaged disk makes of a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.disks import can_mount
from tests.fixtures.commands import TABLE
from tidemark.cli.main import main
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

ITEM = {"jobName": {"S": "ingest"}, "runId": {"S": "~HEAD"}, "n": {"N": "1"}}
RUN = JobRun("jr_1", "one", None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-enable")


def tidemark(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


def commit(home: Path, high_ms: int) -> None:
    with Store(home / "glue.sqlite") as store:
        version = latest_bookmark(store, "one").version if latest_bookmark(store, "one") else 0
        store.put_job_run(RUN)
        states = {"ctx": {"kind": "s3", "high_ms": high_ms, "low_ms": 0, "recent": []}}
        commit_bookmark(store, "one", f"jr_{high_ms}", states, version, high_ms)


def high_ms(home: Path) -> int:
    with Store(home / "glue.sqlite") as store:
        return latest_bookmark(store, "one").states["ctx"]["high_ms"]


def put_item(number: str) -> None:
    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        create_tables(client, [TABLE])
        client.put_item(TableName=TABLE.name, Item={**ITEM, "n": {"N": number}})


def item() -> str:
    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        (found,) = client.scan(TableName=TABLE.name)["Items"]
    return found["n"]["N"]


@pytest.fixture
def state(home: Path) -> Path:
    """Return a home with a bookmark, a watermark and an object."""
    Home.from_environment()
    commit(home, 1)
    put_item("1")
    (home / "lake" / "landing").mkdir()
    (home / "lake" / "landing" / "a.json").write_text("1", encoding="utf-8")
    return home


def test_restored_state_is_that_of_the_backup_and_the_data_stay(state, tmp_path):
    assert tidemark("home", "backup", str(tmp_path / "b")).exit_code == 0
    commit(state, 2)
    put_item("2")
    (state / "lake" / "landing" / "b.json").touch()

    refused = tidemark("home", "restore", str(tmp_path / "b"))
    assert refused.exit_code == 2
    assert "glue.sqlite, dynamodb/tables.db would be replaced" in refused.stderr
    assert (high_ms(state), item()) == (2, "2")
    assert tidemark("home", "restore", str(tmp_path / "b"), "--yes").exit_code == 0

    assert (high_ms(state), item()) == (1, "1")
    assert sorted(path.name for path in (state / "lake/landing").iterdir()) == ["a.json", "b.json"]


def test_backup_with_the_lake_restores_a_home_elsewhere_without_being_told_twice(
    state, tmp_path, monkeypatch
):
    tidemark("home", "backup", str(tmp_path / "b"), "--lake")
    other = tmp_path / "other"
    monkeypatch.setenv("TIDEMARK_HOME", str(other))

    result = tidemark("home", "restore", str(tmp_path / "b"))

    assert result.exit_code == 0, result.output
    assert (high_ms(other), item()) == (1, "1")
    assert (other / "lake" / "landing" / "a.json").read_text(encoding="utf-8") == "1"


def test_restore_takes_away_what_the_backup_did_not_have(home, tmp_path):
    Home.from_environment()
    commit(home, 1)
    tidemark("home", "backup", str(tmp_path / "b"))
    put_item("2")

    assert tidemark("home", "restore", str(tmp_path / "b"), "--yes").exit_code == 0

    assert not (home / "dynamodb" / "tables.db").exists()


def test_backup_replaces_nothing_and_waits_for_nobody(state, tmp_path):
    (tmp_path / "b").write_text("precious", encoding="utf-8")

    exists = tidemark("home", "backup", str(tmp_path / "b"))
    with Home.from_environment().exclusive():
        held = tidemark("home", "backup", str(tmp_path / "c"))

    assert (exists.exit_code, held.exit_code) == (2, 2)
    assert (tmp_path / "b").read_text(encoding="utf-8") == "precious"
    assert "is using" in held.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "home"]


@pytest.mark.parametrize("damage", ["no backup", "cut short", "missing", "newer"])
def test_file_that_is_no_complete_backup_changes_nothing(state, tmp_path, damage):
    file = tmp_path / "b"
    tidemark("home", "backup", str(file))
    if damage == "no backup":
        file.write_text("hello", encoding="utf-8")
    elif damage == "cut short":
        file.write_bytes(file.read_bytes()[:-100])
    elif damage == "missing":
        file.unlink()
    else:
        facts = {"tidemark_backup": 99, "parts": [], "absent": [], "made_at": ""}
        (tmp_path / "backup.json").write_text(json.dumps(facts), encoding="utf-8")
        with tarfile.open(file, "w:gz") as archive:
            archive.add(tmp_path / "backup.json", "backup.json")

    result = tidemark("home", "restore", str(file), "--yes")

    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert (high_ms(state), item()) == (1, "1")
    assert not (state / "restore-unfinished").exists()


KILL = """
import os, sys
from pathlib import Path
from tidemark.glue_service.backups import restore
from tidemark.local_state.home import Home

home, left = Home.open(Path(sys.argv[1])), int(sys.argv[3])

def hook(event, arguments):
    global left
    if event in ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)

sys.addaudithook(hook)
restore(home, Path(sys.argv[2]))
"""


@pytest.mark.nightly
@pytest.mark.stress
def test_restore_that_is_killed_at_any_step_leaves_the_old_home_or_the_new_one(state, tmp_path):
    tidemark("home", "backup", str(tmp_path / "b"), "--lake")
    commit(state, 2)
    (state / "lake" / "landing" / "a.json").write_text("2", encoding="utf-8")
    seen = []
    for step in range(100):
        home = tmp_path / f"home-{step}"
        shutil.copytree(state, home)
        command = [sys.executable, "-c", KILL, str(home), str(tmp_path / "b"), str(step)]
        code = subprocess.run(command, capture_output=True).returncode
        Home.open(home)  # as the next command does
        text = (home / "lake" / "landing" / "a.json").read_text(encoding="utf-8")
        seen.append((high_ms(home), text))
        assert not (home / "restore-ready").exists()
        if code == 0:
            break
        assert code == -9

    assert set(seen) == {(2, "2"), (1, "1")}
    assert seen == sorted(seen, reverse=True)
    assert len(seen) > 5


def test_damage_is_named_by_every_command_and_nothing_is_changed(state, write_assembly, tmp_path):
    app = str(write_assembly({"one": ""}))
    with Store(state / "glue.sqlite") as store:
        for number in range(1200):  # in the middle of the file are runs
            store.put_job_run(replace(RUN, run_id=f"jr_x{number}", log_path="x" * 200))
    file = state / "glue.sqlite"
    content = file.read_bytes()
    middle = len(content) // 2 // 4096 * 4096
    file.write_bytes(content[:middle] + b"x" * 4096 + content[middle + 4096 :])

    for command in (
        ["status", "--app", app],
        ["run", "--app", app],
        ["explain", "one"],
        ["bookmark", "show", "one"],
        ["home", "backup", str(tmp_path / "b")],
    ):
        result = tidemark(*command)
        assert result.exit_code == 1, command
        assert f"{file} is damaged" in result.stderr
        assert "never" not in result.output
        assert "reset" not in result.output
    assert file.read_bytes()[middle : middle + 4096] == b"x" * 4096


def test_damaged_watermarks_are_named_and_not_taken_for_none(state):
    file = state / "dynamodb" / "tables.db"
    content = file.read_bytes()
    file.write_bytes(content[:8192] + b"x" * 4096 + content[12288:])

    result = tidemark("watermark", "show", "ingest")

    assert result.exit_code == 1
    assert f"{file} is damaged" in result.stderr


FULL = """
import os, subprocess, sys
disk = sys.argv[1]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=True)
os.environ["TIDEMARK_HOME"] = disk + "/home"
tidemark = [sys.executable, "-m", "tidemark"]
subprocess.run([*tidemark, "submit", sys.argv[3]], check=True)
try:
    with open(disk + "/filler", "wb", buffering=0) as filler:
        while True:
            filler.write(b"0" * 4096)
except OSError:
    pass
app = ["--app", sys.argv[2]]
backup = ["home", "backup", disk + "/b"]
looks = ["status", *app], ["runs"], ["logs", "short"]
for command in (["submit", sys.argv[3]], ["run", *app], *looks, backup):
    run = subprocess.run([*tidemark, *command], capture_output=True, text=True)
    print(repr([command[0], run.returncode, run.stdout + run.stderr]), flush=True)
"""


@pytest.mark.nightly
@pytest.mark.stress
@pytest.mark.skipif(not can_mount(), reason="a disk of its own needs root")
def test_full_disk_is_named_by_every_command_that_needs_room(home, write_assembly, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    script = tmp_path / "short.py"
    script.write_text("print(1)" + "#" * 5_000, encoding="utf-8")
    app = write_assembly({"one": "print(1)" + "#" * 5_000})
    command = ["unshare", "--mount", sys.executable, "-c", FULL, str(disk), str(app), str(script)]
    run = subprocess.run(command, capture_output=True, text=True)
    if "unshare" in run.stderr or "mount" in run.stderr:
        pytest.skip(f"cannot mount here: {run.stderr}")

    answers = [eval(line) for line in run.stdout.splitlines() if line.startswith("[")]  # noqa: S307
    names = ["submit", "run", "status", "runs", "logs", "local"]
    assert [name for name, _, _ in answers] == names, run.stderr
    for name, code, output in answers:
        assert "Traceback" not in output, output
        assert "reset" not in output
        assert code in (0, 1), (name, output)
        if code or name in ("submit", "run"):
            assert code == 1
            assert "is full: " in output, (name, output)
            assert str(disk) in output
        if name in ("status", "runs", "logs"):
            assert (code, "is on a full disk" in output) == (0, True), (name, output)
    assert "1" in answers[names.index("logs")][2].splitlines()  # what the script has printed


def test_restored_files_keep_their_times_by_which_bookmarks_tell_them(state, tmp_path):
    data = state / "lake" / "dated"
    data.mkdir()
    times = {f"{n}.json": 1_700_000_000_000_000_000 + n * 1_000_000 - n % 2 for n in range(100)}
    for name, modified_ns in times.items():
        (data / name).write_text("{}")
        os.utime(data / name, ns=(modified_ns, modified_ns))
    backup = tmp_path / "backup.tgz"

    assert tidemark("home", "backup", str(backup), "--lake").exit_code == 0
    assert tidemark("home", "restore", str(backup), "--yes").exit_code == 0

    assert {file.name: file.stat().st_mtime_ns for file in data.iterdir()} == times


@pytest.mark.parametrize(
    "facts",
    [
        {"parts": [], "absent": ["../victim"]},
        {"parts": ["../victim"], "absent": []},
        {"parts": ["glue.sqlite"], "absent": ["/"]},
        {"parts": ["glue.sqlite"], "absent": []},
        {"parts": [], "absent": []},
        {"parts": 5, "absent": None},
        {"tidemark_backup": "x"},
        {},
    ],
    ids=str,
)
def test_crafted_backup_is_refused_and_touches_nothing(state, tmp_path, facts):
    victim = state.parent / "victim"
    victim.mkdir()
    document = {"tidemark_backup": 1, "made_at": "x", **facts}
    facts_file = tmp_path / "backup.json"
    facts_file.write_text(json.dumps(document))
    with tarfile.open(tmp_path / "crafted.tgz", "w:gz") as archive:
        archive.add(facts_file, "backup.json")

    result = tidemark("home", "restore", str(tmp_path / "crafted.tgz"), "--yes")

    assert (result.exit_code, "not a complete backup" in result.output) == (2, True), result.output
    assert victim.is_dir()
    assert high_ms(state) == 1


def test_lake_on_another_disk_is_backed_up_whole_and_replaced_by_a_restore(state, tmp_path):
    elsewhere = tmp_path / "disk" / "lake"
    elsewhere.parent.mkdir()
    (state / "lake").rename(elsewhere)
    (elsewhere / "a.json").write_text("{}")
    (state / "lake").symlink_to(elsewhere)
    backup = tmp_path / "backup.tgz"

    assert tidemark("home", "backup", str(backup), "--lake").exit_code == 0
    assert tidemark("home", "restore", str(backup), "--yes").exit_code == 0

    assert not (state / "lake").is_symlink()
    assert (state / "lake" / "a.json").read_text() == (elsewhere / "a.json").read_text() == "{}"


def test_backup_that_could_not_be_restored_or_would_be_reset_is_not_made(state, tmp_path):
    (state / "lake" / "linked").symlink_to(tmp_path)
    backup = tmp_path / "backup.tgz"

    linked = tidemark("home", "backup", str(backup), "--lake")
    inside = tidemark("home", "backup", str(state / "backup.tgz"))

    assert (linked.exit_code, "lake/linked" in linked.output) == (2, True), linked.output
    assert (inside.exit_code, "home reset" in inside.output) == (2, True), inside.output
    assert not backup.exists()
    assert not (state / "backup.tgz").exists()
