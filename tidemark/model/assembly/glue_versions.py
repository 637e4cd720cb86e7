"""The versions of Glue: their contents, which can be declared, and which run on this machine.

Sources: https://docs.aws.amazon.com/glue/latest/dg/release-notes.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades.html
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class GlueVersion(StrEnum):
    """The version of Glue of a job; a string such as `"5.1"` means the same.

    With `AUTO`, as in `JobRuntime(glue_version=GlueVersion.AUTO, max_retries=1)`, AWS watches the
    runs of a job, asks whether it may upgrade it, and tries a failed upgraded run again on the old
    version. Such a job needs a retry, and targets to which a retry does not add rows twice.
    CloudFormation may refuse it: docs/automatic-upgrades.md.

    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades.html
    """

    V5_0 = "5.0"
    V5_1 = "5.1"
    V6_0 = "6.0"
    AUTO = "auto"


@dataclass(frozen=True)
class VersionContents:
    """The contents of a version of Glue for Spark jobs.

    Attributes:
        python: major and minor version of Python.
        spark: version of Spark.
        is_declarable: whether a job of this toolkit's constructs may have it.
        pyspark: version of PySpark that runs its jobs on this machine; None if none does.
    """

    python: tuple[int, int]
    spark: str
    is_declarable: bool
    pyspark: str | None


GLUE_VERSIONS = {
    "5.0": VersionContents((3, 11), "3.5.4", is_declarable=True, pyspark="3.5.6"),
    "5.1": VersionContents((3, 11), "3.5.6", is_declarable=True, pyspark="3.5.6"),
    "6.0": VersionContents((3, 13), "4.1.1", is_declarable=True, pyspark="4.1.1"),
}
DEFAULT_GLUE_VERSION = "5.1"  # of what this toolkit declares
# Jobs "created without specifying a Glue version default to Glue 6.0".
# Source: https://docs.aws.amazon.com/glue/latest/webapi/API_Job.html
UNNAMED_GLUE_VERSION = "6.0"
AUTO = str(GlueVersion.AUTO)
NEWEST = max(GLUE_VERSIONS, key=float)
DECLARABLE = (*(name for name, version in GLUE_VERSIONS.items() if version.is_declarable), AUTO)
RUN_HERE = tuple(name for name, version in GLUE_VERSIONS.items() if version.pyspark)

UPGRADE = "AutoUpgradeMetadata"  # member of a job with `auto`
# States of an upgrade in which runs have its target version already.
# Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-monitoring-auto-upgrades.html
ON_TARGET = ("UPGRADING", "UPGRADE_SUCCEEDED")


def version_of_run(stated: str | None) -> str:
    """Return the version that a run has of a job that states this one, which is never `auto`.

    AWS starts a job with `auto` on a version of its choice; here that is the newest.
    """
    if stated == AUTO:
        return NEWEST
    return UNNAMED_GLUE_VERSION if stated is None else stated


def version_of_job(job: Mapping[str, Any]) -> str:
    """Return the version that a run has of a job, by the members of GetJob or of a template.

    Example:
        `version_of_job({"GlueVersion": "auto", "AutoUpgradeMetadata": {"SourceVersion": "5.1",
        "TargetVersion": "6.0", "Status": "OBSERVING"}})` is `"5.1"`.
    """
    if job.get("GlueVersion") != AUTO:
        return version_of_run(job.get("GlueVersion"))
    upgrade = job.get(UPGRADE) or {}
    has_begun = upgrade.get("Status") in ON_TARGET
    before = None if has_begun else upgrade.get("SourceVersion")
    return str(before or upgrade.get("TargetVersion") or NEWEST)


# Modules that have another name than their distribution.
DISTRIBUTIONS = {
    "PIL": "pillow",
    "attr": "attrs",
    "dateutil": "python-dateutil",
    "grpc": "grpcio",
    "yaml": "PyYAML",
}


@cache
def libraries_of(glue_version: str) -> dict[str, str]:
    """Return the version of each library that a version of Glue has; empty if AWS lists none."""
    text = Path(__file__).with_name("glue_libraries.json").read_text(encoding="utf-8")
    versions: dict[str, dict[str, str]] = json.loads(text)
    return versions.get(glue_version, {})


def library_with(module: str, glue_version: str) -> tuple[str, str] | None:
    """Return the library of a version of Glue that has a module, and its version; else None.

    Example:
        `library_with("PIL", "5.1")` is `("pillow", "12.0.0")`.
    """
    name = DISTRIBUTIONS.get(module, module).lower().replace("_", "-")
    libraries = libraries_of(glue_version).items()
    return next((pair for pair in libraries if pair[0].lower().replace("_", "-") == name), None)
