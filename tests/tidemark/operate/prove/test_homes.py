"""A home that is put together from operations is the home in which they were carried out."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import DamagedDatabaseError
from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    COPIES,
    FOLDER,
    AwsRead,
    Recorder,
    count_looks,
    has_arrived,
    has_failed,
    let_arrive_at_look,
    let_arrive_meanwhile,
    let_fail_once,
    read_operations,
    read_requests,
    record_operations,
)
from tidemark.local_state.outside import withholds_others
from tidemark.local_state.reads import listed_first, read_by_spark, read_first, read_opened
from tidemark.operate.prove.homes import home_after, linked_home, without_scratch
from tidemark.operate.versions import copies

KEYS = ("in/a", "out/a", "out/b", "out/deep/c")


def new_home(folder: Path) -> Home:
    home = Home.open(folder)
    for key in KEYS[:2]:
        file = home.lake / "lake" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"first {key}", encoding="utf-8")
    return home


def content_of(home: Home) -> dict[str, str]:
    """Return what is in the lake, and the state in its database."""
    files = {
        str(file.relative_to(home.lake)): file.read_text(encoding="utf-8")
        for file in home.lake.rglob("*")
        if file.is_file()
    }
    if home.database.is_file():
        with sqlite3.connect(home.database) as connection:
            files["state"] = str(connection.execute("SELECT n FROM t").fetchall())
    return files


def change(home: Home, recorder: Recorder, step: tuple[str, str, str], number: int) -> None:
    """Carry an operation out as the edge of a job does, and record it."""
    kind, key, other = step
    place, target = f"s3://lake/{key}", f"s3://lake/{other}"
    with recorder.alone():
        if kind == "put":
            unfinished = home.root / "unfinished"
            unfinished.write_text(f"{number}", encoding="utf-8")
            home.local_path(place).parent.mkdir(parents=True, exist_ok=True)
            unfinished.replace(home.local_path(place))
            recorder.record("put", (place,))
        elif kind == "delete" and home.local_path(place).is_file():
            home.local_path(place).unlink()
            recorder.record("delete", (place,))
        elif kind == "rename" and home.local_path(place).is_file():
            home.local_path(target).parent.mkdir(parents=True, exist_ok=True)
            home.local_path(place).replace(home.local_path(target))
            recorder.record("rename", (place, target))
        elif kind == "state":
            with sqlite3.connect(home.database) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS t (n INT)")
                connection.execute("INSERT INTO t VALUES (?)", (number,))
            recorder.record("bookmark", ("",))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete", "rename", "state"]),
        st.sampled_from(KEYS),
        st.sampled_from(KEYS),
    ),
    max_size=12,
)


@given(steps=STEPS)
def test_every_state_between_two_operations_comes_back(steps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("homes")
    base = new_home(folder / "base")
    home = linked_home(base, folder / "home")
    record_operations(home)
    recorder = Recorder(home, "jr_1")
    states = [content_of(home)]
    for number, step in enumerate(steps):
        before = len(read_operations(home))
        change(home, recorder, step, number)
        states += [content_of(home)] * (len(read_operations(home)) - before)

    operations = read_operations(home)

    assert [one.number for one in operations] == list(range(1, len(operations) + 1))
    for count, state in enumerate(states):
        again = home_after(base, home, operations[:count], folder / f"after-{count}")
        assert content_of(again) == state
    assert content_of(base) == states[0]


def test_objects_are_linked_and_keep_their_times(tmp_path):
    base = new_home(tmp_path / "base")
    os.utime(base.lake / "lake" / "in" / "a", (1_700_000_000, 1_700_000_000))

    made = linked_home(base, tmp_path / "made")

    own, other = base.lake / "lake" / "in" / "a", made.lake / "lake" / "in" / "a"
    assert own.samefile(other)
    assert other.stat().st_mtime == 1_700_000_000


def test_a_database_that_cannot_be_copied_is_told_in_a_line(tmp_path):
    home = Home.open(tmp_path / "home")
    home.database.write_bytes(b"no database" * 100)

    with pytest.raises(DamagedDatabaseError, match="state database"):
        linked_home(home, tmp_path / "copy")


def test_an_object_that_is_held_back_arrives_with_the_first_write(tmp_path):
    base = new_home(tmp_path / "base")
    home = linked_home(base, tmp_path / "home")
    record_operations(home)
    let_arrive_meanwhile(home, "s3://lake/in/a")
    assert not (home.lake / "lake" / "in" / "a").exists()

    change(home, Recorder(home, "jr_1"), ("state", "", ""), 1)
    assert not (home.lake / "lake" / "in" / "a").exists()
    change(home, Recorder(home, "jr_1"), ("put", "out/b", ""), 2)

    arrived = home.lake / "lake" / "in" / "a"
    assert arrived.read_text(encoding="utf-8") == "first in/a"
    assert not arrived.samefile(base.lake / "lake" / "in" / "a")
    assert arrived.stat().st_mtime_ns > (base.lake / "lake" / "in" / "a").stat().st_mtime_ns


@pytest.mark.parametrize(
    ("folder", "is_deep", "shows"),
    [
        ("s3://lake/in/", False, True),
        ("s3a://lake/in/", False, True),
        ("s3://lake/", True, True),
        ("s3://lake/i", True, True),
        ("s3://lake/", False, False),
        ("s3://lake/in/a", True, False),
        ("s3://lake/out/", True, False),
    ],
)
def test_an_object_that_is_held_back_arrives_after_a_listing_of_its_place(
    tmp_path, folder, is_deep, shows
):
    home = linked_home(new_home(tmp_path / "base"), tmp_path / "home")
    record_operations(home)
    let_arrive_at_look(home, "s3://lake/in/a", 2)
    recorder = Recorder(home, "jr_1")
    change(home, recorder, ("put", "out/b", ""), 1)
    recorder.note_opened("s3://lake/in/a")

    for count in (1, 2):
        assert not has_arrived(home)
        recorder.note_listed(folder, is_deep=is_deep)
        assert count_looks(home, "s3://lake/in/a") == count * shows

    assert has_arrived(home) is shows
    assert (home.lake / "lake" / "in" / "a").exists() is shows


def test_items_of_a_target_are_a_write_and_watermarks_are_not(tmp_path):
    home = linked_home(new_home(tmp_path / "base"), tmp_path / "home")
    record_operations(home)
    let_arrive_meanwhile(home, "s3://lake/in/a", ["orders"])
    recorder, found = Recorder(home, "jr_1"), []

    for table in ("glue-watermarks", "orders"):
        with recorder.alone():
            recorder.record("request", (f"dynamodb UpdateItem {table}",))
        found.append(has_arrived(home))

    assert found == [False, True]


def test_objects_that_are_read_are_noted_once_for_each_run(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)

    for run in ("jr_1", "jr_2"):
        recorder = Recorder(home, run)
        recorder.note_opened("s3://lake/in/a\n")
        recorder.note_opened("s3://lake/in/a\n")

    assert read_opened(home) == [("jr_1", "s3://lake/in/a\n"), ("jr_2", "s3://lake/in/a\n")]


def test_what_spark_opens_is_a_read_of_each_line_unless_the_run_has_made_it_or_ends(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)
    recorder = Recorder(home, "jr_1")

    recorder.note_opened("s3://lake/mark", [("job.py", 4)], may_go_on=True)
    recorder.note_opened("s3://lake/mark", [("job.py", 4)], may_go_on=True)
    recorder.note_opened("s3://lake/mark", [("job.py", 5)], may_go_on=False)
    for name in ("mark", "made"):
        (home.lake / "lake" / name).write_text("", encoding="utf-8")
    with recorder.alone():
        recorder.record("put", ("s3://lake/mark",))
        recorder.record("put", ("s3://lake/made",))
    recorder.note_opened("s3://lake/made", [("job.py", 6)], may_go_on=True)

    assert len(read_opened(home)) == 2
    assert read_by_spark(home) == [
        AwsRead(0, "jr_1", "spark GetObject s3://lake/mark", 0, ("job.py line 4",))
    ]


def test_an_operation_that_is_to_fail_fails_once(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)
    let_fail_once(home, 2)
    recorder = Recorder(home, "jr_1")

    found = []
    for _ in range(4):
        with recorder.alone() as failure:
            found.append(failure)
            if not failure:
                recorder.record("bookmark", ("",))

    assert found == ["", "refused", "", ""]
    assert [one.number for one in read_operations(home)] == [1, 2, 3]


@pytest.mark.parametrize(("how", "is_left"), [("unanswered", True), ("refused", False)])
def test_a_failure_waits_where_a_request_fails_by_itself(tmp_path, how, is_left):
    home = new_home(tmp_path / "home")
    record_operations(home)
    recorder = Recorder(home, "jr_1")
    let_fail_once(home, 1, how)

    with pytest.raises(ValueError, match="there"), recorder.alone() as first:
        raise ValueError("it is there already")  # as a put under a condition
    with recorder.alone() as second:
        pass

    assert (first, second) == (how, how if is_left else "")
    assert has_failed(home)


def test_a_failure_is_for_the_request_that_is_meant(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)
    recorder = Recorder(home, "jr_1")
    let_fail_once(home, 1, what="dynamodb PutItem orders")

    with recorder.alone("dynamodb CreateTable orders") as other:
        pass
    with recorder.alone("dynamodb PutItem orders") as meant:
        pass

    assert (other, meant) == ("", "refused")


def test_a_request_that_reads_fails_by_its_own_number(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)
    let_fail_once(home, 2, "half done", of_requests=True)
    recorder = Recorder(home, "jr_1")

    found = [recorder.note_request("s3 GetObject a", [("job.py", 4)], False) for _ in range(3)]

    assert found == ["", "half done", ""]
    assert [(one.number, one.calls, one.may_go_on) for one in read_requests(home)] == [
        (1, ("job.py line 4",), False),
        (2, ("job.py line 4",), False),
        (3, ("job.py line 4",), False),
    ]


def test_nothing_is_recorded_of_what_failed(tmp_path):
    home = new_home(tmp_path / "home")
    record_operations(home)

    with pytest.raises(OSError, match="disk"), Recorder(home, "jr_1").alone():
        raise OSError("the disk is full")

    assert read_operations(home) == []


def test_an_embedded_database_is_as_it_was_after_each_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "SHUTDOWN_S", 0.1)  # the lock is that of a run that was killed
    base = new_home(tmp_path / "base")
    (base.derby / "shop").mkdir()
    (base.derby / "shop" / "data").write_text("0", encoding="utf-8")
    (base.derby / "shop" / "dbex.lck").touch()
    home = linked_home(base, tmp_path / "home")
    record_operations(home)
    recorder = Recorder(home, "jr_1")

    for number in (1, 2):
        copy = home.root / FOLDER / COPIES / "shop"  # as the JVM makes it
        copy.mkdir(parents=True)
        (copy / "data").write_text(f"{number}", encoding="utf-8")
        with recorder.alone():
            recorder.record("jdbc", ("jdbc:derby:shop",))

    operations = read_operations(home)
    for count in range(3):
        made = home_after(base, home, operations[:count], tmp_path / f"after-{count}")
        files = {file.name: file.read_text() for file in (made.derby / "shop").iterdir()}
        assert files == {"data": f"{count}"}
        assert withholds_others(made)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}/home-3/lake/lake/out/a is not Parquet", "s3://lake/out/a is not Parquet"),
        ("file:{}/home-part-1-run/lake/lake/out", "s3://lake/out"),
        ("file://{}/home/lake/lake/out", "s3://lake/out"),
        ("no file {}/home-baseline/runs/x", "no file (a copy of the home)/runs/x"),
        ("ValueError: no", "ValueError: no"),
    ],
)
def test_messages_name_no_folder_of_the_experiments(tmp_path, text, told):
    assert without_scratch(text.format(tmp_path), tmp_path) == told


def test_what_a_run_reads_before_it_writes_it_may_tell_it_what_to_do(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "lake").mkdir(parents=True)
    record_operations(home)
    recorder = Recorder(home, "jr_1")
    for name in ("mark", "stage"):
        (home.lake / "lake" / name).write_text("1", encoding="utf-8")
    with recorder.alone():
        recorder.note_opened("s3://lake/mark")
        recorder.record("put", ("s3://lake/stage",))
        recorder.record("put", ("s3://lake/mark",))
        recorder.note_opened("s3://lake/stage")
        recorder.note_opened("s3://lake/input")

    assert read_first(home) == {"s3://lake/mark", "s3://lake/input"}
    assert read_first(home, is_written=True) == {"s3://lake/mark"}


def test_what_a_script_has_listed_before_it_writes_it_may_tell_it_what_to_do(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "lake").mkdir(parents=True)
    record_operations(home)
    first, second = Recorder(home, "jr_1"), Recorder(home, "jr_2")
    (home.lake / "lake" / "done").write_text("1", encoding="utf-8")
    (home.lake / "lake" / "out").write_text("1", encoding="utf-8")
    first.note_listed("s3://lake/out", is_deep=True)  # by Spark
    first.note_listed("s3://lake/do", is_deep=True, by_script=True)
    second.note_listed("s3://lake/out", is_deep=True, by_script=True)
    with first.alone():
        first.record("put", ("s3://lake/out",))
        first.record("put", ("s3://lake/done",))
    second.note_listed("s3://lake/done", is_deep=True, by_script=True)
    with second.alone():
        second.record("put", ("s3://lake/done",))
    first.note_listed("s3://lake/out", is_deep=True, by_script=True)

    assert listed_first(home) == {"s3://lake/done"}
