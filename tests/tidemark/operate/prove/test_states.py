"""What tells the states of homes apart, and which crashes lead to new ones."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.emulated.journal import JournalEntry
from tidemark.glue_service.s3.records import Record, Records
from tidemark.local_state.bookmarks.versions import pack
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import OBJECTS_FILE, SERVICES, TABLES
from tidemark.local_state.operations import Operation
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.iceberg_metadata import new_metadata
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.crash_points import crashes
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.identity import Equality
from tidemark.operate.prove.states import State, States

OUT = "s3://lake/out/"
BEGAN_S = time.time()


@pytest.fixture
def base(tmp_path: Path) -> Home:
    home = Home.open(tmp_path / "base")
    put(home, "in/a.json", '{"id": 1}')
    with Store(home.database):
        pass
    return home


def put(home: Home, key: str, text: str | bytes) -> None:
    file = home.lake / "lake" / key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # homes share it
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def states_of(base: Home) -> States:
    return States(Contents(base, ["s3://lake/in/a.json"], BEGAN_S), Equality(BEGAN_S))


def part(number: int) -> str:
    return f"part-{number:05}-{uuid.uuid4()}-c000.json"


def test_rows_of_a_part_count_and_not_its_name(base, tmp_path):
    one, other, less = (linked_home(base, tmp_path / name) for name in ("1", "2", "3"))
    put(one, f"out/{part(0)}", '{"id": 1}\n{"id": 2}\n')
    put(other, f"out/{part(0)}", '{"id": 2}\n{"id": 1}\n')
    put(less, f"out/{part(0)}", '{"id": 1}\n')
    states = states_of(base)

    assert states.of(one) == states.of(other) != states.of(less)


def test_a_mark_that_names_a_part_tells_which_one(base, tmp_path):
    homes, names = [linked_home(base, tmp_path / name) for name in ("1", "2")], (part(0), part(0))
    for home, read in zip(homes, names, strict=True):
        put(home, f"out/{names[0]}", '{"id": 1}\n')
        put(home, f"out/{names[1]}", '{"id": 2}\n')
        put(home, "out/read", read)
    states = states_of(base)

    assert states.of(homes[0]) != states.of(homes[1])


def test_an_empty_part_and_the_mark_of_each_folder_count(base, tmp_path):
    days = ("2026-11-01", "2026-11-02")
    homes = [linked_home(base, tmp_path / name) for name in ("1", "2", "3")]
    put(homes[0], f"out/{part(0)}", "")
    for home, day in zip(homes[1:], days, strict=True):
        put(home, f"out/day={day}/_SUCCESS", "")
    states = states_of(base)

    assert len({states.of(home) for home in (base, *homes)}) == 4


def test_rows_of_parquet_count_and_not_their_bytes(base, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    homes = [linked_home(base, tmp_path / name) for name in ("1", "2", "3")]
    for home, codec, rows in zip(
        homes, ("snappy", "gzip", "gzip"), ([1, 2], [2, 1], [1, 3]), strict=True
    ):
        put(home, f"out/{part(0)}", "")
        file = next((home.lake / "lake/out").iterdir())
        file.unlink()
        table = pyarrow.table({"id": rows})
        parquet.write_table(table, file.with_suffix(".parquet"), compression=codec)
    states = states_of(base)

    assert states.of(homes[0]) == states.of(homes[1]) != states.of(homes[2])


def test_what_committers_leave_counts_by_its_kind(base, tmp_path):
    none, one, two = (linked_home(base, tmp_path / name) for name in ("1", "2", "3"))
    for home, count in ((one, 1), (two, 2)):
        for number in range(count):
            put(home, f"out/_temporary/0/_temporary/attempt_{number}/{part(number)}", "{}")
    put(none, "out/_marks/done", "1")
    states = states_of(base)

    assert states.of(one) == states.of(two) != states.of(base)
    assert states.of(none) != states.of(base)  # no committer makes it


def test_how_many_runs_have_died_in_folders_of_their_own_does_not_count(base, tmp_path):
    one, two = (linked_home(base, tmp_path / name) for name in ("1", "2"))
    for home, count in ((one, 1), (two, 2)):
        for _ in range(count):
            put(home, f"out/run=jr_{uuid.uuid4().hex}/_temporary/0/a/{part(0)}", "{}")
    states = states_of(base)

    assert states.of(one) == states.of(two) != states.of(base)


def test_what_an_overwrite_of_partitions_has_staged_counts_as_one(base, tmp_path):
    staged, moved, both = (linked_home(base, tmp_path / name) for name in ("1", "2", "3"))
    for home, folder in ((staged, "_temporary/0/task_1/day=1"), (moved, "day=1"), (both, "day=1")):
        put(home, f"out/.spark-staging-{uuid.uuid4()}/{folder}/{part(0)}", "{}")
    put(both, "out/.spark-staging-2/_SUCCESS", "")
    states = states_of(base)

    assert states.of(staged) == states.of(moved) == states.of(both) != states.of(base)


@pytest.mark.parametrize("key", ["in/a.json", "out/note"])
def test_an_object_that_was_there_counts_by_what_became_of_it(base, tmp_path, key):
    put(base, "out/note", "1")
    gone, changed, again = (linked_home(base, tmp_path / name) for name in ("1", "2", "3"))
    (gone.lake / "lake" / key).unlink()
    put(changed, key, "2")
    put(again, "in/a.json", '{"id": 1}')  # it arrives for the second time
    states = states_of(base)

    assert len({states.of(home) for home in (base, gone, changed)}) == 3
    assert states.of(base) == states.of(again)


def test_bookmarks_items_and_requests_count(base, tmp_path):
    committed, noted, sent = (linked_home(base, tmp_path / name) for name in ("1", "2", "3"))
    with sqlite3.connect(committed.database) as connection:
        row = ("job", 1, 1, 0, "jr_1", None, 1, "commit", pack({"rows": {"mark": 7}}))
        connection.execute("INSERT INTO bookmark VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    (noted.root / TABLES).parent.mkdir(exist_ok=True)
    with sqlite3.connect(noted.root / TABLES) as connection:
        connection.execute("CREATE TABLE _tables (table_name TEXT)")
        connection.execute("INSERT INTO _tables VALUES ('marks')")
        connection.execute("CREATE TABLE marks (item_json TEXT)")
        connection.execute("INSERT INTO marks VALUES (?)", (json.dumps({"id": {"S": "a"}}),))
    entry = JournalEntry("ssm", "/", {"authorization": "x"}, b'{"Name": "mark"}', 7)
    (sent.root / SERVICES).write_bytes(entry.line())
    states = states_of(base)

    assert len({states.of(home) for home in (base, committed, noted, sent)}) == 4
    again = linked_home(sent, tmp_path / "4")
    signed = replace(entry, headers={"authorization": "y"}, seed=8)
    (again.root / SERVICES).write_bytes(signed.line())
    assert states.of(again) == states.of(sent)


def put_item(home: Home, item: dict[str, object]) -> None:
    (home.root / TABLES).parent.mkdir(exist_ok=True)
    with sqlite3.connect(home.root / TABLES) as connection:
        connection.execute("CREATE TABLE _tables (table_name TEXT)")
        connection.execute("INSERT INTO _tables VALUES ('glue-watermarks')")
        connection.execute('CREATE TABLE "glue-watermarks" (item_json TEXT)')
        row = (json.dumps(item),)
        connection.execute('INSERT INTO "glue-watermarks" VALUES (?)', row)


def test_it_counts_which_attempt_a_window_has_and_not_how_many_have_died(base, tmp_path):
    def after(name: str, *attempts: int, committed: int, kind: str = "head") -> Home:
        home, window = linked_home(base, tmp_path / name), f"0000000001-{os.urandom(8).hex()}"
        for attempt in attempts:
            put(
                home,
                f"out/window={window}/attempt={attempt:010}/{part(0)}",
                f'{{"id": "{attempt < committed}"}}',
            )
        text = json.dumps([window, "at", 7, "jr_1", os.urandom(8).hex()])
        named = {"M": {"attempt": {"N": f"{committed}"}, "window": {"S": text}}}
        put_item(
            home, {"wmKind": {"S": kind}, "wmEpoch": {"N": f"{committed}"}, "wmCommitted": named}
        )
        return home

    states = states_of(base)
    first = states.of(after("1", 1, 2, committed=2))

    assert states.of(after("2", 3, 4, committed=4)) == first
    assert states.of(after("3", 1, 2, committed=1)) != first
    assert states.of(after("4", 2, committed=2)) != first


def test_the_number_of_an_attempt_counts_outside_of_windows(base, tmp_path):
    first, second = (linked_home(base, tmp_path / name) for name in ("1", "2"))
    for number, home in enumerate((first, second)):
        put(home, f"stage/attempt={number:010}/plan.json", "[]")
    states = states_of(base)

    assert states.of(first) != states.of(second)


@pytest.mark.parametrize(
    ("service", "headers", "body", "is_other"),
    [
        ("sqs", {"x-amz-target": "AmazonSQS.CreateQueue"}, b'{"QueueName": "a"}', False),
        ("sns", {}, b"Action=CreateTopic&Name=a&Version=2010-03-31", False),
        ("ssm", {"x-amz-target": "AmazonSSM.PutParameter"}, b'{"Name": "a"}', False),
        ("sqs", {"x-amz-target": "AmazonSQS.SendMessage"}, b'{"MessageBody": "a"}', True),
    ],
)
def test_a_queue_or_topic_that_is_created_again_is_the_same(
    base, tmp_path, service, headers, body, is_other
):
    states, left = states_of(base), []
    for count in (1, 2):
        home = linked_home(base, tmp_path / f"{count}")
        line = JournalEntry(service, "/", headers, body, count).line()
        sent = JournalEntry("sns", "/", {}, b"Action=Publish&Message=done", count).line()
        (home.root / SERVICES).write_bytes(line * count + sent)
        left.append(states.of(home))

    assert (left[0] != left[1]) is is_other


def test_the_last_value_of_a_parameter_counts_and_that_it_was_deleted(base, tmp_path):
    def request(action: str, **body: str) -> bytes:
        headers = {"x-amz-target": f"AmazonSSM.{action}"}
        return JournalEntry("ssm", "/", headers, json.dumps(body).encode(), 7).line()

    a, b = (request("PutParameter", Name="/last", Value=value) for value in "ab")
    gone, other = request("DeleteParameter", Name="/last"), request("PutParameter", Name="/at")
    states, left = states_of(base), []
    for number, lines in enumerate((b, a + b, b + b, b + a, a + gone, gone + a, b + other)):
        home = linked_home(base, tmp_path / f"{number}")
        (home.root / SERVICES).write_bytes(lines)
        left.append(states.of(home).identity)

    assert len(set(left[:3])) == 1
    assert len(set(left[2:])) == 5


def test_tags_of_objects_count_while_these_are_there(base, tmp_path):
    put(base, "in/b.json", "{}")
    tagged, replaced = (linked_home(base, tmp_path / name) for name in ("1", "2"))
    for home in (tagged, replaced):
        file = home.lake / "lake/in/b.json"
        tagged_at(home, file.stat())
    later = time.time() + 1
    os.utime(base.lake / "lake/in/b.json", (later, later))  # of both homes: it is one file
    states = states_of(base)

    assert states.of(tagged) == states.of(base)  # another object had these tags
    stat = (tagged.lake / "lake/in/b.json").stat()
    tagged_at(tagged, stat)
    assert states.of(tagged) != states.of(replaced) == states.of(base)


def test_metadata_of_an_object_counts_and_its_other_headers_do_not(base, tmp_path):
    put(base, "in/b.json", "{}")
    noted, typed = (linked_home(base, tmp_path / name) for name in ("1", "2"))
    for home, headers in ((noted, {"x-amz-meta-last": "7"}), (typed, {"content-type": "text"})):
        stat = (home.lake / "lake/in/b.json").stat()
        Records(home.root / OBJECTS_FILE).put("lake", "in/b.json", stat, Record("etag", headers))
    states = states_of(base)

    assert states.of(noted) != states.of(typed) == states.of(base)


def tagged_at(home: Home, stat: os.stat_result) -> None:
    records = Records(home.root / OBJECTS_FILE)
    records.put("lake", "in/b.json", stat, Record("etag", {}, {"done": "1"}))


@pytest.mark.parametrize(
    ("name", "content"),
    [("done.bin", lambda text: b"\xff" + text), ("done.json.gz", lambda text: gzip.compress(text))],
)
def test_bytes_count_as_they_are_and_no_digest_of_them_is_an_id(base, tmp_path, name, content):
    homes = [linked_home(base, tmp_path / number) for number in ("1", "2", "3")]
    for home, text in zip(homes, (b"1", b"2", b"1"), strict=True):
        put(home, f"state/{name}", content(text))
    states = states_of(base)

    assert states.of(homes[0]) == states.of(homes[2]) != states.of(homes[1])


@pytest.mark.parametrize("name", ["seg0/c10.dat", "log/log1.dat"])
def test_a_commit_to_an_embedded_database_is_in_its_pages_or_its_log(base, tmp_path, name):
    homes = [linked_home(base, tmp_path / number) for number in ("1", "2")]
    for home, content in zip(homes, ("before", "after"), strict=True):
        file = home.derby / "shop" / name
        file.parent.mkdir(parents=True)
        file.write_text(content, encoding="utf-8")
    states = states_of(base)

    assert states.of(homes[0]) != states.of(homes[1])


def test_rows_of_a_table_of_iceberg_count_and_not_the_names_of_its_files(base, tmp_path):
    homes = [linked_home(base, tmp_path / name) for name in ("1", "2", "3")]
    for home, rows in zip(homes, ([1, 2], [2, 1], [1, 3]), strict=True):
        put_iceberg(home, rows)
    states = states_of(base)

    assert states.of(homes[0]) == states.of(homes[1]) != states.of(homes[2])


def put_iceberg(home: Home, rows: list[int]) -> None:
    """Put a table with one file of rows, whose history says nothing but how many there are."""
    import fastavro

    name, folder = f"{uuid.uuid4()}", "t"
    put(home, f"{folder}/data/{name}.avro", b"")
    uri, lake = f"s3://lake/{folder}", home.lake / "lake" / folder
    lists = {
        f"data/{name}.avro": ("row", {"id": "int"}, [{"id": row} for row in rows]),
        f"metadata/{name}-m0.avro": (
            "entry",
            {"status": "int", "data_file": record("file", {"file_path": "string"})},
            [{"status": 1, "data_file": {"file_path": f"{uri}/data/{name}.avro"}}],
        ),
        f"metadata/snap-{name}.avro": (
            "manifest",
            {"manifest_path": "string"},
            [{"manifest_path": f"{uri}/metadata/{name}-m0.avro"}],
        ),
    }
    for path, (kind, fields, records) in lists.items():
        (lake / path).parent.mkdir(parents=True, exist_ok=True)
        with (lake / path).open("wb") as file:
            fastavro.writer(file, fastavro.parse_schema(record(kind, fields)), records)
    metadata = new_metadata([{"Name": "id", "Type": "int"}], uri, f"{uuid.uuid4()}", 0)
    snapshot = {
        "snapshot-id": 1,
        "manifest-list": f"{uri}/metadata/snap-{name}.avro",
        "summary": {"total-records": "2"},
    }
    refs = {"main": {"snapshot-id": 1, "type": "branch"}}
    document = {**metadata, "snapshots": [snapshot], "refs": refs, "current-snapshot-id": 1}
    place = f"{folder}/metadata/1-{name}.metadata.json"
    put(home, place, json.dumps(document))
    parameters = {"table_type": "ICEBERG", "metadata_location": f"s3://lake/{place}"}
    definition = {
        "Name": "t",
        "Parameters": parameters,
        "StorageDescriptor": {"Location": f"{uri}/", "Columns": [{"Name": "id", "Type": "int"}]},
    }
    with Store(home.database) as store:
        put_tables(store, [CatalogTable("db", "t", definition)])


def record(name: str, fields: dict[str, object]) -> dict[str, object]:
    """Return a schema of Avro."""
    columns = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "fields": columns}


def test_when_a_bookmark_was_committed_does_not_count(base, tmp_path):
    states, left = states_of(base), []
    for name, high_ms in (("1", 1_790_000_000_000), ("2", 1_790_000_060_000)):
        home = linked_home(base, tmp_path / name)
        state = {"low_ms": high_ms - 900_000, "high_ms": high_ms, "paths": ["s3://lake/in/"]}
        with sqlite3.connect(home.database) as connection:
            row = ("job", 1, 1, 0, "jr_1", None, 1, "commit", pack({"rows": state}))
            connection.execute("INSERT INTO bookmark VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        left.append(States(Contents(base, [], high_ms / 1000), Equality(high_ms / 1000)).of(home))

    assert left[0] == left[1] != states.of(base)


A, B = State("a", "like a"), State("b", "like b")


def test_of_crashes_that_leave_one_state_the_most_telling_is_tried(base):
    run = [
        Operation(number, "jr_1", "put", (f"{OUT}{number}",), "job.py", number)
        for number in range(1, 4)
    ]
    states, planned, left = states_of(base), crashes(run), {1: A, 2: B, 3: B}

    chosen = states.new(planned, left)

    assert [crash.after for crash in chosen] == [
        crash.after for crash in planned if crash.after != 3
    ]
    assert states.new(planned, left) == []
    late = states.new(crashes(run, is_late=True), left)
    assert len(late) == 2  # a file that arrives after it makes a state another one


def test_what_differs_by_chance_is_tried_after_one_death_and_not_after_two(base):
    run = [Operation(1, "jr_1", "jdbc", ("jdbc:derby:shop",), "job.py", 1)]
    states, first = states_of(base), crashes(run)
    again = State("another", A.likeness)

    assert states.new(first, {1: A})
    assert states.new(first, {1: again})
    assert states.new(crashes(run, repairs=first[0]), {1: State("a third", A.likeness)}) == []


def test_a_request_to_a_service_is_always_tried_after_one_death(base):
    run = [Operation(1, "jr_1", "request", ("glue PutWorkflowRunProperties w",), "job.py", 1)]
    states, planned = states_of(base), crashes(run)

    assert states.new(planned, {1: A}) == states.new(planned, {1: A}) == planned
