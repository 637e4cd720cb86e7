"""Unbox: parses a string field into the record that it holds."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Unbox(Described, GlueTransform):
    """Unboxes a string field."""

    __call__ = frame_method(DynamicFrame.unbox)
