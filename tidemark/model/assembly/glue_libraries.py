"""The Python libraries that AWS has installed in each version of Glue for Spark jobs.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html and,
for 6.0, https://github.com/awslabs/aws-glue-libs/blob/main/base-requirements.txt
"""

import json
from functools import cache
from pathlib import Path

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
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
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
