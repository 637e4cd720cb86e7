"""Glue's transforms of Spark DataFrames."""

from awsglue.dataframe_transforms.apply_mapping import ApplyMapping

ALL_TRANSFORMS = {ApplyMapping}

__all__ = ["ApplyMapping"]
