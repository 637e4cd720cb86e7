"""A home that cannot be written: commands that look at it work, the others refuse in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark
from tidemark.glue_service.commands import region
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.engine.kept_by import KeptBy
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEPT_BY
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead
from watermarks import Watermarks, create_table_request

AT = 1_700_000_000_000
# In a mount name space of its own, where the home is mounted again, to be read only.
SHELL = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
COMMANDS = """
import json, sys
from click.testing import CliRunner
from tidemark.cli.main import main
for line in sys.stdin:
    done = CliRunner().invoke(main, json.loads(line))
    print(json.dumps([done.exit_code, done.stdout, done.stderr]), flush=True)
"""
WITHOUT_A_HOME = {
    "runs": (0, "no job has a run in"),
    "bookmark show load": (2, "there is no job 'load'"),
    "catalog list": (0, "no table is in the Data Catalog of"),
}
LOOKS = [
    ["status", "--app", "APP"],
    ["runs"],
    ["run", "show", "jr_l"],
    ["logs", "load"],
    ["report", "--app", "APP", "--output", "OUT/page.html"],
    ["bookmark", "show", "load"],
    ["explain", "load"],
    ["watermark", "show", "by-key"],
    ["watermark", "history", "by-key"],
    ["catalog", "list"],
    ["rewind", "list"],
    ["rewind", "load", "--to", "beginning", "--dry-run", "--app", "APP"],
    ["home", "backup", "OUT/backup", "--lake"],
]
OTHERS = [
    ["run", "--app", "APP"],
    ["bookmark", "reset", "load", "--yes"],
    ["rewind", "load", "--to", "beginning", "--yes", "--reason", "x", "--app", "APP"],
    ["bucket", "more"],
    ["home", "restore", "OUT/backup", "--yes"],
    ["home", "reset", "--yes"],
    ["report", "--app", "APP"],
]


@pytest.fixture
def app(home, write_assembly) -> Path:
    """Return the app of a job that has run in the home, beside one that keeps a watermark."""
    folder = write_assembly({"load": "print('hello')", "by-key": ""})
    assert tidemark("run", "--app", str(folder)).exit_code == 0
    opened = Home.open(home)
    (opened.lake / "landing").mkdir(exist_ok=True)
    (opened.lake / "landing" / "a.json").write_text("{}", encoding="utf-8")
    with Store(opened.database) as store:
        run = JobRun("jr_l1", "load", None, None, 0, "SUCCEEDED", AT, str(home / "none/x"), "")
        store.put_job_run(replace(run, completed_at_ms=AT + 90, rows_read=7, rows_written=7))
        commit_bookmark(store, "load", "jr_l1", {"ctx": {}}, 0, AT + 50)
        position = {"kind": "files", "until_ms": 1}
        read = DatasetRead("s3://landing/", "ctx", files=1, rows=7, after=position)
        put_checkpoint(store, Checkpoint("load", "jr_l1", AT + 50, read=(read,)))
    with dynamodb_endpoint(opened) as url, dynamodb_client(url, region()) as client:
        client.create_table(**create_table_request())
        marks = Watermarks("glue-watermarks", client)
        marks.commit_window(marks.open_window("by-key", run_id="jr_k1", cursor="id", high=5))
    for left in ("glue.sqlite-wal", "glue.sqlite-shm"):
        (home / left).unlink(missing_ok=True)
    return folder


def play(commands, app, out, *before):
    """Return exit code, stdout and stderr of each command, run in one process."""
    command = [*before, sys.executable, "-c", COMMANDS]
    lines = "".join(json.dumps(words) + "\n" for words in commands)
    lines = lines.replace("APP", str(app)).replace("OUT", str(out))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def content(home):
    return {
        path.relative_to(home): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
        )
        for path in sorted(home.rglob("*"))
    }


def mounted(home):
    """Return a command before a command that mounts a folder again, where that is possible."""
    before = ["unshare", "-rm", "sh", "-ec", SHELL, "sh", str(home)]
    if shutil.which("unshare") is None or subprocess.run([*before, "true"], check=False).returncode:
        pytest.skip("this machine lets no one mount a folder in a name space of their own")
    return before


def as_another_user(home):
    """Return a command before a command that makes it one of a user who may not write the home."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    before = ["setpriv", "--reuid", "65534", "--clear-groups"]
    for command in ([sys.executable, "-c", "import tidemark"], ["test", "-x", str(home)]):
        if subprocess.run([*before, *command], check=False, capture_output=True).returncode:
            pytest.skip("another user may not look into these folders")
    return before


@pytest.mark.nightly  # each command starts twice; that of another user is in every run
@pytest.mark.parametrize("has_wal", [False, True], ids=["closed", "with what was not written back"])
def test_a_home_that_is_mounted_to_be_read_is_looked_at_and_left_alone(
    app, home, tmp_path, has_wal
):
    outs = [tmp_path / "here", tmp_path / "there"]
    for out in outs:
        out.mkdir()
    if has_wal:  # as a machine leaves it that stops: the last commit is beside the database
        saved = tmp_path / "saved"
        with Store(home / "glue.sqlite") as store:
            commit_bookmark(store, "load", "jr_l2", {"ctx": {}}, 1, AT + 90)
            shutil.copytree(home, saved, symlinks=True)
        shutil.rmtree(home)
        saved.rename(home)
        (home / "glue.sqlite-shm").unlink()
        assert (home / "glue.sqlite-wal").stat().st_size
    before = content(home)
    last = "jr_l2" if has_wal else "jr_l1"

    there = play([*LOOKS, *OTHERS], app, outs[1], *mounted(home))

    assert content(home) == before
    here = play(LOOKS, app, outs[0])
    for words, (code, stdout, stderr), wanted in zip(LOOKS, there, here, strict=False):
        assert (code, stdout.replace(str(outs[1]), str(outs[0]))) == (wanted[0], wanted[1]), words
        if words[0] == "explain":  # the script has opened no source
            assert "has opened a source" in stderr
        else:
            assert code == 0, stderr
    assert last in there[LOOKS.index(["bookmark", "show", "load"])][1]
    for words, (code, _, stderr) in zip(OTHERS, there[len(LOOKS) :], strict=True):
        assert code == 2, words
        assert stderr.count("\n") == 1, words
        assert str(home) in stderr
        assert "Traceback" not in stderr


@pytest.mark.nightly
def test_messages_name_the_home_that_cannot_be_written_and_not_the_copy(app, home, tmp_path):
    looks = [["watermark", "show", "by-key", "--table", "none"]]
    (home / KEPT_BY).write_text(
        json.dumps(vars(KeptBy("http://127.0.0.1:1", "x", 0))), encoding="utf-8"
    )
    kept_elsewhere = play(looks, app, tmp_path, *mounted(home))
    (home / KEPT_BY).unlink()

    for code, _, stderr in (*kept_elsewhere, *play(looks, app, tmp_path, *mounted(home))):
        assert code == 2
        error = stderr.splitlines()[-1]
        assert f" {home} " in f"{error.replace(':', ' ')} "
        assert "/tidemark-" not in error


@pytest.mark.nightly
def test_a_backup_of_a_home_that_cannot_be_written_is_whole(app, home, tmp_path, monkeypatch):
    play([["home", "backup", str(tmp_path / "b"), "--lake"]], app, tmp_path, *mounted(home))
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "other"))

    assert tidemark("home", "restore", str(tmp_path / "b")).exit_code == 0

    assert (tmp_path / "other/lake/landing/a.json").read_text(encoding="utf-8") == "{}"
    assert "jr_l1" in tidemark("bookmark", "show", "load").stdout


def test_the_home_of_another_user_is_looked_at(app, home, tmp_path, monkeypatch, request):
    theirs = Path(tempfile.mkdtemp()) / "home"  # where others may look, unlike in that of pytest
    request.addfinalizer(lambda: shutil.rmtree(theirs.parent))
    home = shutil.copytree(home, theirs)
    monkeypatch.setenv("TIDEMARK_HOME", str(home))
    for folder in (home.parent, home, *home.rglob("*")):
        folder.chmod(0o755 if folder.is_dir() else 0o644)

    (shown,) = play([["bookmark", "show", "load"]], app, tmp_path, *as_another_user(home))

    assert shown[0] == 0, shown
    assert "jr_l1" in shown[1]


@pytest.mark.parametrize(("words", "ends"), WITHOUT_A_HOME.items(), ids=WITHOUT_A_HOME)
def test_what_only_looks_leaves_no_home_where_none_is(tmp_path, monkeypatch, words, ends):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    result = tidemark(*words.split())

    code, text = ends
    assert result.exit_code == code, result.output
    assert text in result.output
    assert list(tmp_path.iterdir()) == []
