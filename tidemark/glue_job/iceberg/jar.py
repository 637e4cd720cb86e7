"""Compiles the classes that stand in for Iceberg's classes for AWS, under the same names."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from tidemark.glue_job.process.lake_fs.jar import alias, compiled, jar_name, lake_jar, write_jar
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.sparks.installed import Spark
from tidemark.model.assembly.iceberg import FILE_IO, GLUE_CATALOG

CATALOG = "dev.tidemark.catalog.IcebergCatalog"
# Ours, those that others use first.
CLASSES = ("IcebergOperations", "IcebergCatalog", "SessionCatalog")
# Names on AWS -> what they are here. Iceberg's own need AWS's SDK for Java.
NAMES_ON_AWS = {
    GLUE_CATALOG: CATALOG,
    FILE_IO: "org.apache.iceberg.hadoop.HadoopFileIO",
}


def format_jars(java_home: Path, spark: Spark) -> list[Path]:
    """Return the jars of Iceberg for the class path of a JVM, ours before them.

    Ours is compiled if it is missing.
    """
    if not spark.format_jars:
        return []
    sources = _sources()
    parts = (jar_name(spark), *map(str, spark.format_jars), *sources)
    ours = FOLDER / f"iceberg-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}.jar"
    if not ours.is_file():
        jars = [lake_jar(java_home, spark), *spark.format_jars]
        write_jar(ours, dict(compiled(sources, java_home, spark, jars)))
    return [ours, *spark.format_jars]


def _sources() -> list[str]:
    own = [Path(__file__).with_name(f"{name}.java").read_text(encoding="utf-8") for name in CLASSES]
    return [*own, *(alias(name, here) for name, here in NAMES_ON_AWS.items())]


def has_class(class_file: str, jars: Sequence[Path]) -> bool:
    """Return whether one of several jars has a class, such as `org/x/Y.class`."""
    for jar in jars:
        try:
            with ZipFile(jar) as archive:
                if class_file in archive.NameToInfo:
                    return True
        except (BadZipFile, OSError):
            continue
    return False
