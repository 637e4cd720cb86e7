"""Settings with which Spark passes over files that are damaged or gone, and says nothing.

Source: https://spark.apache.org/docs/3.5.6/sql-data-sources-generic-options.html
"""

import re
import sys

SETTINGS = ("ignoreCorruptFiles", "ignoreMissingFiles")
PREFIX = "spark.sql.files."
_SET = re.compile(
    rf"""\b({"|".join(SETTINGS)})["'`]?\s*[,=:]\s*(?:F\.lit\()?["']?true\b""", re.IGNORECASE
)
_COMMENT = re.compile(r"(?m)^\s*#.*$")


def settings_in(source: str) -> set[str]:
    """Return those of `SETTINGS` that a script switches on by its text.

    Example:
        >>> settings_in('spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")')
        {'ignoreCorruptFiles'}
    """
    if not any(name.lower() in source.lower() for name in SETTINGS):
        return set()
    by_lower = {name.lower(): name for name in SETTINGS}
    return {by_lower[name.lower()] for name in _SET.findall(_COMMENT.sub("", source))}


def settings_of_session() -> set[str]:
    """Return those of `SETTINGS` that are on in the session of this process, if it has one."""
    sql = sys.modules.get("pyspark.sql")
    session = sql.SparkSession.getActiveSession() if sql else None
    if session is None or session.sparkContext._jsc.sc().isStopped():
        return set()
    return {name for name in SETTINGS if session.conf.get(f"{PREFIX}{name}").lower() == "true"}
