"""ApplyMapping: fields with other names and types."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class ApplyMapping(Described, GlueTransform):
    """Maps fields: source path and type, target path and type."""

    __call__ = frame_method(DynamicFrame.apply_mapping)
