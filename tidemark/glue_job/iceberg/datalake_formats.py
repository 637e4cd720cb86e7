"""Jars of Iceberg, Hudi and Delta Lake, which Glue brings and open-source Spark does not.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-datalake-native-frameworks.html
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.iceberg.jar import has_class
from tidemark.local_state.sparks.installed import Spark
from tidemark.model.assembly.iceberg import DATALAKE_FORMATS, FORMAT, table_formats

# Format -> a class that its jar has.
CLASSES = {
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
ICEBERG_WHEEL, ICEBERG_JARS = (
    "snowpark_connect_deps_iceberg",
    "iceberg-spark-runtime-3.5_2.12-*.jar",
)
JAR_VARIABLE = "TIDEMARK_ICEBERG_JAR"  # names another jar of Iceberg
# Iceberg needs its own Jackson; a newer version of the wheel leaves it out.
OWN_JACKSON = "org/apache/iceberg/shaded/com/fasterxml/jackson/databind/ObjectMapper.class"


def datalake_jars(
    job: str, arguments: Mapping[str, str], given: Sequence[Path], spark: Spark
) -> list[Path]:
    """Return the jars for ``--datalake-formats``, next to the given ones."""
    added: list[Path] = []
    spark_jars = spark.home / "jars"
    for name in table_formats(arguments):
        if name not in CLASSES:
            raise UsageError(
                f"job {job} has {DATALAKE_FORMATS} {name!r}; allowed are {', '.join(CLASSES)}, "
                "separated by commas"
            )
        if has_class(CLASSES[name], given):
            continue
        of_spark = [
            jar for jar in spark_jars.glob(f"*{name}*.jar") if has_class(CLASSES[name], [jar])
        ]
        installed = of_spark or (_iceberg_jars(spark) if name == FORMAT else [])
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
    wanted = JARS.get(spark.line, {}).get(name, name)
    install = name == FORMAT and spark.line == "3.5"
    first = "run `pip install 'tidemark-glue[iceberg]'`, or " if install else ""
    return (
        f"job {job} has {DATALAKE_FORMATS} {name}, and open-source Spark {spark.version} lacks its "
        f"jar: {first}put {wanted}-….jar into {spark.home / 'jars'}, or name it in --extra-jars"
    )


def _iceberg_jars(spark: Spark) -> list[Path]:
    found: list[Path] = []
    if named := os.environ.get(JAR_VARIABLE):
        found = [Path(named).absolute()]  # a run has its own working folder
    elif spark.line == "3.5" and (wheel := find_spec(ICEBERG_WHEEL)) and wheel.origin:
        found = list((Path(wheel.origin).parent / "jars").glob(ICEBERG_JARS))
    for jar in found:
        if not has_class(CLASSES[FORMAT], [jar]):
            raise UsageError(f"{JAR_VARIABLE} names {jar}, which is not a jar of Iceberg for Spark")
        if not has_class(OWN_JACKSON, [jar]):
            raise UsageError(
                f"{jar} lacks a part of Iceberg, its own Jackson: run `pip install "
                f"snowpark-connect-deps-iceberg==1.0.2`, or name a complete jar in {JAR_VARIABLE}"
            )
    return found
