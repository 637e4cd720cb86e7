"""Frames of literal rows."""

from tests.tidemark.glue_job.frames.conftest import printed, rows_of

__all__ = ["printed", "rows_of"]
