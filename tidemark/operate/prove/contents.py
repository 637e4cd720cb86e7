"""What the state of a home holds, in pieces of text: objects, rows, items, bookmarks, catalog."""

import base64
import gzip
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tidemark.local_state.bookmarks.versions import plain, unpack
from tidemark.local_state.catalog.table_metadata import read_metadata
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import OBJECTS_FILE, SERVICES, TABLES
from tidemark.local_state.operations import EMBEDDED
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import METADATA
from tidemark.operate.prove.changes import PART_PATH, VARYING
from tidemark.operate.prove.identity import MADE_UP, Piece, condensed
from tidemark.operate.prove.tables import folders_of_tables, iceberg_tables
from tidemark.operate.rows.file_rows import read_table
from tidemark.operate.rows.records import lines_of
from tidemark.operate.versions.targets import SCRIPTS

# What Hadoop's committers leave: the next run may find it, but no reader does.
UNCOMMITTED = re.compile(r"(?<=/)(_temporary|\.spark-staging[^/]*|__magic[^/]*)/.*|\.[^/]+\.crc$")
STAGING = ".spark-staging-"
# Names of pieces, or what these begin with.
UNCOMMITTED_PIECE, TABLES_PIECE, TAGS_PIECE = "uncommitted", "tables", "tags "
COMMITTED_BOOKMARK = "bookmark "
WRITTEN_ANEW = "written after runs of "  # begins the text of a piece
CREATES = re.compile(r"^AmazonSQS\.CreateQueue$|(^|&)Action=CreateTopic(&|$)")
# Requests that put a value, which the next one replaces, and what names that.
VALUES = {
    "AmazonSSM.PutParameter": "Name",
    "secretsmanager.PutSecretValue": "SecretId",
    "secretsmanager.UpdateSecret": "SecretId",
}
OF_VALUES = ("secretsmanager", "ssm")
UNCHANGED = "as it was before the first run"
LAST_RUNS = "SELECT job_name, MAX(started_at_ms) AS began_ms FROM job_run GROUP BY job_name"
MAX_BYTES = 1_000_000  # of a file whose rows are looked at; of others, their bytes
BOOKMARKS = """
SELECT job_name, states FROM bookmark AS newest WHERE version =
    (SELECT MAX(version) FROM bookmark WHERE job_name = newest.job_name)
"""
CATALOG = {
    "catalog_database": "name, definition",
    "catalog_table": "database, name, definition",
    "catalog_partition": "database, table_name, partition_values, location, parameters, definition",
    "catalog_registration": "database, table_name",
    "catalog_connection": "name, definition",
    "glue_entity": "kind, name, definition, tags",
}
# Of a table of Iceberg, and of its snapshots what depends on processes and names of files.
OF_TABLE = ("schemas", "current-schema-id", "partition-specs", "default-spec-id", "properties")
ATTEMPTS = re.compile(r'("(?:wmEpoch|attempt)": \{"N": ")(\d+)')  # in items of the library
TOKENS = re.compile(r'\\"[0-9a-f]{16}\\"]"')  # of windows: which process has opened one
DELETED = 2  # the status of a file that a manifest names no more
TAGS = """
SELECT bucket, key, mtime_ns, tags, headers FROM object_file
WHERE tags != '{}' OR headers LIKE '%x-amz-meta-%'
"""
METADATA_NAME = "x-amz-meta-"  # begins the names of headers
OF_PROCESS, SIZES = ("app-id", "engine-", "iceberg-", "spark.app.id"), "-size"


class Contents:
    """Reads the states of homes that share most of their objects, each object once."""

    def __init__(
        self,
        base: Home,
        sources: Sequence[str],
        since: float,
        readers: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Take objects of a base as they are, by their names, but sources: these arrive again.

        `since` is when the proof began, in seconds since 1970. `readers` are the jobs that read
        what others write, by folders with a slash at the end.
        """
        files = (Path(root, name) for root, _, names in os.walk(base.lake) for name in names)
        self._read = {_key(file): [Piece("", f"{file.name} {UNCHANGED}")] for file in files}
        self._sources, self._since = sources, since
        self._readers = readers or {}
        for uri in sources:
            self._read.pop(_key(base.local_path(uri)), None)

    def of(self, home: Home) -> list[Piece]:
        """Return the pieces of the state of a home, in no order."""
        return [
            *self._objects(home),
            self._arrivals(home),
            *self._written_anew(home),
            *_items(home.root / TABLES),
            *_records(home),
            *self._histories(home),
            *_tags(home),
            *_requests(home.root / SERVICES),
            *_embedded(home.root / EMBEDDED),
        ]

    def _objects(self, home: Home) -> Iterator[Piece]:
        of_tables, uncommitted = tuple(folders_of_tables(home)), set[str]()
        for root, folders, names in os.walk(home.lake):
            folder = Path(root).relative_to(home.lake).as_posix()
            if folder == ".":
                folders[:] = [name for name in folders if name != SCRIPTS]
            for name in names:
                path = f"{folder}/{name}"
                if path.startswith(of_tables):  # those that count are in its history
                    continue
                if left := UNCOMMITTED.search(path):  # how many attempts have died does not count
                    # The name of such a folder is of one run: none later finds what it holds.
                    rest = STAGING if STAGING in left[0] else VARYING.sub("*", left[0])
                    uncommitted.add(MADE_UP.sub("*", path[: left.start()]) + rest)
                    continue
                is_part = bool(PART_PATH.search(f"/{path}"))
                rows = self._rows(Path(root, name), is_part=is_part)
                yield from (replace(row, name=path) for row in rows)
        yield from (Piece(UNCOMMITTED_PIECE, path) for path in uncommitted)

    def _arrivals(self, home: Home) -> Piece:
        """Return the order in which sources have arrived; S3 knows whole seconds."""
        files = [(home.local_path(uri), uri) for uri in self._sources]
        times = [(int(file.stat().st_mtime), uri) for file, uri in files if file.is_file()]
        return Piece("arrivals", " ".join(uri for _, uri in sorted(times)))

    def _written_anew(self, home: Home) -> Iterator[Piece]:
        """Yield the objects that were written after the last run of a job that reads them.

        One that goes by times, such as by its bookmark, reads them, again if it has read them.
        """
        if not self._readers:
            return
        with Store(home.database) as store:
            last_ms = {row["job_name"]: row["began_ms"] for row in store.query(LAST_RUNS)}
        for folder, readers in self._readers.items():
            began = {job: last_ms[job] for job in sorted(readers) if job in last_ms}
            for root, _, names in os.walk(home.lake / folder) if began else ():
                for name in names:
                    file = Path(root, name)
                    path = file.relative_to(home.lake).as_posix()
                    at_ms = file.stat().st_mtime_ns // 1_000_000
                    later = [job for job in began if began[job] <= at_ms]
                    if later and not UNCOMMITTED.search(path):
                        yield Piece(path, f"{WRITTEN_ANEW}{', '.join(later)}")

    def _histories(self, home: Home) -> Iterator[Piece]:
        """Yield the snapshots of tables of Iceberg, the names for them, and their rows."""
        for table, place in iceberg_tables(home).items():
            metadata = read_metadata(home, place)
            snapshots = metadata.get("snapshots", ())
            number = {snapshot["snapshot-id"]: at for at, snapshot in enumerate(snapshots)}
            facts = {name: metadata.get(name) for name in OF_TABLE}
            refs = {
                name: number.get(ref["snapshot-id"])
                for name, ref in metadata.get("refs", {}).items()
            }
            summaries = [
                {
                    name: value
                    for name, value in snapshot.get("summary", {}).items()
                    if not name.startswith(OF_PROCESS) and not name.endswith(SIZES)
                }
                for snapshot in snapshots
            ]
            yield Piece(f"table {table}", _as_text([facts, refs, summaries]))
            for at in {*refs.values(), len(snapshots) - 1} - {None, -1}:
                for file in _files_of_snapshot(home, snapshots[at]):
                    rows = self._rows(file, is_part=True)
                    yield from (replace(row, name=f"table {table} {at}") for row in rows)

    def _rows(self, file: Path, *, is_part: bool) -> list[Piece]:
        """Return what a file holds, without a name, read once."""
        key = _key(file)
        if key not in self._read:
            self._read[key] = condensed(_rows_of(file, is_part=is_part), self._since)
        return self._read[key]


def _key(file: Path) -> tuple[int, int, int]:
    """Return what homes share that have a link to the same object."""
    status = file.stat()
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _rows_of(file: Path, *, is_part: bool) -> list[str]:
    """Return the rows of a file of Spark, and what another one holds as one text."""
    content = file.read_bytes()
    rows: list[str] | None = None
    if len(content) <= MAX_BYTES:
        # Not what it is named.
        with suppress(ValueError, OSError, EOFError, StopIteration, zlib.error):
            rows = _parsed(file, content)
    if rows is None:
        return [f"bytes {_digest(content)}"]
    return (rows if is_part else ["\n".join(rows)]) or [""]


def _parsed(file: Path, content: bytes) -> list[str]:
    if file.suffix == ".gz":
        return gzip.decompress(content).decode().splitlines()
    if file.suffix == ".avro":
        return lines_of(file, "avro")
    if file.suffix not in (".parquet", ".orc"):
        return content.decode().splitlines()
    types, rows = read_table(file.suffix[1:], file)
    return [_as_text(types), *map(_as_text, rows)]


def _as_text(value: Any) -> str:
    return json.dumps(value, default=str, sort_keys=True)


def items_of(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the items of tables of DynamoDB: the table, the key, and the item as JSON."""
    if not file.is_file():
        return
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT table_name FROM _tables").fetchall():
            quoted = '"' + table.replace('"', '""') + '"'
            items = database.execute(f"SELECT pk, sk, item_json FROM {quoted}")  # noqa: S608 (quoted)
            yield from ((table, f"{pk} {sk}", item) for pk, sk, item in items)


def _items(file: Path) -> Iterator[Piece]:
    """Yield the tables of DynamoDB and their items: the engine keeps each as JSON."""
    if not file.is_file():
        return
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT table_name FROM _tables").fetchall():
            yield Piece(TABLES_PIECE, table)
            quoted = '"' + table.replace('"', '""') + '"'
            items = database.execute(f"SELECT item_json FROM {quoted}")  # noqa: S608 (quoted)
            yield from (
                Piece(table, _as_text(_with_attempts(json.loads(item)))) for (item,) in items
            )


def _with_attempts(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item of watermarks with the numbers of attempts as the paths of windows have them.

    How many attempts have died does not count, but which one the watermarks name.
    """
    if "wmKind" not in item:
        return item
    text = ATTEMPTS.sub(lambda number: f"{number[1]}attempt={int(number[2]):010}", json.dumps(item))
    renamed: Mapping[str, Any] = json.loads(TOKENS.sub(r'\\"\\"]"', text))
    return renamed


def _records(home: Home) -> Iterator[Piece]:
    """Yield bookmarks and the Data Catalog."""
    with Store(home.database) as store:
        for row in store.query(BOOKMARKS):
            stored = plain(unpack(row["states"]))
            states = {name: _of_source(state) for name, state in stored.items()}
            yield Piece(f"{COMMITTED_BOOKMARK}{row['job_name']}", _as_text(states))
        for table, columns in CATALOG.items():
            for row in store.query(f"SELECT {columns} FROM {table}"):  # noqa: S608 (constants)
                text = _as_text(tuple(row))
                # A table of Iceberg is what its history says.
                yield Piece(table, row["name"] if METADATA in text else text)


def _of_source(state: Any) -> Any:
    """Return the state of a source, the beginning of its band by how long that is."""
    if not isinstance(state, dict) or not {"low_ms", "high_ms"} <= state.keys():
        return state
    return {**state, "low_ms": state["high_ms"] - state["low_ms"]}


def _files_of_snapshot(home: Home, snapshot: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the files of data and deletes that a snapshot of Iceberg has."""
    for manifest in _avro(home, snapshot.get("manifest-list", "")):
        for entry in _avro(home, manifest["manifest_path"]):
            file = home.local_path(entry["data_file"]["file_path"])
            if entry["status"] != DELETED and file.is_file():
                yield file


def _avro(home: Home, uri: str) -> list[dict[str, Any]]:
    """Return the records of a file of Avro; none if it is gone."""
    file = home.local_path(uri) if uri else None
    return [*map(json.loads, lines_of(file, "avro"))] if file and file.is_file() else []


def _tags(home: Home) -> Iterator[Piece]:
    """Yield the tags and the metadata of objects, which a job may keep as marks."""
    file = home.root / OBJECTS_FILE
    if not file.is_file():
        return
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        for bucket, key, time_ns, tags, headers in database.execute(TAGS).fetchall():
            there = home.lake / bucket / key
            if there.is_file() and there.stat().st_mtime_ns == time_ns:
                named = json.loads(headers).items()
                metadata = {name: value for name, value in named if name.startswith(METADATA_NAME)}
                yield Piece(f"{TAGS_PIECE}{bucket}/{key}", _as_text([tags, metadata]))


def _requests(file: Path) -> Iterator[Piece]:
    """Yield the requests that services were sent, in order, without their signatures.

    A topic or a queue that is created again is the one that is there. Of a parameter or a secret
    the last value counts, and not how often it was put.
    """
    entries = file.read_bytes().splitlines() if file.is_file() else []
    made, values = dict[str, None](), dict[str, str]()
    for entry in map(json.loads, entries):
        body = base64.b64decode(entry["body"]).decode(errors="replace")
        name = entry["headers"].get("x-amz-target", body)
        text = f"{entry['service']} {entry['path']} {name} {body}"
        if name in VALUES:
            values[f"{entry['service']} {json.loads(body).get(VALUES[name])}"] = text
            continue
        if entry["service"] in OF_VALUES:  # it may delete one of them, or make it
            made |= {f"{len(made) + at} {put}": None for at, put in enumerate(values.values())}
            values.clear()
        made[text if CREATES.search(name) else f"{len(made)} {text}"] = None
    yield from (Piece("requests", f"{number} {text}") for number, text in enumerate(made))
    yield from (Piece("values", text) for text in values.values())


def _embedded(folder: Path) -> Iterator[Piece]:
    """Yield what tells embedded databases apart: their bytes, which differ from run to run.

    A commit may be in the log alone.
    """
    files = (file for part in ("seg0/*", "log/*.dat") for file in folder.glob(f"*/{part}"))
    for file in sorted(files) if folder.is_dir() else ():
        yield Piece(file.parts[-3], f"{file.name} {_digest(file.read_bytes())}")


def _digest(content: bytes) -> str:
    """Return a digest that is told from the ids that runs make up: these are of hex digits."""
    return base64.b32encode(sha256(content).digest()).decode()
