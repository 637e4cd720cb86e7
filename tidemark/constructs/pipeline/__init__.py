"""A Glue workflow, what it starts, and how many of them share an app."""

from tidemark.constructs.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]
