"""DropNullFields: removes fields that have no value."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class DropNullFields(Described, GlueTransform):
    """Drops the fields that are null in every record."""

    __call__ = frame_method(DynamicFrame._drop_null_fields)
