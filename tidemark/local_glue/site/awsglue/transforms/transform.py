"""GlueTransform: the base of Glue's transforms."""

from typing import Any

from tidemark.local_glue.unsupported.refusals import install


class GlueTransform:
    """A transform; ``apply`` is how scripts call it."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Return what the transform makes of its arguments; see ``__call__``."""
        transform: Any = cls()
        return transform(*args, **kwargs)


install(__name__)
