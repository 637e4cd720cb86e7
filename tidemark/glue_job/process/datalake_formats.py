"""Jars of Iceberg, Hudi and Delta Lake, which Glue brings and open-source Spark does not.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-datalake-native-frameworks.html
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.sparks.installed import Spark

ARGUMENT = "--datalake-formats"
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
# Iceberg's classes for AWS -> the classes that do the same in a lake of folders.
GLUE_CATALOG = "org.apache.iceberg.aws.glue.GlueCatalog"
INSTEAD = {
    GLUE_CATALOG: "org.apache.iceberg.hadoop.HadoopCatalog",
    "org.apache.iceberg.aws.s3.S3FileIO": "org.apache.iceberg.hadoop.HadoopFileIO",
    "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager": (
        "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
    ),
    "org.apache.iceberg.aws.glue.DynamoLockManager": (
        "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
    ),
}
CATALOG = "spark.sql.catalog."


def datalake_jars(
    job: str, arguments: Mapping[str, str], given: Sequence[Path], spark: Spark
) -> list[Path]:
    """Return the jars to add for ``--datalake-formats``, next to the given ones."""
    added: list[Path] = []
    spark_jars = spark.home / "jars"
    for name in filter(None, (one.strip() for one in arguments.get(ARGUMENT, "").split(","))):
        if name not in CLASSES:
            raise UsageError(
                f"job {job} has {ARGUMENT} {name!r}; allowed are {', '.join(CLASSES)}, separated "
                "by commas"
            )
        if _has(CLASSES[name], [*given, *spark_jars.glob(f"*{name}*.jar")]):
            continue
        wheel = _wheel_jars() if name == "iceberg" and spark.line == "3.5" else []
        if not wheel:
            wanted = JARS.get(spark.line, {}).get(name, name)
            raise UnsupportedError(
                f"job {job} has {ARGUMENT} {name}, and open-source Spark {spark.version} "
                f"lacks its jar: put {wanted}-….jar into {spark_jars}, or name it in "
                "--extra-jars"
            )
        added += wheel
    return added


def _has(class_file: str, jars: Iterable[Path]) -> bool:
    for jar in jars:
        try:
            with ZipFile(jar) as archive:
                if class_file in archive.NameToInfo:
                    return True
        except (BadZipFile, OSError):
            continue
    return False


def _wheel_jars() -> list[Path]:
    spec = find_spec(ICEBERG_WHEEL)
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else None
    return list(folder.glob(ICEBERG_JARS)) if folder else []


def local_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return local settings for Iceberg catalogs that are set to services of AWS.

    A catalog of Glue becomes a catalog of folders below its warehouse: its tables are not in the
    Data Catalog.
    """
    changed: dict[str, str] = {}
    for name, value in settings.items():
        if name.startswith(CATALOG):
            if value in INSTEAD:
                changed[name] = INSTEAD[value]
            elif name.endswith(".type") and value == "glue":
                changed[name] = "hadoop"
    return changed
