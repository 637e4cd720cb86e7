"""Translates one crawler as Glue returns it into what `add_crawler` declares: pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tidemark.adopt.crawler_fields import FIELDS
from tidemark.adopt.job_fields import UNKNOWN
from tidemark.adopt.job_options import is_description
from tidemark.adopt.jobs import CONNECTION, rest
from tidemark.adopt.model import CrawlTarget, Member
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading
from tidemark.adopt.scripts import TABLE
from tidemark.stage.settings import TAG_NAME, TAG_VALUE

# As the constructs check them, which start Node when they are imported: a test compares.
DATABASE = re.compile(r"[a-z0-9_-]{1,255}")
PREFIX = re.compile(r"[a-z0-9_]{0,128}")
JDBC_PATH = re.compile(r"[^/\s][^/\n]*(/[^/\n]+){1,2}")
MOST_SAMPLED = 249
MOST_FOLDERS = 20
DYNAMODB_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
LEAST_RATE, MOST_RATE = 0.1, 1.5
SCAN_ALL, SCAN_RATE = ("scanAll", "ScanAll"), ("scanRate", "ScanRate")  # of Glue and of Terraform
ON_CHANGE = {"UPDATE_IN_DATABASE": "UPDATE", "LOG": "LOG"}
ON_MISSING = {
    "LOG": "LOG",
    "DEPRECATE_IN_DATABASE": "DEPRECATE",
    "DELETE_FROM_DATABASE": "DELETE",
}


@dataclass(frozen=True)
class CrawlerCall:
    """What `add_crawler` is called with, before triggers are known."""

    targets: tuple[CrawlTarget, ...]
    database: str
    options: dict[str, object] = field(default_factory=dict)
    is_scheduled: bool = False


def why_not_crawler(crawler: Reading, locations: Mapping[str, str]) -> tuple[str, str] | None:
    """Return why a crawler cannot be declared at all, and what to do; None if it can.

    Args:
        crawler: the crawler.
        locations: where tables that crawlers name have their data, by `database.table`.
    """
    database = crawler.get("DatabaseName")
    if not (isinstance(database, str) and DATABASE.fullmatch(database)):
        return (
            f"its database is {database}, and add_crawler takes the name of one, of lower case "
            "letters, digits, _ and -",
            "let it write such a database, or keep it with a trigger of its own",
        )
    kinds = {target.kind for _, target in _targets(crawler, locations)}
    if not kinds:
        return (
            "it reads nothing that add_crawler can name: folders of S3 (with / at the end, of "
            "letters, digits and _.=-), tables whose data is in one, databases by JDBC, tables "
            "of Delta Lake (native, without a manifest), Hudi, Iceberg, DynamoDB",
            "keep it with a trigger of its own",
        )
    if "CrawledTable" in kinds and len(kinds) > 1:
        return "it reads tables of the catalog and other data", "make two crawlers of it"
    return None


def crawler_call_of(crawler: Reading, locations: Mapping[str, str]) -> CrawlerCall:
    """Return what `add_crawler` is called with, and account for everything the crawler has."""
    targets: list[CrawlTarget] = []
    accounted: set[tuple[str, ...]] = set()
    for path, target in _targets(crawler, locations):
        if path not in accounted:  # one target may name several tables
            if target in targets:
                crawler.differ(*path, why="it is a target already", do="nothing")
            else:
                _account_for_target(crawler, path, target)
            accounted.add(path)
        if target not in targets:
            targets.append(target)
    _account_for_what_is_off(crawler)
    call = CrawlerCall(
        targets=tuple(targets),
        database=str(crawler.take("DatabaseName")),
        options=_options(crawler, targets),
        is_scheduled=_is_scheduled(crawler.get("Schedule")),
    )
    why, do = FIELDS["Targets"]
    for leaf in [leaf for leaf in crawler.left() if leaf[0] == "Targets"]:
        crawler.differ(*leaf, why=why, do=do)
    rest(crawler, FIELDS, UNKNOWN)
    return call


def _targets(
    crawler: Reading, locations: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], CrawlTarget]]:
    """Yield what can be said of its targets, each with its path."""
    readers: dict[str, Callable[[Mapping[str, object]], list[CrawlTarget]]] = {
        "S3Targets": _of_data,
        "JdbcTargets": _of_database,
        "CatalogTargets": lambda one: _of_tables(one, locations),
        "DeltaTargets": _of_delta,
        "HudiTargets": lambda one: _of_open_tables(one, "HUDI"),
        "IcebergTargets": lambda one: _of_open_tables(one, "ICEBERG"),
        "DynamoDBTargets": _of_dynamodb,
    }
    for kind, read in readers.items():
        for number, one in enumerate(crawler.get("Targets", kind) or []):
            for target in read(one):
                yield ("Targets", kind, str(number)), target


def _of_data(target: Mapping[str, object]) -> list[CrawlTarget]:
    text = str(target.get("Path", ""))
    place = place_of(text)
    is_folder = place is not None and place.uri.rstrip("/") == text.rstrip("/")
    fields = {**_exclusions(target), **_connection(target)}
    files = target.get("SampleSize")
    if type(files) is int and 1 <= files <= MOST_SAMPLED:
        fields["sampled_files"] = files
    kind = "CrawledData" if fields else "Dataset"
    return [CrawlTarget(kind, place, fields)] if is_folder else []


def _of_database(target: Mapping[str, object]) -> list[CrawlTarget]:
    path, connection = target.get("Path"), _connection(target)
    if not connection or not (isinstance(path, str) and JDBC_PATH.fullmatch(path)):
        return []
    return [
        CrawlTarget("CrawledDatabase", None, {**connection, "path": path, **_exclusions(target)})
    ]


def _of_tables(target: Mapping[str, object], locations: Mapping[str, str]) -> list[CrawlTarget]:
    tables = target.get("Tables")
    names = (
        [f"{target.get('DatabaseName')}.{t}" for t in tables] if isinstance(tables, list) else []
    )
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
    if type(depth) is int and 1 <= depth <= MOST_FOLDERS:
        fields["depth"] = depth
    return _in_folders(target.get("Paths"), kind, fields)


def _in_folders(paths: object, kind: str, fields: Mapping[str, object]) -> list[CrawlTarget]:
    """Return a target for each folder, or none if one of them cannot be named."""
    texts = [str(path) for path in paths] if isinstance(paths, list) else []
    places = [place_of(text) for text in texts]
    if any(
        place is None or place.uri.rstrip("/") != text.rstrip("/")
        for place, text in zip(places, texts, strict=True)
    ):
        return []
    given = {"format": Member("OpenFormat", kind), **fields}
    return [CrawlTarget("CrawledOpenTables", place, given) for place in places]


def _of_dynamodb(target: Mapping[str, object]) -> list[CrawlTarget]:
    table = target.get("Path")
    if not (isinstance(table, str) and DYNAMODB_TABLE.fullmatch(table)):
        return []
    fields: dict[str, object] = {"table": table}
    if any(target.get(name) is False for name in SCAN_ALL):
        fields["sampled"] = True
    rates = [rate for name in SCAN_RATE if isinstance(rate := target.get(name), int | float)]
    if rates and LEAST_RATE <= rates[0] <= MOST_RATE:
        fields["scan_rate"] = rates[0]
    return [CrawlTarget("CrawledDynamoDB", None, fields)]


def _exclusions(target: Mapping[str, object]) -> dict[str, object]:
    patterns = target.get("Exclusions")
    if not isinstance(patterns, list) or not patterns or not _are_texts(patterns):
        return {}
    return {"exclusions": tuple(patterns)}


def _connection(target: Mapping[str, object]) -> dict[str, object]:
    name = target.get("ConnectionName")
    return {"connection": name} if isinstance(name, str) and CONNECTION.fullmatch(name) else {}


def _account_for_target(crawler: Reading, path: tuple[str, ...], target: CrawlTarget) -> None:
    """Account for what the code says of a target; the rest of it is listed with the crawler's."""
    said = {"exclusions": "Exclusions", "connection": "ConnectionName"}
    said |= {"sampled_files": "SampleSize", "depth": "MaximumTraversalDepth"}
    for name in target.fields.keys() & said.keys():
        crawler.take(*path, said[name])
    _account_for_switches(crawler, path, target)
    if crawler.get(*path, "Exclusions") == []:
        crawler.take(*path, "Exclusions")
    if target.kind == "CrawledOpenTables":
        _account_for_folders(crawler, path)
    elif target.kind == "CrawledTable":
        crawler.take(*path, "DatabaseName")
        if len(crawler.get(*path, "Tables")) == 1:
            crawler.take(*path, "Tables")
        else:
            crawler.differ(*path, "Tables", why="each is a target of its own", do="nothing")
    elif target.place is None or target.place.uri == crawler.get(*path, "Path"):
        crawler.take(*path, "Path")
    else:
        crawler.differ(*path, "Path", why=f"it is written as {target.place.uri}", do="nothing")


def _account_for_switches(crawler: Reading, path: tuple[str, ...], target: CrawlTarget) -> None:
    """Account for what the template says in any case, by whichever name it has."""
    names: tuple[str, ...]
    if target.kind == "CrawledDynamoDB":
        names, what = SCAN_ALL, "every item is read"
        for name in SCAN_RATE if "scan_rate" in target.fields else ():
            crawler.take(*path, name)
    elif "DeltaTables" in crawler.get(*path):
        names, what = ("WriteManifest",), "no manifest is written"
        crawler.take(*path, "CreateNativeDeltaTable")
    else:
        return
    taken = [crawler.take(*path, name) for name in names]
    if all(value is None for value in taken):
        crawler.differ(*path, names[-1], why=f"it was not said, and now is: {what}", do="nothing")


def _account_for_folders(crawler: Reading, path: tuple[str, ...]) -> None:
    key = "DeltaTables" if crawler.get(*path, "DeltaTables") else "Paths"
    if len(crawler.get(*path, key)) == 1:
        crawler.take(*path, key)
    else:
        crawler.differ(*path, key, why="each is a target of its own", do="nothing")


def _account_for_what_is_off(crawler: Reading) -> None:
    """Account for what Glue returns of a crawler where nothing is set."""
    for kind, targets in (crawler.get("Targets") or {}).items():
        if targets == []:
            crawler.take("Targets", kind)
    if crawler.get("LineageConfiguration", "CrawlerLineageSettings") == "DISABLE":
        crawler.take("LineageConfiguration", "CrawlerLineageSettings")
    lake_formation = crawler.get("LakeFormationConfiguration") or {}
    if not any(lake_formation.values()):
        crawler.take("LakeFormationConfiguration")


def _options(crawler: Reading, targets: list[CrawlTarget]) -> dict[str, object]:
    """Return the fields of `CrawlerOptions`, and account for them."""
    fields: dict[str, object] = {}
    prefix = str(crawler.get("TablePrefix") or "").lower()
    if PREFIX.fullmatch(prefix):
        if prefix == (crawler.get("TablePrefix") or ""):
            crawler.take("TablePrefix")
        fields |= {"table_prefix": prefix} if prefix else {}
    fields |= _policies(crawler, targets)
    classifiers = crawler.get("Classifiers")
    if isinstance(classifiers, list) and _are_texts(classifiers):
        crawler.take("Classifiers")
        fields |= {"classifiers": tuple(classifiers)} if classifiers else {}
    if is_description(crawler.get("Description")):
        fields["description"] = crawler.take("Description")
    tags = {
        name: crawler.take("Tags", name)
        for name, value in (crawler.get("Tags") or {}).items()
        if TAG_NAME.fullmatch(name) and value and TAG_VALUE.fullmatch(str(value))
    }
    return fields | ({"tags": tags} if tags else {})


def _policies(crawler: Reading, targets: list[CrawlTarget]) -> dict[str, object]:
    """Return what it does with tables that have changed; Glue's own where that is not said."""
    change = _policy(crawler, "UpdateBehavior", ON_CHANGE, "UPDATE")
    missing = _policy(crawler, "DeleteBehavior", ON_MISSING, "DEPRECATE")
    fields: dict[str, object] = {}
    if change != "UPDATE":
        fields["on_change"] = Member("SchemaUpdate", change)
    if missing != "LOG":
        fields["on_missing"] = Member("MissingData", missing)
    path = ("RecrawlPolicy", "RecrawlBehavior")
    behaviour = crawler.get(*path)
    is_all_data = all(target.kind in ("Dataset", "CrawledData") for target in targets)
    is_each_once = len({target.place for target in targets}) == len(targets)
    if behaviour == "CRAWL_EVERYTHING":
        crawler.take(*path)
    is_possible = is_all_data and is_each_once and (change, missing) == ("LOG", "LOG")
    if behaviour == "CRAWL_NEW_FOLDERS_ONLY" and is_possible:
        crawler.take(*path)
        fields["recrawl"] = Member("Recrawl", "NEW_FOLDERS_ONLY")
    return fields


def _policy(crawler: Reading, key: str, members: Mapping[str, str], default: str) -> str:
    value = crawler.get("SchemaChangePolicy", key)
    if value not in members:
        return default
    crawler.take("SchemaChangePolicy", key)
    return members[value]


def _is_scheduled(schedule: object) -> bool:
    if isinstance(schedule, Mapping):
        return schedule.get("State") != "NOT_SCHEDULED" and bool(schedule.get("ScheduleExpression"))
    return bool(schedule)


def _are_texts(values: list[object]) -> bool:
    return all(isinstance(value, str) and value for value in values)
