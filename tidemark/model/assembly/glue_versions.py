"""The versions of Glue: their contents, which can be declared, and which run on this machine.

Source: https://docs.aws.amazon.com/glue/latest/dg/release-notes.html
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class GlueVersion:
    """The contents of a version of Glue for Spark jobs.

    Attributes:
        python: major and minor version of Python.
        spark: version of Spark.
        is_declarable: whether a job of this toolkit's constructs may have it.
        pyspark: version of PySpark that runs its jobs on this machine; None if none does.
    """

    python: tuple[int, int]
    spark: str
    is_declarable: bool
    pyspark: str | None


GLUE_VERSIONS = {
    "5.0": GlueVersion((3, 11), "3.5.4", is_declarable=True, pyspark="3.5.6"),
    "5.1": GlueVersion((3, 11), "3.5.6", is_declarable=True, pyspark="3.5.6"),
    "6.0": GlueVersion((3, 13), "4.1.1", is_declarable=True, pyspark="4.1.1"),
}
DEFAULT_GLUE_VERSION = "5.1"  # of what this toolkit declares
# Jobs "created without specifying a Glue version default to Glue 6.0".
# Source: https://docs.aws.amazon.com/glue/latest/webapi/API_Job.html
UNNAMED_GLUE_VERSION = "6.0"
AUTO = "auto"  # AWS upgrades the job
NEWEST = max(GLUE_VERSIONS, key=float)
DECLARABLE = tuple(name for name, version in GLUE_VERSIONS.items() if version.is_declarable)
RUN_HERE = tuple(name for name, version in GLUE_VERSIONS.items() if version.pyspark)


def version_of_run(stated: str | None) -> str:
    """Return the version that a run has of a job that states this one, which is never `auto`.

    AWS starts a job with `auto` on a version of its choice; here that is the newest.
    """
    if stated == AUTO:
        return NEWEST
    return UNNAMED_GLUE_VERSION if stated is None else stated
