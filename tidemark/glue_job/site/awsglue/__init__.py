"""The awsglue Python API on open-source Spark.

Differs from AWS: what this machine does not run can be imported, and raises UnsupportedError, a
NotImplementedError, where a script uses it: see `tidemark.model.awsglue_api.not_yet`.
"""

from awsglue.dynamicframe import DynamicFrame
from tidemark.glue_job.refusals import install_finder

install_finder()

__all__ = ["DynamicFrame"]
