"""Glue's operations on job bookmarks, implemented by those of the command line."""

from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.local_glue import LocalGlue
from tidemark.local_state.bookmarks.api import get_job_bookmark as get_entry
from tidemark.local_state.bookmarks.api import reset_job_bookmark as reset_entry


def get_job_bookmark(glue: LocalGlue, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bookmark of a job, or its state at the end of a run."""
    return get_entry(glue.store, request)


def reset_job_bookmark(glue: LocalGlue, request: Mapping[str, Any]) -> dict[str, Any]:
    """Reset the bookmark of a job, or rewind it to the end of a run."""
    return reset_entry(glue.store, request, glue.now_ms())
