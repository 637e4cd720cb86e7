"""UnnestFrame: nested fields as columns."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class UnnestFrame(Described, GlueTransform):
    """Turns the fields of structs into columns."""

    __call__ = frame_method(DynamicFrame.unnest)
