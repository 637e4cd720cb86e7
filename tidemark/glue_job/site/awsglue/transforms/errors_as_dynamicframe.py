"""ErrorsAsDynamicFrame: the records that could not be processed."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class ErrorsAsDynamicFrame(Described, GlueTransform):
    """Gets the error records of a frame."""

    def __call__(
        self,
        frame: DynamicFrame,
    ) -> DynamicFrame:
        """Return them; see `DynamicFrame.errorsAsDynamicFrame`."""
        return frame.errorsAsDynamicFrame()


install(__name__)
