"""Locates the class archive, and the options with which a JVM uses it."""

import hashlib
from pathlib import Path

from tidemark.glue_job.process.lake_fs.jar import jar_name
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.machine.java import java_major

# The class path of the archive and of every run begins with this folder, which must stay empty: the
# JVM requires the same class path, and no folder with files on it.
NO_CONF = FOLDER / "no-conf"


def archive_path(java_home: Path) -> Path:
    """Return the path of the archive for a Java and the installed jars; it may not exist."""
    from importlib.metadata import version  # a job process does not need it

    release = java_home / "release"
    build = release.read_bytes() if release.is_file() else b""
    jars = f"{version('pyspark')} {jar_name()}"
    parts = (str(java_home.resolve()).encode(), build, jars.encode())
    code = hashlib.sha256(b"|".join(parts)).hexdigest()[:16]
    return FOLDER / f"{archive_prefix(java_home)}{code}.jsa"


def archive_prefix(java_home: Path) -> str:
    """Return the prefix of archives for a version of Java: ``spark-classes-17-``."""
    return f"spark-classes-{java_major(java_home / 'bin' / 'java')}-"


def archive_options(java_home: Path) -> list[str]:
    """Return the JVM options that use the archive; empty without an archive for this Java."""
    archive = archive_path(java_home)
    # Java 21 reports an archive that does not fit on stdout, which belongs to the job.
    quiet = "-Xlog:cds=off,cds+dynamic=off,class+path=off"
    return [f"-XX:SharedArchiveFile={archive}", quiet] if archive.is_file() else []
