"""The targets of a crawler of Glue as targets of `add_crawler`: pure."""

import re
from collections.abc import Callable, Iterator, Mapping

from tidemark.adopt.jobs.job import CONNECTION
from tidemark.adopt.jobs.scripts import TABLE
from tidemark.adopt.model import CrawlTarget, Folder, Member
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading

# As the constructs check them, which start Node when they are imported: a test compares.
JDBC_PATH = re.compile(r"[^/\s][^/\n]*(/[^/\n]+){1,2}")
MAX_SAMPLED = 249
MAX_FOLDERS = 20
DYNAMODB_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
MIN_RATE, MAX_RATE = 0.1, 1.5
SCAN_ALL, SCAN_RATE = ("scanAll", "ScanAll"), ("scanRate", "ScanRate")  # of Glue and of templates


def targets_of(
    crawler: Reading, locations: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], CrawlTarget]]:
    """Yield its targets that can be declared, each with its path."""
    readers: dict[str, Callable[[Mapping[str, object]], list[CrawlTarget]]] = {
        "S3Targets": _of_data,
        "JdbcTargets": _of_database,
        "CatalogTargets": lambda target: _of_tables(target, locations),
        "DeltaTargets": _of_delta,
        "HudiTargets": lambda target: _of_open_tables(target, "HUDI"),
        "IcebergTargets": lambda target: _of_open_tables(target, "ICEBERG"),
        "DynamoDBTargets": _of_dynamodb,
    }
    for kind, read in readers.items():
        for number, stated in enumerate(crawler.get("Targets", kind) or []):
            yield from ((("Targets", kind, str(number)), target) for target in read(stated))


def _of_data(target: Mapping[str, object]) -> list[CrawlTarget]:
    place = _folder(str(target.get("Path", "")))
    fields = {**_exclusions(target), **_connection(target)}
    files = target.get("SampleSize")
    if type(files) is int and 1 <= files <= MAX_SAMPLED:
        fields["sampled_files"] = files
    kind = "CrawledData" if fields else "Dataset"
    return [CrawlTarget(kind, place, fields)] if place else []


def _of_database(target: Mapping[str, object]) -> list[CrawlTarget]:
    path, connection = target.get("Path"), _connection(target)
    if not connection or not (isinstance(path, str) and JDBC_PATH.fullmatch(path)):
        return []
    fields = {**connection, "path": path, **_exclusions(target)}
    return [CrawlTarget("CrawledDatabase", None, fields)]


def _of_tables(target: Mapping[str, object], locations: Mapping[str, str]) -> list[CrawlTarget]:
    tables, database = target.get("Tables"), target.get("DatabaseName")
    names = [f"{database}.{table}" for table in tables] if isinstance(tables, list) else []
    places = {name: place_of(locations.get(name, "")) for name in names}
    if not all(TABLE.fullmatch(name) and place for name, place in places.items()):
        return []
    return [
        CrawlTarget("CrawledTable", place, {"table": name, **_connection(target)})
        for name, place in places.items()
    ]


def _of_delta(target: Mapping[str, object]) -> list[CrawlTarget]:
    """Return the tables of a target that writes no manifest, since the role may only read."""
    if target.get("WriteManifest") or not target.get("CreateNativeDeltaTable"):
        return []
    return _in_folders(target.get("DeltaTables"), "DELTA", _connection(target))


def _of_open_tables(target: Mapping[str, object], kind: str) -> list[CrawlTarget]:
    fields = {**_exclusions(target), **_connection(target)}
    depth = target.get("MaximumTraversalDepth")
    if type(depth) is int and 1 <= depth <= MAX_FOLDERS:
        fields["depth"] = depth
    return _in_folders(target.get("Paths"), kind, fields)


def _in_folders(paths: object, kind: str, fields: Mapping[str, object]) -> list[CrawlTarget]:
    """Return a target for each folder, or none if one of them cannot be named."""
    places = [_folder(str(path)) for path in paths] if isinstance(paths, list) else []
    given = {"format": Member("OpenFormat", kind), **fields}
    if None in places:
        return []
    return [CrawlTarget("CrawledOpenTables", place, given) for place in places]


def _folder(text: str) -> Folder | None:
    """Return the folder that an address names; None for that of a file in it."""
    place = place_of(text)
    return place if place and place.uri.rstrip("/") == text.rstrip("/") else None


def _of_dynamodb(target: Mapping[str, object]) -> list[CrawlTarget]:
    table = target.get("Path")
    if not (isinstance(table, str) and DYNAMODB_TABLE.fullmatch(table)):
        return []
    fields: dict[str, object] = {"table": table}
    if any(target.get(name) is False for name in SCAN_ALL):
        fields["sampled"] = True
    rates = [rate for name in SCAN_RATE if isinstance(rate := target.get(name), int | float)]
    if rates and MIN_RATE <= rates[0] <= MAX_RATE:
        fields["scan_rate"] = rates[0]
    return [CrawlTarget("CrawledDynamoDB", None, fields)]


def _exclusions(target: Mapping[str, object]) -> dict[str, object]:
    patterns = target.get("Exclusions")
    if not isinstance(patterns, list) or not patterns or not are_strings(patterns):
        return {}
    return {"exclusions": tuple(patterns)}


def _connection(target: Mapping[str, object]) -> dict[str, object]:
    name = target.get("ConnectionName")
    return {"connection": name} if isinstance(name, str) and CONNECTION.fullmatch(name) else {}


def are_strings(values: list[object]) -> bool:
    """Return whether all are strings that say something."""
    return all(isinstance(value, str) and value for value in values)
