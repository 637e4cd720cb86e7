"""Union: the rows of two frames."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class Union(Described, GlueTransform):
    """Combines the rows of two frames."""

    __call__ = frame_method(DynamicFrame.union, "frame1", other_frame="frame2")
