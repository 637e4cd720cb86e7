"""Coalesce: fewer Spark partitions."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Coalesce(Described, GlueTransform):
    """Puts the rows into at most a given number of Spark partitions."""

    __call__ = frame_method(DynamicFrame.coalesce)
