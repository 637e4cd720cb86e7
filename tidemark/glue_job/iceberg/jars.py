"""Jars of Iceberg, Hudi and Delta Lake, which Glue brings and open-source Spark does not.

The classes that stand in for Iceberg's classes for AWS, under the same names, are compiled.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-datalake-native-frameworks.html
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.process.lake_fs.jar import alias, compiled, jar_name, lake_jar, write_jar
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.sparks.installed import Spark
from tidemark.model.assembly.iceberg import (
    DATALAKE_FORMATS,
    FILE_IO,
    FORMAT,
    GLUE_CATALOG,
    table_formats,
)

CATALOG = "dev.tidemark.catalog.IcebergCatalog"
# Ours, those that others use first.
JAVA_CLASSES = ("IcebergOperations", "IcebergCatalog", "SessionCatalog")
# Names on AWS -> what they are here. Iceberg's own need AWS's SDK for Java.
NAMES_ON_AWS = {GLUE_CATALOG: CATALOG, FILE_IO: "org.apache.iceberg.hadoop.HadoopFileIO"}


def format_jars(java_home: Path, spark: Spark) -> list[Path]:
    """Return the jars of Iceberg for the class path of a JVM, ours before them.

    Ours is compiled if it is missing.
    """
    if not spark.format_jars:
        return []
    files = (Path(__file__).with_name(f"{name}.java") for name in JAVA_CLASSES)
    sources = [file.read_text(encoding="utf-8") for file in files]
    sources += (alias(name, here) for name, here in NAMES_ON_AWS.items())
    parts = (jar_name(spark), *map(str, spark.format_jars), *sources)
    ours = FOLDER / f"iceberg-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}.jar"
    if not ours.is_file():
        jars = [lake_jar(java_home, spark), *spark.format_jars]
        write_jar(ours, dict(compiled(sources, java_home, spark, jars)))
    return [ours, *spark.format_jars]


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


CLASSES = {  # format -> a class that its jar has
    "iceberg": "org/apache/iceberg/spark/SparkCatalog.class",
    "hudi": "org/apache/hudi/common/model/HoodieRecord.class",
    "delta": "io/delta/sql/DeltaSparkSessionExtension.class",
}
# Version of PySpark's line -> format -> the name of the jar.
JARS = {
    "3.5": {
        "iceberg": "iceberg-spark-runtime-3.5_2.12",
        "hudi": "hudi-spark3.5-bundle_2.12",
        "delta": "delta-spark_2.12",
    },
    "4.1": {
        "iceberg": "iceberg-spark-runtime-4.1_2.13",
        "hudi": "hudi-spark4.1-bundle_2.13",
        "delta": "delta-spark_4.1_2.13",
    },
}
# A wheel with Iceberg's jar for Spark 3.5; used if it is installed.
ICEBERG_WHEEL = "snowpark_connect_deps_iceberg"
JAR_VARIABLE = "TIDEMARK_ICEBERG_JAR"  # names another jar of Iceberg
# Iceberg needs its own Jackson; a newer version of the wheel leaves it out.
OWN_JACKSON = "org/apache/iceberg/shaded/com/fasterxml/jackson/databind/ObjectMapper.class"


def datalake_jars(
    job: str, arguments: Mapping[str, str], given: Sequence[Path], spark: Spark
) -> list[Path]:
    """Return the jars for ``--datalake-formats``, next to the given ones."""
    added: list[Path] = []
    for name in table_formats(arguments):
        if name not in CLASSES:
            raise UsageError(
                f"job {job} has {DATALAKE_FORMATS} {name!r}; allowed are {', '.join(CLASSES)}, "
                "separated by commas"
            )
        if has_class(CLASSES[name], given):
            continue
        jars = (spark.home / "jars").glob(f"*{name}*.jar")
        installed = [jar for jar in jars if has_class(CLASSES[name], [jar])]
        if name == FORMAT and not installed:
            installed = _iceberg_jars(spark)
        if not installed:
            raise UnsupportedError(_missing(job, name, spark))
        added += installed
    return added


@cache  # the engine asks at each of its steps
def spark_with(formats: str, spark: Spark) -> Spark:
    """Return a Spark with the jars that its JVM needs for ``--datalake-formats``, if they exist."""
    try:
        jars = datalake_jars("", {DATALAKE_FORMATS: formats}, [], spark) if formats else []
    except TidemarkError:  # its run says so
        jars = []
    return replace(spark, format_jars=iceberg_jars(jars)) if jars else spark


def iceberg_jars(jars: Iterable[Path]) -> tuple[Path, ...]:
    """Return the jars that are on the JVM's own class path, with what stands in for AWS there."""
    return tuple(jar for jar in jars if has_class(CLASSES[FORMAT], [jar]))


def _missing(job: str, name: str, spark: Spark) -> str:
    jar = JARS.get(spark.line, {}).get(name, name)
    install = name == FORMAT and spark.line == "3.5"
    first = "run `pip install 'tidemark-glue[iceberg]'`, or " if install else ""
    return (
        f"job {job} has {DATALAKE_FORMATS} {name}, and open-source Spark {spark.version} lacks its "
        f"jar: {first}put {jar}-….jar into {spark.home / 'jars'}, or name it in --extra-jars"
    )


def _iceberg_jars(spark: Spark) -> list[Path]:
    jars: list[Path] = []
    if named := os.environ.get(JAR_VARIABLE):
        jars = [Path(named).absolute()]  # a run has its own working folder
    elif spark.line == "3.5" and (wheel := find_spec(ICEBERG_WHEEL)) and wheel.origin:
        jars = list((Path(wheel.origin).parent / "jars").glob(f"{JARS['3.5'][FORMAT]}-*.jar"))
    for jar in jars:
        if not has_class(CLASSES[FORMAT], [jar]):
            raise UsageError(f"{JAR_VARIABLE} names {jar}, which is not a jar of Iceberg for Spark")
        if not has_class(OWN_JACKSON, [jar]):
            raise UsageError(
                f"{jar} lacks a part of Iceberg, its own Jackson: run `pip install "
                f"snowpark-connect-deps-iceberg==1.0.2`, or name a complete jar in {JAR_VARIABLE}"
            )
    return jars
