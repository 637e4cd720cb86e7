"""Unit tests of Glue job scripts: fixtures for pytest, and assertions about incremental jobs.

The fixtures are there as soon as ``tidemark-glue[local,test]`` is installed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertions import assert_idempotent, assert_incremental, assert_same_as_recomputed
    from .job_arguments import iceberg_arguments
    from .proved import assert_proved
    from .schema import assert_schema
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        modules = {
            "assert_proved": ".proved",
            "assert_schema": ".schema",
            "iceberg_arguments": ".job_arguments",
        }
        return getattr(import_module(modules.get(name, ".assertions"), __name__), name)


__all__ = [
    "assert_idempotent",
    "assert_incremental",
    "assert_proved",
    "assert_same_as_recomputed",
    "assert_schema",
    "iceberg_arguments",
]
