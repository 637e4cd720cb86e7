"""Processes: the variables that those of job runs inherit, and whether one is there."""

import os
import re

# The caller's Spark, Hadoop, Python path and AWS identity are not the job's.
FOREIGN_PREFIXES = tuple(
    "SPARK_ PYSPARK_ HADOOP_ HIVE_CONF_ YARN_CONF_ PYTHON AWS_ JSII_ CDK_".split()
)
LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")  # the first that is set counts
UTF_8 = re.compile(r"utf-?8\b", re.IGNORECASE)


def inherited() -> dict[str, str]:
    """Return the variables of this process that its job processes and JVMs get too.

    As on Glue, text is UTF-8, also under cron, where Java finds no file whose name is not ASCII.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN_PREFIXES) or name.startswith("AWS_ENDPOINT_URL")
    }
    # Where it is missing, as under cron, only the shell that starts a cold JVM would set it: a job
    # must not see whether its JVM is warm.
    variables.setdefault("SHLVL", "1")
    # It would unset the prompt of an activated environment.
    variables.pop("PS1", None)
    locale = next((variables[name] for name in LOCALE if variables.get(name)), "")
    return variables if UTF_8.search(locale) else variables | {"LC_ALL": "C.UTF-8"}


def is_running(pid: int) -> bool:
    """Return whether a process with this id runs; it may be another than the one that had it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
