"""Filter: keeps the records for which a function is true."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Filter(Described, GlueTransform):
    """Keeps the records for which a function is true."""

    __call__ = frame_method(DynamicFrame.filter)
