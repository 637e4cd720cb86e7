"""ApplyMapping of a DataFrame: columns with other names and types."""

from typing import Any

from pyspark.sql import DataFrame

from tidemark.glue_job.frames.mapping import apply_mapping, full_mappings


class ApplyMapping:
    """Maps columns of a DataFrame."""

    @staticmethod
    def apply(frame: DataFrame, mappings: Any) -> DataFrame:
        """Return the mapped columns; see `frames.mapping.full_mappings` for the tuples.

        Raises:
            UsageError: a mapping is not such a tuple, or its column cannot be converted.
        """
        return apply_mapping(frame, full_mappings(frame, mappings))

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:
        """Return the arguments."""
        return [
            _argument("frame", "DataFrame", "the DataFrame to map"),
            _argument("mappings", "List", "source, source type, target and target type of each"),
        ]

    @classmethod
    def describeTransform(cls) -> str:
        """Return what the transform does."""
        return "Maps columns of a DataFrame."

    @classmethod
    def describeErrors(cls) -> list[dict[str, Any]]:
        """Return no errors, as on AWS."""
        return []

    @classmethod
    def describeReturn(cls) -> dict[str, Any]:
        """Return the type and the description of the result."""
        return {"type": "DataFrame", "description": "DataFrame after the transform"}


def _argument(name: str, kind: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "description": description,
        "optional": False,
        "defaultValue": None,
    }
