"""Repartition: another number of Spark partitions."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Repartition(Described, GlueTransform):
    """Puts the rows into some Spark partitions."""

    __call__ = frame_method(DynamicFrame.repartition)
