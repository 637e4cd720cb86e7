"""The state home on a real file system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.home import Home, delete_entry

HOLD = """
import sys
from pathlib import Path
from tidemark.local_state.home import Home

with Home.open(Path(sys.argv[1])).exclusive():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_new_folder_becomes_a_home(tmp_path):
    home = Home.open(tmp_path / "deep" / "home")

    assert sorted(path.name for path in home.root.iterdir()) == [
        ".gitignore",
        "derby",
        "dynamodb",
        "lake",
        "runs",
        "tidemark-home",
    ]


def test_git_sees_nothing_of_a_home_in_a_repository_that_does_not_know_it(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    home = Home.open(tmp_path / ".tidemark")
    (home.root / "access-key.json").write_text("{}")

    status = ["git", "-C", tmp_path, "status", "--short", "--untracked-files=all"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""


@pytest.mark.parametrize("before", [None, 0o755, 0o770, 0o701], ids=["new", "755", "770", "701"])
def test_home_is_closed_to_other_users(before, tmp_path):
    root = tmp_path / "home"
    if before is not None:
        root.mkdir()
        root.chmod(before)

    Home.open(root)

    assert root.stat().st_mode & 0o777 == 0o700


def test_home_that_cannot_be_closed_to_others_is_named(tmp_path, monkeypatch, capsys):
    root = tmp_path / "home"
    root.mkdir(mode=0o755)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)  # as a file system without modes

    Home.open(root)

    assert (
        f"other users of this machine may read the state folder {root}" in capsys.readouterr().err
    )


def test_home_can_be_opened_again(tmp_path):
    first = Home.open(tmp_path)
    (first.lake / "bucket").mkdir()

    assert Home.open(tmp_path) == first
    assert (first.lake / "bucket").is_dir()


def test_relative_home_is_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", "here")

    assert Home.from_environment().root == tmp_path / "here"


@pytest.mark.parametrize("value", [None, ""], ids=["not set", "empty"])
def test_default_home_is_in_the_current_folder(tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("TIDEMARK_HOME", value)

    assert Home.from_environment().root == tmp_path / ".tidemark"


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_home_that_a_file_stands_in_the_way_of_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(UsageError, match=f"cannot write .*{name}: .*TIDEMARK_HOME"):
        Home.open(tmp_path / name)


@pytest.mark.parametrize("name", ["lake", "runs", "dynamodb", "derby"])
@pytest.mark.parametrize("damage", [Path.touch, lambda path: path.symlink_to(path.name)])
def test_what_stands_in_the_way_of_a_folder_of_a_home_is_named(tmp_path, name, damage):
    (tmp_path / "tidemark-home").touch()
    damage(tmp_path / name)

    with pytest.raises(UsageError, match=f"{name} is not a folder, .*tidemark home restore"):
        Home.open(tmp_path)


def test_a_home_that_lost_its_mark_is_no_reason_to_begin_anew(tmp_path):
    (tmp_path / "glue.sqlite").touch()

    with pytest.raises(UsageError, match=f"touch {tmp_path}/tidemark-home"):
        Home.open(tmp_path)


def test_folder_of_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")

    with pytest.raises(UsageError, match="is not empty and not a state folder of Tidemark"):
        Home.open(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_uri_of_a_bucket_is_a_folder_of_the_lake(tmp_path, scheme):
    home = Home.open(tmp_path)

    assert home.local_path(f"{scheme}://lake/a/b.json") == home.lake / "lake" / "a" / "b.json"
    assert home.local_path(f"{scheme}://lake") == home.lake / "lake"


@pytest.mark.parametrize(
    "uri",
    ["job.py", "s3:/lake/a", "s3://", "hdfs://lake/a", "", "s3://../a", "s3://./a", "s3://a:b@c/d"],
)
def test_what_is_no_place_in_s3_is_refused(tmp_path, uri):
    with pytest.raises(
        UsageError, match=f"^'{uri}' is not a place in S3; write it as s3://bucket/key"
    ):
        Home.open(tmp_path).local_path(uri)


def test_absolute_key_is_below_its_bucket(tmp_path):
    home = Home.open(tmp_path)

    assert home.local_path("s3://lake//etc/passwd") == home.lake / "lake" / "etc" / "passwd"


@pytest.mark.parametrize("key", ["..", "../a", "a/../../b", "a/.."])
def test_key_that_leads_upwards_is_refused(tmp_path, key):
    with pytest.raises(UsageError, match=r"has a part '\.\.'"):
        Home.open(tmp_path).local_path(f"s3://lake/{key}")


def test_bucket_without_a_folder_does_not_exist(tmp_path):
    home = Home.open(tmp_path)

    with pytest.raises(EntityNotFoundError, match=r"NoSuchBucket.*`tidemark bucket lake`"):
        home.existing_path("s3://lake/a")
    with pytest.raises(
        EntityNotFoundError, match="no bucket can have the name 'MY_BUCKET'"
    ) as told:
        home.existing_path("s3://MY_BUCKET/a")
    assert "tidemark bucket" not in str(told.value)


@pytest.mark.parametrize("key", ["", "a.json", "linked.json", "folder/a.json"])
def test_link_that_leads_out_of_the_lake_is_refused(tmp_path, key):
    home = Home.open(tmp_path / "home")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.json").write_text("{}", encoding="utf-8")
    bucket = home.lake / "lake"
    if key.startswith(("linked", "folder")):
        bucket.mkdir()
        (bucket / "linked.json").symlink_to(outside / "a.json")
        (bucket / "folder").symlink_to(outside)
    else:
        bucket.symlink_to(outside)

    with pytest.raises(UsageError, match=f"leads out of the lake by a symbolic link, to {outside}"):
        home.existing_path(f"s3://lake/{key}")


def test_link_to_another_place_of_the_lake_is_followed(tmp_path):
    home = Home.open(tmp_path)
    (home.lake / "lake").mkdir()
    (home.lake / "lake" / "link").symlink_to(home.lake)

    assert home.existing_path("s3://lake/link") == home.lake / "lake" / "link"


@pytest.mark.parametrize("key", ["loop", "loop/a.json"])
def test_link_to_itself_is_refused(tmp_path, key):
    home = Home.open(tmp_path)
    (home.lake / "lake").mkdir()
    (home.lake / "lake" / "loop").symlink_to(home.lake / "lake" / "loop")

    with pytest.raises(UsageError, match="leads back to itself by a symbolic link"):
        home.existing_path(f"s3://lake/{key}")


def test_bucket_is_created_once(tmp_path):
    home = Home.open(tmp_path)

    assert home.create_bucket("1.2.3")
    assert home.create_bucket("a-bucket.1")
    assert not home.create_bucket("a-bucket.1")
    assert (home.lake / "a-bucket.1").is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "ab",
        "a/b",
        "Upper",
        "-ab",
        "a..b",
        "a" * 64,
        "a_b",
        "192.168.5.4",
        "xn--abc",
        "sthree-a",
        "amzn-s3-demo-a",
        "a-s3alias",
        "a--ol-s3",
        "a.mrap",
        "a--x-s3",
        "a--table-s3",
    ],
)
def test_name_that_s3_would_not_take_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be the name of a bucket"):
        Home.open(tmp_path).create_bucket(name)


def test_home_in_use_is_refused_to_a_second_process_with_the_first_ones_id(tmp_path):
    home = Home.open(tmp_path)
    (home.root / "lock").write_text("the longer id of an earlier process", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(UsageError, match=f"process {holder.pid} is using"), home.exclusive():
            pass
        with pytest.raises(UsageError, match=f"process {holder.pid} is using"):
            home.reset()
        holder.communicate("")

    with home.exclusive():
        pass


def test_killed_process_does_not_keep_the_home(tmp_path):
    home = Home.open(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()

        with home.exclusive():
            pass


def test_reset_leaves_an_empty_home(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "bucket").mkdir()
    (home.lake / "bucket" / "a.json").write_text("{}", encoding="utf-8")
    home.database.write_text("anything", encoding="utf-8")

    home.reset()

    assert (home.root / "tidemark-home").is_file()
    assert list(home.lake.iterdir()) == []
    assert not home.database.exists()
    assert Home.open(home.root) == home


def test_reset_does_not_follow_links(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("", encoding="utf-8")
    home = Home.open(tmp_path / "home")
    (home.root / "link").symlink_to(tmp_path / "elsewhere")

    home.reset()

    assert (tmp_path / "elsewhere" / "kept").is_file()


def test_a_folder_that_is_gone_has_no_home(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(UsageError, match="deleted"):
        Home.from_environment()


def test_a_folder_within_a_project_gets_no_home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    inside = tmp_path / "infra" / "deeper"
    inside.mkdir(parents=True)
    (tmp_path / "cdk.json").write_text("{}")
    monkeypatch.chdir(inside)

    with pytest.raises(UsageError, match=rf"folder of the project {tmp_path}, .*TIDEMARK_HOME"):
        Home.from_environment()

    assert list(inside.iterdir()) == []
    monkeypatch.chdir(tmp_path)
    assert Home.from_environment().root == tmp_path / ".tidemark"
    monkeypatch.chdir(inside)
    (inside / ".tidemark").mkdir()
    assert Home.from_environment().root == inside / ".tidemark"


def test_what_a_deleted_link_leads_to_stays(tmp_path):
    for name in ("folder", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "kept")

    for name in ("folder", "link", "kept/file"):
        delete_entry(tmp_path / name)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
