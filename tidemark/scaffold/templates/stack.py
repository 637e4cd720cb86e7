"""The stack that a scaffolded call is put into, for the type checker."""

from typing import Protocol

from tidemark.constructs import Pipeline


class PipelineStack(Protocol):
    """A stack with one pipeline."""

    pipeline: Pipeline
