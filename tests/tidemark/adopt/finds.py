"""Jobs, crawlers and triggers as they are found, for tests of what becomes of them."""

from __future__ import annotations

from typing import Any

from tidemark.adopt.model import Adoption, Existing

PLAIN = {"Name": "x", "Command": {"Name": "glueetl", "ScriptLocation": "s3://code/x.py"}}


RAY = {"Name": "x", "Command": {"Name": "glueray"}}


WHOLE = {
    "Name": "raw",
    "DatabaseName": "sales",
    "Targets": {"S3Targets": [{"Path": "s3://acme-lake"}]},
}


FOLDER = WHOLE | {"Name": "mart", "Targets": {"S3Targets": [{"Path": "s3://acme-lake/mart/"}]}}


def trigger(name: str, *starts: str, after: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """Return a trigger; a crawler is written as `crawler NAME`."""

    def node(text: str) -> dict[str, str]:
        kind, _, of = text.rpartition(" ")
        return {"CrawlerName" if kind else "JobName": of}

    found = {"Name": name, "Type": "ON_DEMAND", "Actions": [node(one) for one in starts]}
    if after:
        conditions = [
            node(one) | {"CrawlState" if " " in one else "State": "SUCCEEDED"} for one in after
        ]
        found |= {"Type": "CONDITIONAL", "Predicate": {"Conditions": conditions}}
    return found | more


def found(jobs: dict[str, Any], *triggers: dict[str, Any], **more: Any) -> Existing:
    named = {name: one | {"Name": name} for name, one in jobs.items()}
    return Existing("", named, {one["Name"]: one for one in triggers}, **more)


def why(adoption: Adoption) -> dict[str, str]:
    return {one.job: one.why for one in adoption.left_out}
