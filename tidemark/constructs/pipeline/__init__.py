"""A Glue workflow with its jobs, and many of them in one app."""

from tidemark.constructs.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]
