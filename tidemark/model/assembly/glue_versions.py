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
        runs_here: whether its jobs run on this machine, on the Spark that is installed.
    """

    python: tuple[int, int]
    spark: str
    is_declarable: bool
    runs_here: bool


GLUE_VERSIONS = {
    "5.0": GlueVersion((3, 11), "3.5.4", is_declarable=True, runs_here=True),
    "5.1": GlueVersion((3, 11), "3.5.6", is_declarable=True, runs_here=True),
    "6.0": GlueVersion((3, 13), "4.1.1", is_declarable=True, runs_here=False),
}
DEFAULT_GLUE_VERSION = "5.1"  # of a job that names none
DECLARABLE = tuple(name for name, version in GLUE_VERSIONS.items() if version.is_declarable)
RUN_HERE = tuple(name for name, version in GLUE_VERSIONS.items() if version.runs_here)
