"""DropNullFields: removes fields of the type null."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class DropNullFields(Described, GlueTransform):
    """Drops the fields that the schema of the frame shows as null."""

    __call__ = frame_method(DynamicFrame._drop_null_fields)
