"""The awsglue Python API on open-source Spark.

Differs from AWS: names that do not run here can be imported, and raise UnsupportedError, a
NotImplementedError, when a script uses them: see `tidemark.model.awsglue_api.not_yet`.
"""

from awsglue.dynamicframe import DynamicFrame
from tidemark.glue_job.refusals import install_finder

install_finder(DynamicFrame)

__all__ = ["DynamicFrame"]
