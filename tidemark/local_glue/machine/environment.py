"""What a process of a job run may inherit from the environment of the command that starts it."""

import os

# The caller's Spark, Hadoop, Python path and AWS identity are not the job's.
FOREIGN_PREFIXES = (
    *("SPARK_", "PYSPARK_", "HADOOP_", "HIVE_CONF_", "YARN_CONF_", "PYTHON", "AWS_", "JSII_"),
    "CDK_",
)


def inherited() -> dict[str, str]:
    """Return the variables of this process that its job processes and JVMs get too."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN_PREFIXES) or name.startswith("AWS_ENDPOINT_URL")
    }
