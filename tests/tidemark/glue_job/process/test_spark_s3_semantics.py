"""With S3's semantics an object is whole or not there, and a rename is a copy and a delete."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from py4j.protocol import Py4JJavaError

from tests.edge import Recorder, recording
from tests.hadoop_lake import Lake

pytestmark = pytest.mark.spark

SECOND_DISK = "/dev/shm"  # noqa: S108 (a folder of its own in it)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


@pytest.fixture
def lake(spark, s3, recorder):
    """Return a lake with S3's semantics."""
    lake = Lake(spark, s3, "s3", recorder)
    yield lake
    lake.system.close()


def uploads(spark_home) -> list[str]:
    return sorted(str(path) for path in (spark_home.root / "uploads").rglob("*") if path.is_file())


@pytest.mark.rule(
    "S3's semantics",
    source="S3C",
)
def test_object_is_there_when_its_stream_is_closed_and_not_before(lake, spark_home):
    out = lake.system.create(lake.path("a/b.json"), True)
    out.write(b"{}")
    out.hflush()
    assert lake.keys() == []
    assert not lake.system.exists(lake.path("a"))

    out.close()
    out.close()

    assert (lake.s3.folder / "a" / "b.json").read_text() == "{}"
    assert lake.changes() == ["put a/b.json"]
    assert uploads(spark_home) == []


def test_reader_sees_the_old_object_until_the_new_one_is_whole(lake):
    lake.put("a.json", "old")
    out = lake.system.create(lake.path("a.json"), True)
    out.write(b"new and longer")
    assert (lake.s3.folder / "a.json").read_text() == "old"

    out.close()

    assert (lake.s3.folder / "a.json").read_text() == "new and longer"


def test_upload_that_is_aborted_leaves_nothing(lake, spark_home):
    out = lake.system.create(lake.path("a.json"), True)
    out.write(b"{}")

    out.abort()
    out.close()

    assert (lake.keys(), lake.changes(), uploads(spark_home)) == ([], [], [])


def test_creating_without_overwrite_refuses_what_is_there(lake):
    lake.put("a.json")

    with pytest.raises(Py4JJavaError, match="already exists"):
        lake.system.create(lake.path("a.json"), False)
    with pytest.raises(Py4JJavaError, match=r"below/b.json cannot be created: a.json above it"):
        lake.system.create(lake.path("a.json/below/b.json"), True)


@pytest.mark.rule(
    "S3's semantics",
    source="FSR",
)
def test_file_is_renamed_by_a_copy_and_a_delete_and_gets_a_new_date(lake):
    lake.put("a.json")
    os.utime(lake.s3.folder / "a.json", (0, 0))

    assert lake.rename("a.json", "to/b.json")

    assert lake.changes() == ["put a.json", "copy a.json to/b.json", "delete a.json"]
    assert lake.keys() == ["to/b.json"]
    assert time.time() - (lake.s3.folder / "to" / "b.json").stat().st_mtime < 60


@pytest.mark.rule(
    "S3's semantics",
    source="FSR",
    choice="one after the other; S3A copies several at once",
)
def test_folder_is_renamed_object_by_object_in_the_order_of_keys(lake):
    for key in ("in/b/2", "in/a-1", "in/a/1", "in/c"):
        lake.put(key)
    lake.system.mkdirs(lake.path("in/empty"))
    before = len(lake.recorder.changes)

    assert lake.rename("in", "out")

    keys = ["a-1", "a/1", "b/2", "c"]
    wanted = [(f"copy in/{key} out/{key}", f"delete in/{key}") for key in keys]
    assert lake.changes()[before:] == [line for pair in wanted for line in pair]
    assert lake.keys() == [f"out/{key}" for key in keys]
    assert not lake.system.exists(lake.path("in"))


@pytest.mark.rule(
    "S3's semantics",
    source="SILENT",
    choice="as S3A of Hadoop",
)
def test_rename_that_s3_has_not_is_refused(lake):
    lake.put("a")
    lake.put("b")
    lake.put("in/c")

    assert not lake.rename("a", "b")
    assert not lake.rename("in", "in/below")
    assert lake.rename("a", "a")
    assert not lake.rename("in", "in")
    lake.put("full/d")
    assert not lake.rename("in", "full")
    assert lake.rename("a", "full")
    assert lake.keys() == ["b", "full/a", "full/d", "in/c"]


def test_folder_is_deleted_object_by_object(lake):
    lake.put("in/b")
    lake.put("in/a/c")

    with pytest.raises(Py4JJavaError, match="PathIsNotEmptyDirectoryException"):
        lake.delete("in", recursive=False)
    assert lake.delete("in")
    assert not lake.delete("in")

    assert lake.changes()[2:] == ["delete in/a/c", "delete in/b"]
    assert not lake.system.exists(lake.path("in"))


@pytest.mark.rule(
    "S3's semantics",
    source="FSR",
)
def test_empty_folder_stays_as_a_marker_of_s3a_does(lake):
    assert lake.system.mkdirs(lake.path("in/empty"))
    assert lake.system.exists(lake.path("in/empty"))
    lake.put("in/empty/a")
    assert lake.delete("in/empty/a")

    assert lake.system.exists(lake.path("in/empty"))
    assert lake.delete("in", recursive=True)
    assert not lake.system.exists(lake.path("in"))
    assert lake.changes() == ["put in/empty/a", "delete in/empty/a"]


@pytest.mark.parametrize("stop_after", range(5))
def test_rename_of_a_folder_that_dies_leaves_both_halves(lake, stop_after):
    lake.put("in/a")
    lake.put("in/b")
    lake.recorder.stop_after = 2 + stop_after

    if stop_after < 4:
        with pytest.raises(Py4JJavaError, match=r"tidemark.edge\) is gone: .*; run the job again"):
            lake.rename("in", "out")
    else:
        lake.rename("in", "out")

    steps = [
        ["in/a", "in/b"],
        ["in/a", "in/b", "out/a"],
        ["in/b", "out/a"],
        ["in/b", "out/a", "out/b"],
        ["out/a", "out/b"],
    ]
    assert lake.keys() == steps[stop_after]


def test_links_are_copied_and_deleted_and_what_they_name_stays(lake):
    lake.put("kept/a")
    (lake.s3.folder / "in").mkdir()
    (lake.s3.folder / "in" / "link").symlink_to(lake.s3.folder / "kept")

    assert lake.rename("in", "out")
    assert (lake.s3.folder / "out" / "link").is_symlink()
    assert lake.delete("out")

    assert lake.keys() == ["kept/a"]


def test_semantics_that_nobody_knows_are_refused(spark, s3, recorder):
    with pytest.raises(Py4JJavaError, match="is 'posix'; allowed: folder, s3"):
        Lake(spark, s3, "posix", recorder)


@pytest.mark.skipif(not Path(SECOND_DISK).is_dir(), reason="it needs a second disk")
def test_lake_on_another_disk_than_its_home_is_refused_by_name(spark, tmp_path):
    hadoop = spark.sparkContext._jvm.org.apache.hadoop
    conf = hadoop.conf.Configuration(spark.sparkContext._jsc.hadoopConfiguration())
    with TemporaryDirectory(dir=SECOND_DISK) as folder:
        (Path(folder) / "far").mkdir()
        (tmp_path / "lake").symlink_to(folder)
        conf.set("tidemark.lake", str(tmp_path / "lake"))
        conf.set("tidemark.lake.semantics", "s3")
        system = hadoop.fs.FileSystem.newInstance(
            spark.sparkContext._jvm.java.net.URI.create("s3://far/"), conf
        )
        out = system.create(hadoop.fs.Path("s3://far/a"), True)

        with pytest.raises(
            Py4JJavaError, match=r"another disk than the uploads of its home, .*: have"
        ):
            out.close()

        assert list((Path(folder) / "far").iterdir()) == []
        assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []
