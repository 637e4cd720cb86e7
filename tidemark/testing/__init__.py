"""Unit tests of Glue job scripts: fixtures for pytest, and assertions about incremental jobs.

The fixtures are there as soon as ``tidemark-glue[local,test]`` is installed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertions import assert_idempotent, assert_incremental, assert_same_as_recomputed
    from .iceberg_job import iceberg_arguments
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module = ".assertions" if name.startswith("assert_") else ".iceberg_job"
        return getattr(import_module(module, __name__), name)


__all__ = [
    "assert_idempotent",
    "assert_incremental",
    "assert_same_as_recomputed",
    "iceberg_arguments",
]
