"""Accounts for a crawler's targets in the code; the rest is listed: pure."""

from tidemark.adopt.crawlers.targets import SCAN_ALL, SCAN_RATE
from tidemark.adopt.model import CrawlTarget
from tidemark.adopt.reading import Reading


def account_for_target(crawler: Reading, path: tuple[str, ...], target: CrawlTarget) -> None:
    """Account for a target in the code; the rest of it is listed with the crawler's."""
    said = {"exclusions": "Exclusions", "connection": "ConnectionName"}
    said |= {"sampled_files": "SampleSize", "depth": "MaximumTraversalDepth"}
    for name in target.fields.keys() & said.keys():
        crawler.take(*path, said[name])
    _account_for_switches(crawler, path, target)
    if crawler.get(*path, "Exclusions") == []:
        crawler.take(*path, "Exclusions")
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


def account_for_defaults(crawler: Reading) -> None:
    """Account for fields that Glue returns for a crawler without being set."""
    for kind, targets in (crawler.get("Targets") or {}).items():
        if targets == []:
            crawler.take("Targets", kind)
    if crawler.get("LineageConfiguration", "CrawlerLineageSettings") == "DISABLE":
        crawler.take("LineageConfiguration", "CrawlerLineageSettings")
    lake_formation = crawler.get("LakeFormationConfiguration") or {}
    if not any(lake_formation.values()):
        crawler.take("LakeFormationConfiguration")
