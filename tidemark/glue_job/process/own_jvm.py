"""Decides whether a job run may borrow a JVM or needs its own; plain data only."""

import re
from collections.abc import Mapping

# spark-submit or the JVM itself reads these at its start; Spark keeps the first values of sql.
JVM_SETTINGS = re.compile(
    r"spark\.(driver\.(memory|cores|extra|default|user|supervise|resource|log).*"
    r"|(connect|jars|submit|files|archives|pyspark|kerberos|yarn|kubernetes|mesos)(\..*)?"
    r"|python\.use\.daemon"
    r"|sql\.(cache\.serializer|hive\.metastore\..*|codegen\.cache\.maxEntries"
    r"|(broadcastExchange|subquery)\.maxThreadThreshold))"
)
# Environment variables that a JVM, or the script that starts it, reads at its start.
JVM_VARIABLES = tuple(
    (
        "SPARK_ PYSPARK_ JAVA_ JDK_JAVA_OPTIONS _JAVA_OPTIONS HADOOP_ HIVE_ YARN_ TZ LANG LC_ LD_ "
        "DYLD_ MALLOC_"
    ).split()
)


def own_jvm_reason(
    settings: Mapping[str, str], before: Mapping[str, str], after: Mapping[str, str]
) -> str | None:
    """Return why a job run needs its own JVM; None if it may borrow one."""
    for name, value in settings.items():
        if JVM_SETTINGS.fullmatch(name):
            return f"{name} is set"
        if name == "spark.master" and not value.startswith("local"):
            return f"{name} is {value}"
    for name in sorted({*before, *after}):
        if name.startswith(JVM_VARIABLES) and before.get(name) != after.get(name):
            return f"the script changed the environment variable {name}"
    return None
