"""Map: applies a function to each record."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Map(Described, GlueTransform):
    """Applies a function to each record."""

    __call__ = frame_method(DynamicFrame.map)
