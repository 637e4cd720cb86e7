"""ResolveChoice: one type for columns of several types."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class ResolveChoice(Described, GlueTransform):
    """Resolves the choices of a frame."""

    __call__ = frame_method(DynamicFrame.resolveChoice)
