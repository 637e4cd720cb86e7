"""The awsglue Python API on open-source Spark.

Differs from AWS: what this machine does not run raises NotImplementedError by name.
"""

from awsglue.dynamicframe import DynamicFrame

__all__ = ["DynamicFrame"]
