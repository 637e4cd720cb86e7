"""The job run of a crawl: its job, its arguments, and what a crawl of this machine can do.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-crawling.html
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.glue_service.entities import Entity
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.submission import SCRIPTS
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.model.assembly.definitions import (
    BOOKMARK_OPTION,
    CRAWLER,
    DISABLE,
    SPARK,
    JobDefinition,
)
from tidemark.model.assembly.template import runnable_job

KEY = "crawlers/crawl.py"  # of the script, in the bucket of scripts
SCRIPT = "import tidemark.glue_job.crawl.crawl as _crawl\n\n_crawl.crawl_targets()\n"
STATES = {"SUCCEEDED": "SUCCEEDED", "STOPPED": "CANCELLED"}
# What a crawl here does anyway, or what changes nothing of its tables.
ALLOWED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "SchemaChangePolicy": {
        "UpdateBehavior": ("UPDATE_IN_DATABASE",),
        "DeleteBehavior": ("LOG", "DEPRECATE_IN_DATABASE"),
    },
    "RecrawlPolicy": {"RecrawlBehavior": ("CRAWL_EVERYTHING",)},
    "LineageConfiguration": {"CrawlerLineageSettings": ("DISABLE",)},
    "LakeFormationConfiguration": {"UseLakeFormationCredentials": ("False",)},
}
ON_AWS_ONLY = {
    "Classifiers": "a crawl here tells csv, json, parquet, orc and avro",
    "Schedule": "start the crawler by StartCrawler",
}
OF_TARGET = ("Path", "SampleSize")
OF_OUTPUT = {  # of Configuration
    "Partitions": {"AddOrUpdateBehavior": "InheritFromTable"},
    "Tables": {"AddOrUpdateBehavior": "MergeNewColumns"},
}


def crawl_job(name: str) -> JobDefinition:
    """Return the job whose runs are the crawls of a crawler."""
    properties = {
        "Command": {"Name": SPARK, "ScriptLocation": f"s3://{SCRIPTS}/{KEY}"},
        "GlueVersion": own_glue_version(),  # no other Spark has to be installed for a crawl
        "NonOverridableArguments": {BOOKMARK_OPTION: DISABLE},
    }
    return runnable_job(CRAWLER + name, properties)


def arguments_of_crawl(entity: Entity) -> dict[str, str]:
    """Return the argument that names the folders, the database and the prefix of tables."""
    definition = entity.definition
    crawl = {
        "crawler": entity.name,
        "database": definition["DatabaseName"],
        "prefix": definition.get("TablePrefix", ""),
        "paths": [target["Path"] for target in definition["Targets"]["S3Targets"]],
    }
    return {"--crawl": json.dumps(crawl)}


def crawl_state(state: str) -> str:
    """Return the state of a crawl by that of its run, once it has ended."""
    return STATES.get(state, "FAILED")


def check_crawler(definition: Mapping[str, Any]) -> None:
    """Refuse a crawler that asks for what a crawl of this machine does not do."""
    if faults := list(_faults(definition)):
        raise InvalidInputError("; ".join(faults))


def _faults(definition: Mapping[str, Any]) -> Iterator[str]:
    if not definition.get("DatabaseName"):
        yield "DatabaseName is missing: name the database of the tables"
    for member, why in ON_AWS_ONLY.items():
        if definition.get(member):
            yield f"{member} is on AWS only: {why}"
    for name, members in ALLOWED.items():
        for member, allowed in members.items():
            value = str(definition.get(name, {}).get(member, allowed[0]))
            if value not in allowed:
                yield f"{name}.{member} is {value}; allowed here: {', '.join(allowed)}"
    yield from _faults_of_targets(definition.get("Targets", {}))
    yield from _faults_of_configuration(definition.get("Configuration") or "{}")


def _faults_of_targets(targets: Mapping[str, Any]) -> Iterator[str]:
    kinds = sorted(kind for kind, of_kind in targets.items() if of_kind)
    if kinds != ["S3Targets"]:
        yield f"Targets has {', '.join(kinds) or 'none'}; a crawl here has S3Targets alone"
    for target in targets.get("S3Targets", []):
        if others := sorted(name for name in target if target[name] and name not in OF_TARGET):
            yield f"S3Targets has {', '.join(others)}; here a target has {' and '.join(OF_TARGET)}"
        if not target.get("Path", "").removeprefix("s3://").strip("/"):
            yield f"Path is {target.get('Path', '')!r}; allowed: s3://BUCKET/FOLDER/"


def _faults_of_configuration(text: str) -> Iterator[str]:
    try:
        configuration = json.loads(text)
        output = configuration.get("CrawlerOutput", {}).items()
    except (ValueError, AttributeError):
        yield f"Configuration is {text!r}; it is a JSON object, with CrawlerOutput as one"
        return
    others = sorted(configuration.keys() - {"Version", "CrawlerOutput"})
    others += [part for part, value in output if OF_OUTPUT.get(part) != value]
    if others:
        yield f"Configuration has {', '.join(others)}; allowed here: {json.dumps(OF_OUTPUT)}"
