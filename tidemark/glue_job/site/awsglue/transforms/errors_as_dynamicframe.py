"""ErrorsAsDynamicFrame: the records that could not be processed."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class ErrorsAsDynamicFrame(Described, GlueTransform):
    """Gets the error records of a frame."""

    __call__ = frame_method(DynamicFrame.errorsAsDynamicFrame)
