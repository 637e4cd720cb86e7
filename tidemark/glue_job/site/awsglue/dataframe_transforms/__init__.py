"""Glue's transforms of Spark's DataFrames."""

from awsglue.dataframe_transforms.apply_mapping import ApplyMapping
from tidemark.glue_job.refusals import install

ALL_TRANSFORMS = {ApplyMapping}

__all__ = ["ApplyMapping"]
__all__ += install(__name__)
