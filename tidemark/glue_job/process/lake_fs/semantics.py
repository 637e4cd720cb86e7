"""What a bucket of the lake is for Spark: a folder of this machine, or objects as S3 has them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.machine.processes import is_running

VARIABLE = "TIDEMARK_LAKE_SEMANTICS"
PROPERTY = "tidemark.lake.semantics"  # of Hadoop
FOLDER, S3 = "folder", "s3"
COMMITTER = "dev.tidemark.lake.UploadCommitter"
DIRECT_COMMITTER = "dev.tidemark.lake.DirectCommitter"
COMMITTER_OF_PARQUET = "spark.sql.parquet.output.committer.class"
# EMR's property, which also scripts set.
# Source: https://docs.aws.amazon.com/emr/latest/ReleaseGuide/emr-spark-committer-reqs.html
OPTIMIZED = "spark.sql.parquet.fs.optimized.committer.optimization-enabled"
JVM_PREFIX = "jvm-"  # of the folders of uploads, which end with the id of the process


def semantics_of(environment: Mapping[str, str]) -> str:
    """Return the semantics that the environment of a command asks for.

    Example: semantics_of({"TIDEMARK_LAKE_SEMANTICS": "s3"}) is "s3".
    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel
    """
    semantics = environment.get(VARIABLE) or FOLDER
    if semantics not in (FOLDER, S3):
        raise UsageError(f"{VARIABLE} is {semantics!r}; allowed: {FOLDER}, {S3}; set one of them")
    return semantics


def semantics_settings(semantics: str) -> dict[str, str]:
    """Return the Spark settings for a lake with these semantics: S3's come with its committers."""
    if semantics != S3:
        return {}
    return {f"spark.hadoop.{PROPERTY}": semantics, COMMITTER_OF_PARQUET: COMMITTER}


def direct_options(semantics: str) -> dict[str, str]:
    """Return the options with which a DataFrame is written as the sinks of DynamicFrames write.

    In a configuration of Hadoop without the setting, the semantics are a variable without a value.
    """
    if semantics != S3:
        return {}
    named = "mapreduce.outputcommitter.named.classname"
    factory = "org.apache.hadoop.mapreduce.lib.output.NamedCommitterFactory"
    return {
        COMMITTER_OF_PARQUET: DIRECT_COMMITTER,
        "mapreduce.outputcommitter.factory.class": factory,
        named: DIRECT_COMMITTER,
    }


def delete_dead_uploads(uploads: Path) -> None:
    """Delete what JVMs that have ended were writing."""
    for folder in uploads.glob(f"{JVM_PREFIX}*"):
        if not is_of_running_jvm(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_of_running_jvm(folder: Path) -> bool:
    """Return whether a folder of uploads is that of a JVM that runs."""
    number = folder.name.removeprefix(JVM_PREFIX)
    return folder.name.startswith(JVM_PREFIX) and number.isdecimal() and is_running(int(number))
