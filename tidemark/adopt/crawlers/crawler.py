"""Translates one crawler as Glue returns it into what `add_crawler` declares: pure."""

import re
from collections.abc import Mapping

from tidemark.adopt.crawlers.targets import SCAN_ALL, SCAN_RATE, are_strings, targets_of
from tidemark.adopt.jobs.job import rest
from tidemark.adopt.jobs.options import description_of, tags_of
from tidemark.adopt.model import AdoptedCrawler, CrawlTarget, Member, Reason
from tidemark.adopt.reading import Reading
from tidemark.adopt.reasons import ANY, REASONS

# As the constructs check them, which start Node when they are imported: a test compares.
DATABASE = re.compile(r"[a-z0-9_-]{1,255}")
PREFIX = re.compile(r"[a-z0-9_]{0,128}")
WHOLE_BUCKET = re.compile(r"s3[an]?://[^/]+/?")
ON_CHANGE = {"UPDATE_IN_DATABASE": "UPDATE", "LOG": "LOG"}
ON_MISSING = {"LOG": "LOG", "DEPRECATE_IN_DATABASE": "DEPRECATE", "DELETE_FROM_DATABASE": "DELETE"}


def crawler_refusal(crawler: Reading, locations: Mapping[str, str]) -> Reason | None:
    """Return why a crawler cannot be declared at all, and what to do; None if it can."""
    database = crawler.get("DatabaseName")
    if not (isinstance(database, str) and DATABASE.fullmatch(database)):
        return (
            f"its database is {database}, and add_crawler takes the name of one, of lower case "
            "letters, digits, _ and -",
            "let it write such a database, or keep it with its own trigger",
        )
    kinds = {target.kind for _, target in targets_of(crawler, locations)}
    paths = [str(target.get("Path")) for target in crawler.get("Targets", "S3Targets") or []]
    whole = [path for path in paths if WHOLE_BUCKET.fullmatch(path)]
    if not kinds and whole:
        why = f"it reads the whole bucket {whole[0]}, and a pipeline declares folders of a bucket"
        return why, (
            "name the folders that it is to read, each as a target, or keep it with a trigger of "
            "its own"
        )
    if not kinds:
        return ANY["reads nothing"]
    if "CrawledTable" in kinds and len(kinds) > 1:
        return "it reads tables of the catalog and other data", "make two crawlers of it"
    return None


def crawler_of(crawler: Reading, name: str, locations: Mapping[str, str]) -> AdoptedCrawler:
    """Return what `add_crawler` declares of a crawler alone, and account for all that it has."""
    targets: list[CrawlTarget] = []
    accounted: set[tuple[str, ...]] = set()
    for path, target in targets_of(crawler, locations):
        if path not in accounted:  # one target may name several tables
            if target in targets:
                crawler.differ(*path, why="it is a target already", do="nothing")
            else:
                _account_for_target(crawler, path, target)
            accounted.add(path)
        if target not in targets:
            targets.append(target)
    _account_for_defaults(crawler)
    schedule = crawler.get("Schedule")
    if isinstance(schedule, Mapping):
        schedule = schedule.get("State") != "NOT_SCHEDULED" and schedule.get("ScheduleExpression")
    adopted = AdoptedCrawler(
        old=crawler.of,
        name=name,
        targets=tuple(targets),
        database=str(crawler.take("DatabaseName")),
        options=_options(crawler, targets),
        is_scheduled=bool(schedule),
    )
    for leaf in [leaf for leaf in crawler.left() if leaf[0] == "Targets"]:
        crawler.differ_for(REASONS["crawler"]["Targets"], *leaf)
    rest(crawler, REASONS["crawler"])
    return adopted


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
    if isinstance(classifiers, list) and are_strings(classifiers):
        crawler.take("Classifiers")
        fields |= {"classifiers": tuple(classifiers)} if classifiers else {}
    return fields | description_of(crawler) | tags_of(crawler, may_be_empty=False)


def _policies(crawler: Reading, targets: list[CrawlTarget]) -> dict[str, object]:
    """Return its treatment of changed tables; Glue's default if not stated."""
    change = _policy(crawler, "UpdateBehavior", ON_CHANGE, "UPDATE")
    missing = _policy(crawler, "DeleteBehavior", ON_MISSING, "DEPRECATE")
    fields: dict[str, object] = {}
    if change != "UPDATE":
        fields["on_change"] = Member("SchemaUpdate", change)
    if missing != "LOG":
        fields["on_missing"] = Member("MissingData", missing)
    path = ("RecrawlPolicy", "RecrawlBehavior")
    crawler.takes(*path, values=["CRAWL_EVERYTHING"])
    is_all_data = all(target.kind in ("Dataset", "CrawledData") for target in targets)
    is_each_once = len({target.place for target in targets}) == len(targets)
    is_possible = is_all_data and is_each_once and (change, missing) == ("LOG", "LOG")
    if is_possible and crawler.takes(*path, values=["CRAWL_NEW_FOLDERS_ONLY"]):
        fields["recrawl"] = Member("Recrawl", "NEW_FOLDERS_ONLY")
    return fields


def _policy(crawler: Reading, key: str, members: Mapping[str, str], default: str) -> str:
    path = ("SchemaChangePolicy", key)
    return members[crawler.get(*path)] if crawler.takes(*path, values=members) else default


def _account_for_target(crawler: Reading, path: tuple[str, ...], target: CrawlTarget) -> None:
    """Account for a target in the code; the rest of it is listed with the crawler's."""
    said = {"exclusions": "Exclusions", "connection": "ConnectionName"}
    said |= {"sampled_files": "SampleSize", "depth": "MaximumTraversalDepth"}
    for name in target.fields.keys() & said.keys():
        crawler.take(*path, said[name])
    _account_for_switches(crawler, path, target)
    crawler.takes(*path, "Exclusions", values=[[]])
    if target.kind in ("CrawledOpenTables", "CrawledTable"):
        key = "DeltaTables" if crawler.get(*path, "DeltaTables") else "Paths"
        if target.kind == "CrawledTable":
            crawler.take(*path, "DatabaseName")
            key = "Tables"
        if len(crawler.get(*path, key)) == 1:
            crawler.take(*path, key)
        else:
            crawler.differ(*path, key, why="each is a separate target", do="nothing")
    elif target.place is None or target.place.uri == crawler.get(*path, "Path"):
        crawler.take(*path, "Path")
    else:
        crawler.differ(*path, "Path", why=f"it is written as {target.place.uri}", do="nothing")


def _account_for_switches(crawler: Reading, path: tuple[str, ...], target: CrawlTarget) -> None:
    """Account for values that the template always states, under any of their names."""
    names, what = tuple[str, ...](), "every item is read"
    if target.kind == "CrawledDynamoDB":
        names = SCAN_ALL
        for name in SCAN_RATE if "scan_rate" in target.fields else ():
            crawler.take(*path, name)
    elif "DeltaTables" in crawler.get(*path):
        names, what = ("WriteManifest",), "no manifest is written"
        crawler.take(*path, "CreateNativeDeltaTable")
    if names and [crawler.take(*path, name) for name in names] == [None] * len(names):
        crawler.differ(*path, names[-1], why=f"it was not said, and now is: {what}", do="nothing")


def _account_for_defaults(crawler: Reading) -> None:
    """Account for fields that Glue returns for a crawler without being set."""
    for kind in crawler.get("Targets") or {}:
        crawler.takes("Targets", kind, values=[[]])
    crawler.takes("LineageConfiguration", "CrawlerLineageSettings", values=["DISABLE"])
    if not any((crawler.get("LakeFormationConfiguration") or {}).values()):
        crawler.take("LakeFormationConfiguration")
