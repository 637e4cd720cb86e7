"""What two runs would share although each has its own copy of a home: databases, and endpoints."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidemark.errors import UsageError

OPTION = "--with-databases"
# Words of scripts that reach what no copy of a home holds; a table by its connection is not seen.
WORDS = re.compile(
    r"\b(?:\w*jdbc\w*|psycopg\w*|pymysql|oracledb|pyodbc|sqlalchemy|redshift\w*|snowflake\w*"
    r"|mongo\w*|documentdb|opensearch\w*|elasticsearch\w*|bigquery|kafka\w*|kinesis\w*)\b",
    re.IGNORECASE,
)
ENDPOINTS = "AWS_ENDPOINT_URL"


def refuse_shared(scripts: Iterable[Path], environment: Mapping[str, str]) -> None:
    """Raise if both versions would write to the same database or to the same service.

    Raises:
        UsageError: a script names a database, or a variable names the endpoint of a service, such
            as a DynamoDB that keeps the watermarks of the home itself.
    """
    found = [f"{name} is set" for name in sorted(environment) if name.startswith(ENDPOINTS)]
    for script in scripts:
        text = script.read_text(encoding="utf-8", errors="replace")
        if words := sorted(set(WORDS.findall(text))):
            found.append(f"{script.name} names {', '.join(words)}")
    if found:
        raise UsageError(
            f"both versions would use the same, and could change it twice: {'; '.join(found)}; let "
            f"the script and its environment use only the lake, or accept it with {OPTION}"
        )
