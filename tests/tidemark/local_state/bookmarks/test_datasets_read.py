"""What a checkpoint says of the sources of a run."""

from __future__ import annotations

import pytest

from tidemark.local_state.bookmarks.datasets_read import (
    dataset_of_database,
    dataset_of_path,
    files_read,
    position_of,
    table_folder,
)
from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.store.checkpoints import checkpoint_of_run, stored_checkpoints
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import BookmarkMove, DatasetRead
from tidemark.model.checkpoints.merging import merged_reads


@pytest.mark.parametrize(
    ("path", "dataset"),
    [
        ("s3://b/in", "s3://b/in/"),
        ("s3a://b/in//", "s3://b/in/"),
        ("s3n://b/ü *?/x", "s3://b/"),
        ("s3://b/in/day=*/x.json", "s3://b/in/"),
        ("s3://b", "s3://b/"),
    ],
)
def test_a_path_or_a_pattern_is_a_folder(path, dataset):
    assert dataset_of_path(path) == dataset


@pytest.mark.parametrize(
    ("path", "dataset"),
    [
        ("s3://b/t/year=2026/day=1/", "s3://b/t/"),
        ("s3://b/a=1/t", "s3://b/a=1/t/"),
        ("s3://b/t/x.json", "s3://b/t/x.json"),
    ],
)
def test_a_partition_is_of_the_folder_of_its_table(path, dataset):
    assert table_folder(path) == dataset


@pytest.mark.parametrize(
    ("url", "dataset"),
    [
        ("jdbc:postgresql://h:5432/d?user=u&password=p", "jdbc:postgresql://h:5432/d#t"),
        ("jdbc:mysql://u:p@h:3306/d", "jdbc:mysql://h:3306/d#t"),
        ("jdbc:oracle:thin:u/p@h:1521/s", "jdbc:oracle:thin:h:1521/s#t"),
        ("jdbc:oracle:thin:u/p@//h:1521/s", "jdbc:oracle:thin://h:1521/s#t"),
        ("jdbc:oracle:thin:@//h:1521/s", "jdbc:oracle:thin://h:1521/s#t"),
        (
            "jdbc:sqlserver://h:1433;databaseName=d;password=p",
            "jdbc:sqlserver://h:1433;databaseName=d#t",
        ),
        ("jdbc:derby:/x/y;create=true", "jdbc:derby:/x/y#t"),
    ],
)
def test_a_table_of_a_database_is_named_without_credentials(url, dataset):
    assert dataset_of_database(url, "t") == dataset


def test_a_position_is_short_whatever_the_band_holds():
    recent = [["s3://b/a", 1, 1]] * 1000
    assert position_of({"kind": "s3", "high_ms": 7, "low_ms": 1, "recent": recent}) == {
        "kind": "files",
        "until_ms": 7,
    }
    state = {"kind": "jdbc", "keys": ["id", "at"], "bound": [["int", "12"], ["timestamp", "2026"]]}
    assert position_of(state) == {"kind": "keys", "values": {"id": 12, "at": "2026"}}
    assert position_of({**state, "bound": None}) is None
    assert position_of(None) is None


def test_files_are_counted_by_the_path_that_they_lie_in():
    source = S3Source(("s3://b/in/", "s3://b/in/late/"), "ctx", "json", table="d.t")
    files = [
        FileVersion("s3://b/in/a", 1, 10),
        FileVersion("s3://b/in/late/b", 1, 5),
        FileVersion("s3://b/in/late/c", 1, 5),
    ]

    found = files_read(source, files, None, {"high_ms": 3})

    after = {"kind": "files", "until_ms": 3}
    assert found == [
        DatasetRead("s3://b/in/", "ctx", "d.t", 1, 10, None, None, after),
        DatasetRead("s3://b/in/late/", "ctx", "d.t", 2, 10, None, None, after),
    ]


def test_partitions_that_lie_anywhere_are_one_dataset_with_all_their_files():
    parts = ("s3://b/t/d=1/", "s3://c/d=2/")
    source = S3Source(parts, "ctx", table="d.t", located=parts)

    found = files_read(source, [FileVersion("s3://c/d=2/x", 1, 4)], None, None)

    assert found == [DatasetRead("s3://b/t/", "ctx", "d.t", 1, 4)]


def test_a_source_that_a_run_opens_again_after_a_commit_is_one():
    first = DatasetRead("s3://b/", "ctx", "", 1, 5, None, {"until_ms": 1}, {"until_ms": 2})
    again = DatasetRead("s3://b/", "ctx", "", 2, 5, None, {"until_ms": 2}, {"until_ms": 3})

    assert merged_reads([first, again]) == (
        DatasetRead("s3://b/", "ctx", "", 3, 10, None, {"until_ms": 1}, {"until_ms": 3}),
    )


def test_a_commit_stores_what_was_read_and_what_the_bookmark_has_become(glue):
    glue.land("a.json", "b.json")
    glue.run("jr_1")
    glue.land("c.json")
    glue.run("jr_2")

    with Store(glue.home.database) as store:
        second, first = stored_checkpoints(store, "ingest")
        assert stored_checkpoints(store, "other") == []
        assert stored_checkpoints(store, since_ms=second.committed_at_ms) == [second]
    (read,) = second.read
    assert second.bookmark == BookmarkMove("job-bookmark-enable", 1, 2)
    assert (read.dataset, read.source, read.files, read.rows) == (
        "s3://landing/weather/",
        "weather",
        1,
        None,
    )
    assert read.before == first.read[0].after
    assert first.read[0].before is None
    assert first.run_id == "jr_1"


def test_a_second_commit_of_a_run_replaces_its_checkpoint(glue):
    glue.land("a.json")
    script = glue.start("jr_1")
    script.read()
    script.session.commit()
    glue.clock.now_ms += 60_000
    glue.land("b.json")
    glue.clock.now_ms += 60_000
    script.read()
    script.session.commit()

    with Store(glue.home.database) as store:
        (found,) = stored_checkpoints(store)
    assert found.bookmark == BookmarkMove("job-bookmark-enable", 0, 2)
    assert [(read.files, read.before) for read in found.read] == [(2, None)]


def test_a_run_with_a_disabled_bookmark_has_a_checkpoint_without_one(glue):
    glue.land("a.json")
    glue.run("jr_1", option="job-bookmark-disable")

    with Store(glue.home.database) as store:
        found = checkpoint_of_run(store, "jr_1")
    assert found.bookmark is None
    assert [(read.files, read.after) for read in found.read] == [(1, None)]


def test_a_commit_that_another_run_was_before_leaves_no_checkpoint(glue):
    glue.land("a.json")
    late = glue.start("jr_late")
    late.read()
    glue.run("jr_1")

    with pytest.raises(Exception, match="version"):
        late.session.commit()

    with Store(glue.home.database) as store:
        assert [one.run_id for one in stored_checkpoints(store)] == ["jr_1"]
