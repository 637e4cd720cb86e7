"""ErrorsAsDynamicFrame: the records that could not be processed."""

from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.local_glue.frames.descriptions import arguments, result, summary
from tidemark.local_glue.unsupported.refusals import install


class ErrorsAsDynamicFrame(GlueTransform):
    """Gets the error records of a frame."""

    def __call__(
        self,
        frame: DynamicFrame,
    ) -> DynamicFrame:
        """Return them; see `DynamicFrame.errorsAsDynamicFrame`."""
        return frame.errorsAsDynamicFrame()

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:
        """Return the arguments."""
        return arguments(cls)

    @classmethod
    def describeTransform(cls) -> str:
        """Return what the transform does."""
        return summary(cls)

    @classmethod
    def describeErrors(cls) -> list[dict[str, Any]]:
        """Return no errors, as on AWS."""
        return []

    @classmethod
    def describeReturn(cls) -> dict[str, Any]:
        """Return the type and the description of the result."""
        return result(cls)


install(__name__)
