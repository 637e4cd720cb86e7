"""What two runs would share although each has its own copy of a home: databases, and endpoints."""

import re
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import UsageError

OPTION = "--with-databases"
# How scripts write to what no copy of a home holds; a table by its connection is not seen. Reads
# are left alone: two of them change nothing.
NEAR = ".{0,400}?"  # within one call, over its lines
TYPES = "jdbc|mysql|postgresql|oracle|sqlserver|redshift|snowflake|mongo\\w*|documentdb|opensearch"
TYPES += "|bigquery|kafka|kinesis|custom\\.\\w+|marketplace\\.\\w+"
WRITES = re.compile(
    rf"(\bwrite(?:Stream|To)?\b{NEAR}\b(?:{TYPES})\b"
    rf"|\bwrite\w*\.?from_options\b{NEAR}\b(?:{TYPES})\b|\bwrite\w*\.?from_jdbc_conf\b"
    rf"|\bgetSink\b{NEAR}\b(?:{TYPES})\b"
    r"|\bupsert_jdbc\b|\bpsycopg\w*|\bpymysql\b|\boracledb\b|\bpyodbc\b|\bsqlalchemy\b)",
    re.IGNORECASE | re.DOTALL,
)
ENDPOINTS = "AWS_ENDPOINT_URL"


def refuse_shared(scripts: Mapping[str, Path], environment: Mapping[str, str]) -> None:
    """Raise if both versions would write to the same database or to the same service.

    Raises:
        UsageError: a script writes to a database, or a variable names the endpoint of a service,
            such as a DynamoDB that keeps the watermarks of the home itself.
    """
    if found := shared_by_both(scripts, environment):
        raise UsageError(
            f"both versions would use the same, and could change it twice: {'; '.join(found)}; let "
            f"the script and its environment use only the lake, or accept it with {OPTION}"
        )


def shared_by_both(scripts: Mapping[str, Path], environment: Mapping[str, str]) -> list[str]:
    """Return what both versions would use at once: endpoints, and databases by the lines."""
    found = [f"{name} is set" for name in sorted(environment) if name.startswith(ENDPOINTS)]
    for name, script in scripts.items():
        text = script.read_text(encoding="utf-8", errors="replace")
        found += [f"{name}:{line} writes to a database" for line in _lines(text)]
    return found


def _lines(text: str) -> list[int]:
    """Return the lines of the calls that write to a database."""
    code = re.sub(r"(?m)#.*$", "", text)
    return sorted({code.count("\n", 0, found.start()) + 1 for found in WRITES.finditer(code)})
