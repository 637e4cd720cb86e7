"""Copies of a home, and the places of a lake that changed."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tidemark.errors import EntityNotFoundError, TidemarkError, UsageError
from tidemark.glue_service.served import ServedPort, announced
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.operate.versions import copies
from tidemark.operate.versions.copies import copy_home, copy_of_copy
from tidemark.operate.versions.targets import ComparedTarget, changed_targets, files_of
from tidemark.operate.versions.trial import assembly_of_version, with_settings


def test_a_copy_has_the_data_with_their_times_and_the_state(tmp_path):
    home = Home.open(tmp_path / "home")
    home.create_bucket("bucket")
    file = home.lake / "bucket" / "x=1" / "a.json"
    file.parent.mkdir()
    file.write_text("{}")
    os.utime(file, ns=(1, 1_700_000_000_123_456_789))
    with Store(home.database) as store:
        store.query("INSERT INTO run_warning VALUES ('jr_1', 'careful', NULL)")

    copy = copy_of_copy(copy_home(home, tmp_path / "one"), tmp_path / "two")

    copied = copy.lake / "bucket" / "x=1" / "a.json"
    assert (copied.read_text(), copied.stat().st_mtime_ns) == ("{}", 1_700_000_000_123_456_789)
    copied.write_text("changed")
    assert file.read_text() == "{}"
    with Store(copy.database) as store:
        assert [row["text"] for row in store.query("SELECT text FROM run_warning")] == ["careful"]


def test_the_copy_of_a_database_is_open_nowhere(tmp_path):
    home = Home.open(tmp_path / "home")
    for name in ("db.lck", "service.properties"):
        (home.derby / "shop").mkdir(exist_ok=True)
        (home.derby / "shop" / name).touch()

    copy = copy_home(home, tmp_path / "copy")

    assert [file.name for file in (copy.derby / "shop").iterdir()] == ["service.properties"]


@contextmanager
def served(home):
    """Serve a home, as far as other commands can see."""
    with home.exclusive(), announced(home, ServedPort("http://127.0.0.1:1", os.getpid(), "s")):
        yield


def test_a_home_that_is_served_is_copied_between_its_runs(tmp_path):
    home = Home.open(tmp_path / "home")
    run = JobRun("jr_1", "load", None, None, 0, "RUNNING", 1, "", "")
    with served(home), Store(home.database) as store:
        store.put_job_run(run)
        with pytest.raises(UsageError, match=r"jr_1 of load is active.*tidemark stop load"):
            copy_home(home, tmp_path / "early")
        store.put_job_run(replace(run, state="SUCCEEDED"))

        copy = copy_home(home, tmp_path / "copy")

    with Store(copy.database) as store:
        assert [one.state for one in store.all_job_runs()] == ["SUCCEEDED"]


def test_a_copy_in_which_a_run_began_is_refused(tmp_path, monkeypatch):
    home = Home.open(tmp_path / "home")
    with served(home), Store(home.database) as store:
        run = JobRun("jr_2", "load", None, None, 0, "RUNNING", 1, "", "")
        monkeypatch.setattr(copies, "wait_until_closed", lambda _: store.put_job_run(run))
        with pytest.raises(TidemarkError, match="was changed while it was copied"):
            copy_home(home, tmp_path / "copy")


def test_what_a_link_leads_to_is_copied_not_shared(tmp_path):
    outside = tmp_path / "disk"
    outside.mkdir()
    (outside / "a.json").write_text("{}")
    home = Home.open(tmp_path / "home")
    (home.lake / "bucket").symlink_to(outside)
    (home.lake / "gone").symlink_to(tmp_path / "nowhere")

    copy = copy_home(home, tmp_path / "copy")
    (copy.lake / "bucket" / "a.json").write_text("changed")

    assert (outside / "a.json").read_text() == "{}"


@pytest.mark.parametrize(("has_room", "why"), [(True, "File name too long"), (False, "is full")])
def test_a_file_that_cannot_be_copied_is_one_line(tmp_path, monkeypatch, has_room, why):
    home = Home.open(tmp_path / "home")
    (home.lake / "bucket").mkdir()
    (home.lake / "bucket" / "a.json").write_text("{}")

    def clone(source, target):
        raise OSError(36, "File name too long")

    monkeypatch.setattr(copies, "_clone", clone)
    monkeypatch.setattr(copies, "has_room", lambda folder: has_room)

    with pytest.raises(TidemarkError, match=f"a.json could not be copied.*{why}"):
        copy_home(home, tmp_path / "copy")


def test_the_places_that_changed_are_folders_of_one_format_without_partitions():
    before = {"b/in/1.json": (1, 1), "b/out/day=1/old.parquet": (2, 2), "b/same/a.csv": (3, 3)}
    old = {**before, "b/out/day=2/new.snappy.parquet": (5, 5)}
    new = {"b/in/1.json": (1, 1), "b/same/a.csv": (3, 3), "b/log/x.txt.gz": (1, 9), "b/k": (1, 1)}

    assert changed_targets(before, old, new) == [
        ComparedTarget("b", "bytes"),
        ComparedTarget("b/log", "lines"),
        ComparedTarget("b/out", "parquet"),
    ]
    assert ComparedTarget("b/log", "lines").uri == "s3://b/log/"


def test_what_readers_do_not_see_is_no_file(tmp_path):
    for name in ("b/_SUCCESS", "b/.crc", "b/_temporary/0/a.json", "b/_day=1/a.json", "b/a.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    assert sorted(files_of(tmp_path)) == ["b/_day=1/a.json", "b/a.json"]


def test_an_assembly_gets_another_version_for_its_spark_jobs_only(tmp_path):
    def job(command, **more):
        return {"Type": "AWS::Glue::Job", "Properties": {"Command": {"Name": command}, **more}}

    resources = {
        "Spark": job("glueetl", GlueVersion="5.1", DefaultArguments={"--conf": "a=b", "--x": "1"}),
        "Shell": job("pythonshell", GlueVersion="3.0"),
        "Table": {"Type": "AWS::Glue::Table", "Properties": {}},
    }
    folder = tmp_path / "cdk.out" / "nested"
    folder.mkdir(parents=True)
    (folder / "s.template.json").write_text(json.dumps({"Resources": resources}))

    changed = assembly_of_version(tmp_path / "cdk.out", "6.0", tmp_path / "new", ["c=d"])

    found = json.loads((changed / "nested" / "s.template.json").read_text())["Resources"]
    assert found["Spark"]["Properties"]["GlueVersion"] == "6.0"
    assert found["Spark"]["Properties"]["DefaultArguments"] == {
        "--conf": "a=b --conf c=d",
        "--x": "1",
    }
    assert {**found, "Spark": None} == {**resources, "Spark": None}
    assert with_settings({"--x": "1"}, []) == {"--x": "1"}


def test_an_assembly_without_a_spark_job_is_refused(tmp_path):
    (tmp_path / "cdk.out").mkdir()
    (tmp_path / "cdk.out" / "s.template.json").write_text("{}")

    with pytest.raises(UsageError, match="defines no Spark job"):
        assembly_of_version(tmp_path / "cdk.out", "6.0", tmp_path / "new")


def test_the_error_of_a_missing_home_part_is_none(tmp_path):
    home = Home.open(tmp_path / "home")

    copy = copy_home(home, tmp_path / "copy")

    assert files_of(copy.lake) == {}
    with pytest.raises(EntityNotFoundError):
        copy.existing_path("s3://none/a.json")


def test_the_checkpoint_of_a_stream_is_no_place_that_changed():
    stream = dict.fromkeys(
        ("b/chk/metadata", "b/chk/offsets/0", "b/chk/commits/0", "b/chk/sources/0/0"), (1, 1)
    )

    assert changed_targets({}, {**stream, "b/out/a.parquet": (1, 1)}) == [
        ComparedTarget("b/out", "parquet")
    ]
    assert changed_targets({}, {"b/t/offsets/0": (1, 1)}) == [
        ComparedTarget("b/t/offsets", "bytes")
    ]
