"""GlueTransform: the base of Glue's transforms.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-GlueTransform.html
"""

from typing import Any


def _missing(transform: "type[GlueTransform]", method: str) -> NotImplementedError:
    return NotImplementedError(f"{method} method not implemented for Transform {transform.name()}")


class GlueTransform:
    """A transform; scripts call it by ``apply``, and derive their own transforms."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the transform; see ``__call__`` for its arguments."""
        transform: Any = cls()
        return transform(*args, **kwargs)

    @classmethod
    def name(cls) -> str:
        """Return the name of the transform."""
        return cls.__name__

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:
        """Return the arguments: name, type, description, optional and defaultValue of each.

        Raises:
            NotImplementedError: the transform has none; the other descriptions raise it too.
        """
        raise _missing(cls, "describeArgs")

    @classmethod
    def describeReturn(cls) -> dict[str, Any]:
        """Return the type and the description of the result."""
        raise _missing(cls, "describeReturn")

    @classmethod
    def describeTransform(cls) -> str:
        """Return what the transform does."""
        raise _missing(cls, "describeTransform")

    @classmethod
    def describeErrors(cls) -> list[dict[str, Any]]:
        """Return the errors that it raises."""
        raise _missing(cls, "describeErrors")

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return all descriptions."""
        return {
            "transform": {
                "name": cls.name(),
                "args": cls.describeArgs(),
                "returns": cls.describeReturn(),
                "description": cls.describeTransform(),
                "raises": cls.describeErrors(),
                "location": "internal",
            }
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"<Transform: {self.name()}>"
