"""Every change of the lake is announced, made alone, and not made if nobody answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from py4j.protocol import Py4JJavaError

from tests.edge import Recorder, recording, s3_semantics
from tests.hadoop_lake import Lake
from tests.waiting import wait_until

pytestmark = pytest.mark.spark


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


@pytest.fixture
def folder_lake(spark, s3, recorder):
    """Return a lake with the semantics of folders."""
    lake = Lake(spark, s3, "folder", recorder)
    yield lake
    lake.system.close()


def test_changes_of_folders_are_announced_whole(folder_lake):
    folder_lake.put("in/a")
    folder_lake.put("in/b")

    assert folder_lake.rename("in", "out")
    assert folder_lake.delete("out")
    assert not folder_lake.delete("out")

    assert folder_lake.changes() == ["put in/a", "put in/b", "rename in out", "delete out"]
    assert folder_lake.recorder.entered == 5  # the last one changed nothing


def test_file_of_a_folder_grows_while_others_see_it(folder_lake):
    out = folder_lake.system.create(folder_lake.path("a"), True)
    out.write(b"{}")
    out.hflush()

    assert folder_lake.keys() == ["a"]
    assert folder_lake.changes() == []
    out.close()
    out.close()
    assert folder_lake.changes() == ["put a"]


def test_key_with_a_tab_is_one_word_of_an_announcement(lake):
    lake.put("a\tb\\c")

    assert lake.changes() == [r"put a\tb\\c"]


def test_changes_of_many_threads_are_made_one_after_the_other(lake):
    threads = [
        threading.Thread(target=lambda name=name: lake.put(f"{name}"), daemon=True)
        for name in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(lake.changes()) == [f"put {name}" for name in range(8)]


def test_one_connection_serves_a_jvm_and_is_made_again_when_it_was_ended(lake, spark, s3, recorder):
    lake.put("a")
    Lake(spark, s3, "s3", recorder).put("b")
    assert recorder.connections == 1

    lake.system.close()
    lake.put("c")

    assert recorder.connections == 2
    assert lake.changes() == ["put a", "put b", "put c"]


def test_nothing_changes_when_the_recorder_is_gone(spark, s3):
    with recording() as recorder:
        lake = Lake(spark, s3, "s3", recorder)
        lake.put("a")
        recorder.stop_after = 1

        for change in (
            lambda: lake.put("b"),
            lambda: lake.delete("a"),
            lambda: lake.rename("a", "c"),
        ):
            with pytest.raises(
                Py4JJavaError,
                match=r"the socket .* of the property tidemark.edge\) is gone: it ended the "
                r"connection; run the job again, or without that property",
            ):
                change()

    with pytest.raises(Py4JJavaError, match=r"is gone: .*; run the job again"):
        lake.put("d")
    assert lake.keys() == ["a"]


def test_task_that_spark_ends_does_not_end_the_connection_of_others(spark, s3, recorder):
    """The answer comes after the interrupt: a channel of Java that waits then would be closed."""
    may_answer = threading.Event()
    recorder.before_answer = may_answer.wait

    def write() -> None:
        spark.sparkContext.setJobGroup("ended", "", interruptOnCancel=True)
        with suppress(Exception):
            spark.range(1).write.json(f"{s3.uri}ended/")

    with s3_semantics(spark, recorder):
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        wait_until(lambda: recorder.entered)
        spark.sparkContext.cancelJobGroup("ended")
        wait_until(lambda: not spark.sparkContext.statusTracker().getActiveJobsIds())
        may_answer.set()
        thread.join()
        spark.range(1).write.json(f"{s3.uri}whole/")

    assert recorder.connections == 1
    assert recorder.changes[-1] == f"put {s3.uri}whole/_SUCCESS"
