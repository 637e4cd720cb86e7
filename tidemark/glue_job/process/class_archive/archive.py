"""Locates the class archive, and the options with which a JVM uses it."""

import hashlib
import os
from pathlib import Path

from tidemark.glue_job.process.lake_fs.jar import jar_name
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.machine.java import java_major
from tidemark.local_state.sparks.installed import Spark, own_spark

# The class path of the archive and of every run begins with this folder, which must stay empty: the
# JVM requires the same class path, and no folder with files on it.
NO_CONF = FOLDER / "no-conf"


def archive_path(java_home: Path, spark: Spark | None = None) -> Path:
    """Return where the archive for a Java and the jars of a Spark is kept; it may be missing."""
    spark = spark or own_spark()
    release = java_home / "release"
    build = release.read_bytes() if release.is_file() else b""
    jars = f"{spark.version} {jar_name(spark)}"
    parts = (str(java_home.resolve()).encode(), build, jars.encode())
    code = hashlib.sha256(b"|".join(parts)).hexdigest()[:16]
    return FOLDER / f"{archive_prefix(java_home, spark)}{code}.jsa"


def archive_prefix(java_home: Path, spark: Spark) -> str:
    """Return how the names of archives for a Spark and a Java begin: ``spark-3.5.6-java-17-``."""
    return f"spark-{spark.version}-java-{java_major(java_home / 'bin' / 'java')}-"


def may_be_renewed(java_home: Path, spark: Spark) -> bool:
    """Return whether an archive is of another Tidemark or Java, so that no JVM takes it."""
    archives = list(FOLDER.glob(f"{archive_prefix(java_home, spark)}*.jsa"))
    is_old = bool(archives) and archive_path(java_home, spark) not in archives
    return is_old and os.access(FOLDER, os.W_OK)


def archive_options(java_home: Path, spark: Spark | None = None) -> list[str]:
    """Return the JVM options that use the archive; none without an archive for this Java."""
    archive = archive_path(java_home, spark)
    # Java 21 says on stdout, which is the job's, that an archive does not fit.
    quiet = "-Xlog:cds=off,cds+dynamic=off,class+path=off"
    return [f"-XX:SharedArchiveFile={archive}", quiet] if archive.is_file() else []
