"""UnnestFrame: nested fields as columns."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.signatures import frame_method


class UnnestFrame(Described, GlueTransform):
    """Makes columns of the fields of structs."""

    __call__ = frame_method(DynamicFrame.unnest)
