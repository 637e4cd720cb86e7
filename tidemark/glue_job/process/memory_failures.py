"""Recognizes that a job ran out of memory, in every form in which Spark and Python report it."""

import re
from pathlib import Path

from tidemark.model.advice import advice_of, advice_on

VMSTAT = Path("/proc/vmstat")
# The JVM writes these when Python only learns that the JVM or its SparkContext is gone.
IN_LOG = re.compile(
    r"(?:java\.lang\.OutOfMemoryError|org\.apache\.spark\.memory\.SparkOutOfMemoryError)[^\n]*"
    r"|There is insufficient memory for the Java Runtime Environment to continue[^\n]*"
    r"|Native memory allocation \([a-z]+\) failed[^\n]*"
    r"|Could not reserve enough space for[^\n]*"
)


def memory_line(log: str) -> str | None:
    """Return the first line of a JVM's log that reports a lack of memory; None without."""
    match = IN_LOG.search(log)
    return match.group(0).strip() if match else None


def memory_remedy(cause: str) -> str:
    """Return the remedy for a cause that is a lack of memory; empty for another cause."""
    advice = advice_on("memory", cause)
    return advice.says() if advice else ""


def oom_kills() -> int:
    """Return how many processes this machine has killed for lack of memory; 0 if unknown."""
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):  # such as on macOS
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def gone_remedy(kills: int) -> str:
    """Return the remedy for a JVM that has ended without a word."""
    return killed_remedy(kills) if kills > 0 else advice_of("memory")["jvm-gone"].says()


def killed_remedy(kills: int) -> str:
    """Return the remedy for a process that was killed by SIGKILL."""
    return advice_of("memory")["killed-by-the-kernel" if kills > 0 else "killed"].says()
