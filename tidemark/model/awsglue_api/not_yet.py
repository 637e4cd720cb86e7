"""What AWS's awsglue library has and the local one does not, or not all of it.

Plain data of `coverage.json`, by the names in AWS's modules and classes; a name leaves once it runs
here as on AWS. The package `awsglue` reads it, which refuses each name where a script uses it, and
the linter. A test compares it with the names of AWS's library.
Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1)
"""

import json
from pathlib import Path
from typing import Any

from tidemark.errors import UnsupportedError

TABLES: dict[str, Any] = json.loads(
    Path(__file__).with_name("coverage.json").read_text(encoding="utf-8")
)
DIFFERS = {
    f"awsglue.{owner}.{name}": difference
    for difference, owners in TABLES["differs"].items()
    for owner, names in owners.items()
    for name in names
}
"""The name of each in AWS's library, and what differs here."""

# Module -> the names in it; a class that is here in part -> the members that are not.
NOT_YET: dict[str, dict[str, list[str]]] = {**TABLES["not_yet"]}

# Visual transforms of Glue Studio: a script imports one by name and calls it as a method.
STUDIO = ("gs_intersect", "gs_lookup", "gs_unpivot")
NOT_YET |= {name: {"": [name]} for name in STUDIO}
PAGE = "docs/reference/awsglue-coverage.md"
WITH_SPARK = "convert with toDF() and use Spark"
INSTEAD: dict[str, str] = TABLES["instead"]
"""What to do instead, by a part of a name, the last one first."""


def names_of(module: str) -> list[str]:
    """Return the names of a module that do not run here, none of classes that do in part."""
    return NOT_YET.get(module, {}).get("", [])


def members_of(module: str, owner: str) -> list[str]:
    """Return the members of a class that do not run here; the class itself is here."""
    return NOT_YET.get(module, {}).get(owner, []) if owner else []


def remedy_of(name: str) -> str:
    """Return what to do instead of using a name, written with its owner."""
    parts = reversed(name.split("."))
    return next((INSTEAD[part] for part in parts if part in INSTEAD), WITH_SPARK)


def refusal(name: str) -> UnsupportedError:
    """Return the error for the use of a name, written with its owner: ``GlueContext.getSink``."""
    return UnsupportedError(f"{name} does not run locally yet; {remedy_of(name)}: see {PAGE}")
